"""The main job: inputs → plan → clean → OUT/pages, with OUT/_run as its record."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import uuid4

from pyspark.sql import DataFrame, SparkSession

from victor_spark import pipeline, tables
from victor_spark.archive import inputs
from victor_spark.archive.inputs import Shard
from victor_spark.archive.records import ReadOptions
from victor_spark.spark import output, plan, record
from victor_spark.spark.clean_partition import CleanTask, clean_partition, clean_rows, models_hashes
from victor_spark.spark.files import Files, is_local, java_errors_as_output_errors, open_files
from victor_spark.spark.interrupts import interruptible
from victor_spark.spark.limits import Limits
from victor_spark.spark.progress import clock, progress
from victor_spark.spark.session import session


@dataclass(frozen=True, kw_only=True)
class CleanJob:
    """What `victor clean INPUT... --output OUT` was asked for."""

    inputs: tuple[str, ...]
    output: str
    settings: pipeline.Settings = pipeline.Settings()
    reading: ReadOptions = ReadOptions()
    blocks: bool = False
    limits: Limits = Limits()
    base_url: str | None = None
    master: str | None = None
    partitions: int | None = None
    engine: str = "arrow"


@dataclass(frozen=True)
class _Checked:
    """A job after every check that needs no Spark."""

    job: CleanJob
    shards: tuple[Shard, ...]
    models: dict[str, bytes]
    config: dict[str, Any]
    manifest: bytes


def run(job: CleanJob) -> dict[str, Any]:
    """Runs the job and returns its run.json; that of an earlier run if it is already done.

    Whatever is wrong with inputs, models or output raises before the first page and leaves nothing behind.
    """
    files = open_files(job.output, None) if is_local(job.output) else None
    if files is not None:
        output.check(files)
    checked = _checked(job)
    if files is not None and (finished := output.finished_run(files, checked.config)):
        return _already_done(finished, job)
    group = f"victor clean {uuid4()}"
    return interruptible(partial(_run_on_spark, files, checked, group), group=group)


def _run_on_spark(files: Files | None, checked: _Checked, group: str) -> dict[str, Any]:
    job = checked.job
    with session(master=job.master) as spark:
        if files is None:
            with java_errors_as_output_errors(job.output):
                files = open_files(job.output, spark)
                output.check(files)
                finished = output.finished_run(files, checked.config)
            if finished:
                return _already_done(finished, job)
        spark.sparkContext.setJobGroup(group, "victor clean", interruptOnCancel=True)
        with output.claimed(files, checked.config, checked.manifest):
            return _run(spark, files, checked, group)


def _checked(job: CleanJob) -> _Checked:
    shards = inputs.resolve(job.inputs, base_url=job.base_url)
    models = pipeline.models(job.settings)
    manifest = output.manifest(shards)
    config = record.config(
        settings=job.settings,
        reading=job.reading,
        blocks=job.blocks,
        limits=job.limits,
        models=models_hashes(models),
        inputs=output.manifest_summary(manifest),
    )
    return _Checked(job, shards, models, config, manifest)


def _run(spark: SparkSession, files: Files, checked: _Checked, group: str) -> dict[str, Any]:
    job, started_at, timings = checked.job, datetime.now(UTC), dict[str, float]()
    n_tasks = job.partitions or plan.n_tasks(checked.shards, n_cores=spark.sparkContext.defaultParallelism)
    _say(f"cleaning {len(checked.shards)} shards in {n_tasks} tasks on {spark.sparkContext.master}")
    pages = f"{files.location}/{output.PAGES}"
    rows = clean(spark, checked.shards, _task(spark, checked), n_tasks=n_tasks, engine=job.engine)
    with _timed(timings, "clean"), progress(spark.sparkContext, n_tasks=n_tasks, group=group):
        _write(rows, pages)
    with _timed(timings, "count"):
        counts = record.count(spark.read.schema(rows.schema).parquet(_literal(pages)))
    finished = {
        "started_at": started_at.isoformat(timespec="seconds"),
        "finished_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": record.versions(),
        "config": checked.config,
        "spark": {"master": spark.sparkContext.master, "engine": job.engine, "n_tasks": n_tasks},
        "n_shards": len(checked.shards),
        "n_failed_shards": counts.n_failed_shards,
        "n_rows": counts.n_rows,
        "n_pages": counts.n_pages,
        "statuses": counts.statuses,
        "reasons": counts.reasons,
        "seconds": timings,
        "pages_per_second": round(counts.n_pages / timings["clean"], 1),
    }
    output.commit(files, finished)
    for line in summary(finished, job.output):
        _say(line)
    return finished


def clean(
    spark: SparkSession, shards: tuple[Shard, ...], task: CleanTask, *, n_tasks: int, engine: str = "arrow"
) -> DataFrame:
    """Shards → the pages table as a DataFrame, one task a partition; both engines run `clean_partition`."""
    ddl = tables.ddl(task.schema)
    planned = plan.plan(spark, shards, n=n_tasks)
    if engine == "rdd":
        rows = planned.rdd.mapPartitions(partial(clean_rows, task=task))
        return spark.createDataFrame(rows, ddl, verifySchema=False)
    return planned.mapInArrow(partial(clean_partition, task=task), ddl)


def _write(rows: DataFrame, location: str) -> None:
    versioned = rows.withMetadata(tables.VERSION_COLUMN, {tables.VERSION_KEY: tables.PAGES_VERSION})
    versioned.write.mode("overwrite").parquet(location, compression="zstd")


def summary(finished: dict[str, Any], location: str) -> list[str]:
    """What a run came to, in a few lines for people."""
    statuses = ", ".join(f"{status} {n}" for status, n in finished["statuses"].items()) or "no pages"
    seconds = finished["seconds"]["clean"]
    rate = f"{finished['pages_per_second']} pages/s"
    lines = [f"{finished['n_pages']} pages in {clock(seconds)} ({rate}): {statuses}"]
    if n_failed := finished["n_failed_shards"]:
        reasons = finished["reasons"].get("error", {})
        shards = "1 shard" if n_failed == 1 else f"{n_failed} shards"
        lines.append(f"{shards} couldn't be read, such as: {next(iter(reasons), 'unknown')}")
    return [*lines, f"rows in {location}/{output.PAGES}, record of the run in {location}/{output.RUN}"]


def _task(spark: SparkSession, checked: _Checked) -> CleanTask:
    return CleanTask(
        settings=checked.job.settings,
        reading=checked.job.reading,
        models=spark.sparkContext.broadcast(checked.models),
        models_hash=repr(sorted(checked.config["models"].items())),
        blocks=checked.job.blocks,
        limits=checked.job.limits,
    )


def _already_done(finished: dict[str, Any], job: CleanJob) -> dict[str, Any]:
    _say(f"already done on {finished['finished_at']}: nothing to do")
    for line in summary(finished, job.output):
        _say(line)
    return finished


def _literal(path: str) -> str:
    """A path as Spark's readers take it, which understand glob patterns."""
    return "".join(f"\\{character}" if character in "[]{}*?\\" else character for character in path)


@contextmanager
def _timed(timings: dict[str, float], name: str) -> Iterator[None]:
    start = time.monotonic()
    yield
    timings[name] = round(time.monotonic() - start, 2)


def _say(line: str) -> None:
    print(f"victor: {line}", file=sys.stderr, flush=True)
