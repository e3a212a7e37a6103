"""The record of each page of a cross-validation: numbers and ids, the same bytes for the same pages."""

import gzip
import json
from pathlib import Path

import numpy as np

from research import out_of_fold
from research.out_of_fold import PageRow
from victor_spark.blocks import Page, Scores
from victor_spark.evaluation import cross_validation
from victor_spark.evaluation.gold import GoldPage
from victor_spark.evaluation.labelling import LabelledPage, label

STORY = "A long walk along the river bank ends where the old bridge was."
MENU = "Home and contact and everything else"


def page(gold: str) -> LabelledPage:
    html = f"<body><div>{MENU}</div><p>{STORY}</p></body>"
    return label(
        GoldPage("news/1", "news", html, gold, host="www.walks.example", meta={"page_type": "article"})
    )


def scored(page: Page, content: tuple[float, float], kept: tuple[bool, bool]) -> Scores:
    probabilities = np.array([[0.0, p, 1.0 - p] for p in content])
    return Scores(probabilities, np.array(kept))


Case = tuple[str, tuple[float, float], tuple[bool, bool]]


def write(path: Path, *cases: Case) -> list[PageRow]:
    pages = [page(gold) for gold, _, _ in cases]
    results = [
        cross_validation.result(labelled, scored(labelled.page, content, kept), fold=2)
        for labelled, (_, content, kept) in zip(pages, cases, strict=True)
    ]
    cross_validation.write_out_of_fold(path, pages, results)
    return out_of_fold.read(path)


def test_a_row_holds_the_words_found_and_the_expected_f1(tmp_path: Path) -> None:
    (row,) = write(tmp_path / "rows", (STORY, (0.1, 0.9), (False, True)))
    assert (row.set, row.id, row.site, row.page_type, row.fold) == (
        "news",
        "news/1",
        "walks.example",
        "article",
        2,
    )
    assert (row.n_gold, row.decided.n_found, row.decided.n_common) == (13, 13, 13)
    assert row.word_f1 == 1.0
    assert 0.8 < row.decided.expected_f1 < 1.0
    assert row.unrejected == row.decided


def test_a_row_of_a_rejected_page_holds_the_words_it_would_have_kept(tmp_path: Path) -> None:
    (row,) = write(tmp_path / "rows", (STORY, (0.01, 0.05), (False, False)))
    assert row.decided == out_of_fold.Decided(0, 0, 0.0)
    assert row.word_f1 == 0.0
    assert row.words_unrejected.n_common == 13
    assert 0 < row.unrejected.expected_f1 < 0.2


def test_files_hold_no_text_and_are_the_same_bytes_each_time(tmp_path: Path) -> None:
    cases: tuple[Case, Case] = (STORY, (0.1, 0.9), (False, True)), ("", (0.01, 0.02), (False, False))
    assert write(tmp_path / "one", *cases) == write(tmp_path / "two", *cases)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    stored = gzip.decompress((tmp_path / "one").read_bytes()).decode()
    assert "river" not in stored
    assert [json.loads(line)["word_f1"] for line in stored.splitlines()] == [1.0, 1.0]
    assert [json.loads(line)["empty"] for line in stored.splitlines()] == [False, True]
