"""The report of a run beside its rows: times of stages, counts, report.html."""

import json
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.spark.crawl import rows
from victor_spark.request import CleanRequest, SparkOptions
from victor_spark.spark import report
from victor_spark.spark.run import run
from victor_spark.worker.rows import STAGES


@pytest.fixture(scope="module")
def finished(spark: SparkSession, crawl: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The crawl cleaned in three waves."""
    assert spark
    output = tmp_path_factory.mktemp("report") / "out"
    run(CleanRequest(inputs=(str(crawl),), output=str(output), spark=SparkOptions(wave_bytes=2000)))
    return output


@pytest.fixture(scope="module")
def stated(finished: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((finished / "_run/run.json").read_text())
    return content


@pytest.mark.spark
def test_run_json_counts_languages_sites_and_lengths_of_pages_with_text(
    finished: Path, stated: dict[str, Any]
) -> None:
    ok = [row for row in rows(finished) if row["status"] == "ok"]
    assert stated["languages"] == Counter(row["language"] for row in ok)
    assert stated["sites"] == Counter(row["url_host_name"] for row in ok)
    assert stated["lengths"] == Counter(str(1 << (len(row["text"]).bit_length() - 1)) for row in ok)


@pytest.mark.spark
def test_every_stage_of_every_wave_took_time_and_came_back_from_the_tasks(
    finished: Path, stated: dict[str, Any]
) -> None:
    assert len(stated["waves"]) > 1
    assert sum(wave["n_pages"] for wave in stated["waves"]) == stated["n_pages"]
    sums = dict.fromkeys(STAGES, 0.0)
    for path in (finished / "_run/ledger").iterdir():
        entry = json.loads(path.read_text())
        assert all(seconds >= 0 for seconds in entry["stages"].values())
        assert sum(entry["stages"].values()) > 0
        for stage, seconds in entry["stages"].items():
            sums[stage] += seconds
    assert stated["stages"] == pytest.approx(sums, abs=0.01)
    assert all(sums[stage] > 0 for stage in ("read", "canonical", "decide"))


class _Links(HTMLParser):
    """Every address that a page would load, and its headings."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.loaded, self.tags = list[str](), Counter[str]()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.loaded += [value or "" for name, value in attrs if name in {"src", "href", "srcset", "data"}]


@pytest.mark.spark
def test_the_report_needs_nothing_else_and_shows_every_chart(finished: Path, stated: dict[str, Any]) -> None:
    page = (finished / "_run/report.html").read_text()
    found = _Links(page)
    assert not found.loaded
    assert "url(" not in page
    assert "@import" not in page
    assert (found.tags["svg"], found.tags["script"]) == (1, 0)
    for words in ("Pages done", "Languages", "Sites with most pages", "Lengths of texts", "Reasons"):
        assert words in page
    assert all(host in page for host in stated["sites"])


@pytest.mark.spark
def test_whatever_pages_say_of_themselves_is_text_in_the_report(stated: dict[str, Any]) -> None:
    evil = "<script>alert(1)</script>"
    page = report.html({**stated, "sites": {evil: 3}, "reasons": {"error": {evil: 1}}, "stopped": evil})
    assert evil not in page


@pytest.mark.spark
def test_a_run_without_pages_has_a_report(stated: dict[str, Any]) -> None:
    none: dict[str, Any] = {name: {} for name in ("statuses", "reasons", "languages", "sites", "lengths")}
    assert "0 pages" in report.html({**stated, **none, "n_pages": 0, "n_rows": 0, "n_waves": 0, "waves": []})


def wave(finished_at: str, seconds: float, n_pages: int) -> dict[str, Any]:
    return {"finished_at": f"2026-03-01T{finished_at}+00:00", "seconds": seconds, "n_pages": n_pages}


def test_the_curve_leaves_out_the_time_between_runs_and_loses_no_page() -> None:
    waves = [wave("10:01:00", 60, 600), wave("10:01:30", 60, 300), wave("19:00:10", 10, 50)]
    assert report.progress(waves) == [(0.0, 0), (60.0, 600), (90.0, 900), (100.0, 950)]


def test_a_clock_that_was_put_back_bends_no_curve_below_zero() -> None:
    waves = [wave("10:01:00", 60, 600), wave("09:00:10", 10, 50)]
    assert report.progress(waves) == [(0.0, 0), (10.0, 50), (70.0, 650)]
