"""Intervals and p-values: as wide as the sites say, the same every time, and sure of a clear difference."""

import numpy as np
import pytest

from victor_spark.evaluation import measures, resampling

RANDOM = np.random.default_rng(3)
F1 = RANDOM.uniform(0.3, 1.0, size=(200, 2))
SITES = [f"site{row // 5}" for row in range(200)]


def test_intervals_agree_with_the_bootstrap_of_single_figures() -> None:
    low, high = resampling.intervals(F1, SITES)
    for column in range(2):
        alone = measures.bootstrap(F1[:, column], SITES, n_resamples=4000)
        assert low[column] == pytest.approx(alone.low, abs=0.01)
        assert high[column] == pytest.approx(alone.high, abs=0.01)


def test_the_same_values_give_the_same_figures_every_time() -> None:
    once, again = (resampling.differences(F1[:, :1], F1[:, 1:], SITES) for _ in range(2))
    assert once == again


def test_a_small_difference_on_every_page_is_sure_and_one_on_few_sites_is_not() -> None:
    (everywhere,) = resampling.differences(F1[:, :1] + 0.01, F1[:, :1], SITES)
    assert everywhere.mean == pytest.approx(0.01)
    assert everywhere.p < 0.001
    assert everywhere.low == pytest.approx(0.01)
    on_one_site = F1[:, :1].copy()
    on_one_site[:5] += 0.5
    (somewhere,) = resampling.differences(on_one_site, F1[:, :1], SITES)
    assert somewhere.p > 0.5
    assert somewhere.low == 0


def test_no_difference_is_no_difference() -> None:
    (same,) = resampling.differences(F1[:, :1], F1[:, :1], SITES)
    assert (same.mean, same.low, same.high, same.p) == (0, 0, 0, 1)


def test_pages_without_a_measure_are_left_out() -> None:
    values = F1.copy()
    values[:50, 1] = np.nan
    (difference,) = resampling.differences(values[:, :1], values[:, 1:], SITES)
    assert difference.n_pages == 150
    assert difference.mean == pytest.approx((values[50:, 0] - values[50:, 1]).mean())
    low, high = resampling.intervals(np.full((3, 1), np.nan), ["a", "b", "c"])
    assert np.isnan([low, high]).all()


def test_pages_of_a_single_site_are_drawn_one_by_one() -> None:
    low, high = resampling.intervals(F1, ["only"] * 200)
    assert (low < high).all()
