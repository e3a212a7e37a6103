"""Pages → Parquet, written by the tasks themselves: on a disk, and in a store that Spark has no jars for.

Text then never enters the JVM, which would take it apart and compress it at a fifth of the whole cost. A task
gives its files names of its own and tells them when all are written. Only what the task that Spark takes for
the right one tells becomes part of the output; what other attempts left is removed with the wave.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark import TaskContext
from pyspark.sql import DataFrame

from victor_spark.spark import record
from victor_spark.spark.clean_partition import CleanTask, Spent, clean_partition
from victor_spark.spark.record import Counts
from victor_spark.warc import fsspec_files

NO_VALUE: Final = "__HIVE_DEFAULT_PARTITION__"
_TOLD: Final = pa.schema([("told", pa.string())])
_DDL: Final = "told string"
_ON_DISK: Final = "file://"
_N_TRIES: Final = 5
_ROW_GROUP_BYTES: Final = 32 << 20
_N_SITES: Final = 200
"""So many a task names, of which a wave keeps `record.N_SITES`."""

_LEVEL: Final = 3  # as Spark writes: an eighth smaller than at pyarrow's 1, for 6 µs a page


@dataclass(frozen=True, slots=True)
class Target:
    """Where a wave's files go, of which columns, and into a folder for each value of which column."""

    location: str
    schema: pa.Schema
    partition_by: str | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """What tasks say of the files they wrote: names below the target and sizes, and what was counted."""

    files: dict[str, int]
    counts: Counts


def write(rows: DataFrame, target: Target) -> Told:
    """Writes pages that come from elsewhere, one file a partition and folder."""
    return _told(rows.mapInArrow(partial(write_partition, target=target), _DDL))


def clean(splits: DataFrame, target: Target, *, task: CleanTask, spent: Spent | None = None) -> Told:
    """Cleans splits and writes their pages, in the same Python process."""
    return _told(splits.mapInArrow(partial(_clean_partition, target=target, task=task, spent=spent), _DDL))


def _told(lines: DataFrame) -> Told:
    parts = [json.loads(line.told) for line in lines.collect()]
    files = {name: size for part in parts for name, size in part["files"].items()}
    return Told(files, record.total(Counts(**part["counts"]) for part in parts))


def _clean_partition(
    batches: Iterable[pa.RecordBatch], *, target: Target, task: CleanTask, spent: Spent | None
) -> Iterator[pa.RecordBatch]:
    return write_partition(clean_partition(batches, task=task, spent=spent), target=target)


def write_partition(batches: Iterable[pa.RecordBatch], *, target: Target) -> Iterator[pa.RecordBatch]:
    """Batches of pages → files, and one row that tells which."""
    context = TaskContext.get()
    number = context.partitionId() if context else 0
    name = f"part-{number:05}-{uuid4()}.zstd.parquet"
    tally = _Tally()
    files: dict[str, _File] = {}
    try:
        for batch in batches:
            tally.add(batch)
            rows = pa.Table.from_batches([batch]).cast(target.schema)  # Spark drops the schema's version
            for folder, part in divided(rows, target.partition_by):
                if folder not in files:
                    files[folder] = _File(f"{target.location}/{folder}{name}", part.schema)
                files[folder].write(part)
        if (
            number == 0 and not files and target.partition_by is None
        ):  # readers want one file, for its columns
            files[""] = _File(f"{target.location}/{name}", target.schema)
        sizes = {f"{folder}{name}": file.close() for folder, file in files.items()}
    except BaseException:
        for file in files.values():
            file.discard()
        raise
    told = json.dumps({"files": sizes, "counts": asdict(tally.counts())}, ensure_ascii=False)
    yield pa.RecordBatch.from_pydict({"told": [told]}, _TOLD)


def divided(table: pa.Table, column: str | None) -> Iterator[tuple[str, pa.Table]]:
    """The rows by the folder they belong to; the column that makes folders is left out."""
    if column is None:
        yield "", table
        return
    rest = table.drop_columns([column])
    for value in pc.unique(table[column]).to_pylist():
        chosen = table[column].is_null() if value is None else pc.equal(table[column], value)
        folder = NO_VALUE if value is None else quote(value, safe=" !$&()+,-.;@_~")
        yield f"{column}={folder}/", rest.filter(chosen)


class _File:
    """A Parquet file under way: rows are gathered to row groups of some size."""

    def __init__(self, url: str, schema: pa.Schema) -> None:
        self._path = Path(url.removeprefix(_ON_DISK)) if url.startswith(_ON_DISK) else None
        self._file = _in_store(url) if self._path is None else _on_disk(self._path)
        self._writer = pq.ParquetWriter(self._file, schema, compression="zstd", compression_level=_LEVEL)
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
        """Ends the file, which is there from now on; its size."""
        self._flush()
        self._writer.close()
        size: int = self._file.tell()
        self._file.close()
        return size

    def discard(self) -> None:
        """Gives the file up: before it is there in a store, where it lies on a disk."""
        with suppress(Exception):  # the file may be what failed
            self._writer.close()
        if self._path is not None:
            with suppress(OSError):  # of a full disk
                self._file.close()
            self._path.unlink(missing_ok=True)
        elif not self._file.closed:
            self._file.discard()
            self._file.closed = True  # so that nothing tries to write the rest at its end


def _in_store(url: str) -> Any:
    system, path = fsspec_files.file_system(url)
    system.retries = _N_TRIES  # of a part; what still fails, fails the task, which Spark tries again
    return system.open(path, "wb")


def _on_disk(path: Path) -> Any:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.open("wb")


class _Tally:
    """Counts rows as `record.count` does."""

    def __init__(self) -> None:
        self._reasons: Counter[tuple[str, str | None]] = Counter()
        self._failed: dict[str, str] = {}
        self._n_failures = 0
        self._languages, self._sites, self._lengths = Counter[str](), Counter[str](), Counter[str]()

    def add(self, batch: pa.RecordBatch) -> None:
        """Counts the rows of a batch."""
        names = ("status", "reason", "warc_filename", "warc_record_offset")
        columns: Sequence[list[Any]] = [batch.column(name).to_pylist() for name in names]
        self._reasons.update(zip(columns[0], columns[1], strict=True))
        for _, reason, shard, offset in zip(*columns, strict=True):
            if offset is None:
                self._n_failures += 1
                self._failed.setdefault(shard, reason or "")
        self._add_texts(batch.filter(pc.equal(batch.column("status"), "ok")))

    def _add_texts(self, ok: pa.RecordBatch) -> None:
        self._languages.update(language or record.UNKNOWN for language in ok.column("language").to_pylist())
        self._sites.update(filter(None, ok.column("url_host_name").to_pylist()))
        lengths = pc.utf8_length(ok.column("text")).to_pylist()
        self._lengths.update(str(1 << (length.bit_length() - 1)) for length in lengths if length)

    def counts(self) -> Counts:
        """What was counted."""
        statuses: Counter[str] = Counter()
        reasons: dict[str, Counter[str]] = {}
        for (status, reason), n in self._reasons.items():
            statuses[status] += n
            if reason is not None:
                reasons.setdefault(status, Counter())[reason] += n
        named = {status: dict(found.most_common(record.N_REASONS)) for status, found in reasons.items()}
        return Counts(
            n_rows=statuses.total(),
            n_failures=self._n_failures,
            statuses=dict(statuses),
            reasons=named,
            failed_shards=self._failed,
            languages=dict(self._languages),
            sites=dict(self._sites.most_common(_N_SITES)),
            lengths=dict(self._lengths),
        )
