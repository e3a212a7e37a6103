"""For any earlier content of OUT, a run damages nothing and leaves no OUT that only looks complete."""

import errno
import json
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.spark import file_systems
from tests.spark.crawl import Victor, rows, tree
from tests.warc.making import page
from victor_spark.request import CleanRequest
from victor_spark.spark import ledger
from victor_spark.spark.files import Files, HadoopFiles, LocalFiles
from victor_spark.spark.run_record import config
from victor_spark.spark.status import status

pytestmark = pytest.mark.spark


@pytest.fixture
def done(spark: SparkSession, crawl: Path, tmp_path: Path, victor: Victor) -> Path:
    """A complete output of the shard b."""
    assert spark
    assert victor("clean", crawl / "b.warc.gz", "--output", tmp_path / "out").code == 0
    return tmp_path / "out"


def test_the_same_command_again_changes_nothing(done: Path, crawl: Path, victor: Victor) -> None:
    before = tree(done)
    outcome = victor("clean", crawl / "b.warc.gz", "--output", done)
    assert outcome.code == 0
    assert "already done" in outcome.lines[0]
    assert tree(done) == before


@pytest.mark.parametrize(
    ("options", "difference"),
    [
        (("--threshold", "0.3"), "was written without --threshold: repeat"),
        (("--blocks",), "was written without --blocks: repeat"),
        (("--max-bytes", "5000"), "was written with --max-bytes 10485760 (now 5000): repeat"),
        (("--no-sandbox", "--page-seconds", "9"), "with --page-seconds 20 (now 9), without --no-sandbox"),
    ],
)
def test_other_options_are_refused_by_name(
    done: Path, crawl: Path, victor: Victor, options: tuple[str, ...], difference: str
) -> None:
    before = tree(done)
    outcome = victor("clean", crawl / "b.warc.gz", "--output", done, *options)
    assert (outcome.code, len(outcome.lines)) == (2, 1)
    assert difference in outcome.lines[0]
    assert tree(done) == before


@pytest.mark.parametrize("name", ["model", "lid_model", "templates", "sites"])
def test_a_run_with_a_table_or_a_model_is_not_that_without_it(name: str) -> None:
    """Which models there are is not compared, only their content."""
    plain = CleanRequest()
    given = replace(plain, cleaning=replace(plain.cleaning, **{name: "folder"}))
    with_it, without = (config(one, models={}, inputs={}) for one in (given, plain))
    flag = f"--{name.replace('_', '-')}"
    assert list(ledger._differences(with_it, without)) == [f"with {flag}"]
    assert list(ledger._differences(without, with_it)) == [f"without {flag}"]
    assert config(given, models={}, inputs={}) == with_it


def test_other_inputs_are_refused(done: Path, crawl: Path, victor: Victor) -> None:
    outcome = victor("clean", crawl, "--output", done)
    assert (outcome.code, len(outcome.lines)) == (2, 1)
    assert "with other inputs (1 shard, now 3 shards)" in outcome.lines[0]
    outcome = victor("clean", crawl / "a.warc.gz", "--output", done)
    assert (
        "with other inputs (1 shard, now as many under other names or in another order)" in outcome.lines[0]
    )


def test_another_model_is_refused(done: Path, crawl: Path, victor: Victor) -> None:
    config = json.loads((done / "_run/config.json").read_text())
    name = next(iter(config["models"]))
    config["models"][name] = "0" * 64
    (done / "_run/config.json").write_text(json.dumps(config))
    outcome = victor("clean", crawl / "b.warc.gz", "--output", done)
    assert (outcome.code, len(outcome.lines)) == (2, 1)
    assert f"with other models ({name}): repeat" in outcome.lines[0]


def test_a_run_that_was_killed_before_its_end_finishes(done: Path, crawl: Path, victor: Victor) -> None:
    expected = rows(done)
    (done / "_run" / "run.json").unlink()
    shutil.rmtree(done / "_run" / "ledger")
    part = next((done / "pages").glob("*.parquet"))
    part.rename(done / "pages" / "part-left-behind.parquet")
    (done / "_run" / "staged" / "other" / "00000" / "_temporary").mkdir(parents=True)
    outcome = victor("clean", crawl / "b.warc.gz", "--output", done)
    assert outcome.code == 0
    assert "already done" not in outcome.lines[0]
    assert rows(done) == expected
    assert not (done / "_run" / "staged").exists()


@pytest.mark.parametrize("lost", ["pages/wave-*", "_run/ledger/*"])
@pytest.mark.parametrize("is_cut", [True, False])
def test_what_a_complete_run_lost_is_made_again_and_it_stays_the_same_run(
    done: Path, crawl: Path, victor: Victor, lost: str, is_cut: bool
) -> None:
    """`victor status` says that the same command resumes; tables know an exported run by its run.json."""
    expected, record = rows(done), (done / "_run/run.json").read_bytes()
    path = next(done.glob(lost))
    if is_cut:
        path.write_bytes(path.read_bytes()[:100])
    else:
        path.unlink()
    assert victor("status", done).code == 4
    outcome = victor("clean", crawl / "b.warc.gz", "--output", done)
    assert (outcome.code, "already done" in outcome.lines[0]) == (0, False)
    assert rows(done) == expected
    assert victor("status", done).code == 0
    assert (done / "_run/run.json").read_bytes() == record


def test_a_complete_run_of_which_pages_are_made_again_with_other_statuses_is_another_run(
    done: Path, crawl: Path, victor: Victor
) -> None:
    """As after a page that ran out of time once. Its duplicates were those of the earlier rows."""
    record = json.loads((done / "_run/run.json").read_text())
    earlier = record | {"statuses": {"ok": record["n_rows"] - 1, "timeout": 1}}
    (done / "_run/run.json").write_text(json.dumps(earlier))
    (done / ledger.DUPLICATES).write_text("{}")
    next(done.glob("pages/wave-*")).unlink()
    assert victor("clean", crawl / "b.warc.gz", "--output", done).code == 0
    assert json.loads((done / "_run/run.json").read_text())["statuses"] == {"ok": record["n_rows"]}
    assert not (done / ledger.DUPLICATES).exists()


def test_a_complete_run_that_was_stopped_while_it_made_lost_pages_has_its_charts_again(
    done: Path, crawl: Path, victor: Victor
) -> None:
    """The failure budget may stop the run that makes lost pages; another budget lets it go on."""
    charts = (done / "_run/report.html").read_text()
    next(done.glob("pages/wave-*")).unlink()
    ledger.stop(LocalFiles(str(done)), json.loads((done / "_run/run.json").read_text()), "too many failures")
    assert "Stopped." in (done / "_run/report.html").read_text()
    assert victor("clean", crawl / "b.warc.gz", "--output", done).code == 0
    assert (done / "_run/report.html").read_text() == charts


def test_a_run_that_another_one_completes_before_it_has_the_output_changes_nothing(
    done: Path, crawl: Path, victor: Victor, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, run_json = tree(done), done / "_run" / "run.json"
    (done / "_run" / "run.json").rename(done / "run.json")
    claimed = ledger.claimed

    @contextmanager
    def late(files: Files) -> Iterator[None]:
        (done / "run.json").rename(run_json)
        with claimed(files):
            yield

    monkeypatch.setattr(ledger, "claimed", late)
    outcome = victor("clean", crawl / "b.warc.gz", "--output", done)
    assert outcome.code == 0
    assert "already done" in outcome.lines[0]
    assert tree(done).items() >= before.items()


def test_a_run_that_writes_into_the_folder_of_its_pages_finishes(
    spark: SparkSession, tmp_path: Path, victor: Victor
) -> None:
    assert spark
    for number in range(2):
        (tmp_path / f"{number}.html").write_bytes(page(number))
    out = tmp_path / "out"
    assert victor("clean", tmp_path, "--output", out).code == 0
    expected = rows(out)
    (out / "_run" / "run.json").unlink()
    shutil.rmtree(out / "_run" / "ledger")
    for lines_of in ("pages in", "already done"):
        outcome = victor("clean", tmp_path, "--output", out)
        assert outcome.code == 0
        assert any(lines_of in line for line in outcome.lines)
        assert rows(out) == expected


def test_a_run_that_died_before_its_config_was_written_starts_over(
    spark: SparkSession, crawl: Path, tmp_path: Path, victor: Victor
) -> None:
    assert spark
    (tmp_path / "out" / "_run").mkdir(parents=True)
    (tmp_path / "out" / "_run" / ".config.json.0a1b2c3d4e5f").write_text("{")
    assert victor("clean", crawl / "b.warc.gz", "--output", tmp_path / "out").code == 0
    assert len(rows(tmp_path / "out")) == 6


def test_several_that_write_a_file_at_once_each_write_it_whole(tmp_path: Path) -> None:
    """A run with a lease, as on filesystems without locks."""
    files = LocalFiles(str(tmp_path))
    contents = [bytes([number]) * 50_000 for number in range(8)]
    with ThreadPoolExecutor(len(contents)) as pool:
        list(pool.map(lambda content: [files.write("_run/lease.json", content) for _ in range(20)], contents))
    assert files.read("_run/lease.json") in contents
    assert [path.name for path in (tmp_path / "_run").iterdir()] == ["lease.json"]


def test_two_runs_at_once_the_second_refuses(done: Path, crawl: Path, victor: Victor) -> None:
    (done / "_run" / "run.json").unlink()
    before = tree(done)
    other = LocalFiles(str(done))
    assert other.lock.acquire()
    outcome = victor("clean", crawl / "b.warc.gz", "--output", done)
    other.lock.release()
    assert (outcome.code, len(outcome.lines)) == (2, 1)
    assert "another run" in outcome.lines[0]
    assert tree(done) == before


def test_pages_that_cannot_be_listed_are_not_taken_for_lost(
    done: Path, victor: Victor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As for a user without permission: `Path.rglob` passes over such a folder without an error."""
    iterdir = Path.iterdir

    def refused(path: Path) -> Iterator[Path]:
        if path == done / "pages":
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return iterdir(path)

    monkeypatch.setattr(Path, "iterdir", refused)
    outcome = victor("status", done)
    assert (outcome.code, outcome.lines) == (2, [f"victor: error: {done}/pages: Permission denied"])


def test_a_damaged_record_of_a_run_is_one_clear_line(done: Path, crawl: Path, victor: Victor) -> None:
    (done / "_run" / "config.json").write_text("{")
    outcome = victor("clean", crawl / "b.warc.gz", "--output", done)
    assert (outcome.code, len(outcome.lines)) == (2, 1)
    assert "damaged" in outcome.lines[0]
    # The bytes of a Parquet file in which only the footer is damaged are an OSError to pyarrow.
    manifest = done / "_run" / "manifest.parquet"
    content = bytearray(manifest.read_bytes())
    content[-200:-8] = b"\xff" * 192
    manifest.write_bytes(content)
    outcome = victor("status", done)
    assert (outcome.code, len(outcome.lines)) == (2, 1)
    assert "damaged" in outcome.lines[0]


def test_values_of_wrong_types_in_the_record_of_a_run_are_one_clear_line(
    done: Path, crawl: Path, victor: Victor
) -> None:
    """As after an edit by hand: `status` and the same command name the damage, and don't fail on it."""
    wrong: list[tuple[str, dict[str, Any]]] = [
        ("config.json", {"sites": None}),
        ("config.json", {"inputs": [1]}),
        ("plan.json", {"split_bytes": 10**30}),
        ("failures/00000.json", {"wave": 0}),
        ("run.json", {"n_shards": None}),
        ("run.json", {"n_rows": "x"}),
        ("run.json", {"seconds": {}}),
        ("run.json", {"statuses": []}),
    ]
    for name, values in wrong:
        path = done / "_run" / name
        path.parent.mkdir(exist_ok=True)
        before = path.read_bytes() if path.exists() else b"{}"
        path.write_text(json.dumps(json.loads(before) | values))
        words = ["clean", crawl / "b.warc.gz", "--output"] if name == "run.json" else ["status"]
        outcome = victor(*words, done)
        assert (outcome.code, outcome.lines[-1:]) == (
            2,
            [f"victor: error: {done}: _run/ is damaged; choose another --output"],
        ), (name, values)
        path.write_bytes(before)
    (done / "_run" / "run.json").write_text("[" * 100_000)
    assert "_run/run.json is damaged" in victor("status", done).lines[-1]


@pytest.mark.parametrize("counts", [None, {"statuses": 7}, {"n_rows": "3"}])
def test_a_wave_whose_entry_has_values_of_wrong_types_is_missing(
    done: Path, victor: Victor, counts: dict[str, Any] | None
) -> None:
    entry = done / "_run" / "ledger" / "00000.json"
    entry.write_text(json.dumps(json.loads(entry.read_text()) | {"counts": counts}))
    assert victor("status", done).code == 4
    assert [wave["state"] for wave in status(str(done))["waves"]] == ["missing"]


def test_a_filesystem_that_spark_lacks_is_one_clear_line(
    spark: SparkSession, crawl: Path, victor: Victor
) -> None:
    assert spark
    outcome = victor("clean", crawl, "--output", "abfss://files@account/out")
    assert (outcome.code, len(outcome.lines)) == (2, 1)
    assert "abfss://files@account/out: can't write there" in outcome.lines[0]


def test_sparks_own_filesystem_does_for_files_what_the_local_one_does(
    spark: SparkSession, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("x")
    for files in (HadoopFiles(f"file://{tmp_path}/out a", spark), LocalFiles(str(tmp_path / "out b"))):
        file_systems.begins_empty_and_keeps_what_is_written_last(files)
        files.write("_run/run.json.draft", b"of another writer")
        with pytest.raises(TypeError):
            files.write("_run/run.json", "no bytes")  # type: ignore[arg-type]
        assert files.read("_run/run.json.draft") == b"of another writer"
        assert files.names("_run") == ["run.json", "run.json.draft"]
        files.remove("_run/run.json.draft")
        files.move("_run/run.json", "pages/language=čeština/a b.parquet")
        assert files.below("pages") == {"language=čeština/a b.parquet": len("druhý".encode())}
        assert files.below("_run") == files.below("nothing") == {}
        assert files.names("pages") == ["language=čeština"]
        assert files.lock.acquire()
        assert not files.lock.lost()
        files.lock.release()
        files.remove("_run")
        files.remove("pages")
        assert files.names() == []
        assert not files.is_file()
    assert HadoopFiles(f"file://{tmp_path}/file", spark).is_file()
    assert LocalFiles(f"file://{tmp_path}/file").is_file()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "out a", "out b"]
