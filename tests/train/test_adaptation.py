"""A model adapted to new pages: it learns new features, keeps old ones, and equals CRFsuite's model."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pycrfsuite
import pytest

from tests.html.pages import blocks_of
from tests.model.conftest import kept_in, some_pages
from tests.train.test_training import taught
from victor_spark.blocks import HEADER, LABELS, OTHER, TEXT
from victor_spark.errors import ModelError
from victor_spark.model import crf, files
from victor_spark.model.crf import Model
from victor_spark.model.features import FeatureTable, from_conf
from victor_spark.model.trees import TreeOptions, TreesOptions
from victor_spark.train import crf as training
from victor_spark.train.crf import TrainingPage, train
from victor_spark.train.crfsuite import TrainingOptions

OPTIONS = TrainingOptions(max_iterations=30, parameters={"c2": 1.0})


@pytest.fixture(scope="module")
def start(table: FeatureTable) -> Model:
    """Headings are headers, sentences text, links other."""
    return train(taught(), table, TrainingOptions(max_iterations=30))


def links_kept(n_pages: int = 6) -> list[TrainingPage]:
    """Pages of another convention: what is linked belongs to the text."""
    return [
        replace(page, labels=np.where(page.labels == OTHER, TEXT, page.labels).astype(np.uint8))
        for page in taught(n_pages)
    ]


PAGE = "<h1>Other words</h1><p>Nothing seen before, but a sentence of some length.</p><p><a>Here</a></p>"


def test_the_new_convention_is_learnt(start: Model) -> None:
    assert crf.marginals(start, blocks_of(PAGE)).argmax(axis=1).tolist() == [HEADER, TEXT, OTHER]
    adapted = training.adapt(links_kept(), start, OPTIONS, strength=1.0)
    assert crf.marginals(adapted, blocks_of(PAGE)).argmax(axis=1).tolist() == [HEADER, TEXT, TEXT]


def test_pages_that_say_what_the_model_says_leave_its_decisions(start: Model) -> None:
    adapted = training.adapt(list(taught(4)), start, OPTIONS, strength=1.0)
    assert crf.marginals(adapted, blocks_of(PAGE)).argmax(axis=1).tolist() == [HEADER, TEXT, OTHER]


def test_without_strength_nothing_changes(start: Model) -> None:
    adapted = training.adapt(links_kept(), start, OPTIONS, strength=0.0)
    blocks = blocks_of(PAGE)
    np.testing.assert_allclose(crf.marginals(adapted, blocks), crf.marginals(start, blocks))


def test_a_label_that_no_new_page_has_is_still_known(start: Model) -> None:
    pages = [
        replace(page, labels=np.where(page.labels == HEADER, TEXT, page.labels).astype(np.uint8))
        for page in taught(4)
    ]
    adapted = training.adapt(pages, start, OPTIONS, strength=0.5)
    assert crf.marginals(adapted, blocks_of(PAGE))[0, HEADER] > 0.01
    whole = training.adapt(pages, start, OPTIONS, strength=1.0)
    old, new = start.transitions[HEADER], whole.transitions[HEADER]
    np.testing.assert_allclose(new, old * (new.max() / old.max()))
    assert new.max() > 0.1


def test_at_full_strength_it_is_the_model_that_crfsuite_trained(start: Model, tmp_path: Path) -> None:
    with kept_in(tmp_path) as path:
        adapted = training.adapt(list(some_pages(5, 12)), start, OPTIONS, strength=1.0)
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    for blocks in (page.blocks for page in some_pages(6, 4)):
        tagger.set(pycrfsuite.ItemSequence(training.items(start, blocks)))
        wanted = [[tagger.marginal(label, row) for label in LABELS] for row in range(len(blocks))]
        np.testing.assert_allclose(crf.marginals(adapted, blocks), wanted, atol=1e-6)


def test_it_is_stored_and_read_as_any_model(start: Model) -> None:
    adapted = training.adapt(links_kept(2), start, OPTIONS)
    again = files.from_bytes(files.to_bytes(adapted))
    blocks = blocks_of(PAGE)
    np.testing.assert_array_equal(crf.marginals(again, blocks), crf.marginals(adapted, blocks))
    assert again.about["n_adaptation_pages"] == 2


def test_no_page_is_an_error(start: Model) -> None:
    with pytest.raises(ModelError, match="no labelled page"):
        training.adapt([], start, OPTIONS)


def test_trees_that_revise_the_crf_go_on_growing(start: Model) -> None:
    few = TreeOptions(n_trees=5, depth=3, learning_rate=0.3, feature_fraction=1.0)
    table = replace(from_conf("victor-2"), trees=TreesOptions(few, few, n_folds=2))
    old = train(list(taught()), table, OPTIONS)
    no_headings = [
        replace(page, labels=np.where(page.labels == HEADER, OTHER, page.labels).astype(np.uint8))
        for page in links_kept()
    ]
    adapted = training.adapt(no_headings, old, OPTIONS, strength=1.0)
    assert old.last is not None
    assert adapted.last is not None
    assert len(adapted.last.leaves) == len(old.last.leaves) + training.MORE_TREES.n_trees
    blocks = blocks_of(PAGE)
    before, after = (crf.marginals(model, blocks)[2, OTHER] for model in (old, adapted))
    assert after < before - 0.1
    same = training.adapt(no_headings, old, OPTIONS, strength=0.0)
    np.testing.assert_allclose(crf.marginals(same, blocks), crf.marginals(old, blocks), atol=1e-6)
