"""The mining job: inputs → a sample of each site's pages → templates, and a report of all sites.

The table is small beside the crawl (cleaning broadcasts it), so the driver gathers it and writes it whole.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from victor_spark import pipeline, tables
from victor_spark.redaction import redacted_message
from victor_spark.spark import manifest, plan, template_files
from victor_spark.spark.clean_partition import CleanTask, models_hashes
from victor_spark.spark.interrupts import interruptible
from victor_spark.spark.limits import Limits
from victor_spark.spark.progress import Tally, clock, many, progress
from victor_spark.spark.session import session
from victor_spark.spark.site_pages import SITE_PAGES, Sampling, gathered, sample_partition
from victor_spark.templates import history, table, tokens
from victor_spark.templates.mine import MiningSettings, check, mine
from victor_spark.templates.table import NO_TEMPLATES, AcrossSettings
from victor_spark.warc import inputs
from victor_spark.warc.shard import ReadOptions, Shard

MINED: Final = pa.schema(
    [
        *table.TEMPLATES,
        ("status", pa.string()),
        ("reason", pa.string()),
        ("n_seen", pa.int64()),
    ]
)
"""A template; or, without a regex, what became of a site; or, without a site, records that are no pages."""

_GROUP_ROWS: Final = 100
"""Pages that Spark hands over at a time."""


@dataclass(frozen=True, kw_only=True)
class MiningJob:
    """What `victor templates mine INPUT... --output templates.parquet` was asked for."""

    inputs: tuple[str, ...]
    output: str
    mining: MiningSettings = field(default_factory=MiningSettings)
    sampling: Sampling = field(default_factory=Sampling)
    across: AcrossSettings = field(default_factory=AcrossSettings)
    settings: pipeline.Settings = pipeline.Settings()
    reading: ReadOptions = ReadOptions()
    limits: Limits = Limits()
    update: str | None = None
    base_url: str | None = None
    master: str | None = None
    partitions: int | None = None


@dataclass(frozen=True)
class MiningResult:
    """The templates, one row a site, and how many records were no pages, by reason."""

    templates: pa.Table
    sites: pa.Table
    problems: dict[str, int]


def run(job: MiningJob) -> MiningResult:
    """Runs the job; whatever is wrong with inputs, options or output raises before the first page."""
    shards = inputs.resolve(job.inputs, base_url=job.base_url)
    check(job.mining)  # a pattern that doesn't compile is a UsageError now
    old = _old(job)
    models = _models(job)
    group = f"victor templates mine {uuid4()}"
    return interruptible(partial(_run_on_spark, job, shards, models, old, group), group=group)


def _old(job: MiningJob) -> pa.Table | None:
    if job.update is None:
        return None
    old = table.read(job.update)
    template_files.check_same(old, job.mining.view, job.sampling.grouping, name=job.update)
    return old


def _models(job: MiningJob) -> dict[str, bytes]:
    """What cleaning needs: for `cleaned` the cleaner's models, otherwise nothing but languages."""
    if job.mining.view == tokens.CLEANED:
        return pipeline.models(job.settings)
    return pipeline.language_models()


def _run_on_spark(
    job: MiningJob, shards: tuple[Shard, ...], models: dict[str, bytes], old: pa.Table | None, group: str
) -> MiningResult:
    started = datetime.now(UTC)
    with session(master=job.master) as spark:
        files = template_files.opened(job.output, spark)
        spark.sparkContext.setJobGroup(group, "victor templates mine", interruptOnCancel=True)
        n_cores = spark.sparkContext.defaultParallelism
        splits = plan.all_splits(manifest.of_shards(shards), n_cores=n_cores)
        n_tasks = job.partitions or plan.n_tasks(splits, n_cores=n_cores)
        tally = Tally(1)
        tally.begin(group, weight=1, n_tasks=n_tasks)
        _say(f"mining {many(len(shards), 'shard')} in {many(n_tasks, 'task')} on {spark.sparkContext.master}")
        with progress(spark.sparkContext, tally):
            new = mined(spark, splits, _task(spark, job, models), job, n_tasks=n_tasks, mined_at=started)
        templates = new.templates if old is None else history.update(old, new.templates, _without(new.sites))
        written = table.with_grouping(templates, job.sampling.grouping)
        template_files.write(files, job.output, written, new.sites)
    result = replace(new, templates=written)
    for line in summary(result, job.output, (datetime.now(UTC) - started).total_seconds()):
        _say(line)
    return result


def _task(spark: SparkSession, job: MiningJob, models: dict[str, bytes]) -> CleanTask:
    cleaned = job.mining.view == tokens.CLEANED
    return CleanTask(
        settings=job.settings if cleaned else pipeline.EVERYTHING,
        reading=job.reading,
        models=spark.sparkContext.broadcast(models),
        models_hash=repr(models_hashes(models)),
        blocks=True,
        html=job.mining.view == tokens.HTML,
        limits=job.limits,
    )


def mined(
    spark: SparkSession,
    splits: pa.Table,
    task: CleanTask,
    job: MiningJob,
    *,
    n_tasks: int,
    mined_at: datetime,
) -> MiningResult:
    """The templates of all sites of these splits."""
    sampling = partial(sample_partition, task=task, sampling=job.sampling)
    pages = plan.frame(spark, splits, n=n_tasks).mapInArrow(sampling, tables.ddl(SITE_PAGES))
    with _batches_of(spark, _GROUP_ROWS):
        rows = pages.groupBy("site").applyInArrow(_miner(job, mined_at), tables.ddl(MINED)).persist()
        try:
            of_sites = rows.where("regex is null").drop(*_only_of_templates()).toArrow()
            templates = _with_n_sites(rows.where("regex is not null")).toArrow()
        finally:
            rows.unpersist()
    sites = of_sites.filter(pc.is_valid(of_sites["site"]))
    n_mined = pc.sum(pc.equal(sites["status"], "ok")).as_py() or 0
    kept = table.filter_across(_ordered(templates), n_mined, job.across)
    return MiningResult(kept, _sites_report(sites, kept), _problems(of_sites))


def _miner(
    job: MiningJob, mined_at: datetime
) -> Callable[[tuple[pa.Scalar, ...], Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    settings, sampling = job.mining, job.sampling

    # Spark tells by these hints that pages come in batches, not a site at once.
    def mine_site(key: tuple[pa.Scalar, ...], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        site = key[0].as_py()
        if site is None:
            yield from _problem_rows(batches)
            return
        sampled = gathered(batches, sampling)
        found = replace(mine(site, sampled.texts, settings), n_seen=sampled.counts.n_pages)
        seen = {
            "first_seen": sampled.counts.first_seen or mined_at,
            "last_seen": sampled.counts.last_seen or mined_at,
        }
        of_site = {
            "site": site,
            "view": found.view,
            "status": found.status,
            "reason": found.reason,
            "n_seen": found.n_seen,
            "n_pages": found.n_pages,
            "cut_off": found.cut_off,
            "histogram": list(found.histogram),
            "mined_at": mined_at,
        }
        rows = [{**row, **seen} for row in table.rows(found, mined_at).to_pylist()]
        yield pa.RecordBatch.from_pylist([{**of_site, **seen}, *rows], schema=MINED)

    return mine_site


def _problem_rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        rows = [{"reason": row["problem"], "n_seen": row["n_pages"]} for row in batch.to_pylist()]
        yield pa.RecordBatch.from_pylist(rows, schema=MINED)


def _with_n_sites(templates: DataFrame) -> DataFrame:
    """The templates with how many sites have the same expression: the join of the second-level filter."""
    counted = templates.groupBy("view", "regex").agg(sf.countDistinct("site").cast("int").alias("n"))
    joined = templates.join(counted, ["view", "regex"]).withColumn("n_sites_seen", sf.col("n"))
    return joined.select(*table.TEMPLATES.names)


def _only_of_templates() -> list[str]:
    return [name for name in MINED.names if name not in template_files.SITES.names]


@contextmanager
def _batches_of(spark: SparkSession, n_rows: int) -> Iterator[None]:
    """Lets Spark hand over pages by so many: they may be long."""
    key = "spark.sql.execution.arrow.maxRecordsPerBatch"
    before = str(spark.conf.get(key))
    spark.conf.set(key, n_rows)
    try:
        yield
    finally:
        spark.conf.set(key, before)


def _ordered(templates: pa.Table) -> pa.Table:
    """The same rows in the same order, however the job was cut into tasks."""
    columns = [templates[field.name].combine_chunks().cast(field.type) for field in table.TEMPLATES]
    same = pa.Table.from_arrays(columns, schema=table.TEMPLATES)
    return same.sort_by([("site", "ascending"), ("document_frequency", "descending"), ("regex", "ascending")])


def _sites_report(sites: pa.Table, templates: pa.Table) -> pa.Table:
    n_templates: dict[str, int] = {
        row["values"]: row["counts"] for row in pc.value_counts(templates["site"]).to_pylist()
    }
    rows = sorted(sites.to_pylist(), key=lambda row: str(row["site"]))
    return pa.Table.from_pylist(
        [{**row, "n_templates": n_templates.get(row["site"], 0)} for row in rows],
        schema=template_files.SITES,
    )


def _without(sites: pa.Table) -> set[tuple[str, str]]:
    """The sites that were mined and gave nothing."""
    return {(row["site"], row["view"]) for row in sites.to_pylist() if row["status"] == NO_TEMPLATES}


def _problems(of_sites: pa.Table) -> dict[str, int]:
    found: dict[str, int] = {}
    for row in of_sites.filter(pc.is_null(of_sites["site"])).to_pylist():
        found[row["reason"]] = found.get(row["reason"], 0) + row["n_seen"]
    return dict(sorted(found.items(), key=lambda each: (-each[1], each[0])))


def summary(result: MiningResult, output: str, seconds: float) -> list[str]:
    """What a run came to, in a few lines for people."""
    statuses: dict[str, Any] = {}
    for status in result.sites["status"].to_pylist():
        statuses[status] = statuses.get(status, 0) + 1
    counted = ", ".join(f"{status} {n}" for status, n in sorted(statuses.items(), key=lambda each: -each[1]))
    n_pages = sum(result.sites["n_seen"].to_pylist())
    pages, sites = many(n_pages, "page"), many(len(result.sites), "site")
    templates, all_sites = many(len(result.templates), "template"), template_files.sites_path(output)
    lines = [
        f"{pages} of {sites} in {clock(seconds)}: {counted or 'no site'}",
        f"{templates} in {output}, all sites in {all_sites}",
    ]
    if result.problems:
        named = ", ".join(f"{reason} {n}" for reason, n in list(result.problems.items())[:5])
        lines.insert(1, f"{sum(result.problems.values())} records are no pages of a site: {named}")
    return lines


def _say(line: str) -> None:
    print(f"victor: {redacted_message(line)}", file=sys.stderr, flush=True)
