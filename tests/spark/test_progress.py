"""Progress shows the finished share of a job in a short line."""

import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark import InheritableThread
from pyspark.sql import SparkSession

from tests.spark.crawl import PARAGRAPH, Response, page, write_warc
from victor_spark import logs
from victor_spark.cli import main
from victor_spark.logs import bar, clock, size
from victor_spark.spark import progress
from victor_spark.spark.progress import Tally, described


@pytest.fixture(autouse=True)
def _no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    """No bar is drawn before a test; the next test of another module removes none that one of these drew."""
    monkeypatch.setattr(logs, "_DRAWN", [])


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "0 s"), (48, "48 s"), (60, "1:00"), (185.4, "3:05"), (8049, "2:14:09")]
)
def test_clock(seconds: float, text: str) -> None:
    assert clock(seconds) == text


def test_a_line_tells_done_elapsed_and_left() -> None:
    assert described(0.25, 31.0) == "25 % done, 31 s elapsed, about 1:33 left"


def test_what_an_earlier_run_did_makes_this_one_no_faster() -> None:
    assert described(0.75, 60.0, before=0.5) == "75 % done, 1:00 elapsed, about 1:00 left"


@pytest.mark.parametrize("done", [0.0, 0.0001])
def test_nothing_is_promised_before_a_task_worth_mentioning_is_done(done: float) -> None:
    assert described(done, 31.0) == "0 % done, 31 s elapsed"


def test_no_time_is_left_while_the_last_rows_are_moved() -> None:
    assert described(1.0, 31.0) == "100 % done, 31 s elapsed, finishing"


@pytest.mark.parametrize(
    ("n", "text"),
    [(0, "0 bytes"), (999, "999 bytes"), (1500, "1.5 KB"), (2e18, "2000 PB")],
)
def test_sizes_have_a_unit(n: float, text: str) -> None:
    assert size(n) == text


def test_the_bar_stays_on_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    bar(0.5, "half")
    shown = capfd.readouterr().err
    assert shown.startswith("\r")
    assert "\n" not in shown
    assert shown.count("#") == 15


@pytest.mark.parametrize(("columns", "shown"), [(50, "[###....] 50 % done"), (30, "[] 50 % done, 2:14:0")])
def test_a_bar_and_its_line_fit_in_one_row_of_a_narrow_terminal(
    columns: int, shown: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A longer line would go on in the next row, from where no later bar removes it."""
    monkeypatch.setenv("COLUMNS", str(columns))
    bar(0.5, "50 % done, 2:14:09 elapsed, 7 MB/s, 2 s")
    drawn = capfd.readouterr().err
    assert drawn.startswith(f"\r{shown}")
    assert len(drawn) == len("\r\x1b[K") + columns - 1


def test_a_line_of_the_log_takes_the_place_of_the_bar(capfd: pytest.CaptureFixture[str]) -> None:
    bar(0.5, "half")
    capfd.readouterr()
    logs.log("a line")
    logs.log("another")
    assert capfd.readouterr().err == "\r\x1b[Kvictor: a line\nvictor: another\n"


@pytest.mark.parametrize("n_left", [0, 1])
def test_no_bar_stays_below_work_that_ended_early(
    n_left: int, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(logs, "on_terminal", lambda: True)
    monkeypatch.setattr(logs, "_REDRAW_SECONDS", 0)
    rows = logs.track(range(3), "rows", 3)
    assert [next(rows) for _ in range(3 - n_left)] == [0, 1, 2][: 3 - n_left]
    if n_left:
        rows.close()
    assert list(rows) == []
    assert capfd.readouterr().err.endswith("\r\x1b[K" if n_left else "rows: 3/3, 0 s\x1b[K\n")


def held(spark: SparkSession, group: str, leave: Path) -> None:
    """A job of two tasks, of which one ends and the other waits; its first stage has two tasks as well."""

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            while batch.num_rows and batch["task"][0].as_py() and not leave.exists():
                time.sleep(0.05)
            yield batch

    assert spark.sparkContext.defaultParallelism == 2
    spark.sparkContext.setJobGroup(group, "a test")
    with progress.progress_of_group(spark.sparkContext):
        rows = spark.createDataFrame([(0,), (1,)], "task int").repartitionById(2, "task")
        rows.mapInArrow(work, "task int").collect()


@pytest.mark.spark
def test_jobs_of_a_group_show_the_tasks_of_the_stage_that_runs(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[str] = []
    monkeypatch.setattr(progress, "_LINE_SECONDS", 0.05)
    monkeypatch.setattr(logs, "log", lambda line, **_: lines.append(line))
    thread: threading.Thread = InheritableThread(target=held, args=(spark, "shown", tmp_path / "leave"))
    thread.start()
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not any(line.endswith(" left") for line in lines):
        time.sleep(0.05)
    (tmp_path / "leave").touch()
    thread.join()
    left = [line for line in lines if line.endswith(" left")]
    assert left
    assert {line.partition(",")[0] for line in left} == {"tasks of this step: 1/2"}


@pytest.mark.spark
def test_every_command_that_reads_all_pages_of_a_run_shows_progress(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert spark
    pages = [Response(f"http://a.example/{n}", page(f"Page {n}", PARAGRAPH).encode()) for n in range(3)]
    shard, out = write_warc(tmp_path / "a.warc.gz", pages), str(tmp_path / "out")
    assert main(["clean", str(shard), "--output", out, "--by-site", "--keep-blocks"]) == 0
    monkeypatch.setattr(progress, "_LINE_SECONDS", 0.01)
    for words in (
        ["export", out, str(tmp_path / "exported"), "--to", "text"],
        ["sites", "write", out, "--output", str(tmp_path / "sites")],
        ["templates", "mine", str(shard), "--output", str(tmp_path / "templates.parquet")],
        ["dedup", out],
    ):
        capsys.readouterr()
        assert main(words) == 0
        assert " elapsed\n" in capsys.readouterr().err


@pytest.mark.spark
def test_that_the_splits_are_dealt_out_is_no_work_done(spark: SparkSession, tmp_path: Path) -> None:
    """Also where that takes as many tasks as the work itself; of these one ends and the other waits."""
    tally, seen = Tally(100), set[float]()
    tally.begin("held", weight=100, n_tasks=2)
    thread: threading.Thread = InheritableThread(target=held, args=(spark, "held", tmp_path / "leave"))
    thread.start()
    deadline = time.monotonic() + 120
    while max(seen, default=0.0) < 0.5 and time.monotonic() < deadline:
        seen.add(tally.shares(spark.sparkContext)[0])
        time.sleep(0.01)
    seen.add(tally.shares(spark.sparkContext)[0])
    (tmp_path / "leave").touch()
    thread.join()
    assert seen == {0.0, 0.5}
    assert tally.shares(spark.sparkContext)[0] == 1.0
