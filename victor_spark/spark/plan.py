"""Which task reads which shards: paths travel to the executors, html never does."""

import heapq
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from victor_spark.archive.inputs import Shard

TASK_BYTES: Final = 64 << 20
"""Shards smaller than this share a task, once every core has some tasks to itself."""

TASKS_PER_CORE: Final = 3

SHARDS: Final = pa.schema(
    [
        ("task", pa.int32()),
        ("path", pa.string()),
        ("size", pa.int64()),
        ("kind", pa.string()),
        ("name", pa.string()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("etag", pa.string()),
        ("aligned", pa.bool_()),
        ("records", pa.list_(pa.list_(pa.int64()))),
    ]
)


def n_tasks(shards: Sequence[Shard], *, n_cores: int) -> int:
    """How many tasks are worth starting: one a shard, fewer when the shards are many and tiny."""
    n_bytes = sum(_weight(shard) for shard in shards)
    return max(1, min(len(shards), max(n_cores * TASKS_PER_CORE, -(-n_bytes // TASK_BYTES))))


def pack(shards: Sequence[Shard], n: int) -> list[int]:
    """The task of every shard: largest first, each to the task with the fewest bytes so far."""
    loads = [(0, task) for task in range(n)]
    task_of = [0] * len(shards)
    for row in sorted(range(len(shards)), key=lambda row: -_weight(shards[row])):
        n_bytes, task = loads[0]
        heapq.heapreplace(loads, (n_bytes + _weight(shards[row]), task))
        task_of[row] = task
    return task_of


def plan(spark: SparkSession, shards: Sequence[Shard], *, n: int) -> DataFrame:
    """The shards as a DataFrame (columns of `SHARDS`) of `n` partitions, one a task."""
    rows = pa.table(
        [pack(shards, n), *([getattr(one, name) for one in shards] for name in SHARDS.names[1:])],
        schema=SHARDS,
    )
    return spark.createDataFrame(rows).repartitionById(n, "task")


def shard(row: Mapping[str, Any]) -> Shard:
    """One row of the plan as the shard it stands for."""
    records = tuple((offset, length) for offset, length in row["records"] or ())
    return Shard(**{name: row[name] for name in SHARDS.names[1:-1]}, records=records)


def _weight(shard: Shard) -> int:
    """Bytes to read; a shard of unknown size counts as a task of its own, an empty file as opening it."""
    return TASK_BYTES if shard.n_bytes is None else max(shard.n_bytes, 1 << 12)
