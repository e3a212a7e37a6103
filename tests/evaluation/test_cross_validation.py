"""Cross-validation holds out whole sites, measures every page once, and sums up by set."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from victor_spark.blocks import OTHER, Cleaner, Page, Scores
from victor_spark.evaluation import cross_validation, gold, measures, pictures
from victor_spark.evaluation.cross_validation import PageResult
from victor_spark.evaluation.gold import GoldPage
from victor_spark.evaluation.labelling import LabelledPage, label, trainable
from victor_spark.evaluation.measures import Interval

MENU = "<ul><li><a href='/'>Home</a></li><li><a href='/contact'>Contact</a></li></ul>"


def gold_page(number: int, site: str, set_name: str) -> GoldPage:
    text = f"Story number {number} of {site} is about a long walk along the river bank."
    return GoldPage(
        id=f"{set_name}/{number}",
        set=set_name,
        host=f"www.{site}.example",
        html=f"<body>{MENU}<h1>A walk, part {number}</h1><p>{text}</p>{MENU}</body>",
        gold=f"A walk, part {number}\n{text}",
    )


@pytest.fixture(scope="module")
def pages() -> list[LabelledPage]:
    return [
        label(gold_page(number, f"site{number % 6}", "news" if number % 6 < 4 else "forum"))
        for number in range(30)
    ]


def keep_long_blocks(page: Page) -> Scores:
    kept = page.blocks.n_alpha_tokens > 2
    probabilities = np.zeros((len(kept), 3))
    probabilities[np.arange(len(kept)), np.where(kept, np.where(page.blocks.heading_level > 0, 0, 1), 2)] = 1
    return Scores(probabilities, kept)


def keep_nothing(page: Page) -> Scores:
    probabilities = np.zeros((len(page.blocks), 3))
    probabilities[:, OTHER] = 1
    return Scores(probabilities, np.zeros(len(page.blocks), dtype=bool))


def judged(pages: Sequence[LabelledPage], cleaner: Cleaner) -> list[PageResult]:
    return [cross_validation.result(page, cleaner(page.page)) for page in pages]


def test_no_cleaner_has_seen_the_site_that_it_is_measured_on_nor_a_page_without_sure_labels(
    pages: list[LabelledPage],
) -> None:
    pages = [replace(pages[0], found=0.5), *pages[1:]]
    seen: list[set[str]] = []

    def train(training: Sequence[LabelledPage]) -> dict[str, Cleaner]:
        assert all(map(trainable, training))
        seen.append({page.site for page in training})
        return {"long": keep_long_blocks, "none": keep_nothing}

    both = cross_validation.cross_validate(pages, train, n_folds=3)
    assert list(both) == ["long", "none"]
    results = both["long"]
    assert [result.id for result in results] == [page.gold.id for page in pages]
    assert all(result.site not in seen[result.fold] for result in results)
    assert all(len(sites) == 4 for sites in seen)


# From Python 3.12 on a process with threads (numpy's) is warned before it forks; the children use none.
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_folds_in_parallel_give_the_same_results(pages: list[LabelledPage]) -> None:
    def train(training: Sequence[LabelledPage]) -> dict[str, Cleaner]:
        return {"long": keep_long_blocks if len(training) else keep_nothing}

    one, two = (cross_validation.cross_validate(pages, train, n_folds=3, n_jobs=n) for n in (1, 2))
    assert [(r.id, r.fold, r.words) for r in one["long"]] == [(r.id, r.fold, r.words) for r in two["long"]]


def test_a_cleaner_that_is_right_scores_one_everywhere(pages: list[LabelledPage]) -> None:
    rows = cross_validation.by_set(judged(pages, keep_long_blocks))
    assert list(rows) == ["forum", "news", "all"]
    assert rows["all"]["n_pages"] == 30
    assert rows["forum"]["word_f1"]["mean"] == rows["all"]["shingle_f1"] == 1.0
    assert set(rows["all"]["blocks"].values()) == {1.0}
    assert "1.000 – 1.000" in cross_validation.table(rows)


def test_a_cleaner_that_keeps_nothing_is_empty_everywhere(pages: list[LabelledPage]) -> None:
    row = cross_validation.figures(judged(pages, keep_nothing))
    assert (row["empty_ratio"], row["word_f1"]["mean"], row["blocks"]["recall"]) == (1.0, 0.0, 0.0)
    assert row["blocks"]["unlabelled_accuracy"] == pytest.approx(4 / 6)


def test_pages_whose_gold_is_elsewhere_count_for_words_but_not_for_blocks() -> None:
    lost = GoldPage(
        id="1", set="news", html="<p>Please switch on JavaScript.</p>", gold="A story about rivers."
    )
    (result,) = judged([label(lost)], keep_long_blocks)
    assert result.blocks is None
    assert result.words.n_gold == 4


def test_a_hard_page_is_not_usable() -> None:
    usable = gold_page(1, "a", "news")
    hard = GoldPage(id="2", set="news", html="<p>x</p>", gold="y", meta={"hard": True})
    assert list(filter(gold.usable, [usable, hard])) == [usable]


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_pictures_are_drawn_without_a_screen(pages: list[LabelledPage], tmp_path: Path, ending: str) -> None:
    curve = measures.threshold_curve(*cross_validation.blocks(judged(pages, keep_long_blocks)))
    pictures.save(
        pictures.curves({"long blocks": curve}, title="Kept by threshold"), tmp_path / f"curve.{ending}"
    )
    bars = {"a": {"news": Interval(0.8, 0.9, 0.7, 0.85, 9)}, "b": {"forum": Interval(0.5, 0.5, 0.4, 0.6, 4)}}
    pictures.save(pictures.bars(bars, title="Word F1", measure="word F1"), tmp_path / f"bars.{ending}")
    head = b"\x89PNG" if ending == "png" else b"<?xml"
    for name in ("curve", "bars"):
        assert (tmp_path / f"{name}.{ending}").read_bytes().startswith(head)
