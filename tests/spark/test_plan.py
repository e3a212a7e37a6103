"""Every byte of every shard belongs to exactly one split, one wave and one task, and tasks are even."""

import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from victor_spark.errors import InputError
from victor_spark.spark import plan
from victor_spark.warc.shard import Shard

MB = 1 << 20
SIZES = st.lists(st.one_of(st.none(), st.integers(0, 300 * MB)), min_size=1, max_size=40)


def shards(sizes: list[int | None]) -> pa.Table:
    return plan.of_shards(Shard(f"/crawl/{n}.warc.gz", size, "warc") for n, size in enumerate(sizes))


@given(
    sizes=SIZES,
    n_cores=st.integers(1, 64),
    split_bytes=st.one_of(st.none(), st.integers(MB, 100 * MB)),
    wave_bytes=st.one_of(st.none(), st.integers(MB, 700 * MB)),
)
def test_the_waves_have_every_byte_of_every_shard_once(
    sizes: list[int | None], n_cores: int, split_bytes: int | None, wave_bytes: int | None
) -> None:
    planned = plan.plan(shards(sizes), n_cores=n_cores, split_bytes=split_bytes, wave_bytes=wave_bytes)
    ranges: dict[str, list[tuple[int, int | None]]] = defaultdict(list)
    for wave in plan.waves(planned):
        rows = plan.splits(planned, wave).to_pylist()
        assert rows
        for row in rows:
            ranges[row["path"]].append((row["start"], row["end"]))
    assert len(ranges) == len(sizes)
    for found in ranges.values():
        starts, ends = zip(*sorted(found), strict=True)
        assert starts[0] == 0
        assert list(starts[1:]) == list(ends[:-1])
        assert ends[-1] is None


def test_one_large_shard_feeds_many_tasks() -> None:
    planned = plan.plan(shards([1000 * MB]), n_cores=4)
    (wave,) = plan.waves(planned)
    splits = plan.splits(planned, wave)
    assert splits.num_rows == 16
    assert plan.n_tasks(splits, n_cores=4) == 16


def test_a_shard_is_not_split_for_nothing() -> None:
    planned = plan.plan(shards([3 * MB]), n_cores=64)
    assert plan.splits(planned, 0).num_rows == 1


def test_pages_records_and_shards_of_unknown_size_are_not_split() -> None:
    whole = [
        Shard("/a.html", 900 * MB, "html"),
        Shard("/b.warc.gz", None, "warc"),
        Shard("/c.warc.gz", 900 * MB, "warc", start=7, end=600 * MB, aligned=True),
    ]
    planned = plan.plan(plan.of_shards(whole), n_cores=4, split_bytes=MB, wave_bytes=10_000 * MB)
    assert [plan.shard(row) for row in plan.splits(planned, 0).to_pylist()] == whole


def test_many_tiny_shards_share_tasks_evenly() -> None:
    planned = plan.plan(shards([100_000] * 10_000), n_cores=4)
    splits = plan.splits(planned, 0)
    n = plan.n_tasks(splits, n_cores=4)
    tasks = plan.pack([100_000] * splits.num_rows, n)
    counts = [tasks.count(task) for task in range(n)]
    assert n < 100
    assert max(counts) - min(counts) <= 1


def test_waves_are_about_as_large_as_asked_for() -> None:
    planned = plan.plan(shards([130 * MB] * 100), n_cores=4, wave_bytes=1024 * MB)
    sizes = [plan.weight(plan.splits(planned, wave)) for wave in plan.waves(planned)]
    assert len(sizes) == 13
    assert all(abs(size - 1024 * MB) <= 64 * MB for size in sizes[:-1])


def test_a_million_shards_take_little_room() -> None:
    one = Shard("/crawl/segments/00042/warc/00042-crawl-data.warc.gz", 1 << 30, "warc", etag="mtime:17321")
    table = plan.of_shards(one for _ in range(20_000))
    assert table.nbytes / table.num_rows < 300
    planned = plan.plan(table, n_cores=4)
    assert plan.splits(planned, 2500).num_rows == pytest.approx(64, abs=1)


def test_a_manifest_survives_being_stored() -> None:
    table = plan.of_shards([Shard("/výlov b.warc.gz", None, "warc", "b", 3, 9, "x", aligned=True)])
    assert plan.from_bytes(plan.to_bytes(table)).equals(table)


@pytest.mark.spark
def test_other_records_of_the_same_files_are_other_inputs() -> None:
    """A run must not resume with the records of another table."""

    def summary(middle: int) -> object:
        records = ((0, 5), (middle, 5), (90, 5))
        return plan.summary(plan.of_shards([Shard("/crawl/a.warc.gz", 95, "warc", records=records)]))

    assert summary(10) == summary(10) != summary(11)


def test_a_task_gets_the_splits_planned_for_it_and_no_others(spark: SparkSession) -> None:
    splits = shards([5 * MB, MB, None, 7 * MB, 2 * MB, 2 * MB, MB])

    def seen(batches):  # type: ignore[no-untyped-def] # runs on a worker
        paths = [path for batch in batches for path in batch.column("path").to_pylist()]
        yield pa.RecordBatch.from_pylist([{"paths": sorted(paths)}])

    frame = plan.frame(spark, splits, n=3)
    found = sorted(row["paths"] for row in frame.mapInArrow(seen, "paths array<string>").collect())
    tasks = plan.pack([5 * MB, MB, 64 * MB, 7 * MB, 2 * MB, 2 * MB, MB], 3)
    paths = splits["path"].to_pylist()
    expected = [sorted(path for path, task in zip(paths, tasks, strict=True) if task == n) for n in range(3)]
    assert found == sorted(expected)


READ = """
import os, sys
from victor_spark.errors import InputError
from victor_spark.spark import plan
content = plan.to_bytes(plan.SHARDS.empty_table())
before = os.listdir("/proc/self/task")
plan.from_bytes(content)
sys.exit(os.listdir("/proc/self/task") != before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="counts threads in /proc")
def test_a_table_in_memory_is_read_without_threads_that_would_hold_it_beyond_the_answer() -> None:
    """Such a thread, late under load, made `victor status` abort at its exit."""
    assert subprocess.run([sys.executable, "-c", READ], check=False).returncode == 0


def test_a_long_look_up_reports_how_far_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(3):
        (tmp_path / f"{number}.html").write_text("<p>The ferry")
    monkeypatch.setattr(plan, "_QUIET_SECONDS", -1.0)
    plan.collect([str(tmp_path)])
    assert capsys.readouterr().err.splitlines() == [
        f"victor: {n} looked up" for n in ("0 shards", "1 shard", "2 shards")
    ]


def test_of_a_list_of_which_nothing_is_there_the_first_path_is_named(tmp_path: Path) -> None:
    (tmp_path / "warc.paths").write_text("a.warc.gz\nb.warc.gz\n")
    with pytest.raises(InputError, match=r"a\.warc\.gz: no such file"):
        plan.collect([str(tmp_path / "warc.paths")])
