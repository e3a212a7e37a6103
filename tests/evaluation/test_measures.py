"""The measures equal their definitions, by hand-worked examples and by properties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from victor_spark.blocks import HEADER, OTHER, TEXT, UInt8
from victor_spark.evaluation import measures
from victor_spark.evaluation.measures import Overlap, Quality

bags = st.lists(st.sampled_from("abcd"), max_size=12)
labels = st.lists(st.sampled_from([HEADER, TEXT, OTHER]), max_size=30)


def column(values: list[int]) -> UInt8:
    return np.array(values, dtype=np.uint8)


def test_words_count_as_often_as_they_occur() -> None:
    assert measures.overlap("aab", "abbc") == Overlap(n_common=2, n_found=3, n_gold=4)
    assert measures.quality(Overlap(2, 3, 4)) == Quality(2 / 3, 1 / 2, 4 / 7)


def test_nothing_where_nothing_is_wanted_is_perfect_and_otherwise_worthless() -> None:
    assert measures.quality(Overlap(0, 0, 0)) == Quality(1, 1, 1)
    assert measures.quality(Overlap(0, 0, 5)) == measures.quality(Overlap(0, 5, 0)) == Quality(0, 0, 0)


@given(bags, bags)
def test_f1_is_symmetric_and_the_harmonic_mean(found: list[str], gold: list[str]) -> None:
    one, two = (measures.quality(measures.overlap(*sides)) for sides in ((found, gold), (gold, found)))
    assert one.f1 == two.f1
    assert (one.precision, one.recall) == (two.recall, two.precision)
    if one.precision + one.recall:
        assert one.f1 == pytest.approx(2 * one.precision * one.recall / (one.precision + one.recall))


def test_micro_weighs_by_length_and_macro_does_not() -> None:
    pages = [Overlap(90, 90, 90), Overlap(0, 10, 10)]
    assert measures.micro(pages).f1 == 0.9
    assert measures.macro(pages).f1 == 0.5


def test_shingles_are_runs_of_four_and_short_texts_one_shingle() -> None:
    assert measures.shingles(list("abcde")) == [tuple("abcd"), tuple("bcde")]
    assert measures.shingles(list("ab")) == [tuple("ab")]
    assert measures.shingles([]) == []


def test_block_measures_are_those_of_the_paper() -> None:
    annotated = column([HEADER, TEXT, TEXT, OTHER, OTHER])
    counts = measures.block_counts(column([TEXT, TEXT, OTHER, TEXT, OTHER]), annotated)
    got = measures.block_measures([counts])
    assert (got["accuracy"], got["unlabelled_accuracy"]) == (2 / 5, 3 / 5)
    assert (got["precision"], got["recall"]) == (2 / 3, 2 / 3)


@given(st.lists(labels, min_size=1, max_size=5))
def test_counts_of_pages_add_up_to_counts_of_all_blocks(pages: list[list[int]]) -> None:
    everything = [label for page in pages for label in page]
    counts = [measures.block_counts(column(page), column(page[::-1])) for page in pages]
    backwards = [label for page in pages for label in page[::-1]]
    together = measures.block_counts(column(everything), column(backwards))
    assert measures.block_measures(counts) == measures.block_measures([together])


@given(st.lists(st.tuples(st.floats(0, 1), st.sampled_from([TEXT, OTHER])), min_size=1, max_size=40))
def test_the_curve_agrees_with_keeping_blocks_below_each_threshold(blocks: list[tuple[float, int]]) -> None:
    p_other = np.array([p for p, _ in blocks])
    annotated = column([label for _, label in blocks])
    curve = measures.threshold_curve(p_other, annotated)
    for threshold, precision, recall in zip(curve.thresholds, curve.precision, curve.recall, strict=True):
        kept = p_other < threshold
        right = int((kept & (annotated != OTHER)).sum())
        assert precision == (right / kept.sum() if kept.any() else 1.0)
        assert recall == right / max(int((annotated != OTHER).sum()), 1)


def test_recall_only_grows_with_the_threshold() -> None:
    random = np.random.default_rng(3)
    curve = measures.threshold_curve(random.random(200), random.integers(0, 3, 200).astype(np.uint8))
    assert (np.diff(curve.recall) >= 0).all()


def test_reliability_compares_stated_probabilities_with_frequencies() -> None:
    p_other = np.array([0.95, 0.95, 0.95, 0.95, 0.2, 0.2])
    annotated = np.array([OTHER, OTHER, OTHER, TEXT, TEXT, HEADER], dtype=np.uint8)
    found = measures.reliability(p_other, annotated, n_ranges=10)
    assert found.stated.tolist() == pytest.approx([0.05, 0.8])
    assert found.true.tolist() == pytest.approx([0.25, 1.0])
    assert found.n_blocks.tolist() == [4, 2]
    assert found.error == pytest.approx((4 * 0.2 + 2 * 0.2) / 6)
