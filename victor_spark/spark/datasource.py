"""`spark.read.format("warc")`: the records of WARC files as a DataFrame, to explore a crawl.

    from victor_spark.spark import datasource
    datasource.register(spark)
    records = spark.read.format("warc").load("crawl/*.warc.gz")

Every html record is a row of `tables.RECORDS` with its html. All columns are read and cross into the JVM
even if few are selected, because Spark doesn't pass the selection to a Python data source; `.schema(...)` can
name fewer. To clean a crawl use `victor clean`, where no html leaves the Python process.
"""

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from victor_spark import tables
from victor_spark.configuration import n_bytes
from victor_spark.errors import ConfigurationError, UsageError, choices
from victor_spark.spark import plan
from victor_spark.warc import inputs, reading
from victor_spark.warc.records import Record
from victor_spark.warc.shard import ALL_STATUSES, ReadOptions
from victor_spark.worker.rows import Row, record_row, row_batches

try:
    from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
except ImportError as error:
    raise ConfigurationError('spark.read.format("warc") needs Spark 4.0 or newer') from error

_PARTITION_BYTES: Final = 128 << 20
"""Larger shards are read by several partitions, smaller ones share one."""


def register(spark: SparkSession) -> None:
    """Makes the format "warc" known to a session."""
    spark.dataSource.register(WarcDataSource)


_READING: Final = {one.name.replace("_", ""): one for one in dataclasses.fields(ReadOptions)}
"""Option (without case, as in Spark) → the field of ReadOptions, whose `setting` reads the text."""

_OPTIONS: Final = sorted({*_READING, "path", "paths", "baseurl", "splitbytes"})


class WarcDataSource(DataSource):
    """The format "warc". Spark pickles it, so it holds options only and no open file."""

    @classmethod
    def name(cls) -> str:
        """The format's name."""
        return "warc"

    def schema(self) -> str:
        """All columns, in Spark's words."""
        return tables.ddl(tables.RECORDS)

    def reader(self, schema: StructType) -> "WarcReader":
        """A reader of the columns that a schema names."""
        return WarcReader(schema.names, dict(self.options))


class WarcReader(DataSourceReader):
    """Reads records as Arrow batches. It can be pickled: it holds names and options, but no open file."""

    def __init__(self, names: Sequence[str], options: Mapping[str, str]) -> None:
        if wrong := next((name for name in names if name not in tables.RECORDS.names), None):
            raise UsageError(f"the format warc has no column {wrong}{choices(wrong, tables.RECORDS.names)}")
        self._schema = pa.schema([tables.RECORDS.field(name) for name in names])
        self._options = {key.lower(): value for key, value in options.items()}
        if wrong := min(self._options.keys() - _OPTIONS, default=None):
            raise UsageError(f"the format warc has no option {wrong}{choices(wrong, _OPTIONS)}")
        self._reading, self._size = reading.DEFAULTS, _PARTITION_BYTES
        for option, text in self._options.items():
            try:
                if option == "splitbytes":
                    self._size = n_bytes(text)
                elif found := _READING.get(option):
                    is_all = option == "statuses" and text.strip().lower() == "all"
                    value: Any = ALL_STATUSES if is_all else found.metadata["kind"](text)
                    self._reading = dataclasses.replace(self._reading, **{found.name: value})
            except ValueError:
                raise UsageError(f"the option {option} can't be {text!r}") from None

    def partitions(self) -> Sequence[InputPartition]:
        """The shards, large ones in ranges, small ones together."""
        paths = json.loads(self._options.get("paths", "[]"))  # where `load` was given several
        paths += [self._options["path"]] if "path" in self._options else []
        if not paths:
            raise UsageError("nothing to read: spark.read.format('warc').load(PATH)")
        shards = inputs.resolve(paths, base_url=self._options.get("baseurl"))
        planned = plan.plan(plan.of_shards(shards), n_cores=1, split_bytes=self._size, wave_bytes=self._size)
        parts = (plan.splits(planned, wave).to_pylist() for wave in plan.waves(planned))
        return [InputPartition(tuple(map(plan.shard, rows))) for rows in parts]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The records of a partition, and a row with the reason for a shard that can't be read to its end."""

        def row(record: Record) -> Row:
            return record_row(record, status=record.status or "ok", reason=record.reason)

        read = partial(reading.read, options=self._reading)
        return row_batches(partition.value, self._schema, read=read, row=row)
