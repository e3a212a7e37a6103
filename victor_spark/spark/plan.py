"""The shards of a run, and which task reads which bytes of them: paths and ranges travel, html doesn't.

Shards are columns with their sizes and etags: millions of them fit into the driver. They are stored and
compared without credentials: an address with a new signature is the same shard, and a resumed run reads with
the addresses of its own command line.

Shards are split into ranges of about `split_bytes`, in the order they were found. The bytes of all shards
form one scale. Every `wave_bytes` of it are a wave, which is written and committed together. So a wave's
splits follow from the manifest and these two numbers, which are stored; all splits are never listed at once.
"""

import hashlib
import heapq
import io
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from victor_spark import tables
from victor_spark.blocks import Int64
from victor_spark.errors import InputError, one_line
from victor_spark.logs import log, many
from victor_spark.request import CleanRequest
from victor_spark.warc import inputs, storage
from victor_spark.warc.shard import Shard

_TEXTS: Final = [(name, pa.string()) for name in ("path", "kind", "name", "etag")]
_PLACES: Final = [(name, pa.int64()) for name in ("size", "start", "end")]
_RECORDS: Final = ("records", pa.list_(pa.list_(pa.int64(), 2)))
SHARDS: Final = pa.schema([*_TEXTS, *_PLACES, ("aligned", pa.bool_()), _RECORDS, ("n_bytes", pa.int64())])
"""One shard a row: the fields of `Shard`, and how many bytes of it are to be read."""

_QUIET_SECONDS: Final = 10.0
"""Progress of looking up shards is reported at most this often."""

_FIELDS: Final = SHARDS.names[:-2]
_ROWS: Final = 10_000
_N_SHOWN: Final = 20
_DECIDING: Final = ("path", "kind", "name", "start", "end", "records")


@dataclass(frozen=True)
class Manifest:
    """The shards (columns of `SHARDS`), the rows of those that can't be read, and the first few reasons."""

    table: pa.Table
    problems: tuple[str, ...] = ()
    missing: tuple[int, ...] = ()

    @property
    def available(self) -> pa.Table:
        """The shards that can be read."""
        return self.table.take(np.setdiff1d(np.arange(len(self)), self.missing))

    def __len__(self) -> int:
        return int(self.table.num_rows)


def collect(arguments: Sequence[str], base_url: str | None = None) -> Manifest:
    """The shards of the arguments, every one looked up.

    An unreadable shard on a list stays, and the run counts it as failed. Raises InputError as
    `inputs.resolve` does, and if no shard can be read.
    """
    problems: list[str] = []
    missing: list[int] = []

    def known() -> Iterator[Shard]:
        reported = time.monotonic()
        found = inputs.found(arguments, base_url=base_url)
        for row, (one, problem) in enumerate(inputs.checked(found)):
            if time.monotonic() - reported > _QUIET_SECONDS:
                reported = time.monotonic()
                log(f"{many(row, 'shard')} looked up")
            if problem is not None:
                missing.append(row)
                problems.extend([problem] if len(missing) <= _N_SHOWN else [])
            yield one

    table = of_shards(known())
    if len(missing) == table.num_rows:
        raise InputError(problems[0])
    if pc.max(table["size"]).as_py() == 0 and not table["size"].null_count:
        raise InputError(f"{shard(table.slice(0, 1).to_pylist()[0]).filename}: empty file")
    return Manifest(table, tuple(problems), tuple(missing))


def of_shards(shards: Iterable[Shard]) -> pa.Table:
    """The shards as columns."""
    waiting = iter(shards)
    batches = []
    while some := list(islice(waiting, _ROWS)):
        columns = [pa.array([getattr(one, field.name) for one in some], field.type) for field in SHARDS]
        batches.append(pa.RecordBatch.from_arrays(columns, schema=SHARDS))
    return pa.Table.from_batches(batches, schema=SHARDS)


def shard(row: Mapping[str, Any]) -> Shard:
    """The shard of one row."""
    records = tuple((offset, length) for offset, length in row["records"] or ())
    return Shard(**{name: row[name] for name in _FIELDS}, records=records)


def _public(table: pa.Table) -> pa.Table:
    """The shards without the credentials in their addresses."""
    paths = table["path"].to_pylist()
    for column in ("path", "name"):
        names = pa.array(map(storage.public, table[column].to_pylist(), paths), pa.string())
        table = table.set_column(SHARDS.get_field_index(column), column, names)
    return table.cast(SHARDS)


def to_bytes(table: pa.Table) -> bytes:
    """The shards as a Parquet file."""
    buffer = io.BytesIO()
    pq.write_table(_public(table), buffer, compression="zstd")
    return buffer.getvalue()


def from_bytes(content: bytes) -> pa.Table:
    """The shards of a Parquet file; ValueError when it isn't one."""
    # No threads of Arrow, which would hold Python's objects for some moments after the answer is there.
    try:
        return pq.ParquetFile(pa.BufferReader(content)).read(use_threads=False).cast(SHARDS)
    except (OSError, pa.ArrowException) as error:
        raise ValueError(one_line(error)) from error


def summary(table: pa.Table) -> dict[str, Any]:
    """The shards in a run's config.json: their number and a hash."""
    digest = hashlib.sha256()
    for batch in _public(table).select(_DECIDING).to_batches(max_chunksize=_ROWS):
        rows = zip(*(column.to_pylist() for column in batch.columns), strict=True)
        digest.update("".join(map(repr, rows)).encode("utf-8", "surrogateescape"))
    return {"n_shards": table.num_rows, "sha256": digest.hexdigest()}


def figures(table: pa.Table) -> dict[str, Any]:
    """The number of shards of each kind, the size of the largest, and how many have no known size."""
    kinds, sizes = Counter(table["kind"].to_pylist()), table["n_bytes"]
    return {"kinds": kinds, "largest": pc.max(sizes).as_py() or 0, "n_of_unknown_size": sizes.null_count}


def changed(before: pa.Table, now: pa.Table) -> list[str]:
    """The names of the first few of these shards whose content changed; unreadable ones are not compared."""
    differs = np.zeros(before.num_rows, dtype=bool)
    for column in ("size", "etag"):
        different = pc.not_equal(before[column].combine_chunks(), now[column].combine_chunks())
        differs |= pc.fill_null(different, False).to_numpy(zero_copy_only=False)
    return [shard(row).filename for row in before.take(np.flatnonzero(differs)[:_N_SHOWN]).to_pylist()]


SPLIT_BYTES: Final = 64 << 20
SMALLEST_SPLIT: Final = 4 << 20
"""A small input is split down to this size, so that every core has work."""

WAVE_BYTES: Final = 2 << 30
WAVE_BYTES_PER_CORE: Final = 1 << 30
"""Three or four minutes of work, which bounds the loss with a wave; the larger of the two applies."""

MOST_WAVES: Final = 10_000
WAVE_FACTOR: Final = 16
"""About how many bytes of input make one byte of output: cleaned text is a small part of an archive."""

TASK_BYTES: Final = 256 << 20
TASKS_PER_CORE: Final = 4
"""A wave has this many tasks per core, or more if they would be longer than TASK_BYTES."""

_SMALLEST: Final = 1 << 12  # bytes that opening an empty file counts as
_UNKNOWN: Final = 64 << 20

_KEYS: Final = 30
"""Integers tried for each partition: enough to find one for nearly every partition."""

SPLITS: Final = SHARDS.append(pa.field("task", pa.int32()))


@dataclass(frozen=True)
class Plan:
    """The shards (columns of `SHARDS`), and how they are cut.

    `begins[i]` is where shard i begins on the scale of bytes, `begins[-1]` the scale's length.
    """

    shards: pa.Table
    split_bytes: int
    wave_bytes: int
    begins: Int64


def plan(
    shards: pa.Table,
    *,
    n_cores: int,
    split_bytes: int | None = None,
    wave_bytes: int | None = None,
    min_wave_bytes: int = 0,
) -> Plan:
    """The plan for these shards; sizes that are not given follow from the number of cores."""
    begins = np.concatenate([[0], np.cumsum(_weights(shards))]).astype(np.int64)
    n_bytes = int(begins[-1])
    even = n_bytes // (n_cores * TASKS_PER_CORE)
    split_bytes = split_bytes or min(max(even, SMALLEST_SPLIT), SPLIT_BYTES)
    smallest = max(WAVE_BYTES, WAVE_BYTES_PER_CORE * n_cores, -(-n_bytes // MOST_WAVES), min_wave_bytes)
    return Plan(shards, split_bytes, wave_bytes or smallest, begins)


def of_request(shards: pa.Table, request: CleanRequest, *, n_cores: int) -> Plan:
    """The plan of a run."""
    options, least = request.spark, WAVE_FACTOR * (request.rows.file_bytes or 0)  # enough to fill a file
    sizes = {"split_bytes": options.split_bytes, "wave_bytes": options.wave_bytes}
    return plan(shards, n_cores=n_cores, min_wave_bytes=least, **sizes)


def waves(plan: Plan) -> dict[int, int]:
    """The numbers of the waves, from 0 on, with how many splits begin in each; none without splits."""
    n_waves = -(-int(plan.begins[-1]) // plan.wave_bytes)
    return {wave: n for wave in range(n_waves) if (n := len(_within(plan, wave)[1]))}


def splits(plan: Plan, wave: int) -> pa.Table:
    """The splits of a wave (columns of `SHARDS`): ranges, or whole shards with their own bounds."""
    shards, row, number, n = _within(plan, wave)
    cut = shards.take(pa.array(row))
    sizes = _filled(cut, "size", 0)
    starts = np.where(n > 1, sizes * number // n, _filled(cut, "start", 0))
    ends = np.where(n > 1, sizes * (number + 1) // n, _filled(cut, "end", 0))
    to_the_end = np.where(n > 1, number + 1 == n, _is_null(cut, "end"))
    columns = {**{name: cut[name] for name in SHARDS.names}, "start": pa.array(starts)}
    columns["end"] = pa.array(ends, pa.int64(), mask=to_the_end)
    n_bytes = np.where(n > 1, ends - starts, _filled(cut, "n_bytes", 0))
    columns["n_bytes"] = pa.array(n_bytes, pa.int64(), mask=_is_null(cut, "n_bytes"))
    return pa.table(columns, schema=SHARDS)


def _within(plan: Plan, wave: int) -> tuple[pa.Table, Int64, Int64, Int64]:
    """The splits that begin within a wave: shards; per split its shard's row, its number, of how many."""
    first, last = wave * plan.wave_bytes, (wave + 1) * plan.wave_bytes
    low = max(int(np.searchsorted(plan.begins, first, "right")) - 1, 0)
    high = int(np.searchsorted(plan.begins[:-1], last, "left"))
    shards = plan.shards.slice(low, high - low)
    pages = np.isin(np.asarray(shards["kind"].to_pylist(), dtype=object), ("html", "scored"))
    cut_already = _filled(shards, "n_bytes", -1) != _filled(shards, "size", -1)
    by_size = np.maximum(-(-_filled(shards, "size", 0) // plan.split_bytes), 1)
    n_splits = np.where(pages | cut_already, 1, by_size)
    row = np.repeat(np.arange(len(n_splits)), n_splits)
    number = np.arange(len(row)) - np.repeat(np.cumsum(n_splits) - n_splits, n_splits)
    n = n_splits[row]
    begins = plan.begins[low:high][row] + _weights(shards)[row] * number // n
    ours = (begins >= first) & (begins < last)
    return shards, row[ours], number[ours], n[ours]


def n_tasks(splits: pa.Table, *, n_cores: int) -> int:
    """The number of tasks for a wave's splits."""
    return max(1, min(len(splits), max(n_cores * TASKS_PER_CORE, -(-weight(splits) // TASK_BYTES))))


def pack(weights: Sequence[int], n: int) -> list[int]:
    """The task of every split: largest first, each to the task with the fewest bytes so far."""
    loads = [(0, task) for task in range(n)]
    task_of = [0] * len(weights)
    for row in sorted(range(len(weights)), key=lambda row: -weights[row]):
        n_bytes, task = loads[0]
        heapq.heapreplace(loads, (n_bytes + weights[row], task))
        task_of[row] = task
    return task_of


def frame(spark: SparkSession, splits: pa.Table, *, n: int) -> DataFrame:
    """The splits as a DataFrame (columns of `SPLITS`) of `n` partitions, one a task."""
    keys, tasks = _keys(spark, n), pack(_weights(splits).tolist(), n)
    numbers = [keys.get(task, task) for task in tasks]  # if none is found: unequal work
    rows = [(*row.values(), key) for row, key in zip(splits.to_pylist(), numbers, strict=True)]
    return spark.createDataFrame(rows, tables.ddl(SPLITS), verifySchema=False).repartition(n, "task")


@lru_cache(maxsize=8)
def _keys(spark: SparkSession, n: int) -> dict[int, int]:
    """Partition → an integer that `DataFrame.repartition(n, column)`, which hashes, puts there."""
    partitions = f"transform(sequence(0, {_KEYS * n}), key -> pmod(hash(CAST(key AS int)), {n}))"
    found = spark.sql(f"SELECT {partitions} AS partitions FROM VALUES (0)").collect()[0].partitions
    return {partition: key for key, partition in enumerate(found)}


def weight(splits: pa.Table) -> int:
    """The work of reading some splits: their length on the scale of bytes."""
    return int(_weights(splits).sum())


def n_bytes(splits: pa.Table) -> int:
    """Bytes to read, with a guess where the size is unknown."""
    return int(_filled(splits, "n_bytes", _UNKNOWN).sum())


def _weights(shards: pa.Table) -> Int64:
    """Bytes to read of each shard; `_UNKNOWN` and `_SMALLEST` where the size is unknown or small."""
    return np.maximum(_filled(shards, "n_bytes", _UNKNOWN), _SMALLEST)


def _filled(table: pa.Table, name: str, value: int) -> Int64:
    return np.asarray(table[name].fill_null(value).to_numpy(), np.int64)


def _is_null(table: pa.Table, name: str) -> npt.NDArray[np.bool_]:
    return np.asarray(table[name].is_null().to_numpy(zero_copy_only=False), np.bool_)
