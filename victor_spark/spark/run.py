"""The main job: inputs → plan → waves of clean pages in OUT/pages, with OUT/_run as its record."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from os import fspath
from typing import Any
from uuid import uuid4

from pyspark.sql import SparkSession

from victor_spark import logs, pipeline
from victor_spark.errors import BudgetError, OutputError, UsageError, described
from victor_spark.extractors import victor
from victor_spark.logs import clock, log, many
from victor_spark.request import FIRST_PASS, SECOND_PASS, CleanRequest
from victor_spark.sites.table import SiteTable
from victor_spark.spark import ledger, plan, run_record, site_sums, waves
from victor_spark.spark.failures import disk_errors
from victor_spark.spark.files import Files, LocalFiles, address, is_local, open_files, output_errors
from victor_spark.spark.plan import Plan
from victor_spark.spark.progress import Tally, add_wave, gauges, progress
from victor_spark.spark.run_record import BudgetTracker, Entry, Run
from victor_spark.spark.session import check_master, interruptible, session
from victor_spark.spark.tasks import clean_task
from victor_spark.spark.waves import Writing, Written
from victor_spark.warc import storage


def run(request: CleanRequest) -> dict[str, Any]:
    """Cleans the inputs and returns the run.json; that of an earlier run if it is already done.

    Errors of inputs, models and output are raised before the first page, and leave no files.
    """
    check_master(request.spark.master)
    files = LocalFiles(request.output) if is_local(request.output) else None
    if files is not None:
        ledger.check(files)
    models, earlier = pipeline.models(request.cleaning), None
    if request.sites.by_site:
        models |= victor.site_model()
        if sites := request.cleaning.sites:
            earlier = SiteTable(fspath(sites), models[victor.SITE_TABLE])
            if earlier.files.grouping != request.sites.grouping:
                raise UsageError(f"{sites} has the grouping {earlier.files.grouping}: give it as --group-by")
    shards = plan.collect(request.inputs, request.base_url)
    if shards.missing:
        n = f"{len(shards.missing)} of {len(shards)}"
        log(f"{n} shards can't be read, such as {shards.problems[0]}")
    hashes, inputs = run_record.models_hashes(models), plan.summary(shards.table)
    config = run_record.config(request, models=hashes, inputs=inputs)
    this = Run(request, shards.table, models, config, f"victor-{uuid4()}", earlier)
    if logs.FIELDS is not None:
        logs.structure(run=this.id)
    if files is not None and (finished := _finished(files, this)):
        return finished
    return interruptible(partial(_run_on_spark, files, this), group=this.id, stop=this.stop)


def _run_on_spark(files: Files | None, this: Run) -> dict[str, Any]:
    request = this.request
    with session(master=request.spark.master) as spark:
        if files is None:
            with output_errors(request.output):
                files = open_files(request.output, spark)
                ledger.check(files)
                if finished := _finished(files, this):
                    return finished
        with disk_errors(files.location), ledger.claimed(files):
            if finished := _finished(files, this):  # by a run that ended just now
                return finished
            return _by_site(spark, files, this) if request.sites.by_site else _run(spark, files, this)


def _finished(files: Files, this: Run) -> dict[str, Any] | None:
    """The run.json of an earlier run of the same command, if it is complete; checks the failure budget."""
    request, first = this.request, f"{ledger.FIRST_PASS}/{ledger.MANIFEST}"
    stored_in = first if request.sites.by_site else ledger.MANIFEST
    found = ledger.finished_run(files, this.config, this.shards, stored_in)
    with ledger.undamaged(files):
        if found is None:
            return None
        _tidy(files, request)
        log(f"already done on {found['finished_at']}: nothing to do")
        if request.sites.keep_blocks and not files.names(f"{ledger.FIRST_PASS}/{ledger.PAGES}"):
            log("this run kept no block rows: for --keep-blocks, choose another --output", "warning")
        _log(found, request.output)
        budget = BudgetTracker(request.budget, n_shards=found["n_shards"], n_bytes=found["n_bytes"])
        budget.add(*ledger.entries(files))
    return found


def _by_site(spark: SparkSession, files: Files, this: Run) -> dict[str, Any]:
    """Both passes: scores the pages, adds up the evidence of each site, decides."""
    request, folder = this.request, f"{address(files)}/{ledger.FIRST_PASS}"
    rows = replace(request.rows, partition_by=None, target_file_size=None)
    first_pass = open_files(folder, spark)
    first_pass.lock = files.lock
    with output_errors(folder):  # tasks read it as they read inputs
        storage.is_directory(address(first_pass))
    scored = ledger.finished_run(first_pass, this.config, this.shards)
    if scored is None:
        for name in (ledger.CONFIG, ledger.PLAN, ledger.MANIFEST, ledger.LEDGER):
            files.remove(name)  # of a second pass that had other scored pages
        log("first pass: scores each page by itself")
        cleaning = replace(request.cleaning, sites=None)
        passing = replace(request, rows=rows, output=folder, passing=FIRST_PASS, cleaning=cleaning)
        scored = _run(spark, first_pass, replace(this, request=passing))
    found = ledger.whole(first_pass) or {}
    log(f"between the passes: adding up the evidence of each site in {many(len(found), 'file')}")
    with disk_errors(first_pass.location):
        known = site_sums.gather(spark, first_pass, found, this.id, this.earlier)
    log("second pass: decides each page with the evidence of its site")
    second = replace(request, passing=SECOND_PASS, known=f"{address(first_pass)}/{known}")
    shards = site_sums.scored_files(first_pass, found)
    finished = _run(spark, files, replace(this, shards=shards, request=second), scored)
    _tidy(files, request)
    return finished


def _tidy(files: Files, request: CleanRequest) -> None:
    """Removes the files of the first pass, unless --keep-blocks is set."""
    if request.sites.by_site and not request.sites.keep_blocks:
        known = ledger.stored(files, f"{ledger.FIRST_PASS}/{site_sums.KNOWN}")
        for name in (ledger.PAGES, *([known["folder"]] if known else []), site_sums.KNOWN):
            files.remove(f"{ledger.FIRST_PASS}/{name}")


def _run(spark: SparkSession, files: Files, this: Run, first: dict[str, Any] | None = None) -> dict[str, Any]:
    """One pass; the second one has the run.json of the `first`."""
    request, context = this.request, spark.sparkContext
    planned = plan.of_request(this.shards, request, n_cores=context.defaultParallelism)
    planned = ledger.begin(files, this.config, planned)
    done = ledger.tidy(files)
    n_waves, shards = len(plan.waves(planned)), many(this.n_shards, "shard")
    if done:
        log(f"resuming {shards} on {context.master}: {len(done)} of {n_waves} waves are done")
    else:
        log(f"cleaning {shards} in {many(n_waves, 'wave')} on {context.master}")
    budget = BudgetTracker(request.budget, n_shards=this.n_shards, n_bytes=int(planned.begins[-1]))

    def entries() -> list[Entry]:
        """The entries of all waves that are done, those of earlier runs first."""
        return sorted(ledger.tidy(files).values(), key=lambda entry: (entry.wave not in done, entry.wave))

    try:
        budget.add(*done.values())
        n_here = _clean(spark, files, this, planned, done, budget)
    except BudgetError as error:
        ledger.stop(files, run_record.run_json(this, entries(), len(done), context), str(error))
        raise
    found = entries()
    if len(found) < len(done) + n_here:
        line = f"{request.output}: files of waves that were done are missing"
        raise OutputError(f"{line}; the same command makes them again")
    finished = run_record.run_json(this, found, len(done), context)
    if first is not None:
        if finished["n_rows"] != first["n_rows"]:
            rows = f"{first['n_rows']} rows were scored, and {finished['n_rows']} decided"
            raise OutputError(f"{request.output}: {rows}; remove {ledger.FIRST_PASS} from it, and run again")
        names = ("started_at", "finished_at", "n_bytes", "seconds", "stages")
        finished["first_pass"] = {name: first[name] for name in names}
    ledger.stored_plan(files)  # OutputError if another program removed a file that readers of OUT need
    ledger.finish(files, finished)
    if request.passing != FIRST_PASS:
        _log(finished, request.output)
    return finished


def _clean(
    spark: SparkSession, files: Files, this: Run, planned: Plan, done: dict[int, Entry], budget: BudgetTracker
) -> int:
    """Cleans the waves that are missing, and returns how many; BudgetError if too much failed."""
    task = clean_task(spark, this.request, this.models)
    tally = Tally(int(planned.begins[-1]), sum(entry.n_bytes for entry in done.values()))
    writing = Writing(spark=spark, files=files, plan=planned, task=task, tally=tally, run_id=this.id)
    missing = (wave for wave in plan.waves(planned) if wave not in done)
    made = gauges(spark.sparkContext, done.values())

    def commit(wave: int, written: Written) -> None:
        entry = waves.commit(writing, wave, written)
        add_wave(made, entry)
        budget.add(entry)

    def failed(wave: int, error: BaseException) -> None:
        """Keeps the reason for `victor status`, unless the wave was cancelled."""
        if this.stop.is_set() or files.lock.lost() or isinstance(error, BudgetError):
            return
        with suppress(Exception):  # the disk may be full: the error itself matters more
            ledger.note_failure(files, wave, described(error))
        line = f"wave {wave} failed; the same command resumes after the waves that are done"
        log(line, "warning", wave=wave, reason=described(error))

    def check_held() -> None:
        """Raises if the run must not begin another wave."""
        waves.check_lease(files)
        if this.stop.is_set():
            raise KeyboardInterrupt

    with progress(spark.sparkContext, tally):
        return len(waves.run(missing, partial(waves.clean, writing), commit, failed=failed, check=check_held))


def _log(finished: Mapping[str, Any], location: str) -> None:
    """A run.json in a few lines for people."""
    counts = run_record.page_statuses(finished)
    statuses = ", ".join(f"{status} {n}" for status, n in counts.items()) or "the inputs hold no html records"
    n_here = finished["n_pages"] - finished["n_pages_of_earlier_runs"]
    took, rate = clock(finished["seconds"]["clean"]), f"{finished['pages_per_second']} pages/s"
    is_resumed = n_here != finished["n_pages"]
    took = f"several runs (the last: {n_here} in {took}, {rate})" if is_resumed else f"{took} ({rate})"
    log(f"{finished['n_pages']} page{'s' * (finished['n_pages'] != 1)} in {took}: {statuses}")
    if n_failed := finished["n_failed_shards"]:
        reason = next(iter(finished["failed_shards"].values()), "unknown")
        log(f"{many(n_failed, 'shard')} couldn't be read to the end, such as: {reason}")
    rows, run_json, charts = (f"{location}/{name}" for name in (ledger.PAGES, ledger.RUN, ledger.REPORT))
    log(f"rows in {rows}, record of the run in {run_json}, charts in {charts}")
