"""How rows become files: in folders by the values of a column, in files of about a size."""

from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from victor_spark import tables

PARTITION_COLUMNS: Final = ("language", "crawl")
FILE_BYTES: Final = 256 << 20
"""The files' size where rows go to folders: without one, every task would write a file into each of them."""

WAVE_FACTOR: Final = 16
"""Input that gives a file of a certain size, about: cleaned text is a small part of an archive."""

_SHUFFLED: Final = 2.0
"""Bytes of a row on its way between tasks, for each byte of it in Parquet."""


@dataclass(frozen=True, slots=True)
class Layout:
    """`partition_by`: a column whose values become folders; `file_bytes`: None is a file a task."""

    partition_by: str | None = None
    file_bytes: int | None = None

    @property
    def wanted_bytes(self) -> int | None:
        """The size files should have; None: as it comes."""
        return self.file_bytes or (FILE_BYTES if self.partition_by else None)

    @property
    def wave_bytes(self) -> int:
        """Input that a wave needs at least, to fill a file."""
        return WAVE_FACTOR * (self.wanted_bytes or 0)


def write(rows: DataFrame, location: str, layout: Layout) -> None:
    """Writes pages as Parquet, with the schema's version."""
    rows = rows.withMetadata(tables.VERSION_COLUMN, {tables.VERSION_KEY: tables.PAGES_VERSION})
    if layout.wanted_bytes:
        rows = _rebalanced(rows, layout)
    writer = rows.write.mode("overwrite").option("compression", "zstd")
    if layout.partition_by:
        writer = writer.partitionBy(layout.partition_by)
    writer.parquet(location)


def _rebalanced(rows: DataFrame, layout: Layout) -> DataFrame:
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
