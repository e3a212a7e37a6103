"""The waves of a run: each is cleaned and written, then counted, published and entered in the ledger.

Two waves are cleaned concurrently, so that slow last tasks of one leave no core idle.
"""

import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Final, NamedTuple, TypeVar

from pyspark import InheritableThread
from pyspark.sql import DataFrame, SparkSession

from victor_spark import logs, tables
from victor_spark.errors import OutputError
from victor_spark.request import FIRST_PASS
from victor_spark.spark import ledger, plan, tasks
from victor_spark.spark.failures import disk_errors
from victor_spark.spark.files import Files, HadoopFiles
from victor_spark.spark.plan import Plan
from victor_spark.spark.progress import Tally
from victor_spark.spark.run_record import Counts, Entry, of_files
from victor_spark.worker.rows import STAGES

N_CLEANING: Final = 2
_N_THREADS: Final = N_CLEANING + 2  # two more count and commit while these clean
_SHUFFLED: Final = 2.0
"""Bytes that Spark sends between tasks for each byte of a row in Parquet."""

Cleaned = TypeVar("Cleaned")
Committed = TypeVar("Committed")


def run(
    waves: Iterable[int],
    clean: Callable[[int], Cleaned],
    commit: Callable[[int, Cleaned], Committed],
    *,
    failed: Callable[[int, BaseException], None],
    check: Callable[[], None] = lambda: None,
) -> list[Committed]:
    """Cleans and commits every wave, at most N_CLEANING at a time; the results of `commit`.

    After a failure no further wave begins; when those that are running are committed, the first error
    is raised. `failed` is called for each. `check` is called before every wave, and raises to end the run.
    """
    waiting, taking, cleaning = iter(waves), threading.Lock(), threading.BoundedSemaphore(N_CLEANING)
    failures: list[BaseException] = []
    committed: list[Committed] = []

    def work() -> None:
        wave: int | None = None
        try:
            while True:
                with cleaning:
                    with taking:
                        wave = None if failures else next(waiting, None)
                    if wave is None:
                        return
                    check()
                    cleaned = clean(wave)
                committed.append(commit(wave, cleaned))
        except BaseException as error:  # noqa: BLE001 - raised again below
            failures.append(error)
            if wave is not None:
                failed(wave, error)

    threads = [InheritableThread(target=work, daemon=True) for _ in range(_N_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return committed


@dataclass(frozen=True)
class Writing:
    """The state that all waves of a run share; `run_id` is the tag of all its Spark jobs."""

    spark: SparkSession
    files: Files
    plan: Plan
    task: tasks.CleanTask
    tally: Tally
    run_id: str


class Written(NamedTuple):
    """A wave whose pages are staged; Spark reports no `files` and `counts` if it wrote them."""

    started: float
    seconds: tasks.StageSeconds
    files: dict[str, int] | None = None
    counts: Counts | None = None


def clean(writing: Writing, wave: int) -> Written:
    """Cleans a wave and stages its pages; `started` is by the monotonic clock."""
    context, files = writing.spark.sparkContext, writing.files
    request, rows = writing.task.request, writing.task.request.rows
    started = time.monotonic()
    seconds = {stage: context.accumulator(0.0) for stage in STAGES}
    splits = plan.splits(writing.plan, wave)
    n_tasks = request.spark.partitions or plan.n_tasks(splits, n_cores=context.defaultParallelism)
    with _as_wave(writing, wave, weight=plan.weight(splits), n_tasks=n_tasks):
        staged = f"{files.location}/{ledger.staged(writing.run_id, wave)}"
        planned = plan.frame(writing.spark, splits, n=n_tasks)
        writer = tasks.BETWEEN_PASSES if request.passing == FIRST_PASS else tasks.PARQUET
        target = tasks.Target(staged, request.schema, rows.folders, writer=writer)
        cleaning = partial(tasks.clean_partition, task=writing.task, seconds=seconds)
        spark_writes = isinstance(files, HadoopFiles)  # tasks cannot write there themselves
        if spark_writes or rows.file_bytes or request.spark.engine == "rdd":
            ddl = tables.ddl(request.schema)
            if request.spark.engine == "rdd":
                cleaned = planned.rdd.mapPartitions(partial(tasks.clean_rows, clean=cleaning))
                pages = writing.spark.createDataFrame(cleaned, ddl, verifySchema=False)
            else:
                pages = planned.mapInArrow(cleaning, ddl)
            pages = rebalanced(pages, rows.file_bytes, rows.folders) if rows.file_bytes else pages
            if spark_writes:
                write(pages, staged, rows.folders)
                return Written(started, seconds)
            reports = pages.mapInArrow(partial(tasks.write_partition, target=target), tasks.REPORT_DDL)
        else:
            write_cleaned = partial(tasks.write_partition, target=target, clean=cleaning)
            reports = planned.mapInArrow(write_cleaned, tasks.REPORT_DDL)
        return Written(started, seconds, *tasks.written(reports))


def write(pages: DataFrame, location: str, folders: Iterable[str] = ()) -> None:
    """Writes pages by Spark as Parquet, with the schema's version."""
    pages = pages.withMetadata(tables.VERSION_COLUMN, {tables.VERSION_KEY: tables.PAGES_VERSION})
    pages.write.mode("overwrite").option("compression", "zstd").partitionBy(*folders).parquet(location)


def rebalanced(pages: DataFrame, file_bytes: int, columns: Iterable[str]) -> DataFrame:
    """The rows repartitioned by Spark's adaptive execution, so that each partition makes about one file."""
    advised = int(file_bytes * _SHUFFLED)
    settings = {
        "enabled": "true",
        "advisoryPartitionSizeInBytes": f"{advised}b",
        "coalescePartitions.parallelismFirst": "false",
        "coalescePartitions.minPartitionSize": f"{max(advised // 5, 1)}b",
    }
    for name, value in settings.items():
        pages.sparkSession.conf.set(f"spark.sql.adaptive.{name}", value)
    quoted = ", ".join(f"`{column}`" for column in columns)  # Spark 3.5 has the hint in SQL only
    hint = f"REBALANCE({quoted})" if quoted else "REBALANCE"
    return pages.sparkSession.sql(f"SELECT /*+ {hint} */ * FROM {{pages}}", pages=pages)


def commit(writing: Writing, wave: int, written: Written) -> Entry:
    """Publishes a wave's pages and enters the wave in the ledger."""
    spark, files, counts = writing.spark, writing.files, written.counts
    check_lease(files)
    if counts is None:
        staged = ledger.literal(f"{files.location}/{ledger.staged(writing.run_id, wave)}")
        counts = of_files(spark.read.schema(tables.ddl(writing.task.request.schema)).parquet(staged))
    splits = plan.splits(writing.plan, wave)
    entry = Entry(
        wave=wave,
        files=ledger.publish(files, writing.run_id, wave, written.files),
        n_splits=splits.num_rows,
        n_bytes=plan.weight(splits),
        counts=counts,
        seconds=round(time.monotonic() - written.started, 2),
        finished_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        stages={stage: round(seconds.value, 3) for stage, seconds in written.seconds.items()},
    )
    ledger.enter(files, entry)
    if logs.FIELDS is not None:
        done = {"seconds": entry.seconds, "stages": entry.stages, "statuses": counts.page_statuses}
        logs.log("wave done", wave=wave, n_bytes=entry.n_bytes, n_pages=counts.n_pages, **done)
    return entry


def check_lease(files: Files) -> None:
    """OutputError if another run took the output over."""
    if files.lock.lost():
        raise OutputError(f"{files.location}: another run took the output over, as this run's lease expired")


@contextmanager
def _as_wave(writing: Writing, wave: int, *, weight: int, n_tasks: int) -> Iterator[None]:
    """Marks the jobs of this thread as the wave's, for progress, and as the run's, for cancelling it."""
    context, group = writing.spark.sparkContext, f"{writing.run_id}, wave {wave}"
    context.addJobTag(writing.run_id)
    log_fields = json.dumps({**logs.FIELDS, "wave": wave}) if logs.FIELDS and not logs.is_quiet() else None
    context.setLocalProperty(tasks.LOG_FIELDS, log_fields)  # type: ignore[arg-type]
    context.setLocalProperty("spark.scheduler.pool", None)  # type: ignore[arg-type] # as PySpark's own tests do
    context.setJobGroup(group, f"victor clean, wave {wave}", interruptOnCancel=True)
    writing.tally.begin(group, weight=weight, n_tasks=n_tasks)
    try:
        with disk_errors(writing.files.location):
            yield
    finally:
        writing.tally.end(group)
        context.setJobGroup(f"{writing.run_id}, counting", "victor clean, counting")
        context.setLocalProperty("spark.scheduler.pool", "counting")
