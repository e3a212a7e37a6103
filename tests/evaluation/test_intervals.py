"""Intervals and p-values: they follow the variance between sites, are reproducible, detect differences."""

import math

import numpy as np
import pytest

from victor_spark.evaluation import measures

RANDOM = np.random.default_rng(3)
F1 = RANDOM.uniform(0.3, 1.0, size=(200, 2))
SITES = [f"site{row // 5}" for row in range(200)]


def test_the_interval_of_one_column_is_that_of_many() -> None:
    low, high = measures.intervals(F1, SITES)
    for column in range(2):
        alone = measures.interval(F1[:, column].tolist(), SITES)
        assert (alone.low, alone.high) == pytest.approx((low[column], high[column]))
        assert alone.low < alone.mean < alone.high
        assert alone.mean == pytest.approx(F1[:, column].mean())


def test_the_interval_is_that_of_drawing_sites_with_replacement() -> None:
    sums = F1[:, 0].reshape(-1, 5).sum(axis=1)
    drawn = np.random.default_rng(0).integers(0, len(sums), size=(4000, len(sums)))
    low, high = np.quantile(sums[drawn].sum(axis=1) / 200, [0.025, 0.975])
    found = measures.interval(F1[:, 0].tolist(), SITES)
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.01)


def test_pages_of_few_sites_make_the_interval_wider() -> None:
    values = np.repeat(np.random.default_rng(2).random(10), 30).tolist()
    by_site = measures.interval(values, [f"site{number // 30}" for number in range(300)])
    by_page = measures.interval(values, [f"page{number}" for number in range(300)])
    assert by_site.high - by_site.low > 2 * (by_page.high - by_page.low)


def test_an_interval_over_no_pages_is_not_a_number() -> None:
    assert math.isnan(measures.interval([], []).mean)


def test_the_same_values_give_the_same_figures_every_time() -> None:
    once, again = (measures.differences(F1[:, :1], F1[:, 1:], SITES) for _ in range(2))
    assert once == again


def test_a_small_difference_on_every_page_is_sure_and_one_on_few_sites_is_not() -> None:
    (everywhere,) = measures.differences(F1[:, :1] + 0.01, F1[:, :1], SITES)
    assert everywhere.mean == pytest.approx(0.01)
    assert everywhere.p < 0.001
    assert everywhere.low == pytest.approx(0.01)
    on_one_site = F1[:, :1].copy()
    on_one_site[:5] += 0.5
    (somewhere,) = measures.differences(on_one_site, F1[:, :1], SITES)
    assert somewhere.p > 0.5
    assert somewhere.low == 0


def test_no_difference_is_no_difference() -> None:
    (same,) = measures.differences(F1[:, :1], F1[:, :1], SITES)
    assert (same.mean, same.low, same.high, same.p) == (0, 0, 0, 1)


def test_pages_without_a_measure_are_left_out() -> None:
    values = F1.copy()
    values[:50, 1] = np.nan
    (difference,) = measures.differences(values[:, :1], values[:, 1:], SITES)
    assert difference.n_pages == 150
    assert difference.mean == pytest.approx((values[50:, 0] - values[50:, 1]).mean())
    low, high = measures.intervals(np.full((3, 1), np.nan), ["a", "b", "c"])
    assert np.isnan([low, high]).all()


def test_pages_of_a_single_site_are_drawn_one_by_one() -> None:
    low, high = measures.intervals(F1, ["only"] * 200)
    assert (low < high).all()
