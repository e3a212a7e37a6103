"""Counts, precision and recall of a later task; pages that can't be tested; what a failing cleaner costs."""

import json
from pathlib import Path

import pytest

from research import extrinsic, findings
from research.daniel import Evidence
from research.extrinsic import Counts
from research.findings import Finding
from research.tests import news
from victor_spark.errors import InputError
from victor_spark.evaluation import gold


def finding(name: str, language: str, score: float) -> Finding:
    return Finding("a", name, "set", language, evidence=Evidence(score))


def test_counts_and_shares_by_hand() -> None:
    rows = [
        finding("1", "en", 0.9),
        finding("2", "en", 0.8),
        finding("3", "ru", 0.79),
        finding("4", "ru", 0.0),
    ]
    table = extrinsic.by_language(rows, {"1", "3"})
    assert table == {"en": Counts(1, 1, 0, 0), "ru": Counts(0, 0, 1, 1), "all": Counts(1, 1, 1, 1)}
    assert (table["all"].precision, table["all"].recall, table["all"].f1) == (0.5, 0.5, 0.5)
    assert table["all"].n_pages == 4


def test_without_true_positives_there_is_no_precision_as_in_the_paper() -> None:
    nothing = Counts(0, 2, 3, 4)
    assert (nothing.precision, nothing.recall, nothing.f1) == (None, 0.0, None)
    assert Counts(0, 0, 0, 5).recall is None
    shown = extrinsic.lines({"mine": {"en": nothing}})
    assert "N/A    0.0    N/A" in shown
    assert "0/2/3/4" in shown


def test_the_paper_s_shares_come_from_counts() -> None:
    """English row of BP in Table 7: 9 of 35 found, 6 too many."""
    shares = Counts(9, 6, 26, 434)
    assert [extrinsic.percent(each) for each in (shares.precision, shares.recall, shares.f1)] == [
        "60.0",
        "25.7",
        "36.0",
    ]


def test_only_pages_with_a_label_a_gold_text_and_a_lexicon_are_measured(tmp_path: Path) -> None:
    path = news.write(tmp_path / "news.jsonl")
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[1]["lang"] = "fr"
    rows[2]["meta"] = {}
    rows[3]["meta"]["hard"] = True
    rows[4]["meta"]["epidemic"] = {"relevant": "perhaps"}
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert [page.id for page in extrinsic.labelled(gold.read(path))] == ["en/0", "ru/2"]


def test_gold_without_any_label_is_refused(tmp_path: Path) -> None:
    path = news.write(tmp_path / "news.jsonl")
    path.write_text(path.read_text().replace("epidemic", "weather"))
    with pytest.raises(InputError, match=r"meta\.epidemic"):
        extrinsic.labelled(gold.read(path))


def test_the_gold_cleaning_finds_what_is_to_be_found(tmp_path: Path) -> None:
    pages = extrinsic.labelled(gold.read(news.write(tmp_path / "news.jsonl", "en ru el zh")))
    wanted = extrinsic.relevant(pages)
    assert wanted == {"en/0", "ru/0", "el/0", "zh/0"}
    table = extrinsic.by_language(extrinsic.reference(pages), wanted)
    assert list(table) == ["en", "zh", "el", "ru", "all"]
    assert table["all"] == Counts(4, 0, 0, 8)


def test_every_page_has_a_finding_for_every_cleaner_with_what_it_shares_with_the_gold(tmp_path: Path) -> None:
    pages = extrinsic.labelled(gold.read(news.write(tmp_path / "news.jsonl")))
    plan = findings.plan(["kimatu", "line-block", "kimatu"], intrinsic=True)
    rows = list(findings.find(pages, plan, n_jobs=2))
    assert sorted((row.cleaner, row.id) for row in rows) == sorted(
        (name, page.id) for name in ("kimatu", "line-block") for page in pages
    )
    assert all(set(row.overlaps) >= {"TO", "TM", "IU", "CHA"} for row in rows)
    assert {row.id for row in rows if row.cleaner == "kimatu" and row.evidence.relevant} == {"en/0", "ru/0"}
    assert not any(row.failure for row in rows)


def test_a_page_that_can_t_be_cleaned_is_empty_and_says_why(tmp_path: Path) -> None:
    path = news.write(tmp_path / "news.jsonl", "en", n_pages=1)
    row = json.loads(path.read_text())
    row["html"] = "<p>" + "\ufffd" * 400
    path.write_text(json.dumps(row))
    (page,) = extrinsic.labelled(gold.read(path))
    (found,) = findings.find([page], findings.plan(["kimatu"], intrinsic=True), n_jobs=1)
    assert found.failure
    assert found.failure.startswith("broken_encoding")
    assert found.is_empty
    assert found.overlaps["TO"].n_found == 0
