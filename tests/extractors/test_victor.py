"""The cleaners with a CRF: each has its own decision over the same marginals."""

import numpy as np
import pytest
from hypothesis import given, settings

from tests.html.pages import articles, blocks_of
from victor_spark import extractors
from victor_spark.blocks import OTHER, Page
from victor_spark.errors import ModelError, UsageError
from victor_spark.extractors import victor
from victor_spark.model import decision
from victor_spark.model.files import read_bytes
from victor_spark.resources import directory
from victor_spark.roles import headline

MODEL = read_bytes(directory("models") / "crf" / "victor-2008")
LOADED = {
    "victor": victor.load(MODEL),
    "victor-2": victor.load(MODEL, victor.decide_2),
    "victor-2008": victor.load(MODEL, victor.decide_2008),
}


def page(source: str) -> Page:
    return Page("", blocks_of(source))


@given(articles)
@settings(max_examples=40)
def test_all_see_the_same_marginals_and_decide_in_their_own_way(source: str) -> None:
    ours, older, papers = (clean(page(source)) for clean in LOADED.values())
    np.testing.assert_array_equal(ours.probabilities, papers.probabilities)
    blocks = blocks_of(source)
    assert papers.kept.tolist() == (papers.probabilities[:, OTHER] < 0.5).tolist()
    words = decision.n_words(blocks)
    before = decision.by_expected_f1(older.probabilities, words, least=0.1, sure=0.0)
    assert older.kept.tolist() == before.tolist()
    kept = decision.by_expected_f1(ours.probabilities, words)
    decided = kept | headline(blocks, kept)
    assert ours.kept[words > 0].tolist() == decided[words > 0].tolist()
    assert ours.kept[decided].all()


def test_likely_brackets_stay_in_a_kept_paragraph() -> None:
    """A sentence with a link in brackets; a menu with a bracket; a bracket alone."""
    blocks = blocks_of("<p>The ship left <b>(</b><a>harbour</a><b>)</b><p>Home <b>[</b><p>{")
    assert blocks.texts() == ["The ship left", "(", "harbour", ")", "Home", "[", "{"]
    other = np.array([0.02, 0.3, 0.04, 0.6, 0.9, 0.3, 0.3])
    probabilities = np.stack([0 * other, 1 - other, other], axis=1)
    kept, _ = victor.decide(probabilities, blocks)
    assert kept.tolist() == [True, True, True, False, False, False, False]


@pytest.mark.parametrize("name", LOADED)
@given(source=articles)
@settings(max_examples=20)
def test_scores_have_a_row_a_block_and_an_expected_f1(name: str, source: str) -> None:
    scores = LOADED[name](page(source))
    n_blocks = len(blocks_of(source))
    assert scores.probabilities.shape == (n_blocks, 3)
    assert (scores.kept.shape, scores.kept.dtype) == ((n_blocks,), bool)
    assert scores.expected_f1 is not None
    assert 0 <= scores.expected_f1 <= 1


def test_a_bad_model_is_refused_when_it_is_loaded() -> None:
    with pytest.raises(ModelError):
        victor.load(MODEL[:-100])


def test_every_name_loads_from_what_is_shipped() -> None:
    folders = {folder: read_bytes(directory("models") / folder) for folder in extractors.MODELS.values()}
    for name in extractors.CLEANERS:
        assert callable(extractors.load(name, folders))


def test_names_with_models_are_names_of_cleaners() -> None:
    assert set(extractors.MODELS) <= set(extractors.CLEANERS)
    assert set(extractors.CLEANERS) <= set(extractors.available())


def test_an_unknown_name_is_a_usage_error() -> None:
    for check in (lambda: extractors.check_name("soap"), lambda: extractors.load("soap", {})):
        with pytest.raises(UsageError, match="soap"):
            check()
