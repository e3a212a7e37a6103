"""Every shard belongs to exactly one task, and tasks are even."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from victor_spark.archive.inputs import Shard
from victor_spark.spark import plan

SIZES = st.lists(st.one_of(st.none(), st.integers(0, 3 << 30)), min_size=1, max_size=60)


def shards(sizes: list[int | None]) -> list[Shard]:
    return [Shard(f"/crawl/{n}.warc.gz", size, "warc") for n, size in enumerate(sizes)]


@given(sizes=SIZES, n_cores=st.integers(1, 64))
def test_there_are_never_more_tasks_than_shards_and_every_task_has_one(
    sizes: list[int | None], n_cores: int
) -> None:
    n = plan.n_tasks(shards(sizes), n_cores=n_cores)
    assert 1 <= n <= len(sizes)
    assert set(plan.pack(shards(sizes), n)) == set(range(n))


def test_large_shards_have_a_task_each() -> None:
    assert plan.n_tasks(shards([1 << 30] * 1000), n_cores=8) == 1000


def test_many_tiny_shards_share_tasks_evenly() -> None:
    tiny = shards([100_000] * 10_000)
    n = plan.n_tasks(tiny, n_cores=4)
    tasks = plan.pack(tiny, n)
    counts = [tasks.count(task) for task in range(n)]
    assert n < 100
    assert max(counts) - min(counts) <= 1


@pytest.mark.spark
def test_a_task_gets_the_shards_planned_for_it_and_no_others(spark: SparkSession) -> None:
    planned = shards([5 << 20, 1 << 20, None, 7 << 20, 2 << 20, 2 << 20, 1 << 20])

    def seen(batches):  # type: ignore[no-untyped-def] # runs on a worker
        paths = [path for batch in batches for path in batch.column("path").to_pylist()]
        yield pa.RecordBatch.from_pylist([{"paths": sorted(paths)}])

    frame = plan.plan(spark, planned, n=3)
    found = sorted(row["paths"] for row in frame.mapInArrow(seen, "paths array<string>").collect())
    tasks = plan.pack(planned, 3)
    expected = [
        sorted(shard.path for shard, task in zip(planned, tasks, strict=True) if task == n) for n in range(3)
    ]
    assert found == sorted(expected)
