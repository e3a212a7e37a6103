"""The command as schedulers see it: a process with an exit code, under spark-submit too."""

import os
import shutil
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cluster.standalone import QUICK
from tests.conftest import java_options
from tests.spark.crawl import rows
from victor_spark.spark.session import interruptible

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def environment(root: Path) -> dict[str, str]:
    """As after `pip install`: the package can be imported, and the interpreter's scripts are on PATH."""
    paths = [str(Path(sys.executable).parent), os.environ["PATH"]]
    gone = {"PYSPARK_PYTHON", "PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET", "SPARK_SUBMIT_OPTS"}
    kept = {name: value for name, value in os.environ.items() if name not in gone}
    java = " ".join([QUICK, *java_options()])
    paths_and_java = {"PATH": os.pathsep.join(paths), "PYTHONPATH": str(root), "JDK_JAVA_OPTIONS": java}
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


JOBS = """
import runpy, sys
jobs, crawl, out = sys.argv[1:]
for job, *words in [
    ("clean", "--output", f"{out}/plain"),
    ("mine_templates", "--output", f"{out}/templates.parquet"),
    ("apply_templates", "--templates", f"{out}/templates.parquet", "--output", f"{out}/templates"),
]:
    sys.argv = [job, crawl, *words]
    try:
        runpy.run_path(f"{jobs}/{job}.py", run_name="__main__")
    except SystemExit as ended:
        if ended.code:
            raise
"""
"""The programs of jobs/ one after the other in one program: Java starts once."""


@pytest.fixture(scope="module")
def submitted(
    root: Path, environment: dict[str, str], crawl: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, str]:
    """The folder with the outputs of all jobs that spark-submit ran, and what it printed."""
    folder = tmp_path_factory.mktemp("submitted")
    (folder / "jobs.py").write_text(JOBS)
    finished = submit(root, environment, root / "jobs", crawl, folder, job=folder / "jobs.py")
    assert finished.returncode == 0, finished.stdout[-3000:]
    return folder, finished.stdout


def test_spark_submit_runs_the_same_command(submitted: tuple[Path, str]) -> None:
    folder, printed = submitted
    assert len(rows(folder / "plain")) == 17
    assert "victor: 17 pages in " in printed


def test_spark_submit_mines_templates_and_applies_them(submitted: tuple[Path, str]) -> None:
    folder, printed = submitted
    assert "templates in " in printed
    assert {row["cleaner"] for row in rows(folder / "templates")} == {"template", None}


def test_spark_submit_ends_with_2_and_a_line_for_bad_input(
    root: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    finished = submit(root, environment, tmp_path / "missing.warc.gz", "--output", tmp_path / "out")
    assert finished.returncode == 2
    assert finished.stdout.count("victor: error: ") == 1
    assert "Traceback" not in finished.stdout
    assert not (tmp_path / "out").exists()


def test_files_whose_names_the_locale_cannot_write_are_read_by_spark_too(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    (tmp_path / "přívoz.html").write_text(f"<p>{'The ferry is late again today. ' * 9}</p>")
    for words in (["clean", "přívoz.html", "--output", "výstup"], ["dedup", "výstup"]):
        done = subprocess.run(
            [sys.executable, "-m", "victor_spark", *words],
            env=environment | {"LC_ALL": "C"},
            cwd=tmp_path,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, done.stderr
    assert list((tmp_path / "výstup" / "duplicates").glob("*.parquet"))


def test_a_run_whose_log_is_on_a_full_disk_is_done(
    crawl: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    command = [sys.executable, "-m", "victor_spark", "clean", str(crawl), "--output", str(tmp_path / "out")]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, env=environment, stderr=full, check=False)
    assert done.returncode == 0
    assert len(rows(tmp_path / "out")) == 17


def test_spark_without_a_folder_for_its_own_files_is_wrong_usage(
    crawl: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    (tmp_path / "file").touch()
    command = [sys.executable, "-m", "victor_spark", "clean", str(crawl), "--output", str(tmp_path / "out")]
    here = {"SPARK_LOCAL_DIRS": str(tmp_path / "file" / "folder")}
    ended = subprocess.run(command, env=environment | here, stderr=subprocess.PIPE, text=True, check=False)
    assert ended.returncode == 2
    assert ended.stderr.endswith("Spark starts no application there; see its messages above\n")
    assert not (tmp_path / "out").exists()


def test_what_waits_for_spark_can_be_interrupted() -> None:
    forever = threading.Event()
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        interruptible(forever.wait, group="a test", patience=0)
    forever.set()


def test_an_action_that_ends_well_though_it_was_interrupted_gives_its_result() -> None:
    interrupted = threading.Event()

    def last_second() -> str:
        os.kill(os.getpid(), signal.SIGINT)
        return "complete" if interrupted.wait(10) else "not interrupted"

    assert interruptible(last_second, group="a test", stop=interrupted) == "complete"


ONE_BY_ONE = """
import sys
from victor_spark.cli import main
crawl, *outputs = sys.argv[1:]
codes = [main(["clean", crawl, "--output", output]) for output in outputs]
sys.exit("".join(map(str, codes)) + " are the exit codes")
"""


@dataclass(frozen=True)
class Jobs:
    """The outputs of three jobs in one process, the last one interrupted, and the lines that it wrote."""

    outputs: list[Path]
    lines: list[str]


@pytest.fixture(scope="module")
def jobs(environment: dict[str, str], crawl: Path, tmp_path_factory: pytest.TempPathFactory) -> Jobs:
    """As in a notebook: each job after the first finds a gateway to Java, but no running Spark."""
    folder = tmp_path_factory.mktemp("jobs")
    outputs, lines, n_begun = [folder / name for name in ("one", "two", "three")], [], 0
    command = [sys.executable, "-c", ONE_BY_ONE, str(crawl), *map(str, outputs)]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        for line in process.stderr:
            lines.append(line)
            n_begun += "victor: cleaning" in line
            if "victor: cleaning" in line and n_begun == len(outputs):
                process.send_signal(signal.SIGINT)
    return Jobs(outputs, lines)


def test_jobs_run_after_each_other_in_one_process(jobs: Jobs) -> None:
    assert jobs.lines[-1] == "004 are the exit codes\n", jobs.lines
    assert not any("incubator" in line for line in jobs.lines), "Java warns about a module Spark asks for"
    assert [len(rows(output)) for output in jobs.outputs[:2]] == [17, 17]


def test_an_interrupted_run_ends_with_4_and_leaves_nothing_that_looks_complete(jobs: Jobs) -> None:
    assert jobs.lines[-1].startswith("004 "), jobs.lines
    assert "victor: stopped" in jobs.lines[-2]
    assert not any("Traceback" in line for line in jobs.lines)
    assert not (jobs.outputs[-1] / "_run" / "run.json").exists()
