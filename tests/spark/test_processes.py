"""The command as schedulers see it: a process with an exit code, under spark-submit too."""

import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.cluster.standalone import QUICK
from tests.spark.crawl import rows
from victor_spark.spark.session import interruptible

pytestmark = pytest.mark.spark

COMMAND = (sys.executable, "-c", "import sys; from victor_spark.cli import main; sys.exit(main())")


@pytest.fixture
def environment(root: Path) -> dict[str, str]:
    """As after `pip install`: the package can be imported, and the interpreter's scripts are on PATH."""
    paths = [str(Path(sys.executable).parent), os.environ["PATH"]]
    gone = {"PYSPARK_PYTHON", "PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET", "SPARK_SUBMIT_OPTS"}
    kept = {name: value for name, value in os.environ.items() if name not in gone}
    paths_and_java = {"PATH": os.pathsep.join(paths), "PYTHONPATH": str(root), "JDK_JAVA_OPTIONS": QUICK}
    return {**kept, **paths_and_java}


def submit(
    root: Path, environment: dict[str, str], *arguments: object, job: str | Path = "clean.py"
) -> subprocess.CompletedProcess[str]:
    program = shutil.which("spark-submit", path=environment["PATH"])
    assert program
    flags = ["--master", "local[2]", "--properties-file", str(root / "conf" / "spark-defaults.conf")]
    flags += ["--conf", "spark.ui.enabled=false", "--conf", "spark.sql.shuffle.partitions=2"]
    command = [program, *flags, str(root / "jobs" / job), *map(str, arguments)]
    # spark-submit shows a Python program's stderr on its own stdout.
    return subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )


def test_spark_submit_runs_the_same_command(
    root: Path, environment: dict[str, str], crawl: Path, tmp_path: Path
) -> None:
    finished = submit(root, environment, crawl, "--output", tmp_path / "out")
    assert finished.returncode == 0, finished.stdout[-3000:]
    assert len(rows(tmp_path / "out")) == 17
    assert "victor: 17 pages in " in finished.stdout


BOTH = """
import runpy, sys
jobs, crawl, table, out = sys.argv[1:]
for job, *words in [("mine", "--output", table), ("apply", "--templates", table, "--output", out)]:
    sys.argv = [job, crawl, *words]
    try:
        runpy.run_path(f"{jobs}/{job}_templates.py", run_name="__main__")
    except SystemExit as ended:
        if ended.code:
            raise
"""
"""Two jobs one after the other in one program: Java starts once."""


def test_spark_submit_mines_templates_and_applies_them(
    root: Path, environment: dict[str, str], crawl: Path, tmp_path: Path
) -> None:
    table, both = tmp_path / "templates.parquet", tmp_path / "both.py"
    both.write_text(BOTH)
    finished = submit(root, environment, root / "jobs", crawl, table, tmp_path / "out", job=both)
    assert finished.returncode == 0, finished.stdout[-3000:]
    assert "templates in " in finished.stdout
    assert {row["cleaner"] for row in rows(tmp_path / "out")} == {"template", None}


def test_spark_submit_ends_with_2_and_a_line_for_bad_input(
    root: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    finished = submit(root, environment, tmp_path / "missing.warc.gz", "--output", tmp_path / "out")
    assert finished.returncode == 2
    assert finished.stdout.count("victor: error: ") == 1
    assert "Traceback" not in finished.stdout
    assert not (tmp_path / "out").exists()


def test_two_jobs_after_each_other_in_one_process(
    environment: dict[str, str], crawl: Path, tmp_path: Path
) -> None:
    """As in a notebook: the second job finds a gateway to Java, but no running Spark."""
    program = (
        "import sys; from victor_spark.cli import main;"
        "sys.exit(max(main(['clean', sys.argv[1], '--output', out]) for out in sys.argv[2:]))"
    )
    outputs = [str(tmp_path / "one"), str(tmp_path / "two")]
    command = [sys.executable, "-c", program, str(crawl), *outputs]
    finished = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr[-3000:]
    assert "incubator" not in finished.stderr, "Java warns about a module that Spark asks for"
    assert len(rows(tmp_path / "one")) == len(rows(tmp_path / "two")) == 17


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_waits_for_spark_can_be_interrupted(number: signal.Signals) -> None:
    forever = threading.Event()
    threading.Timer(0.3, os.kill, (os.getpid(), number)).start()
    before = signal.getsignal(number)
    with pytest.raises(KeyboardInterrupt):
        interruptible(forever.wait, group="a test", patience=0)
    assert signal.getsignal(number) is before
    forever.set()


def test_an_action_that_ends_well_though_it_was_interrupted_gives_its_result() -> None:
    interrupted = threading.Event()

    def last_second() -> str:
        os.kill(os.getpid(), signal.SIGINT)
        return "complete" if interrupted.wait(10) else "not interrupted"

    assert interruptible(last_second, group="a test", stop=interrupted) == "complete"


def test_an_interrupted_run_ends_with_4_and_leaves_nothing_that_looks_complete(
    environment: dict[str, str], crawl: Path, tmp_path: Path
) -> None:
    command = [*COMMAND, "clean", str(crawl), "--output", str(tmp_path / "out"), "--master", "local[1]"]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        lines = []
        for line in process.stderr:
            lines.append(line)
            if "victor: cleaning" in line:
                process.send_signal(signal.SIGINT)
    assert process.returncode == 4, lines
    assert "victor: stopped" in lines[-1]
    assert not any("Traceback" in line for line in lines)
    assert not (tmp_path / "out" / "_run" / "run.json").exists()
