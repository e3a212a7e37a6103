"""Boosted trees as plain arrays equal CatBoost's, and the CRF between them decodes as CRFsuite does."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pycrfsuite
import pytest

from tests.html.pages import blocks_of
from tests.model.conftest import kept_in, some_pages
from victor_spark.blocks import LABELS, OTHER
from victor_spark.errors import ModelError
from victor_spark.kernels.num import MAX_TREE_DEPTH
from victor_spark.model import crf, revision
from victor_spark.model.decision import n_words
from victor_spark.model.features import FeatureTable, from_conf
from victor_spark.model.files import from_bytes, to_bytes
from victor_spark.model.trees import ARRAYS, TreeOptions, Trees, TreesOptions, check
from victor_spark.train import crf as training
from victor_spark.train import crfsuite, trees
from victor_spark.train.crf import train
from victor_spark.train.crfsuite import TrainingOptions

catboost = pytest.importorskip("catboost", reason="growing trees needs CatBoost")

FEW = TreeOptions(n_trees=5, depth=3, learning_rate=0.3, feature_fraction=1.0)


@pytest.fixture(scope="module")
def small() -> FeatureTable:
    """The features of victor-2, with few and small trees."""
    return replace(from_conf("victor-2"), trees=TreesOptions(FEW, FEW, n_folds=2))


def test_trees_say_what_catboost_says(monkeypatch: pytest.MonkeyPatch) -> None:
    dice = np.random.default_rng(7)
    values = dice.normal(size=(6, 400)).astype(np.float32)
    kept = values[2] + values[4] * values[1] > 0.2
    made: list[Any] = []
    fit = catboost.CatBoostClassifier.fit

    def remember(self: Any, *arguments: Any) -> Any:
        made.append(self)
        return fit(self, *arguments)

    monkeypatch.setattr(catboost.CatBoostClassifier, "fit", remember)
    grown = trees.grow([values], [kept], [np.ones(400)], FEW)
    theirs = made[0].predict(values.T, prediction_type="RawFormulaVal")
    np.testing.assert_allclose(grown(values), theirs, atol=1e-5)
    assert grown(values)[kept].mean() > grown(values)[~kept].mean() + 1


def test_growing_twice_gives_the_same_trees_from_a_sample_too() -> None:
    dice = np.random.default_rng(1)
    values = dice.normal(size=(3, 300)).astype(np.float32)
    few = replace(FEW, most_blocks=100)
    one, two = (trees.grow([values], [values[0] > 0], [dice.random(300)], few) for _ in range(2))
    assert one(values).std() > 0
    same = trees.grow([values], [values[0] > 0], [np.ones(300)], few)
    for name in ARRAYS:
        again = trees.grow([values], [values[0] > 0], [np.ones(300)], few)
        np.testing.assert_array_equal(getattr(same, name), getattr(again, name))
    assert two.leaves.shape == (5, 8)


def test_a_sample_of_blocks_weighs_as_much_as_all_of_them() -> None:
    weights = np.random.default_rng(4).exponential(size=5000)
    rows, of_rows = trees._sample(weights, 500)
    assert len(rows) == pytest.approx(500, rel=0.2)
    assert of_rows.sum() == pytest.approx(weights.sum(), rel=0.1)


def test_trees_that_find_nothing_to_ask_say_the_same_of_every_block() -> None:
    values = np.zeros((5, 300), dtype=np.float32)
    values[0] = np.random.default_rng(2).normal(size=300)
    few = replace(FEW, n_trees=20, feature_fraction=0.2)  # most of them see a feature that is always 0
    grown = trees.grow([values], [values[0] > 0], [np.ones(300)], few)
    assert np.isinf(grown.thresholds).all(axis=1).any()
    assert ((grown(values) > 0) == (values[0] > 0)).mean() > 0.95


def soft_f1(logits: np.ndarray, wanted: np.ndarray, masses: np.ndarray, pages: np.ndarray) -> float:
    """The F1 of pages, added up, where a block is content as far as it is likely."""
    found = 0.0
    for page in np.unique(pages):
        of_page = pages == page
        likely = masses[of_page] / (1 + np.exp(-logits[of_page].astype(float)))
        both = likely.sum() + masses[of_page][wanted[of_page]].sum()
        found += 2 * likely[wanted[of_page]].sum() / both
    return found


def test_with_the_weights_of_f1_a_logistic_loss_falls_as_the_f1_of_pages_rises() -> None:
    dice = np.random.default_rng(3)
    pages = np.repeat([0, 1, 2, 3], [5, 9, 1, 20])
    wanted = dice.random(35) < 0.4
    wanted[:5] = False  # a page without content
    masses = dice.integers(1, 50, 35) * 1.0
    logits = dice.normal(scale=2, size=35).astype(np.float32)
    weights = trees._f1_weights(logits, wanted, masses, pages)
    slopes = weights * (wanted - 1 / (1 + np.exp(-logits.astype(float))))
    for row in range(35):
        step = np.zeros(35)
        step[row] = 1e-4
        there, back = (soft_f1(logits + way * step, wanted, masses, pages) for way in (1, -1))
        assert slopes[row] == pytest.approx((there - back) / 2e-4, abs=1e-6)


def test_rounds_go_on_from_each_other_and_serve_the_f1_of_pages() -> None:
    dice = np.random.default_rng(5)
    values = [dice.normal(size=(4, 60)).astype(np.float32) for _ in range(30)]
    kept = [of_page[0] + of_page[1] + dice.normal(size=60) > 1 for of_page in values]
    words = [dice.integers(1, 40, 60) * 1.0 for _ in values]
    pages = np.repeat(np.arange(30), 60)
    everything = np.ascontiguousarray(np.concatenate(values, axis=1))

    def grown(n_rounds: int, share: float) -> Trees:
        options = replace(FEW, n_trees=31, n_rounds=n_rounds, f1_share=share)
        return trees.grow(values, kept, words, options)

    def f1(of: Trees) -> float:
        return soft_f1(of(everything), np.concatenate(kept), np.concatenate(words), pages) / 30

    plain, half, whole = grown(1, 0.5), grown(4, 0.5), grown(4, 1.0)
    assert plain.features.shape == half.features.shape == (31, 3)
    np.testing.assert_array_equal(plain.leaves[0], grown(1, 0.9).leaves[0])  # the first round is plain
    assert f1(plain) < f1(half) < f1(whole)


def test_the_crf_between_the_trees_agrees_with_crfsuite(small: FeatureTable, tmp_path: Path) -> None:
    pages = list(some_pages(3, 30))
    with kept_in(tmp_path) as path:
        model = from_bytes(to_bytes(train(pages, small, TrainingOptions(max_iterations=15))))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    for page in [*pages[:10], *some_pages(99, 10)]:
        values = model.values(page.blocks)
        tagger.set(pycrfsuite.ItemSequence(crfsuite.sequences(small, small.bins(values))))
        theirs = [[tagger.marginal(label, row) for label in LABELS] for row in range(len(page.blocks))]
        np.testing.assert_allclose(crf.chain_marginals(model, values), theirs, atol=1e-9)


def test_the_last_trees_decide_what_is_content_and_the_crf_what_of_it_is_a_header(
    small: FeatureTable,
) -> None:
    model = train(list(some_pages(3, 30)), small, TrainingOptions(max_iterations=5))
    assert model.last is not None
    for page in some_pages(5, 10):
        values = model.values(page.blocks)
        chain, final = crf.chain_marginals(model, values), crf.marginals(model, page.blocks)
        rows = revision.features(page.blocks, values, chain)
        np.testing.assert_allclose(final.sum(axis=1), 1.0)
        by_trees = 1 / (1 + np.exp(-model.last(rows)))
        long = n_words(page.blocks) > 15
        np.testing.assert_allclose(1 - final[long, OTHER], by_trees[long], atol=1e-5)
        between = np.stack([1 - chain[:, OTHER], by_trees])
        assert (1 - final[:, OTHER] <= between.max(axis=0) + 1e-3).all()
        assert (1 - final[:, OTHER] >= between.min(axis=0) - 1e-3).all()
        np.testing.assert_allclose(final[:, 0] * chain[:, 1], final[:, 1] * chain[:, 0], atol=1e-9)
        assert np.isfinite(rows).all()


def test_the_last_trees_are_two_halves_that_say_the_mean_of_both(small: FeatureTable) -> None:
    pages = list(some_pages(3, 30))
    serving = replace(FEW, n_rounds=5)
    both = replace(small, trees=replace(small.trees, serving_f1=serving))
    _, _, values = training.before_crf(pages, small)
    bare = train(pages, small, TrainingOptions(max_iterations=3))
    plain, other, mean = (
        training.revised(pages, values, replace(bare, table=table)).last
        for table in (small, replace(small, trees=replace(small.trees, last=serving)), both)
    )
    assert plain is not None
    assert other is not None
    assert mean is not None
    rows = np.random.default_rng(0).normal(size=(1000, 50)).astype(np.float32)
    np.testing.assert_allclose(mean(rows), (plain(rows) + other(rows)) / 2, atol=1e-5)
    assert np.abs(plain(rows) - other(rows)).max() > 0.01


@pytest.mark.parametrize("are_known", [True, False])
def test_later_stages_learn_from_guesses_about_unseen_sites(small: FeatureTable, are_known: bool) -> None:
    pages = list(some_pages(11, 24))  # random labels: only trees that knew the pages could guess them
    if not are_known:  # then every page counts as a site
        pages = [replace(page, site="") for page in pages]
    weights, grown, values = training.before_crf(pages, small)
    assert grown is not None
    long = [row for row, page in enumerate(pages) if len(page.blocks) > 10]

    def hits(guesses: list[np.ndarray]) -> float:
        return float(np.mean([((guesses[row] > 0) == (pages[row].labels != OTHER)).mean() for row in long]))

    known = hits([grown(small.values(page.blocks, weights)) for page in pages])
    assert hits([of_page[-1] for of_page in values]) < known - 0.05


def test_pages_of_one_site_are_all_learnt_from(small: FeatureTable) -> None:
    pages = [replace(page, site="one.example") for page in some_pages(11, 6)]
    _, grown, values = training.before_crf(pages, small)
    assert grown is not None
    for page, of_page in zip(pages, values, strict=True):
        np.testing.assert_array_equal(of_page[-1], grown(of_page[:-1]))
        assert of_page.shape[1] == len(page.blocks)


def test_pages_that_are_all_content_teach_trees_nothing() -> None:
    grown = trees.grow([np.ones((2, 9), dtype=np.float32)], [np.ones(9, dtype=bool)], [np.ones(9)], FEW)
    assert grown(np.ones((2, 4), dtype=np.float32)).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    "damage",
    [
        {"features": np.array([[3, 0], [0, 1]], dtype=np.int32)},
        {"features": np.array([[0, 1], [-1, 1]], dtype=np.int32)},
        {"features": np.array([[0, 1], [1, 1]], dtype=np.int64)},
        {"thresholds": np.array([[0, np.nan], [0, 0]], dtype=np.float32)},
        {"thresholds": np.zeros((2, 1), dtype=np.float32)},
        {"leaves": np.zeros((2, 3), dtype=np.float32)},
        {"leaves": np.full((2, 4), np.inf, dtype=np.float32)},
    ],
)
def test_damaged_trees_are_refused(damage: dict[str, np.ndarray]) -> None:
    whole = trees.none(2, 2)
    check(whole, 3)
    with pytest.raises(ModelError, match="trees are damaged"):
        check(replace(whole, **damage), 3)


def test_trees_deeper_than_the_kernel_reads_are_refused() -> None:
    check(trees.none(MAX_TREE_DEPTH, 1), 3)
    with pytest.raises(ModelError, match="trees are damaged"):
        check(trees.none(MAX_TREE_DEPTH + 1, 1), 3)


def test_the_trees_that_serve_f1_have_the_options_of_the_last_ones_but_for_their_own() -> None:
    options = TreesOptions.from_json({"last": {"n_trees": 7, "depth": 2}, "serving_f1": {"n_trees": 3}})
    assert options.serving_f1 == replace(options.last, n_trees=3) == TreeOptions(n_trees=3, depth=2)


@pytest.mark.parametrize("place", ["first", "last"])
def test_a_model_without_its_trees_is_refused(small: FeatureTable, place: str) -> None:
    model = train(list(some_pages(3, 6)), small, TrainingOptions(max_iterations=2))
    with pytest.raises(ModelError, match=f"{place} trees are missing"):
        from_bytes(to_bytes(replace(model, **{place: None})))
    n_known = len(small.names) + {"first": -1, "last": len(revision.ADDED)}[place]
    other = Trees(np.full((1, 1), n_known, dtype=np.int32), *(np.zeros((1, n), np.float32) for n in (1, 2)))
    with pytest.raises(ModelError, match="damaged"):
        from_bytes(to_bytes(replace(model, **{place: other})))


def test_what_stands_around_a_block(small: FeatureTable) -> None:
    blocks = blocks_of(
        "<title>Storm over the lake</title><div class=navbar><a>Home</a> <a>News</a></div>"
        "<div class='article-body'><h1>Storm over the lake</h1>"
        + "".join(
            f"<p>Paragraph number {n} has a good many words that nobody linked to anything." for n in range(5)
        )
        + "</div>"
    )
    values = dict(zip(small.names, small.values(blocks), strict=False))
    assert values["hint.nav"].tolist()[:2] == [1, 1]
    assert values["hint.nav"].tolist()[2:] == [255] * 6
    assert values["hint.article"].tolist()[2:] == [1] * 6
    assert values["block.title"].tolist() == [0, 0, 1, *[0] * 5]
    assert values["paragraph.links"].tolist() == [1, 1, *[0] * 6]
    assert values["best.distance"].tolist()[0] < 0
    assert values["best.distance"].tolist()[2:] == [0] * 6
    assert values["since.h1"].tolist() == [1000, 1000, 0, 1, 2, 3, 4, 5]
    assert values["page.paragraphs"].tolist() == [7] * 8
    assert values["path.count"].tolist() == [1, 1, 1, *[5] * 5]
