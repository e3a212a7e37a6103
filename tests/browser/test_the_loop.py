"""docs/new-language.md can be followed: its commands run as they stand there, from the fetching of 200 pages
to a Spark job with the adapted model.
"""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.desk import MAIN, Desk, Server, free_port
from tests.browser.patience import PATIENCE

pytestmark = [pytest.mark.browser, pytest.mark.spark, pytest.mark.timeout(1200)]

COMMAND = re.compile(r"^    ((?:victor|python|spark-submit) [^\s:].*)$", re.MULTILINE)
SERVERS = (["python", "sample/serve.py"], ["victor", "annotate"])
PORTS = {"sample/serve.py": 8780, "annotate": 8790}


@dataclass
class Shell:
    """A working directory like a checkout; servers run on beside it until they are stopped."""

    folder: Path
    environment: dict[str, str]
    ports: dict[str, int]
    printed: str = ""
    running: dict[str, subprocess.Popen[str]] = field(default_factory=dict)

    def run(self, words: list[str]) -> None:
        """Runs the command to its end; a server up to the line that says where it is."""
        if words[:2] in SERVERS and words[2] not in ("export", "agreement"):
            self._serve(words)
            return
        finished = subprocess.run(
            self._program(words),
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
            check=False,
        )
        assert finished.returncode == 0, f"{shlex.join(words)}\n{finished.stdout[-3000:]}"
        self.printed += finished.stdout

    def _serve(self, words: list[str]) -> None:
        self.stop(words[1])
        serving = subprocess.Popen(
            [*self._program(words), "--port", str(self.ports[words[1]])],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.running[words[1]] = serving
        assert serving.stdout is not None
        for line in serving.stdout:
            self.printed += line
            if "Ctrl-C stops" in line:
                return
        raise AssertionError(f"{shlex.join(words)}\n{self.printed[-3000:]}")

    def stop(self, name: str) -> None:
        """Ctrl-C."""
        if (serving := self.running.pop(name, None)) is not None:
            serving.send_signal(signal.SIGINT)
            serving.communicate(timeout=60)

    def _program(self, words: list[str]) -> list[str]:
        programs = {
            "victor": [sys.executable, "-c", MAIN],
            "python": [sys.executable],
            "spark-submit": [str(shutil.which("spark-submit", path=self.environment["PATH"]))],
        }
        return [*programs[words[0]], *words[1:]]


@pytest.fixture
def shell(root: Path, tmp_path: Path) -> Iterator[Shell]:
    """A shell in the folder that the document starts from."""
    for name in ("sample", "jobs"):
        (tmp_path / name).symlink_to(root / name)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    gone = {"PYSPARK_PYTHON", "PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET", "SPARK_SUBMIT_OPTS"}
    kept = {name: value for name, value in os.environ.items() if name not in gone}
    environment = {**kept, "PATH": path, "PYTHONPATH": str(root), "PYTHONUNBUFFERED": "1"}
    opened = Shell(tmp_path, environment, {name: free_port() for name in PORTS})
    yield opened
    for name in tuple(opened.running):
        opened.stop(name)


@pytest.fixture
def commands(root: Path, shell: Shell) -> list[list[str]]:
    """Those of the document, in order, at free ports."""
    text = (root / "docs" / "new-language.md").read_text(encoding="utf-8")
    for name, port in PORTS.items():
        text = text.replace(f":{port}", f":{shell.ports[name]}")
    return [shlex.split(line) for line in COMMAND.findall(text)]


def test_the_whole_loop_runs_as_it_is_written(
    shell: Shell, commands: list[list[str]], context: BrowserContext
) -> None:
    label = by_hand(shell, context)
    for words in commands:
        shell.run(words)
        if words[:2] == ["victor", "annotate"] and "pages.warc.gz" in words:
            label("Clara")
    assert "fetching: 226/226" in shell.printed
    assert "212 pages added" in shell.printed
    assert "Anna and Ben: kappa 1.000" in shell.printed
    assert shell.printed.count("victor, before") == 2
    assert "pages have new initial labels by adapted" in shell.printed
    exported = (shell.folder / "annotations.jsonl").read_text(encoding="utf-8")
    assert exported.count("\n") >= 60
    for output in ("out", "out-spark"):
        assert pq.read_table(shell.folder / output / "pages").num_rows == 226
    assert (shell.folder / "report" / "report.html").is_file()


def by_hand(shell: Shell, context: BrowserContext) -> Callable[[str], None]:
    """Somebody who looks at one page in the browser and agrees with the model."""

    def label(name: str) -> None:
        server = Server(shell.folder / "annotations.sqlite", port=shell.ports["annotate"])
        desk = Desk(context.new_page(), server, name).join().ready()
        expect(desk.page.locator("#figures")).to_contain_text("0 /")
        desk.done()
        expect(desk.page.locator("#figures")).to_contain_text("1 /")
        desk.page.close()
        PATIENCE.rest()  # what follows needs no browser

    PATIENCE.rest()
    return label
