"""`victor sites write`: block rows of runs, and tables of sites → one table of sites."""

from dataclasses import dataclass
from functools import partial
from typing import Final
from uuid import uuid4

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from victor_spark import tables
from victor_spark.errors import OutputError, UsageError
from victor_spark.sites import evidence, table
from victor_spark.sites.table import KEYED, OF_SITE, SITES, SUMS, SiteTable
from victor_spark.spark import output, plan, site_sums, waves
from victor_spark.spark.files import new_folder, open_files, output_errors, remove_checksums
from victor_spark.spark.progress import log, many
from victor_spark.spark.session import check_master, interruptible, session

_ROW_GROUP: Final = 1 << 19
"""Bytes that are read for a site at least: some thousand rows."""


@dataclass(frozen=True, kw_only=True)
class SitesRequest:
    """The options of `victor sites write`: runs and tables, and the folder that is written."""

    sources: tuple[str, ...]
    target: str
    master: str | None = None


def run(request: SitesRequest) -> None:
    """Writes the table; an error leaves nothing behind."""
    check_master(request.master)
    group = f"victor sites write {uuid4()}"
    interruptible(partial(_run_on_spark, request, group), group=group)


def _run_on_spark(request: SitesRequest, group: str) -> None:
    with session(master=request.master) as spark, output_errors(request.target):
        files, name = new_folder(request.target, spark)
        found = {source: _source(spark, source) for source in request.sources}
        groupings = {grouping: source for source, (_, grouping) in found.items()}
        if len(groupings) > 1:
            how = " and ".join(f"{source} by {grouping}" for grouping, source in groupings.items())
            raise UsageError(f"tables of different groupings can't be merged: {how}")
        shards = pa.concat_tables([shards for shards, _ in found.values()])
        n_tasks = min(len(shards), spark.sparkContext.defaultParallelism * plan.TASKS_PER_CORE)
        spark.sparkContext.setJobGroup(group, "victor sites write", interruptOnCancel=True)
        draft = f".{name}.draft"
        try:
            with waves.disk_errors(files):
                _write(plan.frame(spark, shards, n=n_tasks), f"{files.location}/{draft}", *groupings)
            remove_checksums(files, draft)
            written = spark.read.parquet(waves.literal(f"{files.location}/{draft}"))
            counts = written.where(f"key = {OF_SITE}").agg(sf.count("site"), sf.sum("n_pages")).collect()[0]
            files.move(draft, name)
        finally:
            files.remove(draft)
    log(f"{many(counts[0], 'site')} of {many(counts[1] or 0, 'page')} written to {request.target}")


def _source(spark: SparkSession, location: str) -> tuple[pa.Table, str]:
    """The files of a run's block rows or of a table as shards, and how pages are grouped into sites."""
    judging = open_files(f"{location.rstrip('/')}/{output.JUDGING}", spark)
    if judging.names("_run") is None:
        found = SiteTable(location, table.listing(location))
        return site_sums.table_files(found), found.grouping
    sizes = site_sums.judged_sizes(judging)
    if sizes is None:
        raise OutputError(f"{location}: has no block rows; `victor clean --by-site --keep-blocks` keeps them")
    config = output.stored(judging, output.CONFIG) or {}
    return site_sums.judged_files(judging, sizes), config["sites"]["grouping"]


def _write(shards: DataFrame, location: str, grouping: str) -> None:
    rows = shards.mapInArrow(partial(site_sums.sums_partition, schema=SITES), tables.ddl(SITES))
    summed = [sf.sum(name).alias(name) for name in evidence.SUMS]
    best = sf.max(sf.struct(sf.length("example"), "example", "position")).alias("best")
    rows = rows.groupBy(*KEYED).agg(*summed, best).where(f"{evidence.SUMS[0]} > 1")
    rows = rows.select(*SUMS.names, "best.example", "best.position")
    rows = rows.repartitionByRange(*KEYED).sortWithinPartitions(*KEYED)
    rows = rows.withMetadata(KEYED[0], {table.VERSION_KEY: table.VERSION, table.GROUPING_KEY: grouping})
    writer = rows.write.option("compression", "zstd").option("parquet.block.size", str(_ROW_GROUP))
    writer.parquet(location)
