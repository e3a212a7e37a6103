"""Pages → Parquet, in the folders and the files of the size that were asked for."""

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from victor_spark import tables
from victor_spark.spark.layout import Layout

_SHUFFLED: Final = 2.0
"""Bytes of a row on its way between tasks, for each byte of it in Parquet."""


def write(rows: DataFrame, location: str, layout: Layout) -> None:
    """Writes pages as Parquet, with the schema's version."""
    rows = rows.withMetadata(tables.VERSION_COLUMN, {tables.VERSION_KEY: tables.PAGES_VERSION})
    if layout.wanted_bytes:
        rows = rebalanced(rows, layout)
    writer = rows.write.mode("overwrite").option("compression", "zstd")
    if layout.partition_by:
        writer = writer.partitionBy(layout.partition_by)
    writer.parquet(location)


def rebalanced(rows: DataFrame, layout: Layout) -> DataFrame:
    """The rows divided anew by Spark's adaptive execution: as many together as make up a file."""
    advised = int((layout.wanted_bytes or 0) * _SHUFFLED)
    settings = {
        "enabled": "true",
        "advisoryPartitionSizeInBytes": f"{advised}b",
        "coalescePartitions.parallelismFirst": "false",
        "coalescePartitions.minPartitionSize": f"{max(advised // 5, 1)}b",
    }
    for name, value in settings.items():
        rows.sparkSession.conf.set(f"spark.sql.adaptive.{name}", value)
    return rows.hint("rebalance", *([sf.col(layout.partition_by)] if layout.partition_by else []))
