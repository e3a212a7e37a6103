"""What one task does: open its shards, clean their records, emit rows of the pages table.

Everything in a `CleanTask` travels to the executors and must pickle; the models travel as a broadcast.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
from pyspark import Broadcast

from victor_spark import pipeline, tables
from victor_spark.archive import records
from victor_spark.archive.inputs import Shard
from victor_spark.errors import ShardError
from victor_spark.page import Document, Record
from victor_spark.spark import plan
from victor_spark.spark.rows import Row, RowBatch, document_row, record_row, shard_row

Models = dict[str, bytes]
Clean = Callable[[Record], Document]


@dataclass(frozen=True, slots=True)
class CleanTask:
    """How to clean, the same for all tasks of a run; `models_hash` stands for the content of `models`."""

    settings: pipeline.Settings
    reading: records.ReadOptions
    models: Broadcast[Models]
    models_hash: str
    blocks: bool = False


_CLEANINGS: Final[dict[tuple[pipeline.Settings, str], Clean]] = {}


def clean_partition(batches: Iterable[pa.RecordBatch], *, task: CleanTask) -> Iterator[pa.RecordBatch]:
    """Batches of shards (columns of `plan.SHARDS`) → batches of pages, flushed by size.

    A shard that can't be read ends in one row without offset, and the next shard goes on.
    """
    waiting = RowBatch(tables.pages(blocks=task.blocks))
    for batch in batches:
        for columns in batch.to_pylist():
            for row in _shard_rows(plan.shard(columns), task):
                waiting.add(row)
                if waiting.full:
                    yield waiting.take()
    if len(waiting):
        yield waiting.take()


def clean_rows(shards: Iterable[Any], *, task: CleanTask) -> Iterator[tuple[Any, ...]]:
    """The same for `rdd.mapPartitions`: rows in, rows out, `clean_partition` between them."""
    rows = [shard.asDict() for shard in shards]
    batches = [pa.RecordBatch.from_pylist(rows)] if rows else []
    for batch in clean_partition(batches, task=task):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def models_hashes(models: Mapping[str, bytes]) -> dict[str, str]:
    """The SHA-256 of every model by name, as kept in a run's config.json."""
    return {name: hashlib.sha256(content).hexdigest() for name, content in sorted(models.items())}


def _shard_rows(shard: Shard, task: CleanTask) -> Iterator[Row]:
    clean = _cleaning(task)
    try:
        for record in records.read(shard, task.reading):
            if record.status is not None:
                yield record_row(record, status=record.status, reason=record.reason)
            else:
                yield document_row(record, clean(record), blocks=task.blocks)
    except ShardError as error:
        yield shard_row(shard.filename, reason=str(error))


def _cleaning(task: CleanTask) -> Clean:
    """The cleaning of this process, built once however many tasks it runs."""
    key = (task.settings, task.models_hash)
    if key not in _CLEANINGS:
        _CLEANINGS.clear()
        _CLEANINGS[key] = pipeline.cleaning(task.settings, task.models.value)
    return _CLEANINGS[key]
