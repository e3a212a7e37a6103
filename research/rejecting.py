"""Uses of the expected F1: rejecting pages without content, and dropping pages of doubtful quality.

All figures are computed from the results out of fold that `victor train crf` writes to the model directory,
without training or cleaning again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from research.out_of_fold import PageRow
from victor_spark.blocks import Float64
from victor_spark.evaluation import measures

BARS: Final = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6)
"""Values of MIN_EXPECTED_F1 that are tried."""

FAIL_BELOW: Final = (0.0, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95)
"""Values of --fail-below that are tried."""

RANGES: Final = (0.0, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0)
"""Edges of the ranges in which expected and measured F1 are compared."""


@dataclass(frozen=True, slots=True)
class Bar:
    """The effect of rejecting pages below an expected F1; the F1 is over all pages."""

    least: float
    n_empty_rejected: int
    n_content_rejected: int
    word_f1: float


@dataclass(frozen=True, slots=True)
class Range:
    """Pages of a like expected F1: its mean, and the mean that was measured."""

    low: float
    high: float
    n_pages: int
    expected: float
    measured: float


@dataclass(frozen=True, slots=True)
class Kept:
    """Pages that are left when those below an expected F1 are dropped, and their mean F1."""

    fail_below: float
    n_pages: int
    word_f1: float
    worst_tenth: float
    """The F1 that nine of ten pages left reach."""


def n_empty(rows: Sequence[PageRow]) -> int:
    """Pages whose gold is empty: there is nothing to keep."""
    return sum(row.n_gold == 0 for row in rows)


def curve(rows: Sequence[PageRow], bars: Sequence[float] = BARS) -> list[Bar]:
    """Each bar: pages rejected with empty gold and with content, and the word F1 then."""
    expected = np.array([row.unrejected.expected_f1 for row in rows])
    kept_f1 = np.array([measures.quality(row.words_unrejected).f1 for row in rows])
    empty = np.array([row.n_gold == 0 for row in rows])
    found = []
    for least in bars:
        rejected = (expected < least) | np.array([row.unrejected.n_found == 0 for row in rows])
        f1 = np.where(rejected, empty.astype(np.float64), kept_f1)
        found.append(
            Bar(least, int((rejected & empty).sum()), int((rejected & ~empty).sum()), float(f1.mean()))
        )
    return found


def reliability(rows: Sequence[PageRow]) -> tuple[list[Range], float, float]:
    """Expected beside measured F1 in RANGES over pages with output; their mean distance, and correlation."""
    expected, measured = _of_output(rows)
    places = np.clip(np.searchsorted(RANGES, expected, side="right") - 1, 0, len(RANGES) - 2)
    ranges = [
        Range(
            RANGES[place],
            RANGES[place + 1],
            int((places == place).sum()),
            float(expected[places == place].mean()),
            float(measured[places == place].mean()),
        )
        for place in sorted(set(places.tolist()))
    ]
    error = sum(each.n_pages * abs(each.expected - each.measured) for each in ranges) / max(len(expected), 1)
    return ranges, error, float(np.corrcoef(expected, measured)[0, 1])


def dropping(rows: Sequence[PageRow], bars: Sequence[float] = FAIL_BELOW) -> list[Kept]:
    """What `--fail-below` leaves, of the pages with output; bars that leave nothing are left out."""
    expected, measured = _of_output(rows)
    found = []
    for bar in bars:
        left = measured[expected >= bar]
        if len(left):
            found.append(Kept(bar, len(left), float(left.mean()), float(np.quantile(left, 0.1))))
    return found


def _of_output(rows: Sequence[PageRow]) -> tuple[Float64, Float64]:
    """Expected and measured F1 of the pages with output."""
    there = [row for row in rows if row.decided.n_found]
    return (
        np.array([row.decided.expected_f1 for row in there]),
        np.array([row.word_f1 for row in there]),
    )
