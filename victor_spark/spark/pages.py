"""A wave's splits → its pages, cleaned and written by Spark, counted and entered in the ledger."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from victor_spark import tables
from victor_spark.errors import OutputError
from victor_spark.spark import ledger, plan, record, task_writing
from victor_spark.spark.clean_partition import CleanTask, Spent, clean_partition, clean_rows
from victor_spark.spark.files import Files, HadoopFiles, full_disk_as_output_error
from victor_spark.spark.layout import Layout
from victor_spark.spark.ledger import Entry
from victor_spark.spark.plan import Plan
from victor_spark.spark.progress import Tally
from victor_spark.spark.stages import STAGES, Seconds
from victor_spark.spark.writing import rebalanced, write


@dataclass(frozen=True)
class Writing:
    """What cleaning a wave needs, the same for all waves of a run.

    `run_id` is the tag of all the run's jobs; a wave's have a group of their own besides.
    """

    spark: SparkSession
    files: Files
    plan: Plan
    task: CleanTask
    tally: Tally
    run_id: str
    engine: str = "arrow"
    n_tasks: int | None = None
    layout: Layout = Layout()


class Cleaned(NamedTuple):
    """A wave whose pages are written: when it began (monotonic), its stages' seconds, what its tasks told."""

    started: float
    spent: Spent
    told: task_writing.Told | None = None


def clean(writing: Writing, wave: int) -> Cleaned:
    """Writes a wave's pages where nobody sees them yet."""
    started, spent = time.monotonic(), _nothing_spent(writing.spark)
    splits = plan.splits(writing.plan, wave)
    n_cores = writing.spark.sparkContext.defaultParallelism
    n = writing.n_tasks or plan.n_tasks(splits, n_cores=n_cores)
    full = full_disk_as_output_error(writing.files.location.removeprefix("file://"))
    with full, _as_wave(writing, wave, weight=plan.weight(splits), n_tasks=n):
        staged = f"{writing.files.location}/{ledger.staged(writing.run_id, wave)}"
        return Cleaned(started, spent, _write(writing, splits, staged, n_tasks=n, spent=spent))


def _write(
    writing: Writing, splits: pa.Table, staged: str, *, n_tasks: int, spent: Spent
) -> task_writing.Told | None:
    """Spark writes what only Spark reaches, the tasks write the rest; through a shuffle if files need it."""
    spark, task, layout = writing.spark, writing.task, writing.layout
    by_spark = isinstance(writing.files, HadoopFiles)
    target = task_writing.Target(staged, task.schema, layout.partition_by)
    if not by_spark and not layout.wanted_bytes and writing.engine == "arrow":
        planned = plan.frame(spark, splits, n=n_tasks)
        return task_writing.clean(planned, target, task=task, spent=spent)
    rows = frame(spark, splits, task, n_tasks=n_tasks, engine=writing.engine, spent=spent)
    if by_spark:
        write(rows, staged, layout)
        return None
    return task_writing.write(rebalanced(rows, layout) if layout.wanted_bytes else rows, target)


def _nothing_spent(spark: SparkSession) -> Spent:
    return spark.sparkContext.accumulator(dict.fromkeys(STAGES, 0.0), Seconds())


def frame(
    spark: SparkSession,
    splits: pa.Table,
    task: CleanTask,
    *,
    n_tasks: int,
    engine: str = "arrow",
    spent: Spent | None = None,
) -> DataFrame:
    """Splits → the pages table as a DataFrame, one task a partition; both engines run `clean_partition`."""
    ddl = tables.ddl(task.schema)
    planned = plan.frame(spark, splits, n=n_tasks)
    if engine == "rdd":
        rows = planned.rdd.mapPartitions(partial(clean_rows, task=task, spent=spent))
        return spark.createDataFrame(rows, ddl, verifySchema=False)
    return planned.mapInArrow(partial(clean_partition, task=task, spent=spent), ddl)


def commit(writing: Writing, wave: int, cleaned: Cleaned) -> Entry:
    """Counts a wave's pages, publishes them and enters the wave in the ledger."""
    spark, files = writing.spark, writing.files
    if files.lost():
        raise OutputError(f"{files.location}: another run took over, as it saw no sign of life of this one")
    told = cleaned.told
    if told is None:
        schema = spark.createDataFrame([], tables.ddl(writing.task.schema)).schema
        staged = f"{files.location}/{ledger.staged(writing.run_id, wave)}"
        counts = record.count(spark.read.schema(schema).parquet(literal(staged)))
    else:
        counts = told.counts
    splits = plan.splits(writing.plan, wave)
    entry = Entry(
        wave=wave,
        files=ledger.publish(files, writing.run_id, wave, None if told is None else told.files),
        n_splits=splits.num_rows,
        n_bytes=plan.weight(splits),
        counts=counts,
        seconds=round(time.monotonic() - cleaned.started, 2),
        finished_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        stages={stage: round(seconds, 3) for stage, seconds in cleaned.spent.value.items()},
    )
    ledger.enter(files, entry)
    return entry


@contextmanager
def _as_wave(writing: Writing, wave: int, *, weight: int, n_tasks: int) -> Iterator[None]:
    """Marks the jobs of this thread as the wave's, for progress, and as the run's, for its end."""
    context, group = writing.spark.sparkContext, f"{writing.run_id}, wave {wave}"
    context.addJobTag(writing.run_id)
    context.setLocalProperty("spark.scheduler.pool", None)  # type: ignore[arg-type] # as PySpark's own tests do
    context.setJobGroup(group, f"victor clean, wave {wave}", interruptOnCancel=True)
    writing.tally.begin(group, weight=weight, n_tasks=n_tasks)
    try:
        yield
    finally:
        writing.tally.end(group)
        context.setJobGroup(f"{writing.run_id}, counting", "victor clean, counting")
        context.setLocalProperty("spark.scheduler.pool", "counting")


def literal(path: str) -> str:
    """A path as Spark's readers take it, which understand glob patterns."""
    return "".join(f"\\{character}" if character in "[]{}*?\\" else character for character in path)
