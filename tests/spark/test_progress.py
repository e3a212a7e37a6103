"""Progress says how far a job is, in words people read at a glance."""

import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark import InheritableThread
from pyspark.sql import SparkSession

from victor_spark.logs import bar, clock
from victor_spark.spark.progress import Tally, described, size


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


@pytest.mark.spark
def test_that_the_splits_are_dealt_out_is_no_work_done(spark: SparkSession, tmp_path: Path) -> None:
    """Also where that takes as many tasks as the work itself; of these one ends and the other waits."""
    leave = str(tmp_path / "leave")

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            while batch.num_rows and batch["task"][0].as_py() and not Path(leave).exists():
                time.sleep(0.05)
            yield batch

    def run() -> None:
        spark.sparkContext.setJobGroup("held", "a test")
        rows = spark.createDataFrame([(0,), (1,)], "task int").repartitionById(2, "task")
        rows.mapInArrow(work, "task int").collect()

    assert spark.sparkContext.defaultParallelism == 2
    tally, seen = Tally(100), set[float]()
    tally.begin("held", weight=100, n_tasks=2)
    thread: threading.Thread = InheritableThread(target=run)
    thread.start()
    deadline = time.monotonic() + 120
    while max(seen, default=0.0) < 0.5 and time.monotonic() < deadline:
        seen.add(tally.shares(spark.sparkContext)[0])
        time.sleep(0.01)
    seen.add(tally.shares(spark.sparkContext)[0])
    Path(leave).touch()
    thread.join()
    assert seen == {0.0, 0.5}
    assert tally.shares(spark.sparkContext)[0] == 1.0
