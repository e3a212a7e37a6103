"""The measures: overlap of words and shingles, Victor's block measures, threshold curve, reliability.

Independent of cleaners and pages; words come from `words`, labels are columns of page.LABELS. Means have
bootstrap intervals, differences also p-values of a randomisation test. Sites are drawn, not pages, since
errors on pages of one site are correlated; pages of a single site are drawn one by one. All columns share
their draws, so they stay paired; draws are seeded.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import asdict, astuple, dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from victor_spark.blocks import LABELS, OTHER, Float64, UInt8

SHINGLE: Final = 4
"""Words in a shingle, as in the article extraction benchmark."""

ALL: Final = "all"
"""The name of the group of all pages."""

THRESHOLDS: Final = np.linspace(0.01, 0.99, 99)

Counts: TypeAlias = npt.NDArray[np.intp]
_CONTENT: Final = slice(OTHER)  # header and text come first

N_RESAMPLES: Final = 2000
CONFIDENCE_LEVEL: Final = 0.95
_SEED: Final = 0
_BATCH: Final = 1 << 22
"""The most cells of the matrix of draws that are computed at a time (32 MB)."""


@dataclass(frozen=True, slots=True)
class Overlap:
    """Numbers of tokens: common to both texts (the smaller count of each token), in ours, in the gold."""

    n_common: int
    n_found: int
    n_gold: int


@dataclass(frozen=True, slots=True)
class Quality:
    """Precision, recall and their harmonic mean, each in 0..1."""

    precision: float
    recall: float
    f1: float


def overlap(found: Iterable[Hashable], gold: Iterable[Hashable]) -> Overlap:
    """The overlap of two multisets: counts matter, order does not."""
    ours, theirs = Counter(found), Counter(gold)
    return Overlap((ours & theirs).total(), ours.total(), theirs.total())


def quality(bags: Overlap) -> Quality:
    """Precision, recall and F1 of an overlap: all 1 if both sides are empty, all 0 if only one is."""
    if not bags.n_found and not bags.n_gold:
        return Quality(1.0, 1.0, 1.0)
    precision = bags.n_common / bags.n_found if bags.n_found else 0.0
    recall = bags.n_common / bags.n_gold if bags.n_gold else 0.0
    return Quality(precision, recall, 2 * bags.n_common / (bags.n_found + bags.n_gold))


def micro(overlaps: Iterable[Overlap]) -> Quality:
    """The quality of all pages taken as one: long pages weigh more."""
    rows = np.array([astuple(each) for each in overlaps]).reshape(-1, 3)
    return quality(Overlap(*rows.sum(axis=0).tolist()))


def macro(overlaps: Iterable[Overlap]) -> Quality:
    """The mean of the pages' qualities: every page weighs the same."""
    rows = np.array([astuple(quality(each)) for each in overlaps])
    return Quality(*rows.mean(axis=0).tolist())


def shingles(words: Sequence[str], length: int = SHINGLE) -> list[tuple[str, ...]]:
    """Every run of `length` words; a shorter text is one shingle of all its words, an empty one none."""
    if not words:
        return []
    return [tuple(words[start : start + length]) for start in range(max(1, len(words) - length + 1))]


def block_counts(labels: UInt8, annotated: UInt8) -> Counts:
    """Blocks by annotated label (rows) and given label (columns); the counts of pages can be added up."""
    n = len(LABELS)
    return np.bincount(annotated.astype(np.intp) * n + labels, minlength=n * n).reshape(n, n)


def has_content(counts: Counts) -> bool:
    """Whether a block is annotated as content."""
    return bool(counts[_CONTENT].any())


OF_BLOCKS: Final = ("accuracy", "unlabelled_accuracy", "precision", "recall")
"""Victor's measures of blocks, in the order of the paper's tables."""


def block_measures(counts: Iterable[Counts]) -> dict[str, float]:
    """Victor's measures (section 5) over all blocks of some pages: accuracy over three labels and over two,
    precision, recall and F1 of content, which is header or text. All are 1 without blocks.
    """
    every = sum(counts, np.zeros((len(LABELS), len(LABELS)), dtype=np.intp))
    n, n_annotated, n_labelled = int(every.sum()), int(every[_CONTENT].sum()), int(every[:, _CONTENT].sum())
    n_content = int(every[_CONTENT, _CONTENT].sum())
    n_unlabelled = n_content + int(every[OTHER, OTHER])
    return {
        "accuracy": int(np.trace(every)) / n if n else 1.0,
        "unlabelled_accuracy": n_unlabelled / n if n else 1.0,
        **asdict(quality(Overlap(n_content, n_labelled, n_annotated))),
    }


@dataclass(frozen=True, slots=True)
class ThresholdCurve:
    """Precision and recall over blocks when those with P(other) below each threshold are kept."""

    thresholds: Float64
    precision: Float64
    recall: Float64


def threshold_curve(p_other: Float64, annotated: UInt8) -> ThresholdCurve:
    """Victor's Figure 2, from the marginals and annotated labels of all blocks.

    Precision is 1, by convention, where nothing is kept.
    """
    order = np.argsort(p_other, kind="stable")
    n_content = np.concatenate([[0], np.cumsum(annotated[order] != OTHER)])
    n_kept = np.searchsorted(p_other[order], THRESHOLDS, side="left")
    right = n_content[n_kept].astype(np.float64)
    precision = np.where(n_kept > 0, right / np.maximum(n_kept, 1), 1.0)
    return ThresholdCurve(THRESHOLDS, precision, right / max(n_content[-1], 1))


@dataclass(frozen=True, slots=True)
class Reliability:
    """How often blocks of a stated P(content) are content, by ranges of it; `error` is the mean distance.

    Arrays have a row per range: the mean P(content) stated, the share that is content, and the blocks there.
    The error is weighted by blocks (expected calibration error; Naeini et al. 2015).
    """

    stated: Float64
    true: Float64
    n_blocks: npt.NDArray[np.int64]
    error: float


def reliability(p_other: Float64, annotated: UInt8, n_ranges: int = 20) -> Reliability:
    """The reliability of P(content) = 1 - `p_other` over blocks; ranges without blocks are left out."""
    content = 1.0 - p_other
    ranges = np.minimum((content * n_ranges).astype(np.int64), n_ranges - 1)
    _, rows, n_blocks = np.unique(ranges, return_inverse=True, return_counts=True)
    stated = np.bincount(rows, weights=content) / n_blocks
    true = np.bincount(rows, weights=annotated != OTHER) / n_blocks
    error = float((np.abs(stated - true) * n_blocks).sum() / max(len(content), 1))
    return Reliability(stated, true, n_blocks, error)


@dataclass(frozen=True, slots=True)
class Difference:
    """How much better one column is than another on the same pages, its interval, and its p-value.

    `p` is the share of random exchanges of the two, site by site, with a difference at least as large.
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


def intervals(values: Float64, sites: Sequence[str]) -> tuple[Float64, Float64]:
    """The lower and upper bound of every column's mean; NaN marks pages for which a column has no value."""
    sums, counts = _by_site(values, sites)
    random, n = np.random.default_rng(_SEED), len(sums)
    drawn = (random.multinomial(n, np.full(n, 1 / n), size=n_draws) for n_draws in _batches(n))
    means = np.concatenate([_ratio(draws @ sums, draws @ counts) for draws in drawn])
    tail = (1 - CONFIDENCE_LEVEL) / 2
    there = ~np.isnan(means).all(axis=0)
    low, high = np.full((2, means.shape[1]), np.nan)
    if there.any():
        low[there], high[there] = np.nanquantile(means[:, there], [tail, 1 - tail], axis=0)
    return low, high


def differences(first: Float64, second: Float64, sites: Sequence[str]) -> list[Difference]:
    """Column by column: first − second, over the pages for which both have values."""
    values = first - second
    sums, counts = _by_site(values, sites)
    means = _ratio(sums.sum(axis=0), counts.sum(axis=0))
    low, high = intervals(values, sites)
    columns = (means, low, high, _exchanged(sums), counts.sum(axis=0).astype(int))
    return [Difference(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def _exchanged(sums: Float64) -> Float64:
    """Approximate randomisation: p of the two-sided test that exchanges the columns of whole sites."""
    random = np.random.default_rng(_SEED)
    observed = np.abs(sums.sum(axis=0))
    n_as_far = np.zeros(sums.shape[1])
    for rows in _batches(len(sums)):
        signs = random.integers(0, 2, size=(rows, len(sums))).astype(np.float64) * 2 - 1
        n_as_far += (np.abs(signs @ sums) >= observed - 1e-12).sum(axis=0)
    return np.asarray((n_as_far + 1) / (N_RESAMPLES + 1))


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
