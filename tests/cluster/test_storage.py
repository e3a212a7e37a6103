"""Full disks and deleted shards: exact rows, or a clear failure and no partial output."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cluster.runs import Job, Outcome, undisturbed, write_crawl
from tests.spark.crawl import rows
from victor_spark.errors import EXIT_INCOMPLETE

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(1800)]

Jobs = Callable[..., Job]


def test_a_shard_that_goes_away_is_a_row_and_all_others_are_whole(job: Jobs, tmp_path: Path) -> None:
    """Two tasks of three shards each; of each task's, the last is gone before its turn comes."""
    crawl = write_crawl(tmp_path / "crawl", 6, 15)
    expected = undisturbed(crawl)
    options = ["--partitions", "2", "--max-failed-shards", "2"]
    run = job(crawl=crawl, options=options, held=True).start()
    run.busy(2)
    gone = {f"shard-{n}.warc.gz" for n in (4, 5)}
    for name in gone:
        (crawl / name).unlink()
    run.go()
    run.finish()
    failed = [row for row in rows(run.output) if row["warc_record_offset"] is None]
    assert {Path(row["warc_filename"]).name for row in failed} == gone
    assert {row["status"] for row in failed} == {"error"}
    assert all("o such file" in row["reason"] for row in failed)
    kept = [outcome for outcome in expected if outcome[0] not in gone]
    assert [outcome for outcome in run.outcomes() if outcome[0] not in gone] == kept


def test_a_full_disk_is_a_clear_failure_and_with_room_the_same_command_ends_well(
    job: Jobs, small_disk: Path, expected: list[Outcome]
) -> None:
    made = job(output=small_disk / "out", conf={"spark.task.maxFailures": "1"})
    full = made.start()
    line = full.fail()
    assert full.code == EXIT_INCOMPLETE
    assert line.startswith("victor: error: ")
    assert "No space left on device" in line
    assert not (small_disk / "out" / "_run" / "run.json").exists()
    subprocess.run(["mount", "-o", "remount,size=4m", small_disk], check=True)
    again = made.start()
    again.finish()
    assert again.outcomes() == expected
