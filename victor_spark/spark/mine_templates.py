"""The mining job: inputs → a sample of each site's pages → templates, and a report of all sites.

Tasks of a first kind clean their records as the main job does, and send the texts that may be in the sample
of their site, and at their end the site's counts. The second kind mines the sample of one site. Neither holds
more of a site than its sample. Their rows stay on the executors' disks. The third kind removes idioms and
merges the rows with those of an earlier table, site by site. The driver writes the rows of one such task at
a time. The result doesn't depend on which task read which shard.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as sf

from victor_spark import hosts, pipeline, tables
from victor_spark.blocks import LABELS, OTHER
from victor_spark.errors import InputError, OutputError, TableError, UsageError
from victor_spark.html.canonical import canonical
from victor_spark.logs import clock, log, many
from victor_spark.request import CleanRequest, RowOptions
from victor_spark.site_files import SiteFiles
from victor_spark.spark import plan
from victor_spark.spark.failures import disk_errors
from victor_spark.spark.files import Files, address, output_errors, parent
from victor_spark.spark.progress import progress_of_group
from victor_spark.spark.session import job, small_batches
from victor_spark.spark.tasks import CleanTask, clean_partition, clean_task, grouped
from victor_spark.statuses import ANSWERED
from victor_spark.tables import SITE
from victor_spark.templates import mine, table, tokens
from victor_spark.templates.mine import MAX_PAGES, MiningSettings, Smallest
from victor_spark.templates.site import SiteTemplates
from victor_spark.templates.table import NO_TEMPLATES, OK
from victor_spark.warc import inputs, storage
from victor_spark.worker.rows import RowBatch

_TIMES: Final = [(name, pa.timestamp("us", tz="UTC")) for name in ("first_seen", "last_seen")]
_TEXTS: Final = [(name, pa.string()) for name in (SITE, "text", "problem")]
SITE_PAGES: Final = pa.schema([*_TEXTS, ("key", pa.binary()), ("n_pages", pa.int64()), *_TIMES])
"""A page's text; without a key, the counts of a site; without a site, a problem of records."""

_STATUS: Final = [("status", pa.string()), ("reason", pa.string())]
_COUNTS: Final = [("n_seen", pa.int64()), ("n_templates", pa.int64())]
MINED: Final = pa.schema([*table.TEMPLATES, *_STATUS, *_COUNTS])
"""A template; without a regex, a site; without a site, the number of records with a problem."""
OLD: Final = "old"
"""The status of a template of the table that is updated; a new one has none."""

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
        text = mine.ends(_text(row, request.mining.view))
        key = mine.page_key(text)
        if smallest.take(key, len(text))[0]:
            waiting.add({SITE: site, "key": key, "text": text})
        if waiting.full:
            yield waiting.take()
    for site, (_, seen) in found.items():
        waiting.add({SITE: site, **asdict(seen)})
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
        blocks = [block for block in blocks if block["label"] != LABELS[OTHER]]
    return "".join([f"{block['text']}\n" for block in blocks])


def mine_partition(
    batches: Iterable[pa.RecordBatch], *, request: MiningRequest, mined_at: datetime
) -> Iterator[pa.RecordBatch]:
    """Pages sorted by site (columns of `SITE_PAGES`) → rows of `MINED`."""
    same = (SITE, "view", "status", "reason", "n_pages", "cut_off")
    for site, pages in grouped(batches, SITE):
        if site is None:
            rows = [{"reason": row["problem"], "n_seen": row["n_pages"]} for row in pages]
        else:
            seen = Seen()
            found = mine.mine(site, mine.sample(_texts(pages, seen), request.max_pages), request.mining)
            times = {"first_seen": seen.first_seen or mined_at, "last_seen": seen.last_seen or mined_at}
            of_site = {name: getattr(found, name) for name in same}
            of_site |= {"n_seen": seen.n_pages, "mined_at": mined_at, **times}
            rows = [of_site, *({**row, **times} for row in table.rows(found, mined_at).to_pylist())]
        yield pa.RecordBatch.from_pylist(rows, schema=MINED)


def _texts(rows: Iterable[dict[str, Any]], seen: Seen) -> Iterator[str]:
    """The texts of one site from all tasks; adds up what was seen."""
    for row in rows:
        if row["key"] is None:
            seen.add(row["n_pages"], row["first_seen"], row["last_seen"])
        else:
            yield row["text"]


def old_partition(batches: Iterable[pa.RecordBatch], *, path: str, listed: bytes) -> Iterator[pa.RecordBatch]:
    """Numbers of row groups of a table of templates (`id`) → their rows."""
    files = SiteFiles(path, table.KIND, listed)
    for number in (number for batch in batches for number in batch["id"].to_pylist()):
        rows = files.read(number, number + 1, table.TEMPLATES)
        table.refuse_faults(rows, path)
        yield from rows.to_batches()


def merge_partition(batches: Iterable[pa.RecordBatch], *, n_mined: int) -> Iterator[pa.RecordBatch]:
    """Rows of `MINED`, sorted by site → those of the tables. `n_mined`: the number of sites with templates.

    They are batches in Arrow's IPC format, so that the driver gets them as they are.
    """
    rows = chain.from_iterable(_merged(of_site, n_mined) for _, of_site in grouped(batches, SITE))
    while part := list(islice(rows, _PART)):
        batch = pa.RecordBatch.from_pylist(part, schema=MINED)
        yield pa.RecordBatch.from_pydict({"batch": [batch.serialize().to_pybytes()]})


def _merged(rows: Iterable[dict[str, Any]], n_mined: int) -> list[dict[str, Any]]:
    """The rows of one site: its templates in the order of the table, and the site if it was crawled."""
    found = defaultdict[str | None, list[dict[str, Any]]](list)
    for row in rows:
        found[row["status"]].append(row)
    old, new = (found.pop(status, []) for status in (OLD, None))
    new = [row for row in new if not table.is_idiom(row, n_mined)]
    templates = table.update(old, new, is_without=bool(found[NO_TEMPLATES]))
    return [*templates, *({**row, "n_templates": len(new)} for site in found.values() for row in site)]


_PAGES: Final = ("n_seen", "n_pages", "cut_off", "first_seen", "last_seen", "n_templates")
_NAMES: Final = (SITE, "view", "status", "reason", *_PAGES)
_SITES: Final = pa.schema([MINED.field(name).remove_metadata() for name in _NAMES])
"""One row a site, also for those that were not mined."""

_GROUP_ROWS: Final = 100
"""Pages in an Arrow batch of Spark."""
_ROW_GROUP: Final = 1 << 12
"""Templates that cleaning reads for a site at least."""
_BOUNDED: Final = [SITE, "view", "mined_at"]
"""Columns with statistics in the footer: others, of long texts, would make it large."""
_PART: Final = 1 << 14
"""Rows, about, that a task merges and the driver holds at a time."""


def run(request: MiningRequest) -> None:
    """Runs the job; errors of inputs, options and output are raised before the first page."""
    shards = plan.of_shards(inputs.resolve(request.clean.inputs, base_url=request.clean.base_url))
    old = None
    if request.update is not None:
        known = SiteTemplates(storage.absolute(request.update))
        old = known.files
        view = known.view if len(old) else request.mining.view
        wanted = {"view": (view, request.mining.view), "group-by": (old.grouping, request.grouping)}
        for option, (theirs, ours) in wanted.items():
            if theirs != ours:
                line = f"{request.update} was mined with --{option} {theirs}, not {ours}"
                raise UsageError(f"{line}: choose the same, or leave out --update")
    view, clean = request.mining.view, request.clean
    # Otherwise all blocks are kept; templates that are cut out could not be mined again.
    cleaning = replace(clean.cleaning, templates=None) if view == tokens.CLEANED else pipeline.EVERYTHING
    clean = replace(clean, cleaning=cleaning, rows=RowOptions(blocks=True, html=view == tokens.HTML))
    models = pipeline.models(clean.cleaning) if view == tokens.CLEANED else pipeline.language_models()
    action = partial(_run_on_spark, replace(request, clean=clean), shards, models, old)
    job("victor templates mine", action, master=clean.spark.master)


def _run_on_spark(
    request: MiningRequest,
    shards: pa.Table,
    models: dict[str, bytes],
    old: SiteFiles | None,
    spark: SparkSession,
) -> None:
    started, output, context = datetime.now(UTC), request.clean.output, spark.sparkContext
    files = _opened(output, spark)
    n_cores, n_bytes = context.defaultParallelism, plan.weight(shards)
    splits = plan.splits(plan.plan(shards, n_cores=n_cores, wave_bytes=n_bytes), 0)
    n_tasks = request.clean.spark.partitions or plan.n_tasks(splits, n_cores=n_cores)
    log(f"mining {many(len(shards), 'shard')} in {many(n_tasks, 'task')} on {context.master}")
    task = clean_task(spark, request.clean, models)
    sampling = partial(sample_partition, task=task, request=request)
    with disk_errors(output, "repeat the command"), progress_of_group(context):
        pages = plan.frame(spark, splits, n=n_tasks).mapInArrow(sampling, tables.ddl(SITE_PAGES))
        with mined(pages, request, started) as rows:
            kinds = rows.groupBy("status", sf.expr("if(site IS NULL, reason, NULL) AS problem"))
            sums = map(sf.expr, ("count(*) AS n", "sum(n_seen) AS n_seen", "min(site) AS first"))
            counted = kinds.agg(*sums).collect()
            statuses = sorted((row for row in counted if row.status), key=lambda row: (-row.n, row.first))
            n_mined = sum(row.n for row in statuses if row.status == OK)
            parts = merged(rows, sum(row.n for row in counted), n_mined, old)
            n_templates = _write(files, output, parts, request.grouping)
    problems = sorted((row for row in counted if row.problem), key=lambda row: (-row.n_seen, row.problem))
    pages, sites = sum(row.n_seen for row in statuses), sum(row.n for row in statuses)
    seconds = (datetime.now(UTC) - started).total_seconds()
    by_status = ", ".join(f"{row.status} {row.n}" for row in statuses) or "none"
    log(f"{many(pages, 'page')} of {many(sites, 'site')} in {clock(seconds)}; sites by status: {by_status}")
    if problems:
        named = ", ".join(f"{row.problem} {row.n_seen}" for row in problems[:5])
        log(f"{many(sum(row.n_seen for row in problems), 'record')} couldn't be used: {named}")
    log(f"{many(n_templates, 'template')} in {output}, all sites in {sites_path(output)}")


@contextmanager
def mined(pages: DataFrame, request: MiningRequest, mined_at: datetime) -> Iterator[DataFrame]:
    """Rows of `MINED` for these pages (columns of `SITE_PAGES`), computed once, on disk during the block."""
    spark, mining = pages.sparkSession, partial(mine_partition, request=request, mined_at=mined_at)
    by_site = pages.repartition(SITE).sortWithinPartitions(SITE)
    rows = by_site.mapInArrow(mining, tables.ddl(MINED))
    with small_batches(spark, _GROUP_ROWS):
        try:
            yield rows.persist(StorageLevel.DISK_ONLY)
        finally:
            rows.unpersist()


def merged(rows: DataFrame, n_rows: int, n_mined: int, old: SiteFiles | None) -> Iterator[pa.Table]:
    """The rows of both tables, sorted by site, for rows of `MINED` and those of an old table."""
    n_sites = sf.count(SITE).over(Window.partitionBy("view", "regex")).cast("int")
    whole = rows.where("regex IS NOT NULL").withColumn("n_sites_seen", n_sites)
    whole = whole.union(rows.where("regex IS NULL AND site IS NOT NULL"))
    if old is not None:
        reading = partial(old_partition, path=old.location, listed=old.listing)
        known = rows.sparkSession.range(len(old)).mapInArrow(reading, tables.ddl(table.TEMPLATES))
        whole = whole.unionByName(known.withColumn("status", sf.lit(OLD)), allowMissingColumns=True)
        n_rows += old.n_rows
    parts = whole.repartitionByRange(n_rows // _PART + 1, SITE).sortWithinPartitions(SITE)
    merging = partial(merge_partition, n_mined=n_mined)
    for row in parts.mapInArrow(merging, "batch binary").toLocalIterator(prefetchPartitions=True):
        yield pa.Table.from_batches([pa.ipc.read_record_batch(pa.py_buffer(row.batch), MINED)])


def _write(files: Files, output: str, parts: Iterable[pa.Table], grouping: str) -> int:
    """Writes both tables, each whole or not at all; the number of templates."""
    schema = table.with_grouping(table.TEMPLATES.empty_table(), grouping).schema
    with TemporaryDirectory() as folder:
        drafts = Path(folder, "templates"), Path(folder, "sites")
        with (
            pq.ParquetWriter(drafts[0], schema, compression="zstd", write_statistics=_BOUNDED) as templates,
            pq.ParquetWriter(drafts[1], _SITES, compression="zstd") as sites,
        ):
            for part in parts:
                is_template = pc.is_valid(part["regex"])
                templates.write_table(part.filter(is_template).select(schema.names), _ROW_GROUP)
                sites.write_table(part.filter(pc.invert(is_template)).select(_SITES.names))
        with output_errors(output):
            for draft, path in zip(drafts[::-1], (sites_path(output), output), strict=True):
                files.write(path.rpartition("/")[2], draft)
        return int(pq.read_metadata(drafts[0]).num_rows)


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
                SiteFiles(f"{address(files)}/{name}", table.KIND)
            except InputError as error:
                is_other = isinstance(error, TableError) and not isinstance(error.__cause__, OSError)
                line = f"{output}: exists, and is not a table of templates; choose another --output"
                raise OutputError(line if is_other else str(error)) from error
        files.probe()
    return files
