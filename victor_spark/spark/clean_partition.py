"""What one task does: open its shards, clean their records, emit rows of the pages table.

Everything in a `CleanTask` travels to the executors and must pickle; the models travel as a broadcast.
"""

import hashlib
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import pyarrow as pa
from pyspark import Accumulator, Broadcast

from victor_spark import pipeline, tables
from victor_spark.errors import ShardError
from victor_spark.page import Record
from victor_spark.spark import plan
from victor_spark.spark.limits import Limits
from victor_spark.spark.page_process import Work
from victor_spark.spark.rows import Row, RowBatch, document_row, record_row, shard_row
from victor_spark.spark.sandbox import Sandbox
from victor_spark.spark.stages import Laps
from victor_spark.warc import records
from victor_spark.warc.shard import FIRST, Attempt, ReadOptions, Shard

Models = dict[str, bytes]


@dataclass(frozen=True, slots=True)
class CleanTask:
    """How to clean, the same for all tasks of a run; `models_hash` stands for the content of `models`."""

    settings: pipeline.Settings
    reading: ReadOptions
    models: Broadcast[Models] | None
    models_hash: str
    blocks: bool = False
    html: bool = False
    crawl: bool = False
    limits: Limits = Limits()

    @property
    def schema(self) -> pa.Schema:
        """The columns of the rows."""
        return tables.pages(blocks=self.blocks, html=self.html, crawl=self.crawl)


_SANDBOXES: Final[dict[CleanTask, Sandbox]] = {}
_WORKS: Final[dict[CleanTask, Work]] = {}


Spent = Accumulator[dict[str, float]]
"""Seconds by stage, over the tasks of a wave."""


def clean_partition(
    batches: Iterable[pa.RecordBatch], *, task: CleanTask, spent: Spent | None = None
) -> Iterator[pa.RecordBatch]:
    """Batches of shards (columns of `plan.SHARDS`) → batches of pages, flushed by size.

    A shard that can't be read ends in one row without offset, and the next shard goes on. `spent` is told
    how long the stages took.
    """
    laps = _work(task).laps
    before = laps.seconds()
    for batch in batches:
        shards = [plan.shard(columns) for columns in batch.to_pylist()]
        cleaned = _sandbox(task).batches(shards) if task.limits.sandbox else _batches(shards, _work(task))
        for pages in cleaned:
            handed = time.perf_counter()
            yield pages
            laps.add("hand_over", time.perf_counter() - handed)
    if spent is not None:
        spent.add({stage: seconds - before[stage] for stage, seconds in laps.seconds().items()})


def clean_rows(
    shards: Iterable[Any], *, task: CleanTask, spent: Spent | None = None
) -> Iterator[tuple[Any, ...]]:
    """The same for `rdd.mapPartitions`: rows in, rows out, `clean_partition` between them."""
    rows = [shard.asDict() for shard in shards]
    batches = [pa.RecordBatch.from_pylist(rows)] if rows else []
    for batch in clean_partition(batches, task=task, spent=spent):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def models_hashes(models: Mapping[str, bytes]) -> dict[str, str]:
    """The SHA-256 of every model by name, as kept in a run's config.json."""
    return {name: hashlib.sha256(content).hexdigest() for name, content in sorted(models.items())}


def _batches(shards: Iterable[Shard], work: Work) -> Iterator[pa.RecordBatch]:
    """The work done in this process, at the mercy of every page."""
    waiting = RowBatch(work.schema)
    for shard in shards:
        for row in _shard_rows(shard, work):
            waiting.add(row)
            if waiting.full:
                yield waiting.take()
    if len(waiting):
        yield waiting.take()


def _shard_rows(shard: Shard, work: Work) -> Iterator[Row]:
    try:
        for record in work.read(shard, FIRST):
            yield work.row(record)
    except ShardError as error:
        yield shard_row(shard.filename, reason=str(error))


def _sandbox(task: CleanTask) -> Sandbox:
    """The child of this process for all tasks of a run, forked when the models are there."""
    key = replace(task, models=None)
    if key not in _SANDBOXES:
        for other in _SANDBOXES.values():
            other.close()
        _SANDBOXES.clear()
        _SANDBOXES[key] = Sandbox(_work(task), task.limits)
    return _SANDBOXES[key]


def _work(task: CleanTask) -> Work:
    """The cleaning of this process, built once however many tasks it runs."""
    key = replace(task, models=None)
    if key not in _WORKS:
        _WORKS.clear()
        assert task.models is not None
        _WORKS[key] = page_work(task, task.models.value)
    return _WORKS[key]


def page_work(task: CleanTask, models: Models) -> Work:
    """What is done with the shards of a task, and with each record."""
    laps = Laps()
    clean = pipeline.cleaning(task.settings, models, laps)

    def read(shard: Shard, attempt: Attempt) -> Iterator[Record]:
        return laps.reading(records.read(shard, task.reading, attempt))

    def row(record: Record) -> Row:
        if record.status is not None:
            row = with_html(record_row(record, status=record.status, reason=record.reason), record)
        else:
            row = with_html(document_row(record, clean(record), blocks=task.blocks), record)
        laps("rows")
        return row

    def lost(record: Record, status: str, reason: str) -> Row:
        dropped = pipeline.dropped(record, task.settings, status, reason)
        return with_html(document_row(record, dropped, blocks=task.blocks), record)

    def with_html(row: Row, record: Record) -> Row:
        if task.html:
            row["html"] = record.payload
        return row

    return Work(task.schema, read, row, lost, laps)
