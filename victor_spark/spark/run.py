"""The main job: inputs → plan → waves of clean pages in OUT/pages, with OUT/_run as its record."""

import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final
from uuid import uuid4

from pyspark.sql import SparkSession

from victor_spark import pipeline
from victor_spark.errors import BudgetError, OutputError, described
from victor_spark.redaction import redacted_message
from victor_spark.spark import account, ledger, manifest, output, pages, plan, record, spending, waves
from victor_spark.spark.account import Circumstances
from victor_spark.spark.budget import Budget
from victor_spark.spark.clean_partition import CleanTask, models_hashes
from victor_spark.spark.files import Files, is_local, java_errors_as_output_errors, open_files
from victor_spark.spark.interrupts import interruptible
from victor_spark.spark.layout import Layout
from victor_spark.spark.ledger import Entry
from victor_spark.spark.limits import Limits
from victor_spark.spark.manifest import Manifest
from victor_spark.spark.pages import Cleaned, Writing
from victor_spark.spark.plan import Plan
from victor_spark.spark.progress import Tally, many, progress
from victor_spark.spark.session import check_master, session
from victor_spark.spark.spending import Spending
from victor_spark.warc.shard import ReadOptions

_PATIENCE_SECONDS: Final = 10.0


@dataclass(frozen=True, kw_only=True)
class CleanJob:
    """What `victor clean INPUT... --output OUT` was asked for."""

    inputs: tuple[str, ...]
    output: str
    settings: pipeline.Settings = pipeline.Settings()
    reading: ReadOptions = ReadOptions()
    blocks: bool = False
    html: bool = False
    layout: Layout = Layout()
    limits: Limits = Limits()
    base_url: str | None = None
    master: str | None = None
    partitions: int | None = None
    split_bytes: int | None = None
    wave_bytes: int | None = None
    engine: str = "arrow"
    budget: Budget = Budget()


@dataclass(frozen=True)
class _Checked:
    """A job after every check that needs no Spark; `run_id` is the tag of its jobs, `stop` ends it."""

    job: CleanJob
    shards: Manifest
    models: dict[str, bytes]
    config: dict[str, Any]
    run_id: str
    stop: threading.Event


def run(job: CleanJob) -> dict[str, Any]:
    """Runs the job and returns its run.json; that of an earlier run if it is already done.

    Whatever is wrong with inputs, models or output raises before the first page and leaves nothing behind.
    """
    check_master(job.master)
    files = open_files(job.output, None) if is_local(job.output) else None
    if files is not None:
        output.check(files)
    checked = _checked(job)
    if files is not None and (finished := output.finished_run(files, checked.config, checked.shards.table)):
        return _already_done(finished, job)
    return interruptible(partial(_run_on_spark, files, checked), group=checked.run_id, stop=checked.stop)


def _checked(job: CleanJob) -> _Checked:
    models = pipeline.models(job.settings)
    shards = manifest.collect(job.inputs, job.base_url, tell=_tell_looked_up())
    if shards.missing:
        _say(f"{len(shards.missing)} of {len(shards)} shards can't be had, such as {shards.problems[0]}")
    config = record.config(
        settings=job.settings,
        reading=job.reading,
        blocks=job.blocks,
        html=job.html,
        partition_by=job.layout.partition_by,
        limits=job.limits,
        models=models_hashes(models),
        inputs=manifest.summary(shards.table),
    )
    return _Checked(job, shards, models, config, f"victor-{uuid4()}", threading.Event())


def _run_on_spark(files: Files | None, checked: _Checked) -> dict[str, Any]:
    job = checked.job
    with session(master=job.master) as spark:
        if files is None:
            with java_errors_as_output_errors(job.output):
                files = open_files(job.output, spark)
                output.check(files)
                finished = output.finished_run(files, checked.config, checked.shards.table)
            if finished:
                return _already_done(finished, job)
        with output.claimed(files):
            return _run(spark, files, checked)


def _run(spark: SparkSession, files: Files, checked: _Checked) -> dict[str, Any]:
    job, n_cores = checked.job, spark.sparkContext.defaultParallelism
    planned = plan.plan(
        checked.shards.table,
        n_cores=n_cores,
        split_bytes=job.split_bytes,
        wave_bytes=job.wave_bytes,
        least_wave_bytes=job.layout.wave_bytes,
    )
    planned = output.begin(files, checked.config, planned)
    done = ledger.tidy(files)
    _say(_beginning(planned, len(done), spark.sparkContext.master))
    spent = Spending(job.budget, n_shards=planned.shards.num_rows, n_bytes=int(planned.begins[-1]))
    told = partial(_told, checked, planned, _spark(spark, job), datetime.now(UTC), time.monotonic())
    try:
        spent.add(*done.values())
        n_here = _clean(spark, files, checked, planned, done, spent)
    except BudgetError as error:
        output.stop(files, account.of_run(told(), _ledger(files, done), len(done)), str(error))
        raise
    entries = _ledger(files, done)
    if len(entries) < len(done) + n_here:
        raise OutputError(
            f"{job.output}: pages went that were there already; the same command makes them again"
        )
    finished = account.of_run(told(), entries, len(done))
    output.finish(files, finished)
    for line in account.summary(finished, job.output):
        _say(line)
    return finished


def _spark(spark: SparkSession, job: CleanJob) -> dict[str, Any]:
    context = spark.sparkContext
    return {"master": context.master, "engine": job.engine, "n_cores": context.defaultParallelism}


def _told(
    checked: _Checked, planned: Plan, spark: Mapping[str, Any], began: datetime, started: float
) -> Circumstances:
    return Circumstances(
        config=checked.config,
        spark=spark,
        n_shards=planned.shards.num_rows,
        budget=checked.job.budget,
        began=began,
        seconds=time.monotonic() - started,
    )


def _ledger(files: Files, done: Mapping[int, Entry]) -> list[Entry]:
    """The entries of all waves that are done, those first that were so before."""
    entries = ledger.tidy(files)
    return sorted(entries.values(), key=lambda entry: (entry.wave not in done, entry.wave))


def _clean(
    spark: SparkSession,
    files: Files,
    checked: _Checked,
    planned: Plan,
    done: Mapping[int, Entry],
    spent: Spending,
) -> int:
    """Cleans the waves that are missing, and returns how many; BudgetError if too much failed."""
    n_bytes_done = sum(entry.n_bytes for entry in done.values())
    writing = Writing(
        spark=spark,
        files=files,
        plan=planned,
        task=_task(spark, checked),
        tally=Tally(int(planned.begins[-1]), n_bytes_done),
        run_id=checked.run_id,
        engine=checked.job.engine,
        n_tasks=checked.job.partitions,
        layout=checked.job.layout,
    )

    def commit(wave: int, cleaned: Cleaned) -> None:
        spent.add(pages.commit(writing, wave, cleaned))

    with progress(spark.sparkContext, writing.tally):
        committed = waves.run(
            (wave for wave in plan.waves(planned) if wave not in done),
            partial(pages.clean, writing),
            commit,
            failed=partial(_note_failure, files, checked.stop),
            stop=lambda: checked.stop.is_set() or files.lost(),
        )
    return len(committed)


def _note_failure(files: Files, stop: threading.Event, wave: int, error: BaseException) -> None:
    """Leaves word of a wave that failed, for `victor status`; not of one that was cancelled."""
    if stop.is_set() or files.lost() or isinstance(error, BudgetError):
        return
    with suppress(Exception):  # the disk may be full: what counts is the error itself
        ledger.note_failure(files, wave, described(error))
    _say(f"wave {wave} failed; the same command goes on from the waves that are done")


def _beginning(planned: Plan, n_done: int, master: str | None) -> str:
    n_waves, shards = sum(1 for _ in plan.waves(planned)), many(planned.shards.num_rows, "shard")
    if n_done:
        return f"going on with {shards} on {master}: {n_done} of {n_waves} waves are done"
    return f"cleaning {shards} in {many(n_waves, 'wave')} on {master}"


def _task(spark: SparkSession, checked: _Checked) -> CleanTask:
    return CleanTask(
        settings=checked.job.settings,
        reading=checked.job.reading,
        models=spark.sparkContext.broadcast(checked.models),
        models_hash=repr(sorted(checked.config["models"].items())),
        blocks=checked.job.blocks,
        html=checked.job.html,
        crawl=checked.job.layout.partition_by == "crawl",
        limits=checked.job.limits,
    )


def _already_done(finished: dict[str, Any], job: CleanJob) -> dict[str, Any]:
    _say(f"already done on {finished['finished_at']}: nothing to do")
    for line in account.summary(finished, job.output):
        _say(line)
    spending.check(job.budget, spending.failed_in(finished))
    return finished


def _tell_looked_up() -> Callable[[int], None]:
    """Says now and then how many shards were looked up, where that takes long."""
    last = time.monotonic()

    def tell(n: int) -> None:
        nonlocal last
        if time.monotonic() - last > _PATIENCE_SECONDS:
            last = time.monotonic()
            _say(f"{many(n, 'shard')} looked up")

    return tell


def _say(line: str) -> None:
    print(f"victor: {redacted_message(line)}", file=sys.stderr, flush=True)
