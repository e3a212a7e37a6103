"""Failure budgets: their grammar, and runs that stop when one is exceeded and resume with a larger one."""

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.spark.crawl import PARAGRAPH, Response, Victor, page, rows, tree, write_warc
from victor_spark.cli import main
from victor_spark.errors import BudgetError, UsageError
from victor_spark.request import Budget, allowed
from victor_spark.spark import waves
from victor_spark.spark.run_record import BudgetTracker, Counts, Entry

N_SHARDS = 6


@pytest.mark.parametrize(
    ("text", "total", "n"),
    [
        ("0", 50, 0),
        ("7", 5, 7),
        ("1%", 250, 2),
        ("0.01", 250, 2),
        ("100%", 250, 250),
        ("1.0", 3, 3),
        ("1% or 20", 250, 20),
        ("1% or 20", 9000, 90),
        ("1% or 20", 10, 9),  # a count beside a share never covers everything
        ("1% or 1", 1, 0),
    ],
)
def test_a_budget_is_a_share_a_count_or_the_larger_of_both(text: str, total: int, n: int) -> None:
    assert allowed(text, total) == n


@pytest.mark.parametrize(
    "text", ["", "some", "-1", "-1%", "101%", "1.5", "1% or", "1% or 2%", "nan", "1 % of 2"]
)
def test_a_budget_without_meaning_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(UsageError, match="failure budget is a share or a count"):
        Budget(max_failed_pages=text)


def wave(number: int, n_pages: int, **failed: int) -> Entry:
    n_failed = sum(failed.values())
    return Entry(number, {}, 1, 100, Counts(n_pages, 0, {"ok": n_pages - n_failed, **failed}))


def test_a_run_stops_as_soon_as_more_failed_than_may_of_all_its_pages() -> None:
    tracker = BudgetTracker(Budget(max_failed_pages="10%"), n_shards=10, n_bytes=1000)
    tracker.add(wave(0, 50, crash=20, http_status=30))  # of about 500 pages 50 may fail; 30 didn't fail
    tracker.add(wave(1, 50, timeout=20, empty=5))
    said = (
        r"^60 of about 500 pages failed \(timeout 20, crash 40\); --max-failed-pages 10% allows 50\. Repeat"
    )
    with pytest.raises(BudgetError, match=said):
        tracker.add(wave(2, 50, crash=20))


def test_the_row_of_a_failed_shard_is_no_failed_page() -> None:
    counts = Counts(10, 1, {"ok": 9, "error": 1}, failed_shards={"a.warc.gz": "gone"})
    BudgetTracker(Budget("1", "0"), n_shards=2, n_bytes=100).add(Entry(0, {}, 1, 100, counts))
    with pytest.raises(BudgetError, match=r"1 of 2 shards could not be read, such as: gone; .* 10% allows 0"):
        BudgetTracker(Budget("10%", "0"), n_shards=2, n_bytes=100).add(Entry(0, {}, 1, 100, counts))


@pytest.fixture
def broken_crawl(tmp_path: Path) -> Path:
    """Six shards of ten pages; the first two are no archives, in spite of their names."""
    folder = tmp_path / "crawl"
    folder.mkdir()
    for n in range(N_SHARDS):
        path = folder / f"{n}.warc.gz"
        write_warc(
            path, [Response(f"http://{n}.example/{k}", page("Ferry", PARAGRAPH).encode()) for k in range(10)]
        )
        if n < 2:
            path.write_bytes(b"\x1f\x8b\x08\x00" + b"not gzip at all " * 100)
    return folder


@pytest.mark.spark
def test_no_wave_begins_once_too_much_has_failed(spark: SparkSession) -> None:
    """The waves under way end and are committed; of a hundred, that is a few."""
    assert spark
    tracker, begun, committed = BudgetTracker(Budget("0", "5%"), n_shards=9, n_bytes=10_000), [], []

    def commit(number: int, entry: Entry) -> None:
        committed.append(number)
        tracker.add(entry)

    def clean(number: int) -> Entry:
        begun.append(number)
        return wave(number, 100, crash=100)

    with pytest.raises(BudgetError):
        waves.run(range(100), clean, commit, failed=lambda *_: None)
    assert 6 <= len(begun) == len(committed) < 20


@pytest.mark.spark
def test_broken_archives_named_one_by_one_fail_and_the_others_are_read(
    broken_crawl: Path, tmp_path: Path, victor: Victor
) -> None:
    """Files by a glob of the shell: a text that resembles a list, an error page, zeros, an empty file."""
    contents = [b"404 page not found\n", page("403 Forbidden", PARAGRAPH).encode(), bytes(500), b""]
    for number, content in enumerate(contents):
        (broken_crawl / f"{number}.warc.gz").write_bytes(content)
    output = tmp_path / "out"
    outcome = victor("clean", *sorted(broken_crawl.iterdir()), "--output", output, "--max-failed-shards", 4)
    assert outcome.code == 0
    run = json.loads((output / "_run/run.json").read_text())
    assert (run["n_pages"], run["n_failed_shards"]) == (20, 4)
    assert [row["status"] for row in rows(output)] == ["error"] * 4 + ["ok"] * 20


@pytest.mark.spark
def test_over_budget_ends_with_exit_code_3_and_a_larger_one_goes_on(
    broken_crawl: Path, tmp_path: Path, victor: Victor, capfd: pytest.CaptureFixture[str]
) -> None:
    """One shard per wave; finished waves are kept, and a run may be resumed with another budget."""
    output = tmp_path / "out"

    def clean(*options: object) -> Any:
        return victor("clean", broken_crawl, "--output", output, "--wave-bytes", 500, *options)

    stopped = clean("--max-failed-shards", 0)
    assert stopped.code == 3
    assert [line for line in stopped.lines if "error" in line][-1].startswith("victor: error: ")
    assert "--max-failed-shards 0" in stopped.lines[-1]
    report = json.loads((output / "_run/stopped.json").read_text())
    assert report["n_failed_shards"] >= 1
    assert report["stopped"] in stopped.lines[-1]
    assert "Stopped." in (output / "_run/report.html").read_text()
    assert not (output / "_run/run.json").exists()
    assert "allows 0. Repeat the command with a larger value" in stopped.lines[-1]
    capfd.readouterr()
    assert main(["status", str(output)]) == 4
    shown = capfd.readouterr().out
    assert "out: incomplete: more failed than the budget allows; the same command with a larger one" in shown
    assert "--max-failed-shards 0 allows 0. Repeat the command with a larger value" in shown
    assert "command resumes it" not in shown

    before = tree(output / "pages")
    assert clean("--max-failed-shards", "0%").code == 3  # at once: nothing more is cleaned
    assert tree(output / "pages") == before

    assert clean("--max-failed-shards", "40%").code == 0  # not another command: the budget decides no row
    assert before.items() <= tree(output / "pages").items()
    run = json.loads((output / "_run/run.json").read_text())
    assert (run["n_pages"], run["n_failed_shards"], run["n_failed_pages"]) == (40, 2, 0)
    assert len(rows(output)) == 42
    assert not (output / "_run/stopped.json").exists()
    assert clean("--max-failed-shards", "40%").code == 0
    still_over = clean("--max-failed-shards", 1)  # done, and still over a smaller budget
    assert still_over.code == 3
    assert f"2 of 6 shards could not be read, such as: {broken_crawl}" in still_over.lines[-1]
    assert "--max-failed-shards 1 allows 1." in still_over.lines[-1]
