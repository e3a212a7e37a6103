"""The cut-off is the least of equation 3.1."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from victor_spark.templates import repeats


def energy(heights: list[int], b: int, x: float) -> float:
    """Equation 3.1 as it is printed, with y from b = (x + y) / 2."""
    y = 2 * b - x
    below = sum((i - x) ** 2 * heights[i] for i in range(b))
    return below + sum((i - y) ** 2 * heights[i] for i in range(b, len(heights)))


@given(
    bars=st.dictionaries(st.integers(0, 99), st.integers(1, 50), min_size=1, max_size=8),
    b=st.integers(1, 99),
    x=st.floats(-100, 200),
)
def test_no_x_gives_less_than_the_closed_form(bars: dict[int, int], b: int, x: float) -> None:
    heights = [bars.get(i, 0) for i in range(100)]
    least = repeats.energies(np.array(heights))[b - 1]
    assert least <= energy(heights, b, x) * (1 + 1e-9) + 1e-6
    places = np.arange(100)
    best = np.average(np.where(places < b, places, 2 * b - places), weights=heights)
    assert least == pytest.approx(energy(heights, b, best), abs=1e-6)


def test_the_cut_is_between_two_modes() -> None:
    frequencies = np.array([2] * 500 + [3] * 100 + [5] * 20 + [190] * 10 + [200] * 30, dtype=np.int32)
    assert 20 < repeats.cut_off(frequencies, 200) <= 190


@given(n_pages=st.integers(2, 1000), share=st.floats(0, 1))
def test_bins_hold_what_they_say(n_pages: int, share: float) -> None:
    frequency = max(1, round(share * n_pages))
    (number,) = repeats.bins(np.array([frequency], dtype=np.int32), n_pages)
    assert number * n_pages < 100 * frequency <= (number + 1) * n_pages


@given(frequencies=st.lists(st.integers(2, 60), min_size=1, max_size=50))
def test_exactly_what_lies_in_the_cut_off_bin_or_above_is_a_template(frequencies: list[int]) -> None:
    column = np.array(frequencies, dtype=np.int32)
    bins = repeats.bins(column, 60)
    b = repeats.cut_off_bin(np.bincount(bins, minlength=100))
    above = column >= repeats.cut_off(column, 60)
    assert above.tolist() == (bins >= b).tolist()


def test_of_equal_cuts_the_one_in_the_middle() -> None:
    """Where all strings are on all pages every cut is as good."""
    assert repeats.cut_off_bin(np.array([0] * 99 + [7])) == 50


def test_nothing_to_cut() -> None:
    assert repeats.cut_off(np.array([], dtype=np.int32), 5) >= 1
