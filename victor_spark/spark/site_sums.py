"""Adds up the evidence of each site: for the second pass of `--by-site`, and for a table of sites.

Texts of pages are not sent between tasks, only sums: each file of scored pages gives one row for each key of
a site (a layout or a text). The rows of a key are added up by one task, and the sum is sent back to each file
that has the key. So no task holds a whole site: a large one has as many rows as keys in each file. Spark
moves packs of rows, those of a file whose keys hash to the same bucket. A table, the job of `victor sites
write`, has the sums over several runs and tables, with examples; Spark adds them up.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final
from uuid import uuid4

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

from victor_spark import tables
from victor_spark.errors import OutputError, UsageError
from victor_spark.html import tags
from victor_spark.kernels.num import GOLDEN
from victor_spark.logs import log, many
from victor_spark.sites import evidence, table
from victor_spark.sites.evidence import Contributions
from victor_spark.sites.table import EXAMPLE, KEYED, OF_SITE, SITES, SUMS, SiteTable
from victor_spark.spark import ledger, plan
from victor_spark.spark.failures import disk_errors
from victor_spark.spark.files import Files, HadoopFiles, address, new_folder, open_files, output_errors
from victor_spark.spark.progress import progress_of_group
from victor_spark.spark.session import job, small_batches
from victor_spark.spark.tasks import REPORT_DDL, Target, grouped, write_partition
from victor_spark.tables import SITE
from victor_spark.warc.shard import Shard
from victor_spark.worker import second_pass
from victor_spark.worker.second_pass import OF_FILES, hashed, stem

KNOWN: Final = "known.json"
_N_WAITING: Final = 1 << 18
"""Rows that a task sums up before it sends them."""
_EXAMPLE: Final = 120
"""Characters of an example."""
_ROW_GROUP: Final = 1 << 18
"""Bytes that are read for a site at least: some thousand rows."""

Examples = dict[int, tuple[int, str, str, float]]
"""Key → length of its longest text (cut), and the columns of `table.EXAMPLE`."""


def scored_files(files: Files, sizes: Mapping[str, int]) -> pa.Table:
    """Files of scored pages as shards (columns of `plan.SHARDS`)."""
    folder = f"{address(files)}/{ledger.PAGES}"
    return plan.of_shards(Shard(f"{folder}/{name}", sizes[name], "scored") for name in sorted(sizes))


def table_files(found: SiteTable) -> pa.Table:
    """Files of a table of sites as shards."""
    return plan.of_shards(Shard(path, None, "sites") for path in found.files.paths)


def gather(
    spark: SparkSession, files: Files, sizes: Mapping[str, int], group: str, earlier: SiteTable | None = None
) -> str:
    """The folder below `files` with the sums for each of these files of scored pages; made unless whole.

    `earlier`: a table of sites with the sums of other crawls, which are added.
    """
    found = ledger.stored(files, KNOWN)
    if found and found["files"] == sorted(sizes) and found.get("sums") == files.below(found["folder"]):
        return str(found["folder"])
    for name in files.names() or []:
        if name.startswith("known-"):
            files.remove(name)
    folder, context = f"known-{uuid4()}", spark.sparkContext
    n_tasks = max(min(len(sizes), context.defaultParallelism * plan.TASKS_PER_CORE), 1)
    context.addJobTag(group)
    context.setJobGroup(group, "victor clean, sums of sites", interruptOnCancel=True)
    with progress_of_group(context):
        shards, n_rows = scored_files(files, sizes), sum(sizes.values()) // _BYTES_A_ROW
        if earlier is not None:
            shards, n_rows = pa.concat_tables([shards, table_files(earlier)]), n_rows + earlier.files.n_rows
        _write(spark, files, folder, shards, n_tasks, n_rows)
    found = {"folder": folder, "files": sorted(sizes), "sums": files.below(folder)}
    files.write(KNOWN, ledger.dumped(found))
    return folder


def _write(spark: SparkSession, files: Files, name: str, shards: pa.Table, n_tasks: int, n_rows: int) -> None:
    packed = partial(_packed, n_buckets=max(n_tasks, -(-n_rows // _N_IN_BUCKET)))
    of_files = plan.frame(spark, shards, n=n_tasks).mapInArrow(packed, tables.ddl(_PACKED))
    buckets = of_files.repartition(n_tasks, "bucket").sortWithinPartitions("bucket")
    totals = buckets.mapInArrow(_added_up, tables.ddl(_PACKED))
    rows = totals.repartition(n_tasks, "file").sortWithinPartitions("file")
    with small_batches(spark, _N_PACKED):
        if isinstance(files, HadoopFiles):  # reached by Spark alone
            writer = rows.mapInArrow(_unpacked, tables.ddl(OF_FILES)).write.partitionBy("file")
            writer.option("compression", "zstd").parquet(f"{files.location}/{name}")
        else:
            target = Target(f"{files.location}/{name}", OF_FILES, ("file",), is_sorted=True)
            rows.mapInArrow(partial(write_partition, target=target, clean=_unpacked), REPORT_DDL).collect()


_N_PACKED: Final = 64
_N_IN_BUCKET: Final = 1 << 18
_BYTES_A_ROW: Final = 150
"""About how many bytes of scored pages there are for each row of their sums."""

_PACKED: Final = pa.schema([("bucket", pa.int64()), ("file", pa.int64()), ("rows", pa.binary())])
"""Rows of a file whose keys hash to the same bucket, as bytes: Java takes longer for single rows."""

_Rows = npt.NDArray[np.int64]
"""The columns of `OF_FILES` after `file`, one a row: (4, n)."""


def _packed(batches: Iterable[pa.RecordBatch], *, n_buckets: int) -> Iterator[pa.RecordBatch]:
    """Batches of files of scored pages, and of tables of sites → rows of these; `file` is null for tables."""
    for batch in batches:
        for shard in map(plan.shard, batch.to_pylist()):
            file = None if shard.kind == "sites" else hashed(stem(shard.path))
            for found in sums(shard, SUMS):
                names = found[KEYED[0]].dictionary_encode()
                sites = np.array([*map(hashed, names.dictionary.to_pylist())], np.int64)
                columns = (column.to_numpy() for column in found.columns[1:])
                yield _in_buckets(np.stack([sites[names.indices.to_numpy()], *columns]), file, n_buckets)


def _in_buckets(rows: _Rows, file: int | None, n_buckets: int) -> pa.RecordBatch:
    site, key = rows[:2].view(np.uint64)
    buckets = (site * np.uint64(GOLDEN) ^ key) % np.uint64(n_buckets)
    order = np.argsort(buckets, kind="stable")
    found, first = np.unique(buckets[order], return_index=True)
    parts = zip(found.tolist(), np.split(rows[:, order], first[1:], axis=1), strict=True)
    packed = [{"bucket": bucket, "file": file, "rows": part.tobytes()} for bucket, part in parts]
    return pa.RecordBatch.from_pylist(packed, _PACKED)


def _groups(batches: Iterable[pa.RecordBatch], name: str) -> Iterator[tuple[list[Any], list[_Rows]]]:
    """The packed rows with the same value in a column that they are sorted by, and what is in them."""
    for _, group in grouped(batches, name):
        parts = list(group)
        yield parts, [np.frombuffer(part["rows"], np.int64).reshape(len(OF_FILES) - 1, -1) for part in parts]


def _added_up(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Rows with the sums over all files, without keys that only one page has. No task holds a site."""
    for packed, parts in _groups(batches, "bucket"):
        rows = np.concatenate(parts, axis=1)
        order = np.lexsort((rows[0], rows[1]))
        of_keys = rows[:2, order]
        differs = (of_keys[:, 1:] != of_keys[:, :-1]).any(axis=0)
        first = np.concatenate([[0], np.flatnonzero(differs) + 1])
        sizes = np.diff(first, append=len(order))
        for column in rows[2:]:
            column[order] = np.repeat(np.add.reduceat(column[order], first), sizes)
        of_files = np.split(rows, np.cumsum([part.shape[1] for part in parts])[:-1], axis=1)
        totals = [
            {**row, "rows": part[:, part[2] > 1].tobytes()}
            for row, part in zip(packed, of_files, strict=True)
            if row["file"] is not None
        ]
        yield pa.RecordBatch.from_pylist(totals, _PACKED)


def _unpacked(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Rows of OF_FILES, those of a file together, in the order of site and key."""
    for packed, parts in _groups(batches, "file"):
        rows = np.concatenate(parts, axis=1)
        rows = rows[:, np.lexsort((rows[1], rows[0]))]
        file = pa.repeat(pa.scalar(packed[0]["file"]), rows.shape[1])
        yield pa.RecordBatch.from_arrays([file, *map(pa.array, rows)], schema=OF_FILES)


def sums(shard: Shard, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The sums of one file, as batches of `schema`: SUMS or SITES."""
    if shard.kind == "sites":
        yield from table.batches(shard.path, schema)
        return
    has_examples, names = "example" in schema.names, tags.tables().names
    sites: dict[str, list[Contributions]] = {}
    examples: dict[str, Examples] = {}
    n_waiting = 0
    for row in second_pass.stored_rows(shard, None if has_examples else [SITE, "scored.sums"]):
        if row["scored"] is None or row[SITE] is None:
            continue
        found = Contributions.from_bytes(row["scored"]["sums"])
        sites.setdefault(row[SITE], []).append(found)
        if has_examples:
            page = second_pass.page_of(row)
            first = evidence.keys(page.page.blocks, page.scores.probabilities).first
            known, blocks = examples.setdefault(row[SITE], {}), page.page.blocks
            for key, block in zip(found.key.view(np.int64).tolist(), first, strict=True):
                text = blocks.text[blocks.text_start[block] : blocks.text_end[block]][: 2 * _EXAMPLE]
                text = " ".join(text.split())[:_EXAMPLE]
                example = len(text), text, names[blocks.tag[block]], block / len(blocks)
                known[key] = max(known.get(key, example), example)
        n_waiting += len(found)
        if n_waiting > _N_WAITING:
            yield _summed(sites, examples, schema)
            sites, examples, n_waiting = {}, {}, 0
    if sites:
        yield _summed(sites, examples, schema)


def _summed(
    sites: dict[str, list[Contributions]], examples: dict[str, Examples], schema: pa.Schema
) -> pa.RecordBatch:
    """One row for each key of each site."""
    of_site = np.array([OF_SITE], np.int64).view(np.uint64)  # the key of the row that counts a site's pages
    counted = (Contributions(of_site, np.array([[len(pages)], [0]])) for pages in sites.values())
    parts = [evidence.added([*pages, one]) for pages, one in zip(sites.values(), counted, strict=True)]
    names = pa.array(sites, pa.string()).take(pa.array(np.repeat(np.arange(len(parts)), [*map(len, parts)])))
    key = np.concatenate([part.key for part in parts]).view(np.int64)
    sums = np.concatenate([part.sums for part in parts], axis=1)
    columns = {SITE: names, "key": pa.array(key), **dict(zip(evidence.SUMS, sums, strict=True))}
    if "example" in schema.names:
        keyed = zip(names.to_pylist(), key.tolist(), strict=True)
        found = [examples[site].get(key, (None,) * 4)[1:] for site, key in keyed]
        columns |= dict(zip(table.EXAMPLE.names, zip(*found, strict=True), strict=True))
    return pa.RecordBatch.from_pydict({name: columns[name] for name in schema.names}, schema)


def write_sites(sources: Sequence[str], target: str, master: str | None = None) -> None:
    """Writes the table to a new folder; an error leaves nothing behind."""
    job("victor sites write", output_errors(target)(partial(_write_sites, sources, target)), master=master)


def _write_sites(sources: Sequence[str], target: str, spark: SparkSession) -> None:
    with new_folder(target, spark) as (draft, folder):
        found = [_source(spark, source) for source in sources]
        groupings = {grouping: source for source, (_, grouping) in zip(sources, found, strict=True)}
        if len(groupings) > 1:
            how = " and ".join(f"{source} by {grouping}" for grouping, source in groupings.items())
            raise UsageError(f"tables of different groupings can't be merged: {how}")
        shards = pa.concat_tables([shards for shards, _ in found])
        n_tasks = min(len(shards), spark.sparkContext.defaultParallelism * plan.TASKS_PER_CORE)
        with disk_errors(target, "repeat the command"), progress_of_group(spark.sparkContext):
            rows = plan.frame(spark, shards, n=n_tasks).mapInArrow(_with_examples, tables.ddl(SITES))
            summed = [sf.sum(name).alias(name) for name in evidence.SUMS]
            best = sf.max(sf.struct(sf.length("example"), *EXAMPLE.names)).alias("best")
            rows = rows.groupBy(*KEYED).agg(*summed, best).where(f"{evidence.SUMS[0]} > 1")
            rows = rows.select(*SUMS.names, *(f"best.{name}" for name in EXAMPLE.names))
            rows = rows.repartitionByRange(*KEYED).sortWithinPartitions(*KEYED)
            stated = {table.VERSION_KEY: table.VERSION, tables.GROUPING_KEY: next(iter(groupings))}
            options = {"compression": "zstd", "parquet.block.size": str(_ROW_GROUP)}
            rows.withMetadata(KEYED[0], stated).write.options(**options).parquet(draft)
    of_sites = spark.read.parquet(ledger.literal(folder)).where(f"key = {OF_SITE}")
    counts = of_sites.agg(sf.count(SITE), sf.sum("n_pages")).collect()[0]
    log(f"{many(counts[0], 'site')} of {many(counts[1] or 0, 'page')} written to {target}")


def _source(spark: SparkSession, location: str) -> tuple[pa.Table, str]:
    """The files of a run's block rows or of a table as shards, and how pages are grouped into sites."""
    files = open_files(location, spark)
    if files.names("_run") is None:
        found = SiteTable(address(files))  # absolute, for tasks
        return table_files(found), found.files.grouping
    first_pass = open_files(f"{location.rstrip('/')}/{ledger.FIRST_PASS}", spark)
    sizes = ledger.whole(first_pass)
    of_sites = (ledger.stored(first_pass, ledger.CONFIG) or {}).get("sites", {})
    if sizes is None or of_sites.get("version") != table.VERSION:
        advice = "repeat the command of an incomplete run, or clean to a new OUT with --by-site --keep-blocks"
        raise OutputError(f"{location}: kept no block rows of this version (--blocks keeps others); {advice}")
    return scored_files(first_pass, sizes), of_sites["grouping"]


def _with_examples(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Batches of files of scored pages, and of tables of sites → batches of SITES."""
    for batch in batches:
        for shard in map(plan.shard, batch.to_pylist()):
            yield from sums(shard, SITES)
