"""A run resumes where another one stopped: finished waves are kept, others are done once."""

import json
import os
import re
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.spark.crawl import PARAGRAPH, Response, Victor, page, rows, tree, write_warc
from victor_spark.spark import ledger as entered
from victor_spark.spark.files import Files
from victor_spark.spark.run_record import Entry

pytestmark = pytest.mark.spark

SMALL = ("--wave-bytes", "5K", "--split-bytes", "2K")


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one shard of 40 pages and two small ones."""
    folder = tmp_path_factory.mktemp("shards")
    for name, n in (("a", 40), ("b", 3), ("c", 3)):
        responses = [
            Response(
                f"http://{name}.example/{i}",
                page(f"Ferry {name} {i}", PARAGRAPH, f"{i * 7919}" * 40).encode(),
            )
            for i in range(n)
        ]
        write_warc(folder / f"{name}.warc.gz", responses)
    return folder


@pytest.fixture(scope="module")
def whole(spark: SparkSession, shards: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output of a run in several waves that nobody disturbed."""
    from victor_spark.request import CleanRequest, SparkOptions
    from victor_spark.spark.run import run

    assert spark
    output = tmp_path_factory.mktemp("whole") / "out"
    sizes = SparkOptions(wave_bytes=5 << 10, split_bytes=2 << 10)
    run(CleanRequest(inputs=(str(shards),), output=str(output), spark=sizes))
    return output


@pytest.fixture
def done(whole: Path, tmp_path: Path) -> Path:
    """A copy of that output."""
    return Path(shutil.copytree(whole, tmp_path / "out"))


def ledger(output: Path) -> list[Path]:
    return sorted((output / "_run" / "ledger").glob("*.json"))


def test_many_splits_in_many_waves_give_every_record_once(spark: SparkSession, whole: Path) -> None:
    found = [(Path(row["warc_filename"]).name, row["warc_record_offset"]) for row in rows(whole)]
    assert len(found) == len(set(found)) == 46
    assert len(ledger(whole)) > 3
    assert json.loads((whole / "_run" / "run.json").read_text())["n_splits"] > 6
    read = spark.read.parquet(str(whole / "pages"))
    assert read.count() == 46
    assert "wave" not in read.columns


def test_only_waves_that_are_missing_are_done(done: Path, whole: Path, shards: Path, victor: Victor) -> None:
    (done / "_run" / "run.json").unlink()
    ledger(done)[1].unlink()
    before = tree(done / "pages")
    outcome = victor("clean", shards, "--output", done)
    assert outcome.code == 0
    n_waves = len(ledger(whole))
    assert f"{n_waves - 1} of {n_waves} waves are done" in outcome.lines[0]
    assert rows(done) == rows(whole)
    after = tree(done / "pages")
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    assert {name.split("-part")[0] for name in changed} - {"_SUCCESS"} == {"wave-00001"}
    record, first = (json.loads((out / "_run" / "run.json").read_text()) for out in (done, whole))
    assert [record[key] for key in ("n_rows", "statuses", "reasons", "n_waves")] == [
        first[key] for key in ("n_rows", "statuses", "reasons", "n_waves")
    ]
    assert record["n_waves_of_earlier_runs"] == n_waves - 1


def test_pages_that_went_are_made_again(done: Path, whole: Path, shards: Path, victor: Victor) -> None:
    (done / "_run" / "run.json").unlink()
    next((done / "pages").glob("wave-00002-*.parquet")).unlink()
    ledger(done)[0].write_text("{ half a led")
    without_files = json.loads(ledger(done)[1].read_text()) | {"files": None}
    ledger(done)[1].write_text(json.dumps(without_files))
    assert victor("status", done).code == 4
    assert victor("clean", shards, "--output", done).code == 0
    assert rows(done) == rows(whole)


@pytest.mark.parametrize("name", ["config.json", "plan.json", "manifest.parquet"])
def test_a_run_whose_record_is_deleted_in_the_middle_is_not_done(
    done: Path, shards: Path, victor: Victor, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Without these files, `status`, `export` and the same command would refuse a complete output."""
    (done / "_run" / "run.json").unlink()
    ledger(done)[1].unlink()
    enter = entered.enter

    def deletes(files: Files, entry: Entry) -> None:
        (done / "_run" / name).unlink()
        enter(files, entry)

    monkeypatch.setattr(entered, "enter", deletes)
    outcome = victor("clean", shards, "--output", done)
    assert (outcome.code, outcome.lines[1:]) == (2, [outcome.lines[-1]])
    assert re.search(r"error: .*/out: (holds no run of victor clean|_run/ is damaged;)", outcome.lines[-1])
    assert not (done / "_run" / "run.json").exists()


def test_a_run_whose_pages_are_deleted_in_the_middle_is_not_done(
    done: Path, whole: Path, shards: Path, victor: Victor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a wave that was done before: run.json would count the other waves as the whole run."""
    (done / "_run" / "run.json").unlink()
    ledger(done)[1].unlink()
    enter = entered.enter

    def deletes(files: Files, entry: Entry) -> None:
        next((done / "pages").glob("wave-00002-*.parquet")).unlink()
        enter(files, entry)

    with monkeypatch.context() as patch:
        patch.setattr(entered, "enter", deletes)
        outcome = victor("clean", shards, "--output", done)
    assert outcome.code == 2
    assert outcome.lines[-1].endswith("waves that were done are missing; the same command makes them again")
    assert not (done / "_run" / "run.json").exists()
    assert victor("clean", shards, "--output", done).code == 0
    assert rows(done) == rows(whole)


def test_the_cut_is_that_of_the_first_run(done: Path, whole: Path, shards: Path, victor: Victor) -> None:
    (done / "_run" / "run.json").unlink()
    for entry in ledger(done)[2:]:
        entry.unlink()
    assert victor("clean", shards, "--output", done, "--wave-bytes", "1G", "--partitions", "1").code == 0
    assert rows(done) == rows(whole)
    assert len(ledger(done)) == len(ledger(whole))


@pytest.mark.parametrize("complete", [True, False])
def test_a_shard_of_another_content_is_refused(
    shards: Path, tmp_path: Path, victor: Victor, spark: SparkSession, complete: bool
) -> None:
    assert spark
    folder = Path(shutil.copytree(shards, tmp_path / "shards"))
    assert victor("clean", folder, "--output", tmp_path / "out", *SMALL).code == 0
    if not complete:
        (tmp_path / "out" / "_run" / "run.json").unlink()
        ledger(tmp_path / "out")[1].unlink()
    before = tree(tmp_path / "out")
    os.utime(folder / "b.warc.gz", ns=(1, 1))
    outcome = victor("clean", folder, "--output", tmp_path / "out")
    assert (outcome.code, len(outcome.lines)) == (2, 1)
    assert "b.warc.gz changed since" in outcome.lines[0]
    assert "b.warc.gz" in outcome.lines[0]
    assert tree(tmp_path / "out") == before


def test_a_clock_that_was_put_back_between_two_runs_changes_nothing(
    done: Path, whole: Path, shards: Path, victor: Victor
) -> None:
    """The files of the first run are dated a year after the second run."""
    (done / "_run" / "run.json").unlink()
    ledger(done)[1].unlink()
    later = datetime.now(UTC) + timedelta(days=365)
    for number, path in enumerate(ledger(done)):
        entry = json.loads(path.read_text())
        entry["finished_at"] = (later + timedelta(seconds=number)).isoformat(timespec="milliseconds")
        path.write_text(json.dumps(entry))
    for path in done.rglob("*"):
        os.utime(path, (later.timestamp(), later.timestamp()))
    assert victor("clean", shards, "--output", done).code == 0
    assert rows(done) == rows(whole)
    record = json.loads((done / "_run" / "run.json").read_text())
    assert record["seconds"]["clean"] >= 0
    assert all(wave["seconds"] >= 0 for wave in record["waves"])
    assert "pages per second" in (done / "_run" / "report.html").read_text().lower()
    assert "nothing to do" in victor("clean", shards, "--output", done).lines[0]
