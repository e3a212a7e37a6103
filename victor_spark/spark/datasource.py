"""`spark.read.format("warc")`: the records of WARC files as a DataFrame, for looking around.

    from victor_spark.spark import datasource
    datasource.register(spark)
    records = spark.read.format("warc").load("crawl/*.warc.gz")

Every html record is a row of `tables.RECORDS` with its html. All columns are read and cross into the JVM
whatever is selected (Spark tells a Python data source nothing of that), unless `.schema(...)` names fewer; so
cleaning a crawl is `victor clean`'s business, where no html leaves the Python process.
"""

import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from victor_spark import tables
from victor_spark.errors import ShardError, UsageError
from victor_spark.spark.rows import RowBatch, record_row, shard_row
from victor_spark.warc import inputs, records
from victor_spark.warc.shard import ReadOptions, Shard

SPLIT_BYTES: Final = 128 << 20
"""Larger shards are read by several partitions, smaller ones share one."""

_ALL_STATUSES: Final = tuple(range(100, 600))


def register(spark: SparkSession) -> None:
    """Makes the format "warc" known to a session."""
    spark.dataSource.register(WarcDataSource)


def _statuses(text: str) -> tuple[int, ...]:
    return _ALL_STATUSES if text.strip().lower() == "all" else tuple(int(part) for part in text.split(","))


def _words(text: str) -> tuple[str, ...]:
    return tuple(part.strip().lower() for part in text.split(",") if part.strip())


_READING: Final[dict[str, tuple[str, Callable[[str], Any]]]] = {
    "statuses": ("statuses", _statuses),
    "mimetypes": ("mime_types", _words),
    "recordtypes": ("record_types", _words),
    "maxbytes": ("max_bytes", int),
}
"""Option (Spark doesn't tell upper from lower case) → the field of ReadOptions, and how it is read."""

_OTHERS: Final = frozenset({"path", "paths", "baseurl", "splitbytes"})


@dataclass(frozen=True)
class Portion(InputPartition):
    """What one partition reads; it pickles."""

    shards: tuple[Shard, ...]


class WarcDataSource(DataSource):
    """The format "warc". Spark pickles it: it holds options alone, and nothing that was opened."""

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
    """Reads records as Arrow batches. It pickles, as it holds names, options and no file."""

    def __init__(self, names: Sequence[str], options: Mapping[str, str]) -> None:
        self._schema = _columns(names)
        self._options = {key.lower(): value for key, value in options.items()}
        self._reading = _read_options(self._options)

    def partitions(self) -> Sequence[InputPartition]:
        """The shards, large ones in ranges, small ones together."""
        shards = inputs.resolve(_paths(self._options), base_url=self._options.get("baseurl"))
        size = int(self._options.get("splitbytes", SPLIT_BYTES))
        return [Portion(tuple(some)) for some in _portions(shards, size)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The records of a partition; a shard that can't be read (on) is a row with its reason."""
        assert isinstance(partition, Portion)
        waiting = RowBatch(self._schema)
        for shard in partition.shards:
            for row in self._rows(shard):
                waiting.add({name: row.get(name) for name in self._schema.names})
                if waiting.full:
                    yield waiting.take()
        if len(waiting):
            yield waiting.take()

    def _rows(self, shard: Shard) -> Iterator[dict[str, Any]]:
        try:
            for record in records.read(shard, self._reading):
                row = record_row(record, status=record.status or "ok", reason=record.reason)
                yield {**row, "html": record.payload}
        except ShardError as error:
            yield shard_row(shard.filename, reason=str(error))


def _columns(names: Sequence[str]) -> pa.Schema:
    unknown = [name for name in names if name not in tables.RECORDS.names]
    if unknown:
        known = ", ".join(tables.RECORDS.names)
        raise UsageError(f"the format warc has no column {unknown[0]} (it has: {known})")
    return pa.schema([tables.RECORDS.field(name) for name in names])


def _read_options(options: Mapping[str, str]) -> ReadOptions:
    unknown = sorted(options.keys() - _READING.keys() - _OTHERS)
    if unknown:
        known = ", ".join(sorted(_READING.keys() | _OTHERS))
        raise UsageError(f"the format warc has no option {unknown[0]} (it has: {known})")
    fields = {}
    for option, (name, convert) in _READING.items():
        if option in options:
            try:
                fields[name] = convert(options[option])
            except ValueError:
                raise UsageError(f"the option {option} can't be {options[option]!r}") from None
    return dataclasses.replace(records.DEFAULTS, **fields)


def _paths(options: Mapping[str, str]) -> list[str]:
    """What `load` was given: one path, or several as JSON."""
    paths = json.loads(options["paths"]) if "paths" in options else []
    paths += [options["path"]] if "path" in options else []
    if not paths:
        raise UsageError("nothing to read: spark.read.format('warc').load(PATH)")
    return paths


def _portions(shards: Sequence[Shard], size: int) -> Iterator[list[Shard]]:
    portion: list[Shard] = []
    n_bytes = 0
    for shard in (piece for whole in shards for piece in _pieces(whole, size)):
        weight = size if shard.n_bytes is None else shard.n_bytes
        if portion and n_bytes + weight > size:
            yield portion
            portion, n_bytes = [], 0
        portion.append(shard)
        n_bytes += weight
    if portion:
        yield portion


def _pieces(shard: Shard, size: int) -> Iterator[Shard]:
    """A large shard as ranges; one of unknown size, of picked records, or of a page stays whole."""
    whole = shard.records or shard.kind == "html" or shard.start or shard.end is not None
    if whole or not shard.size or shard.size <= size:
        yield shard
        return
    n = -(-shard.size // size)
    bounds = [shard.size * number // n for number in range(n)]
    for start, end in zip(bounds, [*bounds[1:], None], strict=True):
        yield dataclasses.replace(shard, start=start, end=end)
