"""Which task reads which bytes: paths and ranges travel to the executors, html doesn't.

Shards are split into ranges of about `split_bytes`, in the order they were found. Along all of them runs one
scale of bytes, and every `wave_bytes` of it are a wave: what is written and committed together. So a wave's
splits follow from the manifest and these two numbers, which are stored, and are never listed all at once.
"""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from victor_spark import tables
from victor_spark.spark import manifest

SPLIT_BYTES: Final = 64 << 20
SMALLEST_SPLIT: Final = 4 << 20
"""A small input is split down to this size, so that every core has work."""

WAVE_BYTES: Final = 2 << 30
WAVE_BYTES_PER_CORE: Final = 1 << 30
"""Three or four minutes of work, the most that is lost with a wave; the larger of the two applies."""

MOST_WAVES: Final = 10_000
TASK_BYTES: Final = 256 << 20
TASKS_PER_CORE: Final = 4
"""A wave has this many tasks a core, or more if they would be longer than TASK_BYTES."""

_SMALLEST: Final = 1 << 12  # bytes that opening an empty file counts as
_UNKNOWN: Final = 64 << 20

_KEYS: Final = 30
"""Integers tried for each partition: enough to find one for nearly every partition."""

Int64 = npt.NDArray[np.int64]

SPLITS: Final = manifest.SHARDS.append(pa.field("task", pa.int32()))


@dataclass(frozen=True)
class Plan:
    """The shards (columns of `manifest.SHARDS`), and how they are cut.

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
    """How to cut the shards; sizes that are not given follow from the number of cores."""
    begins = np.concatenate([[0], np.cumsum(_weights(shards))]).astype(np.int64)
    n_bytes = int(begins[-1])
    even = n_bytes // (n_cores * TASKS_PER_CORE)
    split_bytes = split_bytes or min(max(even, SMALLEST_SPLIT), SPLIT_BYTES)
    smallest = max(WAVE_BYTES, WAVE_BYTES_PER_CORE * n_cores, -(-n_bytes // MOST_WAVES), min_wave_bytes)
    return Plan(shards, split_bytes, wave_bytes or smallest, begins)


def waves(plan: Plan) -> Iterator[int]:
    """The numbers of the waves, from 0 on, without those in which no split begins."""
    for wave in range(-(-int(plan.begins[-1]) // plan.wave_bytes)):
        if n_splits(plan, wave):
            yield wave


def n_splits(plan: Plan, wave: int) -> int:
    """How many splits a wave has."""
    return len(_within(plan, wave).row)


def splits(plan: Plan, wave: int) -> pa.Table:
    """The splits of a wave: columns of `manifest.SHARDS`, whole shards or ranges of them."""
    return _cut(_within(plan, wave))


class _Pieces(NamedTuple):
    """Split `number` of `n` of the shard in row `row`, each."""

    shards: pa.Table
    row: Int64
    number: Int64
    n: Int64


def _within(plan: Plan, wave: int) -> _Pieces:
    """The pieces that begin within a wave."""
    first, last = wave * plan.wave_bytes, (wave + 1) * plan.wave_bytes
    low = max(int(np.searchsorted(plan.begins, first, "right")) - 1, 0)
    high = int(np.searchsorted(plan.begins[:-1], last, "left"))
    shards = plan.shards.slice(low, high - low)
    n_splits = _n_splits(shards, plan.split_bytes)
    row = np.repeat(np.arange(len(n_splits)), n_splits)
    number = np.arange(len(row)) - np.repeat(np.cumsum(n_splits) - n_splits, n_splits)
    n = n_splits[row]
    begins = plan.begins[low:high][row] + _weights(shards)[row] * number // n
    ours = (begins >= first) & (begins < last)
    return _Pieces(shards, row[ours], number[ours], n[ours])


def _cut(pieces: _Pieces) -> pa.Table:
    """The pieces as shards; those that are whole keep the bounds they have."""
    cut, number, n = pieces.shards.take(pa.array(pieces.row)), pieces.number, pieces.n
    sizes = _filled(cut, "size", 0)
    starts = np.where(n > 1, sizes * number // n, _filled(cut, "start", 0))
    ends = np.where(n > 1, sizes * (number + 1) // n, _filled(cut, "end", 0))
    to_the_end = np.where(n > 1, number + 1 == n, _is_null(cut, "end"))
    columns = {**{name: cut[name] for name in manifest.SHARDS.names}, "start": pa.array(starts)}
    columns["end"] = pa.array(ends, pa.int64(), mask=to_the_end)
    n_bytes = np.where(n > 1, ends - starts, _filled(cut, "n_bytes", 0))
    columns["n_bytes"] = pa.array(n_bytes, pa.int64(), mask=_is_null(cut, "n_bytes"))
    return pa.table(columns, schema=manifest.SHARDS)


def n_tasks(splits: pa.Table, *, n_cores: int) -> int:
    """The number of tasks for a wave's splits."""
    n_splits: int = splits.num_rows
    return max(1, min(n_splits, max(n_cores * TASKS_PER_CORE, -(-weight(splits) // TASK_BYTES))))


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
    keys, tasks = _partition_keys(spark, n), pack(_weights(splits).tolist(), n)
    rows = [(*row.values(), keys[task]) for row, task in zip(splits.to_pylist(), tasks, strict=True)]
    ddl = tables.ddl(SPLITS)
    return spark.createDataFrame(rows, ddl, verifySchema=False).repartition(n, "task")


def _partition_keys(spark: SparkSession, n: int) -> list[int]:
    """For each of `n` partitions, an integer that `DataFrame.repartition(n, column)` puts into it."""
    partitions = f"transform(sequence(0, {_KEYS * n}), key -> pmod(hash(CAST(key AS int)), {n}))"
    found = spark.sql(f"SELECT {partitions} AS partitions FROM VALUES (0)").collect()[0].partitions
    keys = {partition: key for key, partition in enumerate(found)}
    return [keys.get(partition, partition) for partition in range(n)]  # if none is found: unequal work


def weight(splits: pa.Table) -> int:
    """How much work it is to read them: their length on the scale of bytes."""
    return int(_weights(splits).sum())


def n_bytes(splits: pa.Table) -> int:
    """Bytes to read, with a guess where the size is unknown."""
    return int(_filled(splits, "n_bytes", _UNKNOWN).sum())


def _weights(shards: pa.Table) -> Int64:
    """Bytes to read of each shard; `_UNKNOWN` and `_SMALLEST` where the size is unknown or small."""
    return np.maximum(_filled(shards, "n_bytes", _UNKNOWN), _SMALLEST)


def _n_splits(shards: pa.Table, split_bytes: int) -> Int64:
    """How many ranges each shard is cut into: pages, or records picked from a file, into one."""
    sizes = _filled(shards, "size", 0)
    pages = np.isin(np.asarray(shards["kind"].to_pylist(), dtype=object), ("html", "judged"))
    cut_already = _filled(shards, "n_bytes", -1) != _filled(shards, "size", -1)
    return np.where(pages | cut_already, 1, np.maximum(-(-sizes // split_bytes), 1))


def _filled(table: pa.Table, name: str, value: int) -> Int64:
    filled: Int64 = table[name].fill_null(value).to_numpy().astype(np.int64)
    return filled


def _is_null(table: pa.Table, name: str) -> npt.NDArray[np.bool_]:
    nulls: npt.NDArray[np.bool_] = table[name].is_null().to_numpy(zero_copy_only=False)
    return nulls
