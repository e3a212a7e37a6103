"""Confidence intervals of means, and tests of differences: bootstrap and randomisation by site, seeded.

Sites are drawn, not pages, since pages of one site are right or wrong together; pages of a single
site are drawn one by one. All columns share their draws, so they stay paired.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from victor_spark.blocks import Float64

N_RESAMPLES: Final = 2000
LEVEL: Final = 0.95
_BATCH: Final = 1 << 22
"""Cells of the matrix of draws that are made at a time (32 MB)."""


@dataclass(frozen=True, slots=True)
class Difference:
    """How much better one column is than another on the same pages, its interval, and its p-value.

    `p` is the share of random exchanges of the two, site by site, that part them at least as far.
    """

    mean: float
    low: float
    high: float
    p: float
    n_pages: int


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over pages, their median, and the mean's bootstrap interval."""

    mean: float
    median: float
    low: float
    high: float
    n: int


def interval(values: Sequence[float], sites: Sequence[str]) -> Interval:
    """Mean and median of values, one a page, and the interval of the mean; NaN without pages."""
    if not len(values):
        return Interval(np.nan, np.nan, np.nan, np.nan, 0)
    column = np.asarray(values, dtype=np.float64)
    (low,), (high,) = intervals(column[:, None], sites)
    return Interval(float(column.mean()), float(np.median(column)), float(low), float(high), len(column))


def intervals(values: Float64, sites: Sequence[str], *, seed: int = 0) -> tuple[Float64, Float64]:
    """The lower and upper bound of every column's mean; NaN marks pages that a column has no value of."""
    sums, counts = _by_site(values, sites)
    random, n_sites = np.random.default_rng(seed), len(sums)
    drawn = (random.multinomial(n_sites, np.full(n_sites, 1 / n_sites), size=n) for n in _batches(n_sites))
    means = np.concatenate([_ratio(draws @ sums, draws @ counts) for draws in drawn])
    tail = (1 - LEVEL) / 2
    there = ~np.isnan(means).all(axis=0)
    low, high = np.full((2, means.shape[1]), np.nan)
    if there.any():
        low[there], high[there] = np.nanquantile(means[:, there], [tail, 1 - tail], axis=0)
    return low, high


def differences(first: Float64, second: Float64, sites: Sequence[str], *, seed: int = 0) -> list[Difference]:
    """Column by column: first − second over the pages that both have values of."""
    values = first - second
    sums, counts = _by_site(values, sites)
    means = _ratio(sums.sum(axis=0), counts.sum(axis=0))
    low, high = intervals(values, sites, seed=seed)
    columns = (means, low, high, _exchanged(sums, seed), counts.sum(axis=0).astype(int))
    return [Difference(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def _exchanged(sums: Float64, seed: int) -> Float64:
    """Approximate randomisation: p of the two-sided test that exchanges the columns of whole sites."""
    random = np.random.default_rng(seed)
    observed = np.abs(sums.sum(axis=0))
    n_as_far = np.zeros(sums.shape[1])
    for rows in _batches(len(sums)):
        signs = random.integers(0, 2, size=(rows, len(sums))).astype(np.float64) * 2 - 1
        n_as_far += (np.abs(signs @ sums) >= observed - 1e-12).sum(axis=0)
    p: Float64 = (n_as_far + 1) / (N_RESAMPLES + 1)
    return p


def _by_site(values: Float64, sites: Sequence[str]) -> tuple[Float64, Float64]:
    """Per site and column: the sum of the values, and how many there are."""
    n_pages, n_columns = values.shape
    names, groups = np.unique(np.asarray(sites), return_inverse=True)
    if len(names) < 2:
        groups = np.arange(n_pages)
    sums, counts = np.zeros((2, int(groups.max(initial=-1)) + 1, n_columns))
    there = ~np.isnan(values)
    np.add.at(sums, groups, np.where(there, values, 0.0))
    np.add.at(counts, groups, there)
    return sums, counts


def _batches(n_sites: int) -> list[int]:
    size = max(1, min(N_RESAMPLES, _BATCH // max(n_sites, 1)))
    return [min(size, N_RESAMPLES - start) for start in range(0, N_RESAMPLES, size)]


def _ratio(sums: Float64, counts: Float64) -> Float64:
    """sums / counts, NaN where there is nothing."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(counts > 0, sums / counts, np.nan)
