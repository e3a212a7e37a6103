"""The job of `victor sites write`: the sums of each site over runs and earlier tables, with examples."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from victor_spark import tables
from victor_spark.errors import OutputError, UsageError
from victor_spark.logs import log, many
from victor_spark.sites import evidence, table
from victor_spark.sites.table import EXAMPLE, KEYED, OF_SITE, SITES, SUMS, SiteTable
from victor_spark.spark import ledger, plan, waves
from victor_spark.spark.failures import disk_errors
from victor_spark.spark.files import address, new_folder, open_files, output_errors
from victor_spark.spark.progress import progress_of_group
from victor_spark.spark.session import job
from victor_spark.spark.site_sums import scored_files, scored_sizes, sums, table_files
from victor_spark.tables import SITE

_ROW_GROUP: Final = 1 << 18
"""Bytes that are read for a site at least: some thousand rows."""


def run(sources: Sequence[str], target: str, master: str | None = None) -> None:
    """Writes the table to a new folder; an error leaves nothing behind."""
    job("victor sites write", output_errors(target)(partial(_run, sources, target)), master=master)


def _run(sources: Sequence[str], target: str, spark: SparkSession) -> None:
    with new_folder(target, spark) as (draft, folder):
        found = [_source(spark, source) for source in sources]
        groupings = {grouping: source for source, (_, grouping) in zip(sources, found, strict=True)}
        if len(groupings) > 1:
            how = " and ".join(f"{source} by {grouping}" for grouping, source in groupings.items())
            raise UsageError(f"tables of different groupings can't be merged: {how}")
        shards = pa.concat_tables([shards for shards, _ in found])
        n_tasks = min(len(shards), spark.sparkContext.defaultParallelism * plan.TASKS_PER_CORE)
        with disk_errors(target, "repeat the command"), progress_of_group(spark.sparkContext):
            _write_table(plan.frame(spark, shards, n=n_tasks), draft, *groupings)
    of_sites = spark.read.parquet(waves.literal(folder)).where(f"key = {OF_SITE}")
    counts = of_sites.agg(sf.count(SITE), sf.sum("n_pages")).collect()[0]
    log(f"{many(counts[0], 'site')} of {many(counts[1] or 0, 'page')} written to {target}")


def _source(spark: SparkSession, location: str) -> tuple[pa.Table, str]:
    """The files of a run's block rows or of a table as shards, and how pages are grouped into sites."""
    first_pass = open_files(f"{location.rstrip('/')}/{ledger.FIRST_PASS}", spark)
    if first_pass.names("_run") is None:
        location = address(open_files(location, spark))  # absolute, for tasks
        found = SiteTable(location)
        return table_files(found), found.files.grouping
    sizes = scored_sizes(first_pass)
    of_sites = (ledger.stored(first_pass, ledger.CONFIG) or {}).get("sites", {})
    if sizes is None or of_sites.get("version") != table.VERSION:
        raise OutputError(
            f"{location}: this run kept no block rows of this version (the column blocks is something else); "
            "clean into a new OUT with --by-site --keep-blocks"
        )
    return scored_files(first_pass, sizes), of_sites["grouping"]


def _write_table(shards: DataFrame, location: str, grouping: str) -> None:
    rows = shards.mapInArrow(_with_examples, tables.ddl(SITES))
    summed = [sf.sum(name).alias(name) for name in evidence.SUMS]
    best = sf.max(sf.struct(sf.length("example"), *EXAMPLE.names)).alias("best")
    rows = rows.groupBy(*KEYED).agg(*summed, best).where(f"{evidence.SUMS[0]} > 1")
    rows = rows.select(*SUMS.names, *(f"best.{name}" for name in EXAMPLE.names))
    rows = rows.repartitionByRange(*KEYED).sortWithinPartitions(*KEYED)
    rows = rows.withMetadata(KEYED[0], {table.VERSION_KEY: table.VERSION, tables.GROUPING_KEY: grouping})
    rows.write.options(**{"compression": "zstd", "parquet.block.size": str(_ROW_GROUP)}).parquet(location)


def _with_examples(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Batches of files of scored pages, and of tables of sites → batches of SITES."""
    for batch in batches:
        for shard in map(plan.shard, batch.to_pylist()):
            yield from sums(shard, SITES)
