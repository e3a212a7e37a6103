"""The mining job: inputs → a sample of each site's pages → templates, and a report of all sites.

The table is small beside the crawl (cleaning broadcasts it), so the driver gathers it and writes it whole.
"""

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Final
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from victor_spark import pipeline, tables
from victor_spark.errors import InputError, OutputError, UsageError
from victor_spark.logs import clock, log
from victor_spark.spark import manifest, plan
from victor_spark.spark.files import Files, open_files, output_errors
from victor_spark.spark.progress import Tally, many, progress
from victor_spark.spark.request import CleanRequest, RowOptions
from victor_spark.spark.session import interruptible, session
from victor_spark.spark.site_pages import MINED, SITE_PAGES, Sampling, miner, sample_partition
from victor_spark.spark.tasks import CleanTask, clean_task
from victor_spark.templates import coverage, table, tokens
from victor_spark.templates.mine import MiningSettings, check
from victor_spark.templates.table import NO_TEMPLATES, AcrossSettings
from victor_spark.warc import inputs
from victor_spark.warc.shard import Shard

SITES: Final = pa.schema(
    [
        ("site", pa.string()),
        ("view", pa.string()),
        ("status", pa.string()),
        ("reason", pa.string()),
        ("n_seen", pa.int64()),
        ("n_pages", pa.int64()),
        ("n_templates", pa.int64()),
        ("cut_off", pa.int64()),
        ("histogram", pa.list_(pa.int64())),
        ("first_seen", pa.timestamp("us", tz="UTC")),
        ("last_seen", pa.timestamp("us", tz="UTC")),
    ]
)
"""One row a site, also for those that were not mined."""

_GROUP_ROWS: Final = 100
"""Pages in an Arrow batch of Spark."""


@dataclass(frozen=True, kw_only=True)
class MiningRequest:
    """What `victor templates mine` was asked for; `clean` has inputs, output and how pages are read."""

    clean: CleanRequest
    mining: MiningSettings = field(default_factory=MiningSettings)
    sampling: Sampling = field(default_factory=Sampling)
    across: AcrossSettings = field(default_factory=AcrossSettings)
    update: str | None = None


@dataclass(frozen=True)
class MiningResult:
    """The templates, one row a site, and how many records were no pages, by reason."""

    templates: pa.Table
    sites: pa.Table
    problems: dict[str, int]


def run(request: MiningRequest) -> MiningResult:
    """Runs the job; whatever is wrong with inputs, options or output raises before the first page."""
    shards = inputs.resolve(request.clean.inputs, base_url=request.clean.base_url)
    check(request.mining)  # a pattern that doesn't compile is a UsageError now
    old = None
    if request.update is not None:
        old = table.read(request.update)
        _check_same(old, request.mining.view, request.sampling.grouping, name=request.update)
    view, clean = request.mining.view, request.clean
    if view != tokens.CLEANED:  # keeps all blocks
        clean = replace(clean, cleaning=pipeline.EVERYTHING)
    clean = replace(clean, rows=RowOptions(blocks=True, html=view == tokens.HTML))
    models = pipeline.models(clean.cleaning) if view == tokens.CLEANED else pipeline.language_models()
    group = f"victor templates mine {uuid4()}"
    action = partial(_run_on_spark, replace(request, clean=clean), shards, models, old, group)
    return interruptible(action, group=group)


def _run_on_spark(
    request: MiningRequest,
    shards: tuple[Shard, ...],
    models: dict[str, bytes],
    old: pa.Table | None,
    group: str,
) -> MiningResult:
    started, output = datetime.now(UTC), request.clean.output
    with session(master=request.clean.spark.master) as spark:
        files = _opened(output, spark)
        spark.sparkContext.setJobGroup(group, "victor templates mine", interruptOnCancel=True)
        n_cores = spark.sparkContext.defaultParallelism
        table_of_shards = manifest.of_shards(shards)
        one_wave = plan.plan(table_of_shards, n_cores=n_cores, wave_bytes=plan.weight(table_of_shards))
        splits = plan.splits(one_wave, 0)
        n_tasks = request.clean.spark.partitions or plan.n_tasks(splits, n_cores=n_cores)
        tally = Tally(1)
        tally.begin(group, weight=1, n_tasks=n_tasks)
        log(f"mining {many(len(shards), 'shard')} in {many(n_tasks, 'task')} on {spark.sparkContext.master}")
        task = clean_task(spark, request.clean, models)
        with progress(spark.sparkContext, tally):
            new = mined(spark, splits, task, request, n_tasks=n_tasks, mined_at=started)
        templates = new.templates
        if old is not None:
            rows = new.sites.to_pylist()
            without = {(row["site"], row["view"]) for row in rows if row["status"] == NO_TEMPLATES}
            templates = table.update(old, templates, without)
        written = table.with_grouping(templates, request.sampling.grouping)
        _write(files, output, written, new.sites)
    result = replace(new, templates=written)
    for line in summary(result, output, (datetime.now(UTC) - started).total_seconds()):
        log(line)
    return result


def mined(
    spark: SparkSession,
    splits: pa.Table,
    task: CleanTask,
    request: MiningRequest,
    *,
    n_tasks: int,
    mined_at: datetime,
) -> MiningResult:
    """The templates of all sites of these splits."""
    sampling = partial(sample_partition, task=task, sampling=request.sampling, view=request.mining.view)
    pages = plan.frame(spark, splits, n=n_tasks).mapInArrow(sampling, tables.ddl(SITE_PAGES))
    mine_sites = miner(request.mining, request.sampling, mined_at)
    key = "spark.sql.execution.arrow.maxRecordsPerBatch"
    before = str(spark.conf.get(key))
    spark.conf.set(key, _GROUP_ROWS)
    try:
        by_site = pages.repartition("site").sortWithinPartitions("site")
        found = by_site.mapInArrow(mine_sites, "batch binary").collect()
    finally:
        spark.conf.set(key, before)
    rows = pa.Table.from_batches(
        [pa.ipc.read_record_batch(pa.py_buffer(row.batch), MINED) for row in found], MINED
    )
    about = [name for name in SITES.names if name in MINED.names]
    of_sites = rows.filter(pc.is_null(rows["regex"])).select(about).to_pylist()
    templates = _with_n_sites(rows.filter(pc.is_valid(rows["regex"])))
    n_mined = sum(row["status"] == "ok" for row in of_sites)
    kept = table.filter_across(templates, n_mined, request.across)
    n_templates = Counter(kept["site"].to_pylist())
    sites = [{**row, "n_templates": n_templates[row["site"]]} for row in of_sites if row["site"] is not None]
    problems = Counter[str]()
    for row in of_sites:
        if row["site"] is None:
            problems[row["reason"]] += row["n_seen"]
    return MiningResult(
        kept,
        pa.Table.from_pylist(sorted(sites, key=lambda row: str(row["site"])), schema=SITES),
        dict(sorted(problems.items(), key=lambda each: (-each[1], each[0]))),
    )


def _with_n_sites(rows: pa.Table) -> pa.Table:
    """The templates with how many sites have the same expression; in order, however the job was cut."""
    view, regex, site = (rows[name].to_pylist() for name in ("view", "regex", "site"))
    n_sites = Counter((view, regex) for view, regex, _ in set(zip(view, regex, site, strict=True)))
    seen = [n_sites[key] for key in zip(view, regex, strict=True)]
    columns = [
        pa.array(seen, field.type) if field.name == "n_sites_seen" else rows[field.name].cast(field.type)
        for field in table.TEMPLATES
    ]
    templates = pa.Table.from_arrays(columns, schema=table.TEMPLATES)
    order = [("site", "ascending"), ("document_frequency", "descending"), ("regex", "ascending")]
    return templates.sort_by(order)


def summary(result: MiningResult, output: str, seconds: float) -> list[str]:
    """The result of a run in a few lines for people."""
    statuses = Counter(result.sites["status"].to_pylist())
    counted = ", ".join(f"{status} {n}" for status, n in statuses.most_common())
    n_pages = sum(result.sites["n_seen"].to_pylist())
    pages, sites = many(n_pages, "page"), many(len(result.sites), "site")
    templates, all_sites = many(len(result.templates), "template"), sites_path(output)
    lines = [
        f"{pages} of {sites} in {clock(seconds)}; sites by status: {counted or 'none'}",
        f"{templates} in {output}, all sites in {all_sites}",
    ]
    if result.problems:
        named = ", ".join(f"{reason} {n}" for reason, n in list(result.problems.items())[:5])
        lines.insert(1, f"{sum(result.problems.values())} records couldn't be used: {named}")
    return lines


def sites_path(output: str) -> str:
    """The report of all sites: templates.parquet → templates.sites.parquet."""
    return f"{output.removesuffix('.parquet')}.sites.parquet"


def _opened(output: str, spark: SparkSession) -> Files:
    """The folder of the output; OutputError if it can't be written, or would replace something else."""
    folder, _, name = output.rpartition("/")
    with output_errors(output):
        files = open_files(folder or ("/" if output.startswith("/") else "."), spark)
        names = files.names()
        if not name:
            raise OutputError(f"{output}: is a folder; --output is a file, such as templates.parquet")
        if names is None:
            raise OutputError(f"{output}: its folder doesn't exist")
        if name in names:
            try:
                table.from_bytes(files.read(name) or b"")
            except InputError as error:
                line = f"{output}: exists, and is not a templates table; choose another --output"
                raise OutputError(line) from error
        files.probe()
    return files


def _write(files: Files, output: str, templates: pa.Table, sites: pa.Table) -> None:
    """Writes both, each whole or not at all."""
    report = pa.BufferOutputStream()
    pq.write_table(sites, report, compression="zstd")
    contents = {sites_path(output): report.getvalue().to_pybytes(), output: table.to_bytes(templates)}
    with output_errors(output):
        for path, content in contents.items():
            files.write(path.rpartition("/")[2], content)


def _check_same(old: pa.Table, view: str, grouping: str, *, name: str) -> None:
    """UsageError unless a table can be brought up to date with templates of this view and grouping."""
    for option, theirs, ours in (
        ("view", coverage.view_of(old) if len(old) else view, view),
        ("group-by", table.grouping(old), grouping),
    ):
        if theirs != ours:
            raise UsageError(f"{name} was mined with --{option} {theirs}, not {ours}: they can't be mixed")
