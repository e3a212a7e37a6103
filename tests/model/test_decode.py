"""Dense decoding is CRFsuite's: the same marginals within 1e-5, on any page and model."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from tests.html.pages import articles, blocks_of
from tests.model.conftest import Trained
from victor_spark.blocks import LABELS, Blocks, Float64
from victor_spark.model import crf
from victor_spark.model.crf import Model
from victor_spark.train import crfsuite

PAGES = ("<p>one block", "<p>two<p>blocks", "<p>fewer<p>than<p>the<p>template", "<td>漢字。<hr>2008-05-26")

same_models_every_time = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40
)


def by_crfsuite(trained: Trained, blocks: Blocks) -> Float64:
    """Marginals (n_blocks, 3) from python-crfsuite."""
    table = trained.model.table
    trained.tagger.set(crfsuite.sequences(table, table.bins(table.values(blocks))))
    marginals = [[trained.tagger.marginal(label, row) for label in LABELS] for row in range(len(blocks))]
    return np.array(marginals).reshape(-1, 3)


def score(model: Model, blocks: Blocks, labels: list[int]) -> float:
    """The unnormalised log-probability of a label sequence."""
    states = crf.scores(model, model.table.bins(model.table.values(blocks)))
    return float(
        sum(states[row, label] for row, label in enumerate(labels))
        + sum(model.transitions[pair] for pair in pairwise(labels))
    )


def check(trained: Trained, blocks: Blocks) -> None:
    """Marginals agree with those of CRFsuite."""
    marginals = by_crfsuite(trained, blocks)
    np.testing.assert_allclose(crf.marginals(trained.model, blocks), marginals, rtol=0, atol=1e-5)


@pytest.mark.parametrize("source", PAGES)
def test_short_pages_decode_as_crfsuite_does(trained: Trained, source: str) -> None:
    check(trained, blocks_of(source))


@given(source=articles)
@same_models_every_time
def test_any_page_decodes_as_crfsuite_does(trained: Trained, source: str) -> None:
    check(trained, blocks_of(source))


@given(source=articles)
@same_models_every_time
def test_marginals_are_probabilities(trained: Trained, source: str) -> None:
    blocks = blocks_of(source)
    marginals = crf.marginals(trained.model, blocks)
    assert marginals.shape == (len(blocks), 3)
    assert ((marginals >= 0) & (marginals <= 1)).all()
    np.testing.assert_allclose(marginals.sum(axis=1), 1.0, atol=1e-12)


@pytest.mark.parametrize("source", PAGES)
def test_decoding_is_that_of_all_label_sequences(trained: Trained, source: str) -> None:
    blocks, model = blocks_of(source), trained.model
    sequences = list(product(range(3), repeat=len(blocks)))
    scores = np.array([score(model, blocks, list(sequence)) for sequence in sequences])
    weights = np.exp(scores - scores.max())
    expected = np.zeros((len(blocks), 3))
    for sequence, weight in zip(sequences, weights / weights.sum(), strict=True):
        expected[range(len(blocks)), sequence] += weight
    np.testing.assert_allclose(crf.marginals(model, blocks), expected, atol=1e-9)


def test_a_page_without_blocks_gives_nothing(trained: Trained) -> None:
    blocks = blocks_of("")
    assert crf.marginals(trained.model, blocks).shape == (0, 3)


def test_a_very_long_page_stays_finite(trained: Trained) -> None:
    blocks = blocks_of("<p>Some words here.<p>漢字<hr>" * 10_000)
    marginals = crf.marginals(trained.model, blocks)
    assert np.isfinite(marginals).all()
    np.testing.assert_allclose(marginals.sum(axis=1), 1.0, atol=1e-9)


def test_the_models_tested_have_weights_and_are_pruned_where_l1_says_so(trained: Trained) -> None:
    n_possible = 3 * len(trained.model.conjunction_weights) + trained.model.singles.size
    n_weights = np.count_nonzero(trained.model.singles) + np.count_nonzero(trained.model.conjunction_weights)
    assert n_weights > 10
    if trained.kind.startswith("L1"):
        assert n_weights < n_possible / 10
