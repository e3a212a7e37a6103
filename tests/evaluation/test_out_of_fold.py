"""What is kept of every page of a cross-validation: numbers and ids, the same bytes for the same pages."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from victor_spark.blocks import Page, Scores
from victor_spark.errors import InputError
from victor_spark.evaluation import cross_validation, out_of_fold, summary
from victor_spark.evaluation.gold import GoldPage
from victor_spark.evaluation.labelling import LabelledPage, label
from victor_spark.evaluation.measures import Quality

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


def row_of(
    gold: str, content: tuple[float, float], kept: tuple[bool, bool]
) -> tuple[LabelledPage, cross_validation.PageResult, out_of_fold.PageRow]:
    labelled = page(gold)
    result = cross_validation.result(labelled, scored(labelled.page, content, kept), fold=2)
    (row,) = out_of_fold.rows([labelled], [result])
    return labelled, result, row


def test_a_row_says_what_was_found_and_what_was_expected() -> None:
    _, _, row = row_of(STORY, (0.1, 0.9), (False, True))
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


def test_a_page_given_up_says_what_it_would_have_been() -> None:
    _, _, row = row_of(STORY, (0.01, 0.05), (False, False))
    assert row.decided == out_of_fold.Decided(0, 0, 0.0)
    assert row.word_f1 == 0.0
    assert row.words_unrejected.n_common == 13
    assert 0 < row.unrejected.expected_f1 < 0.2


def test_files_come_back_hold_no_text_and_are_the_same_bytes_each_time(tmp_path: Path) -> None:
    rows = [row_of(STORY, (0.1, 0.9), (False, True))[2], row_of("", (0.01, 0.02), (False, False))[2]]
    for name in ("one", "two"):
        out_of_fold.write(tmp_path / name, rows)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert out_of_fold.read(tmp_path / "one") == rows
    stored = gzip.decompress((tmp_path / "one").read_bytes()).decode()
    assert "river" not in stored
    assert [json.loads(line)["word_f1"] for line in stored.splitlines()] == [1.0, 1.0]
    assert [json.loads(line)["empty"] for line in stored.splitlines()] == [False, True]


@pytest.mark.parametrize(
    "content",
    [b"", b"no gzip", gzip.compress(b'{"set": "news"}\n', mtime=0), gzip.compress(b"[1]\n", mtime=0)],
    ids=["empty", "no gzip", "no labels", "no object"],
)
def test_a_file_that_is_none_is_one_clear_line(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.gz").write_bytes(content)
    with pytest.raises(InputError, match=r"x\.gz: no results out of fold"):
        out_of_fold.read(tmp_path / "x.gz")


def test_a_high_beta_keeps_more_and_a_low_one_less() -> None:
    labelled, result, _ = row_of(STORY, (0.45, 0.9), (False, True))
    rows = summary.preference_curve([labelled], [result])
    assert [row["beta"] for row in rows] == [*summary.BETAS, 1.0]
    assert (rows[0]["precision"], rows[0]["recall"]) == (1.0, 1.0)
    assert rows[-2]["precision"] < 1.0 == rows[-2]["recall"]
    assert [row for row in rows if summary.BY_THEMSELVES in row] == rows[-1:]


def test_blocks_by_themselves_are_kept_while_each_gains_more_than_it_costs() -> None:
    content = np.array([1.0, 0.5, 0.0])
    marginals = np.stack([0 * content, content, 1 - content], axis=1)
    # Expected F1 by hand: 20/25 with the first block, 30/35 with the second, 30/55 with all.
    kept = summary.by_themselves(marginals, np.array([10.0, 10.0, 20.0]))
    assert kept.tolist() == [True, True, False]
    assert not summary.by_themselves(marginals * 0 + [0, 0, 1.0], np.ones(3)).any()


def test_f_of_a_beta_leans_to_precision_or_recall() -> None:
    quality = Quality(precision=0.5, recall=1.0, f1=2 / 3)
    assert summary.f_measure(quality, 1.0) == pytest.approx(quality.f1)
    assert summary.f_measure(quality, 0.5) < quality.f1 < summary.f_measure(quality, 2.0)
    assert summary.f_measure(Quality(0.0, 0.0, 0.0), 1.0) == 0.0
