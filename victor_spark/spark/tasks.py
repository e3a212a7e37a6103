"""The work of one task: opens its shards, cleans their records, and writes the rows or gives them to Spark.

If the Python process can reach the output (a disk, or a store that Spark has no jars for), it writes the rows
itself. Their text then never enters the JVM, which would take a fifth of the run's time to convert and
compress it. A task gives its files names of its own and reports them when all are written. Only
files that the successful attempt of a task reports become part of the output; those of other attempts are
removed with the staged wave.
"""

import gc
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark import Accumulator, Broadcast, TaskContext
from pyspark.sql import DataFrame, SparkSession

from victor_spark import logs
from victor_spark.request import SECOND_PASS, CleanRequest
from victor_spark.spark import plan
from victor_spark.spark.run_record import Counts, models_hashes, total
from victor_spark.warc import remote_files
from victor_spark.worker import second_pass
from victor_spark.worker.rows import Work, page_work
from victor_spark.worker.sandbox import Sandbox

NO_VALUE: Final = "__HIVE_DEFAULT_PARTITION__"
REPORT_DDL: Final = "report string"
LOG_FIELDS: Final = "victor.log.fields"
"""The local property of Spark's jobs with which each finished task logs a line of JSON."""

_REPORT: Final = pa.schema([("report", pa.string())])
_N_TRIES: Final = 5
_ROW_GROUP_BYTES: Final = 32 << 20
_LEVEL: Final = 3  # as Spark writes: an eighth smaller than at pyarrow's 1, for 6 µs a page

Batches = Iterable[pa.RecordBatch]
StageSeconds = Mapping[str, Accumulator[float]]
"""Seconds by stage, over the tasks of a wave.

Spark adds the task that wrote a partition, once; the time of lost attempts is not included. (With a shuffle
before the write, for a target file size, a task that is repeated counts again.)
"""


@dataclass(frozen=True, slots=True)
class CleanTask:
    """The task of a run, the same for all its splits. It can be pickled; the models are broadcast.

    Tasks are equal if their requests are and the content of their models (`models_hash`).
    """

    request: CleanRequest
    models_hash: str
    models: Broadcast[dict[str, bytes]] = field(compare=False)


def clean_task(spark: SparkSession, request: CleanRequest, models: dict[str, bytes]) -> CleanTask:
    """The task of a run, with its models broadcast."""
    return CleanTask(request, repr(models_hashes(models)), spark.sparkContext.broadcast(models))


def clean_partition(
    batches: Batches, *, task: CleanTask, seconds: StageSeconds | None = None
) -> Iterator[pa.RecordBatch]:
    """Batches of shards (columns of `plan.SHARDS`) → batches of pages, flushed by size.

    An unreadable shard ends in one row without offset. `seconds` gets the time of the stages.
    """
    work, sandbox = _prepared(task)
    before = work.timer.seconds()
    for batch in batches:
        shards = [plan.shard(columns) for columns in batch.to_pylist()]
        for pages in (sandbox if task.request.limits.sandbox else work).batches(shards):
            handed = time.perf_counter()
            yield pages
            work.timer.add("hand_over", time.perf_counter() - handed)
    stages = {stage: now - before[stage] for stage, now in work.timer.seconds().items()}
    for stage, accumulator in (seconds or {}).items():
        accumulator.add(stages[stage])
    if (context := TaskContext.get()) and (fields := context.getLocalProperty(LOG_FIELDS)):
        logs.structure(**json.loads(fields), task=context.partitionId(), attempt=context.attemptNumber())
        logs.log("task done", stages=stages)


def clean_rows(shards: Iterable[Any], *, clean: Callable[[Batches], Batches]) -> Iterator[tuple[Any, ...]]:
    """The same for `rdd.mapPartitions`, which passes rows; `clean` takes and gives batches."""
    rows = [shard.asDict() for shard in shards]
    batches = [pa.RecordBatch.from_pylist(rows)] if rows else []
    for batch in clean(batches):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def grouped(batches: Batches, name: str) -> Iterator[tuple[Any, Iterator[dict[str, Any]]]]:
    """The rows of batches that are sorted by a column: each value of it, and its rows."""
    return groupby((row for batch in batches for row in batch.to_pylist()), key=itemgetter(name))


_CURRENT: Final[dict[CleanTask, tuple[Work[Any], Sandbox]]] = {}


def _prepared(task: CleanTask) -> tuple[Work[Any], Sandbox]:
    """The work of this process and the child that does it, the same for all tasks that are equal."""
    if task not in _CURRENT:
        for _, other in _CURRENT.values():
            other.close()
        _CURRENT.clear()
        make = second_pass.work if task.request.passing == SECOND_PASS else page_work
        work = make(task.request, task.models.value)
        _CURRENT[task] = work, Sandbox(work, task.request.limits)
        gc.freeze()  # Spark collects garbage after each task: it skips what is loaded now
    return _CURRENT[task]


PARQUET: Final = partial(pq.ParquetWriter, compression="zstd", compression_level=_LEVEL)
BETWEEN_PASSES: Final = partial(
    pq.ParquetWriter, compression="zstd", compression_level=1, use_dictionary=False, write_statistics=False
)
"""The writer of scored pages, which are read whole, once or twice: half of the time, and no larger files."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where files go, with which columns, and the columns whose values become folders.

    These columns are left out of the files, unless they are for a table or in a format that `keeps` them.
    Where rows are sorted by them (`is_sorted`), one file is open at a time.
    """

    location: str
    schema: pa.Schema
    partition_by: tuple[str, ...] = ()
    keeps: bool = False
    is_sorted: bool = False
    suffix: str = "zstd.parquet"
    writer: Callable[[Any, pa.Schema], Any] = PARQUET


def write_partition(
    batches: Batches, *, target: Target, clean: Callable[[Batches], Batches] | None = None
) -> Iterator[pa.RecordBatch]:
    """Writes batches of pages, and yields one row: names and sizes of the files, and the counts of rows.

    With `clean`, the batches are shards, and it makes pages of them.
    """
    context = TaskContext.get()
    number = context.partitionId() if context else 0
    name = f"part-{number:05}-{uuid4()}.{target.suffix}"
    counts = Counts()
    files: dict[str, _File] = {}
    sizes: dict[str, int] = {}
    try:
        for batch in clean(batches) if clean else batches:
            if "status" in target.schema.names:  # pages, and not the sums of sites
                counts.count(batch)
            rows = pa.Table.from_batches([batch]).cast(target.schema)  # Spark drops the schema's version
            for folder, part in _by_folder(rows, target):
                if folder not in files:
                    if target.is_sorted:
                        _close(files, sizes, name)
                    files[folder] = _File(f"{target.location}/{folder}{name}", part.schema, target.writer)
                files[folder].write(part)
        if number == 0 and not files and not target.partition_by:  # readers want one file's columns
            files[""] = _File(f"{target.location}/{name}", target.schema, target.writer)
        _close(files, sizes, name)
    except BaseException:
        for file in files.values():
            file.discard()
        raise
    report = json.dumps({"files": sizes, "counts": counts.as_json()}, ensure_ascii=False)
    yield pa.RecordBatch.from_pydict({"report": [report]}, _REPORT)


def written(reports: DataFrame) -> tuple[dict[str, int], Counts]:
    """The files that all tasks of `write_partition` wrote, with their sizes, and the counts of their rows."""
    parts = [json.loads(row.report) for row in reports.collect()]
    sizes = {name: size for part in parts for name, size in part["files"].items()}
    return sizes, total(Counts(**part["counts"]) for part in parts)


def _close(files: "dict[str, _File]", sizes: dict[str, int], name: str) -> None:
    """Ends the files that are open, and notes their sizes."""
    for folder in list(files):
        sizes[f"{folder}{name}"] = files[folder].close()
        del files[folder]


def _by_folder(table: pa.Table, target: Target) -> Iterator[tuple[str, pa.Table]]:
    parts = [("", table)]
    for column in target.partition_by:
        parts, wider = [], parts
        for parent, rows in wider:
            for value in pc.unique(rows[column]).to_pylist():
                chosen = rows[column].is_null() if value is None else pc.equal(rows[column], value)
                folder = NO_VALUE if value is None else quote(str(value), safe=" !$&()+,-.;@_~")
                parts.append((f"{parent}{column}={folder}/", rows.filter(chosen)))
    for folder, rows in parts:
        yield folder, rows if target.keeps else rows.drop_columns(list(target.partition_by))


class _File:
    """An open file: rows are gathered into row groups of about the same size."""

    def __init__(self, url: str, schema: pa.Schema, writer: Callable[[Any, pa.Schema], Any]) -> None:
        self._path = Path(url.removeprefix("file://")) if url.startswith("file://") else None
        self._file: Any
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._path.open("wb")
        else:
            system, path = remote_files.file_system(url)
            system.retries = _N_TRIES  # of a part; if all fail, Spark repeats the task
            self._file = system.open(path, "wb")
        self._writer = writer(self._file, schema)
        self._waiting: list[pa.Table] = []

    def write(self, table: pa.Table) -> None:
        """Adds rows."""
        self._waiting.append(table)
        if sum(part.nbytes for part in self._waiting) >= _ROW_GROUP_BYTES:
            self._flush()

    def _flush(self) -> None:
        if self._waiting:
            table = pa.concat_tables(self._waiting)
            self._writer.write_table(table, row_group_size=max(table.num_rows, 1))
            self._waiting = []

    def close(self) -> int:
        """Ends the file, which is visible from now on; its size."""
        self._flush()
        self._writer.close()
        size: int = self._file.tell()
        self._file.close()
        return size

    def discard(self) -> None:
        """Removes the file, which in a store was never visible."""
        with suppress(Exception):  # the file may be what failed
            self._writer.close()
        if self._path is not None:
            with suppress(OSError):  # of a full disk
                self._file.close()
            self._path.unlink(missing_ok=True)
        elif not self._file.closed:
            self._file.discard()
            self._file.closed = True  # so that its finalizer writes nothing
