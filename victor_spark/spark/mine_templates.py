"""The mining job: inputs → a sample of each site's pages → templates, and a report of all sites.

Tasks of a first kind clean their records as the main job does, and send the texts that may be in the sample
of their site, and at their end the site's counts. The second kind mines the sample of one site. Neither holds
more of a site than its sample. The result doesn't depend on which task read which shard. The table is small
beside the crawl (cleaning broadcasts it), so the driver gathers it and writes it whole.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from victor_spark import hosts, pipeline, tables
from victor_spark.errors import InputError, OutputError, UsageError
from victor_spark.html.canonical import canonical
from victor_spark.logs import clock, log
from victor_spark.spark import plan
from victor_spark.spark.files import Files, output_errors, parent
from victor_spark.spark.progress import many, progress_of_group
from victor_spark.spark.request import CleanRequest, RowOptions
from victor_spark.spark.rows import RowBatch
from victor_spark.spark.session import job
from victor_spark.spark.tasks import CleanTask, clean_partition, clean_task
from victor_spark.statuses import ANSWERED
from victor_spark.templates import coverage, table, tokens
from victor_spark.templates.mine import (
    MAX_PAGES,
    MiningSettings,
    Smallest,
    check,
    ends,
    mine,
    page_key,
    sample,
)
from victor_spark.templates.table import NO_TEMPLATES
from victor_spark.warc import inputs
from victor_spark.warc.shard import Shard

_TIMES: Final = [(name, pa.timestamp("us", tz="UTC")) for name in ("first_seen", "last_seen")]
_TEXTS: Final = [(name, pa.string()) for name in ("site", "text", "problem")]
SITE_PAGES: Final = pa.schema([*_TEXTS, ("key", pa.binary()), ("n_pages", pa.int64()), *_TIMES])
"""A page's text; without a key, the counts of a site; without a site, a problem of records."""

_STATUS: Final = [("status", pa.string()), ("reason", pa.string()), ("n_seen", pa.int64())]
MINED: Final = pa.schema([*table.TEMPLATES, *_STATUS])
"""A template; without a regex, a site; without a site, the number of records with a problem."""

_NEEDED: Final = ("url", "fetch_time", "warc_record_offset", "content_charset", "status", "reason")


@dataclass(frozen=True, kw_only=True)
class MiningRequest:
    """The request of `victor templates mine`; `clean` has the inputs, the output and how pages are read.

    `grouping`: what a site is; `max_pages`: the size of its sample; `update`: the table of an earlier crawl.
    """

    clean: CleanRequest
    mining: MiningSettings = field(default_factory=MiningSettings)
    grouping: str = hosts.REGISTERED_DOMAIN
    max_pages: int = MAX_PAGES
    update: str | None = None


@dataclass(slots=True)
class Seen:
    """How many pages of a site there were, and when they were fetched."""

    n_pages: int = 0
    first_seen: datetime | None = None
    last_seen: datetime | None = None

    def add(self, n_pages: int, first_seen: datetime | None, last_seen: datetime | None) -> None:
        """Counts more pages."""
        self.n_pages += n_pages
        times = [time for time in (self.first_seen, self.last_seen, first_seen, last_seen) if time]
        self.first_seen, self.last_seen = (min(times), max(times)) if times else (None, None)


def sample_partition(
    batches: Iterable[pa.RecordBatch], *, task: CleanTask, request: MiningRequest
) -> Iterator[pa.RecordBatch]:
    """Batches of shards → batches of SITE_PAGES; `task` keeps block rows, for `html` also the html."""
    found: dict[str, tuple[Smallest, Seen]] = {}
    problems = Counter[str]()
    waiting = RowBatch(SITE_PAGES)
    for row in _rows(clean_partition(batches, task=task)):
        site = hosts.site(row["url"], request.grouping)
        if row["warc_record_offset"] is None:
            problems[f"shard: {row['reason']}"] += 1
            continue
        if site is None or row["status"] not in ANSWERED:
            answered = row["status"] in ANSWERED
            problems["no site: its address has no host" if answered else row["status"]] += 1
            continue
        if site not in found:
            found[site] = Smallest(request.max_pages), Seen()
        smallest, seen = found[site]
        seen.add(1, row["fetch_time"], row["fetch_time"])
        text = ends(_text(row, request.mining.view))
        key = page_key(text)
        if smallest.take(key, len(text))[0]:
            waiting.add({"site": site, "key": key, "text": text})
        if waiting.full:
            yield waiting.take()
    for site, (_, seen) in found.items():
        waiting.add({"site": site, **asdict(seen)})
    for problem, n in problems.items():
        waiting.add({"problem": problem, "n_pages": n})
    if len(waiting):
        yield waiting.take()


def _rows(batches: Iterable[pa.RecordBatch]) -> Iterator[dict[str, Any]]:
    for batch in batches:
        columns = batch.select([name for name in batch.schema.names if name in (*_NEEDED, "blocks", "html")])
        for row in range(len(columns)):  # one page's blocks as Python objects at a time
            yield columns.slice(row, 1).to_pylist()[0]


def _text(row: dict[str, Any], view: str) -> str:
    """The page in a view, as `coverage.view` has it."""
    if view == tokens.HTML:
        return canonical(row["html"] or b"", http_charset=row["content_charset"]).html
    blocks = row["blocks"] or []
    if view == tokens.CLEANED:
        blocks = [block for block in blocks if block["label"] != "other"]
    return "".join([f"{block['text']}\n" for block in blocks])


def mine_partition(
    batches: Iterable[pa.RecordBatch], *, request: MiningRequest, mined_at: datetime
) -> Iterator[pa.RecordBatch]:
    """Pages sorted by site (columns of `SITE_PAGES`) → rows of `MINED`.

    They are batches in Arrow's IPC format, so that the driver gets them as they are.
    """
    rows = (row for batch in batches for row in batch.to_pylist())
    for site, of_site in groupby(rows, key=itemgetter("site")):
        found = pa.RecordBatch.from_pylist(_mined(site, of_site, request, mined_at), schema=MINED)
        yield pa.RecordBatch.from_pydict({"batch": [found.serialize().to_pybytes()]})


def _mined(
    site: str | None, rows: Iterable[dict[str, Any]], request: MiningRequest, mined_at: datetime
) -> list[dict[str, Any]]:
    if site is None:
        return [{"reason": row["problem"], "n_seen": row["n_pages"]} for row in rows]
    seen = Seen()
    found = mine(site, sample(_texts(rows, seen), request.max_pages), request.mining)
    times = {"first_seen": seen.first_seen or mined_at, "last_seen": seen.last_seen or mined_at}
    same = ("site", "view", "status", "reason", "n_pages", "cut_off", "histogram")
    of_site = {name: getattr(found, name) for name in same}
    of_site |= {"n_seen": seen.n_pages, "mined_at": mined_at, **times}
    return [of_site, *({**row, **times} for row in table.records(found, mined_at))]


def _texts(rows: Iterable[dict[str, Any]], seen: Seen) -> Iterator[str]:
    """The texts of one site from all tasks; adds up what was seen."""
    for row in rows:
        if row["key"] is None:
            seen.add(row["n_pages"], row["first_seen"], row["last_seen"])
        else:
            yield row["text"]


_OF_SITE: Final = ("site", "view", "status", "reason", "n_seen", "n_pages", "cut_off", "histogram")
_KNOWN: Final = (*_OF_SITE, "first_seen", "last_seen")
_FIELDS: Final = [MINED.field(name).remove_metadata() for name in _KNOWN]
_SITES: Final = pa.schema([*_FIELDS, ("n_templates", pa.int64())])
"""One row a site, also for those that were not mined."""

_GROUP_ROWS: Final = 100
"""Pages in an Arrow batch of Spark."""


@dataclass(frozen=True)
class MiningResult:
    """The templates, one row a site, and how many records were no pages, by reason."""

    templates: pa.Table
    sites: pa.Table
    problems: dict[str, int]


def run(request: MiningRequest) -> MiningResult:
    """Runs the job; errors of inputs, options and output are raised before the first page."""
    shards = inputs.resolve(request.clean.inputs, base_url=request.clean.base_url)
    check(request.mining)  # a pattern that doesn't compile is a UsageError now
    old = None
    if request.update is not None:
        old = table.read(request.update)
        for option, theirs, ours in (
            ("view", coverage.view_of(old) if len(old) else request.mining.view, request.mining.view),
            ("group-by", table.grouping(old), request.grouping),
        ):
            if theirs != ours:
                line = f"{request.update} was mined with --{option} {theirs}, not {ours}"
                raise UsageError(f"{line}: choose the same, or leave out --update")
    view, clean = request.mining.view, request.clean
    if view != tokens.CLEANED:  # keeps all blocks
        clean = replace(clean, cleaning=pipeline.EVERYTHING)
    clean = replace(clean, rows=RowOptions(blocks=True, html=view == tokens.HTML))
    models = pipeline.models(clean.cleaning) if view == tokens.CLEANED else pipeline.language_models()
    action = partial(_run_on_spark, replace(request, clean=clean), shards, models, old)
    return job("victor templates mine", action, master=clean.spark.master)


def _run_on_spark(
    request: MiningRequest,
    shards: tuple[Shard, ...],
    models: dict[str, bytes],
    old: pa.Table | None,
    spark: SparkSession,
) -> MiningResult:
    started, output, context = datetime.now(UTC), request.clean.output, spark.sparkContext
    files, table_of_shards = _opened(output, spark), plan.of_shards(shards)
    n_cores, n_bytes = context.defaultParallelism, plan.weight(table_of_shards)
    splits = plan.splits(plan.plan(table_of_shards, n_cores=n_cores, wave_bytes=n_bytes), 0)
    n_tasks = request.clean.spark.partitions or plan.n_tasks(splits, n_cores=n_cores)
    log(f"mining {many(len(shards), 'shard')} in {many(n_tasks, 'task')} on {context.master}")
    task = clean_task(spark, request.clean, models)
    sampling = partial(sample_partition, task=task, request=request)
    with progress_of_group(context):
        pages = plan.frame(spark, splits, n=n_tasks).mapInArrow(sampling, tables.ddl(SITE_PAGES))
        new = mined(pages, request, started)
    templates = new.templates
    if old is not None:
        rows = new.sites.to_pylist()
        without = {(row["site"], row["view"]) for row in rows if row["status"] == NO_TEMPLATES}
        templates = table.update(old, templates, without)
    result = replace(new, templates=table.with_grouping(templates, request.grouping))
    _write(files, output, result)
    _log(result, output, (datetime.now(UTC) - started).total_seconds())
    return result


def mined(pages: DataFrame, request: MiningRequest, mined_at: datetime) -> MiningResult:
    """The templates of all sites of these pages (columns of `SITE_PAGES`)."""
    spark, mining = pages.sparkSession, partial(mine_partition, request=request, mined_at=mined_at)
    key = "spark.sql.execution.arrow.maxRecordsPerBatch"
    before = str(spark.conf.get(key))
    spark.conf.set(key, _GROUP_ROWS)
    try:
        by_site = pages.repartition("site").sortWithinPartitions("site")
        found = by_site.mapInArrow(mining, "batch binary").collect()
    finally:
        spark.conf.set(key, before)
    batches = [pa.ipc.read_record_batch(pa.py_buffer(row.batch), MINED) for row in found]
    rows = pa.Table.from_batches(batches, MINED)
    of_sites = rows.filter(pc.is_null(rows["regex"])).select(_KNOWN).to_pylist()
    templates = _with_n_sites(rows.filter(pc.is_valid(rows["regex"])))
    n_mined = sum(row["status"] == "ok" for row in of_sites)
    kept = table.filter_across(templates, n_mined)
    n_templates = Counter(kept["site"].to_pylist())
    sites = [{**row, "n_templates": n_templates[row["site"]]} for row in of_sites if row["site"] is not None]
    problems = Counter[str]()
    for row in of_sites:
        if row["site"] is None:
            problems[row["reason"]] += row["n_seen"]
    found_sites = pa.Table.from_pylist(sorted(sites, key=lambda row: str(row["site"])), schema=_SITES)
    return MiningResult(kept, found_sites, dict(sorted(problems.items(), key=lambda one: (-one[1], one[0]))))


def _with_n_sites(rows: pa.Table) -> pa.Table:
    """The templates with how many sites have the same expression; in order, however the job was cut."""
    view, regex, site = (rows[name].to_pylist() for name in ("view", "regex", "site"))
    n_sites = Counter((view, regex) for view, regex, _ in set(zip(view, regex, site, strict=True)))
    seen = [n_sites[key] for key in zip(view, regex, strict=True)]
    templates = rows.select(table.TEMPLATES.names)
    number = templates.schema.get_field_index("n_sites_seen")
    templates = templates.set_column(number, "n_sites_seen", pa.array(seen, pa.int32())).cast(table.TEMPLATES)
    return templates.sort_by(
        [("site", "ascending"), ("document_frequency", "descending"), ("regex", "ascending")]
    )


def _log(result: MiningResult, output: str, seconds: float) -> None:
    """The result of a run in a few lines for people."""
    statuses = Counter(result.sites["status"].to_pylist())
    counted = ", ".join(f"{status} {n}" for status, n in statuses.most_common())
    n_pages = sum(result.sites["n_seen"].to_pylist())
    pages, sites = many(n_pages, "page"), many(len(result.sites), "site")
    templates, all_sites = many(len(result.templates), "template"), sites_path(output)
    log(f"{pages} of {sites} in {clock(seconds)}; sites by status: {counted or 'none'}")
    if result.problems:
        named = ", ".join(f"{reason} {n}" for reason, n in list(result.problems.items())[:5])
        log(f"{sum(result.problems.values())} records couldn't be used: {named}")
    log(f"{templates} in {output}, all sites in {all_sites}")


def sites_path(output: str) -> str:
    """The report of all sites: templates.parquet → templates.report.parquet."""
    return f"{output.removesuffix('.parquet')}.report.parquet"


def _opened(output: str, spark: SparkSession) -> Files:
    """The folder of the output; OutputError if it can't be written, or would replace something else."""
    with output_errors(output):
        files, name, exists = parent(output, spark)
        if not name:
            raise OutputError(f"{output}: is a folder; --output is a file, such as templates.parquet")
        if exists:
            try:
                table.from_bytes(files.read(name) or b"")
            except InputError as error:
                line = f"{output}: exists, and is not a templates table; choose another --output"
                raise OutputError(line) from error
        files.probe()
    return files


def _write(files: Files, output: str, result: MiningResult) -> None:
    """Writes both tables, each whole or not at all."""
    report = pa.BufferOutputStream()
    pq.write_table(result.sites, report, compression="zstd")
    with output_errors(output):
        files.write(sites_path(output).rpartition("/")[2], report.getvalue().to_pybytes())
        files.write(output.rpartition("/")[2], table.to_bytes(result.templates))
