"""`victor sites write`: block rows of runs, and tables of sites → one table of sites."""

from collections.abc import Sequence
from functools import partial
from typing import Final
from uuid import uuid4

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from victor_spark import tables
from victor_spark.errors import OutputError, UsageError
from victor_spark.logs import log
from victor_spark.sites import evidence, table
from victor_spark.sites.table import EXAMPLE, KEYED, OF_SITE, SITES, SUMS, SiteTable
from victor_spark.spark import output, plan, site_sums, waves
from victor_spark.spark.files import new_folder, open_files, output_errors, remove_checksums
from victor_spark.spark.progress import many
from victor_spark.spark.session import check_master, interruptible, session

_ROW_GROUP: Final = 1 << 18
"""Bytes that are read for a site at least: some thousand rows."""


def run(sources: Sequence[str], target: str, master: str | None = None) -> None:
    """Writes the table to a new folder; an error leaves nothing behind."""
    check_master(master)
    group = f"victor sites write {uuid4()}"

    def action() -> None:
        with session(master=master) as spark, output_errors(target):
            spark.sparkContext.setJobGroup(group, "victor sites write", interruptOnCancel=True)
            _run(spark, sources, target)

    interruptible(action, group=group)


def _run(spark: SparkSession, sources: Sequence[str], target: str) -> None:
    files, name = new_folder(target, spark)
    found = [_source(spark, source) for source in sources]
    groupings = {grouping: source for source, (_, grouping) in zip(sources, found, strict=True)}
    if len(groupings) > 1:
        how = " and ".join(f"{source} by {grouping}" for grouping, source in groupings.items())
        raise UsageError(f"tables of different groupings can't be merged: {how}")
    shards, draft = pa.concat_tables([shards for shards, _ in found]), f".{name}.draft"
    n_tasks = min(len(shards), spark.sparkContext.defaultParallelism * plan.TASKS_PER_CORE)
    try:
        with waves.disk_errors(files):
            _write(plan.frame(spark, shards, n=n_tasks), f"{files.location}/{draft}", *groupings)
        remove_checksums(files, draft)
        files.move(draft, name)
    finally:
        files.remove(draft)
    written = spark.read.parquet(waves.literal(f"{files.location}/{name}"))
    counts = written.where(f"key = {OF_SITE}").agg(sf.count("site"), sf.sum("n_pages")).collect()[0]
    log(f"{many(counts[0], 'site')} of {many(counts[1] or 0, 'page')} written to {target}")


def _source(spark: SparkSession, location: str) -> tuple[pa.Table, str]:
    """The files of a run's block rows or of a table as shards, and how pages are grouped into sites."""
    judging = open_files(f"{location.rstrip('/')}/{output.JUDGING}", spark)
    if judging.names("_run") is None:
        location = open_files(location, spark).location.removeprefix("file://")  # absolute, for tasks
        found = SiteTable(location, table.listing(location))
        return site_sums.table_files(found), found.grouping
    sizes = site_sums.judged_sizes(judging)
    if sizes is None:
        raise OutputError(
            f"{location}: this run kept no block rows (the column blocks is something else); clean into a "
            "new OUT with --by-site --keep-blocks"
        )
    config = output.stored(judging, output.CONFIG) or {}
    return site_sums.judged_files(judging, sizes), config["sites"]["grouping"]


def _write(shards: DataFrame, location: str, grouping: str) -> None:
    rows = shards.mapInArrow(partial(site_sums.sums_partition, schema=SITES), tables.ddl(SITES))
    summed = [sf.sum(name).alias(name) for name in evidence.SUMS]
    best = sf.max(sf.struct(sf.length("example"), *EXAMPLE.names)).alias("best")
    rows = rows.groupBy(*KEYED).agg(*summed, best).where(f"{evidence.SUMS[0]} > 1")
    rows = rows.select(*SUMS.names, *(f"best.{name}" for name in EXAMPLE.names))
    rows = rows.repartitionByRange(*KEYED).sortWithinPartitions(*KEYED)
    rows = rows.withMetadata(KEYED[0], {table.VERSION_KEY: table.VERSION, table.GROUPING_KEY: grouping})
    writer = rows.write.option("compression", "zstd").option("parquet.block.size", str(_ROW_GROUP))
    writer.parquet(location)
