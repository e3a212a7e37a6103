"""The measures: overlap of words and shingles, Victor's block measures, threshold curve, reliability.

Independent of cleaners and pages; words come from `words`, labels are columns of page.LABELS.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import astuple, dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from victor_spark.blocks import OTHER, Float64, UInt8

Counts: TypeAlias = npt.NDArray[np.int64]

SHINGLE: Final = 4
"""Words in a shingle, as in the article extraction benchmark."""

THRESHOLDS: Final = np.linspace(0.01, 0.99, 99)


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


@dataclass(frozen=True, slots=True)
class BlockCounts:
    """Blocks of one or more pages, counted as Victor's section 5 needs them; content is header or text."""

    n_blocks: int
    n_correct: int
    n_correct_unlabelled: int
    n_content_correct: int
    n_content_labelled: int
    n_content_annotated: int


@dataclass(frozen=True, slots=True)
class BlockMeasures:
    """Victor's measures (section 5): accuracy over three labels and over two, precision, recall."""

    accuracy: float
    unlabelled_accuracy: float
    precision: float
    recall: float
    f1: float


def block_counts(labels: UInt8, annotated: UInt8) -> BlockCounts:
    """Compares the labels of one or more pages with the annotated ones."""
    content, wanted = labels != OTHER, annotated != OTHER
    return BlockCounts(
        n_blocks=len(labels),
        n_correct=int((labels == annotated).sum()),
        n_correct_unlabelled=int((content == wanted).sum()),
        n_content_correct=int((content & wanted).sum()),
        n_content_labelled=int(content.sum()),
        n_content_annotated=int(wanted.sum()),
    )


def total(counts: Iterable[BlockCounts]) -> BlockCounts:
    """The counts of all pages together; their measures are the micro averages that Victor reports."""
    return BlockCounts(*np.array([astuple(each) for each in counts]).reshape(-1, 6).sum(axis=0).tolist())


def block_measures(counts: BlockCounts) -> BlockMeasures:
    """The measures of counts; a page without blocks counts as correct."""
    bags = Overlap(counts.n_content_correct, counts.n_content_labelled, counts.n_content_annotated)
    content = quality(bags)
    n = counts.n_blocks
    accuracy = counts.n_correct / n if n else 1.0
    unlabelled = counts.n_correct_unlabelled / n if n else 1.0
    return BlockMeasures(accuracy, unlabelled, content.precision, content.recall, content.f1)


@dataclass(frozen=True, slots=True)
class ThresholdCurve:
    """Precision and recall over blocks when those with P(other) below each threshold are kept."""

    thresholds: Float64
    precision: Float64
    recall: Float64


def threshold_curve(p_other: Float64, annotated: UInt8) -> ThresholdCurve:
    """Victor's Figure 2, from the marginals and annotated labels of all blocks."""
    n_kept, n_right = threshold_counts(p_other, annotated)
    return curve_of_counts(n_kept, n_right, int((annotated != OTHER).sum()))


def threshold_counts(p_other: Float64, annotated: UInt8) -> tuple[Counts, Counts]:
    """Blocks with P(other) below each of THRESHOLDS, and how many of them are content; pages add up."""
    order = np.argsort(p_other, kind="stable")
    n_content = np.concatenate([[0], np.cumsum(annotated[order] != OTHER)])
    n_kept = np.searchsorted(p_other[order], THRESHOLDS, side="left")
    return n_kept, n_content[n_kept]


def curve_of_counts(n_kept: Counts, n_right: Counts, n_content: int) -> ThresholdCurve:
    """The curve of what `threshold_counts` gives, summed over pages or not.

    Precision is 1 where nothing is kept: the limit that the curve runs to.
    """
    right = n_right.astype(np.float64)
    precision = np.where(n_kept > 0, right / np.maximum(n_kept, 1), 1.0)
    return ThresholdCurve(THRESHOLDS, precision, right / max(n_content, 1))


@dataclass(frozen=True, slots=True)
class Reliability:
    """How often blocks of a stated P(content) are content, by ranges of it; `error` is the mean distance.

    Arrays have a row a range: the mean P(content) stated, the share that is content, and the blocks there.
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
