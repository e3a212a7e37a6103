"""Where a text stands in a page: its words aligned, in order, with the words of the blocks.

A match scores 1 and opening a run of matches costs 2, so that a single matching word in a menu lowers the
score. A block holds the text when at least half of its words are matched; blocks without
words follow when the blocks around them do.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from victor_spark import words
from victor_spark.blocks import Blocks, Bool, Int32
from victor_spark.kernels import alignment as kernel

OPEN_COST: Final = 2
KEPT_RATIO: Final = 0.5
_MAX_PAIRS: Final = 1 << 25
"""Beyond this many pairs of equal words, the most frequent words stay unmatched (300 MB)."""


@dataclass(frozen=True, slots=True)
class Match:
    """Which blocks hold the text, and the share of the text's words found in the page (1 of none)."""

    kept: Bool
    found: float


def locate(blocks: Blocks, text: str) -> Match:
    """Finds a text (gold, or what another tool made of the page) among the blocks."""
    page_words, rows = words.block_words(blocks)
    text_words = words.words(text)
    hit = match(page_words, text_words) >= 0
    found = int(hit.sum()) / len(text_words) if text_words else 1.0
    return Match(_kept_blocks(rows, hit, len(blocks)), found)


def match(page: Sequence[str], gold: Sequence[str]) -> Int32:
    """For every page word the position of its gold word, or -1; positions ascend."""
    ids = {word: row for row, word in enumerate(dict.fromkeys(gold))}
    gold_ids = np.fromiter((ids[word] for word in gold), np.int32, len(gold))
    page_ids = np.fromiter((ids.get(word, -1) for word in page), np.int32, len(page))
    counts = np.bincount(gold_ids, minlength=len(ids))
    page_ids = _without_too_frequent(page_ids, counts)
    n_pairs = int(counts[page_ids[page_ids >= 0]].sum())
    matched = np.empty(len(page), np.int32)
    arrays = (
        page_ids,
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        np.argsort(gold_ids, kind="stable").astype(np.int32),
        np.empty(n_pairs, np.int32),
        np.empty(n_pairs, np.int32),
        np.empty((2, len(gold) + 2), np.int32),
        np.empty((3, len(gold)), np.int32),
        matched,
    )
    # Views give Python's own integers where the kernel runs uncompiled.
    kernel.align(*(array.data for array in arrays), OPEN_COST)
    return matched


def _without_too_frequent(page_ids: Int32, counts: npt.NDArray[np.int64]) -> Int32:
    """The page's word ids, those with the most pairs set to -1 until _MAX_PAIRS are left."""
    known = page_ids[page_ids >= 0]
    pairs = np.bincount(known, minlength=len(counts)) * counts
    if pairs.sum() <= _MAX_PAIRS:
        return page_ids
    order = np.argsort(pairs, kind="stable")
    dropped = order[np.cumsum(pairs[order]) > _MAX_PAIRS]
    return np.where(np.isin(page_ids, dropped), -1, page_ids).astype(np.int32)


def _kept_blocks(rows: Int32, hit: Bool, n_blocks: int) -> Bool:
    n_words = np.bincount(rows, minlength=n_blocks)
    n_hits = np.bincount(rows[hit], minlength=n_blocks)
    kept = (n_words > 0) & (n_hits >= KEPT_RATIO * n_words)
    with_words = np.flatnonzero(n_words > 0)
    without = np.flatnonzero(n_words == 0)
    after = np.searchsorted(with_words, without)
    inside = (after > 0) & (after < len(with_words))
    neighbours = kept[with_words[after[inside] - 1]] & kept[with_words[after[inside]]]
    kept[without[inside]] = neighbours
    return kept
