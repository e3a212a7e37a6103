"""Boosted trees as plain arrays: leaves as LightGBM has them, and decoding with them as CRFsuite does it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pycrfsuite
import pytest

from tests.crf.conftest import some_pages
from tests.html.pages import blocks_of
from victor_spark.crf import attributes, decode, trees
from victor_spark.crf.model import CRFSUITE_NAME, from_bytes, to_bytes
from victor_spark.crf.table import FeatureTable, from_conf
from victor_spark.crf.training import TrainingOptions, train
from victor_spark.errors import ModelError
from victor_spark.page import LABELS

lightgbm = pytest.importorskip("lightgbm", reason="growing trees needs LightGBM")

FEW = trees.TreeOptions(n_trees=4, n_leaves=5, least_blocks=5, feature_fraction=1.0)


@pytest.fixture(scope="module")
def small() -> FeatureTable:
    """The features of victor-2, with few and small trees."""
    return replace(from_conf("victor-2"), trees=FEW)


def test_leaves_group_blocks_as_lightgbm_does() -> None:
    dice = np.random.default_rng(7)
    values = dice.normal(size=(6, 400))
    kept = values[2] + values[4] * values[1] > 0.2
    grown = trees.grow([values], [kept], [np.ones(400)], FEW)
    found = trees.leaves(grown, values)
    assert found.shape == (4, 400)
    assert sorted(set(found.ravel().tolist())) == list(range(grown.n_leaves))
    # The first tree alone must already tell blocks to keep from others far better than chance.
    rates = [kept[found[0] == leaf].mean() for leaf in set(found[0].tolist())]
    assert max(rates) - min(rates) > 0.5


def test_growing_twice_gives_the_same_trees() -> None:
    dice = np.random.default_rng(1)
    values = dice.normal(size=(3, 300))
    one, two = (trees.grow([values], [values[0] > 0], [np.ones(300)], FEW) for _ in range(2))
    for name in trees.ARRAYS:
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


def test_decoding_with_leaves_agrees_with_crfsuite(small: FeatureTable, tmp_path: Path) -> None:
    pages = list(some_pages(3, 30))
    model = train(pages, small, TrainingOptions(max_iterations=15), directory=tmp_path)
    model = from_bytes(to_bytes(model))
    assert model.trees.n_leaves > 4
    assert np.abs(model.leaf_weights).sum() > 0
    tagger = pycrfsuite.Tagger()
    tagger.open(str(tmp_path / CRFSUITE_NAME))
    for blocks, _ in [*pages[:10], *some_pages(99, 10)]:
        values = small.values(blocks)
        leaves = trees.leaves(model.trees, values)
        tagger.set(pycrfsuite.ItemSequence(attributes.sequences(small, small.bins(values), leaves)))
        theirs = [[tagger.marginal(label, row) for label in LABELS] for row in range(len(blocks))]
        np.testing.assert_allclose(decode.marginals(model, blocks), theirs, atol=1e-9)


@pytest.mark.parametrize(
    "damage",
    [
        {"features": np.array([9, 0, 0], dtype=np.int32)},
        {"children": np.array([[0, -2, -4], [-1, -3, -5]], dtype=np.int32)},
        {"children": np.array([[1, -2, -4], [-1, -3, -99]], dtype=np.int32)},
        {"roots": np.array([0, 7], dtype=np.int32)},
        {"thresholds": np.array([0.0, np.nan, 0.0])},
        {"thresholds": np.array([0.0])},
    ],
)
def test_damaged_trees_are_refused(damage: dict[str, np.ndarray]) -> None:
    whole = trees.Trees(
        roots=np.array([0, 2], dtype=np.int32),
        features=np.array([0, 1, 2], dtype=np.int32),
        thresholds=np.zeros(3),
        children=np.array([[1, -2, -4], [-1, -3, -5]], dtype=np.int32),
    )
    trees.check(whole, 3)
    with pytest.raises(ModelError, match="trees are damaged"):
        trees.check(replace(whole, **damage), 3)


def test_what_stands_around_a_block(small: FeatureTable) -> None:
    blocks = blocks_of(
        "<title>Storm over the lake</title><div class=navbar><a>Home</a> <a>News</a></div>"
        "<div class='article-body'><h1>Storm over the lake</h1>"
        + "".join(
            f"<p>Paragraph number {n} has a good many words that nobody linked to anything." for n in range(5)
        )
        + "</div>"
    )
    values = dict(zip(small.names, small.values(blocks), strict=True))
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
