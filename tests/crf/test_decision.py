"""Which blocks are kept: the paper's threshold, and the highest expected F1."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.html.pages import blocks_of
from victor_spark.crf import decision
from victor_spark.page import Float64

probabilities = st.sampled_from((0.0, 0.05, 0.3, 0.5, 0.9, 1.0)) | st.floats(0, 1)
scored = st.lists(st.tuples(probabilities, st.integers(0, 50)), max_size=8)


def columns(blocks: list[tuple[float, int]]) -> tuple[Float64, Float64]:
    """Marginals (n, 3) and words per block from (P(other), words)."""
    other = np.array([p for p, _ in blocks], dtype=float)
    return np.stack([0.25 * (1 - other), 0.75 * (1 - other), other], axis=1), np.array(
        [words for _, words in blocks], dtype=float
    )


def best_f1(marginals: Float64, words: Float64) -> float:
    """The highest expected F1 of all subsets."""
    subsets = product((False, True), repeat=len(words))
    return max(decision.expected_f1(marginals, words, np.array(kept, dtype=bool)) for kept in subsets)


@given(scored)
def test_no_other_set_of_blocks_has_a_higher_expected_f1(blocks: list[tuple[float, int]]) -> None:
    marginals, words = columns(blocks)
    kept = decision.by_expected_f1(marginals, words)
    best = best_f1(marginals, words)
    if best < decision.LEAST_EXPECTED_F1 - 1e-9:
        assert not kept.any()
    elif best > decision.LEAST_EXPECTED_F1 + 1e-9:
        assert decision.expected_f1(marginals, words, kept) == pytest.approx(best, abs=1e-9)


@given(scored, st.sampled_from((0.25, 0.5, 2.0, 4.0)))
def test_no_other_set_of_blocks_has_a_higher_expected_f(blocks: list[tuple[float, int]], beta: float) -> None:
    marginals, words = columns(blocks)
    kept = decision.by_expected_f1(marginals, words, beta)

    def f(chosen: np.ndarray) -> float:
        gained = words * (1 - marginals[:, 2])
        total = words[chosen].sum() + beta**2 * gained.sum()
        return float((1 + beta**2) * gained[chosen].sum() / total) if total else 0.0

    if kept.any():
        subsets = product((False, True), repeat=len(words))
        assert f(kept) == pytest.approx(max(f(np.array(each, dtype=bool)) for each in subsets), abs=1e-9)


@given(scored)
def test_what_is_kept_is_likelier_than_what_is_dropped(blocks: list[tuple[float, int]]) -> None:
    marginals, words = columns(blocks)
    kept = decision.by_expected_f1(marginals, words)
    if kept.any() and not kept.all():
        assert marginals[kept, 2].max() < marginals[~kept, 2].min()


def test_expected_f1_by_hand() -> None:
    marginals, words = columns([(0.0, 10), (0.5, 10), (1.0, 20)])
    assert decision.expected_f1(marginals, words, np.array([True, False, False])) == pytest.approx(20 / 25)
    assert decision.expected_f1(marginals, words, np.array([True, True, False])) == pytest.approx(30 / 35)
    assert decision.expected_f1(marginals, words, np.array([True, True, True])) == pytest.approx(30 / 55)
    assert decision.by_expected_f1(marginals, words).tolist() == [True, True, False]


def test_a_page_of_noise_keeps_nothing() -> None:
    marginals, words = columns([(0.99, 50), (0.98, 20)])
    assert not decision.by_expected_f1(marginals, words).any()


@pytest.mark.parametrize("blocks", [[], [(0.0, 0)], [(1.0, 5)], [(1.0, 0)]])
def test_a_page_with_nothing_to_expect_keeps_nothing(blocks: list[tuple[float, int]]) -> None:
    marginals, words = columns(blocks)
    assert not decision.by_expected_f1(marginals, words).any()
    assert decision.expected_f1(marginals, words, np.zeros(len(blocks), dtype=bool)) == 0


@given(scored, probabilities, probabilities)
def test_a_lower_threshold_keeps_a_subset(blocks: list[tuple[float, int]], one: float, other: float) -> None:
    marginals, _ = columns(blocks)
    low, high = sorted((one, other))
    assert (decision.by_threshold(marginals, low) <= decision.by_threshold(marginals, high)).all()


def test_the_threshold_itself_is_dropped() -> None:
    marginals, _ = columns([(0.5, 1), (0.49, 1)])
    assert decision.by_threshold(marginals, 0.5).tolist() == [False, True]


def test_words_are_tokens_with_a_letter_or_digit() -> None:
    assert decision.n_words(blocks_of("<p>One 2 3rd - …<p>-<p>漢字仮名")).tolist() == [3, 0, 2]
