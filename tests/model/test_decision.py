"""Which blocks are kept: the paper's threshold, and the highest expected F1."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.html.pages import blocks_of
from victor_spark.blocks import Float64
from victor_spark.kernels import num
from victor_spark.model import decision

probabilities = st.sampled_from((0.0, 0.05, 0.3, 0.5, 0.9, 1.0)) | st.floats(0, 1)
scored = st.lists(st.tuples(probabilities, st.integers(0, 50)), max_size=8)


def columns(blocks: list[tuple[float, int]]) -> tuple[Float64, Float64]:
    """Marginals (n, 3) and words per block from (P(other), words)."""
    other = np.array([p for p, _ in blocks], dtype=float)
    return np.stack([0.25 * (1 - other), 0.75 * (1 - other), other], axis=1), np.array(
        [words for _, words in blocks], dtype=float
    )


LEVELS = num.LEVELS
EVEN = np.full(LEVELS, 1 / LEVELS)


def contents(marginals: Float64) -> list[np.ndarray]:
    """The candidates for the page's content: the blocks with P(other) below a threshold."""
    return [
        marginals[:, 2] < bar / LEVELS if bar < LEVELS else marginals[:, 2] <= 1
        for bar in range(1, LEVELS + 1)
    ]


def mean_f(
    marginals: Float64,
    words: Float64,
    kept: np.ndarray,
    beta: float = 1.0,
    likely: Float64 = EVEN,
) -> float:
    """The mean F of what is kept over all that the content may be."""
    if not words[kept].sum():
        return 0.0
    f = [
        (1 + beta**2) * words[kept & content].sum() / (words[kept].sum() + beta**2 * words[content].sum())
        for content in contents(marginals)
    ]
    return float(np.dot(likely, f))


@given(scored, st.data())
def test_the_expected_f1_is_the_mean_over_all_that_the_content_may_be(
    blocks: list[tuple[float, int]], data: st.DataObject
) -> None:
    marginals, words = columns(blocks)
    kept = np.array([data.draw(st.booleans()) for _ in blocks], dtype=bool)
    assert decision.expected_f1(marginals, words, kept) == pytest.approx(mean_f(marginals, words, kept))


@given(scored, st.sampled_from((0.25, 0.5, 1.0, 2.0, 4.0)), st.sampled_from((0.0, decision.SURE, 1.1)))
def test_no_other_bar_has_a_higher_expected_f(
    blocks: list[tuple[float, int]], beta: float, sure: float
) -> None:
    marginals, words = columns(blocks)
    kept = decision.by_expected_f1(marginals, words, beta, sure=sure)
    best_f1 = max(mean_f(marginals, words, content) for content in contents(marginals))
    if abs(best_f1 - sure) < 1e-9:
        return
    likely = decision.WIDE if best_f1 < sure else EVEN
    best = max(mean_f(marginals, words, content, beta, likely) for content in contents(marginals))
    if best_f1 < decision.MIN_EXPECTED_F1 - 1e-9:
        assert not kept.any()
    elif best_f1 > decision.MIN_EXPECTED_F1 + 1e-9:
        assert mean_f(marginals, words, kept, beta, likely) == pytest.approx(best, abs=1e-9)


def test_a_long_list_of_doubtful_blocks_is_kept_on_a_doubtful_page() -> None:
    """A short introduction and a list fourteen times as long that is content at 0.25."""
    marginals, words = columns([(0.3, 20), *[(0.75, 28)] * 10])
    assert decision.by_expected_f1(marginals, words, sure=0.0).tolist() == [True] + [False] * 10
    assert decision.by_expected_f1(marginals, words).all()


def test_the_wide_distribution_is_symmetric_and_likelier_at_the_extremes() -> None:
    assert decision.WIDE.sum() == pytest.approx(1)
    np.testing.assert_allclose(decision.WIDE, decision.WIDE[::-1])
    assert (np.diff(decision.WIDE[: LEVELS // 2]) < 0).all()


@given(scored)
def test_kept_blocks_are_likelier_than_dropped_ones(blocks: list[tuple[float, int]]) -> None:
    marginals, words = columns(blocks)
    kept = decision.by_expected_f1(marginals, words)
    if kept.any() and not kept.all():
        assert marginals[kept, 2].max() < marginals[~kept, 2].min()


def test_expected_f1_by_hand() -> None:
    marginals, words = columns([(0.0, 10), (0.5, 10), (1.0, 20)])
    one, two, all_three = (np.array([True, n > 1, n > 2]) for n in (1, 2, 3))
    # Half of the time the content is the first block, half of the time the first two; once it is all.
    rows = [decision.expected_f1(marginals, words, kept) for kept in (one, two, all_three)]
    only, both, whole = (share / LEVELS for share in (LEVELS // 2, LEVELS // 2 - 1, 1))
    assert rows[0] == pytest.approx(only + both * 20 / 30 + whole * 20 / 50)
    assert rows[1] == pytest.approx(only * 20 / 30 + both + whole * 40 / 60)
    assert rows[2] == pytest.approx(only * 20 / 50 + both * 40 / 60 + whole)


def test_doubtful_blocks_are_kept_or_dropped_as_one() -> None:
    """A long article and twice as many words of comments: at 0.3 they are left out, at 0.6 they are in."""
    for doubt, are_kept in ((0.7, False), (0.4, True)):
        marginals, words = columns([(0.05, 300)] + [(doubt, 60)] * 10)
        assert decision.by_expected_f1(marginals, words).tolist() == [True] + [are_kept] * 10


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
