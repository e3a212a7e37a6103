"""What the pages of a site have in common, as sums that are equal whatever the order of the pages.

Every page contributes one row a key: its layouts (the ancestors of a block, with their classes) and those of
its texts (the letters of a block, in its layout: links to an article don't repeat its headline) that may be
content. Rows of equal key are added up over the site's pages.
The sums are integers, so that their order changes no bit. The evidence for a block is what is left when the
page's own rows are subtracted.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from victor_spark.blocks import OTHER, Blocks, Float32, Float64, UInt64

Int64 = npt.NDArray[np.int64]
Places = npt.NDArray[np.intp]

LAYOUT, TEXT = range(2)
"""Kinds of keys."""

SUMS: Final = ("n_pages", "log_odds")
"""What a row of a key holds: its pages, and the sum of their mean log-odds of content."""

EVIDENCE: Final = ("consensus", "n_pages", "share", "n_repeats", "repeat_ratio")
"""The rows of `evidence`: of the site's other pages with the block's layout the mean log-odds of content,
their number, and their share of all other pages; the number of other pages with the block's text in that
layout, and its ratio to their number."""

CONSENSUS, N_PAGES, SHARE, N_REPEATS, REPEAT_RATIO = range(len(EVIDENCE))

_KIND_BITS: Final = np.uint64(1)
_IN_LAYOUT: Final = np.uint64(0x9E3779B97F4A7C15)
"""An odd number, by which a layout is multiplied before its texts are keyed."""

_SCALE: Final = 1024.0
"""Log-odds are rounded to multiples of 1 / _SCALE."""

_LEAST: Final = 1e-6
"""Probabilities closer to 0 and 1 than this count as this far from them."""

_MOST: Final = float(np.log((1.0 - _LEAST) / _LEAST))
"""The highest log-odds."""

_MIN_CONTENT: Final = 0.02
"""Texts with a lower P(content) are no keys: two thirds of all, which need no second reason to be dropped."""


@dataclass(frozen=True, slots=True)
class Contributions:
    """Sums by key: `key` is a hash with its kind in the last bit, each once, in rising order.

    `sums` has shape (2, n_keys), rows as in SUMS; log-odds are multiples of 1 / 1024.
    """

    key: UInt64
    sums: Int64

    def __len__(self) -> int:
        return len(self.key)


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a site, or of those of its keys that are asked for: sums of `n_pages` pages.

    Keys of a single page may be missing.
    """

    n_pages: int
    of_keys: Contributions


def known(pages: Iterable[Contributions]) -> Known:
    """What the pages with these contributions tell."""
    rows = list(pages)
    return Known(len(rows), added(rows))


def added(parts: Iterable[Contributions]) -> Contributions:
    """The sums over all parts, whose keys may be in any order and repeat."""
    rows = [part for part in parts if len(part)]
    if not rows:
        return Contributions(np.empty(0, np.uint64), np.empty((len(SUMS), 0), np.int64))
    key, sums = np.concatenate([part.key for part in rows]), np.concatenate([part.sums for part in rows], 1)
    groups = _groups(key)
    return Contributions(groups.key, np.add.reduceat(sums[:, groups.order], groups.first, axis=1))


def log_odds(probabilities: Float64) -> Float64:
    """The log-odds of content of each block, finite."""
    other = np.clip(probabilities[:, OTHER], _LEAST, 1.0 - _LEAST)
    return np.asarray(np.log((1.0 - other) / other))


def mean_log_odds(sums: Int64, n_pages: Int64) -> Float64:
    """The mean log-odds of content, from the sums over some pages."""
    return np.asarray(np.clip(sums / (_SCALE * n_pages), -_MOST, _MOST))


def contributions(blocks: Blocks, probabilities: Float64) -> Contributions:
    """What a page tells about its site: a row for every layout, and for every text that may be content."""
    rows, groups = _keys(blocks, probabilities)
    return Contributions(groups.key, _sums(blocks, probabilities, rows, groups))


def first_blocks(blocks: Blocks, probabilities: Float64) -> Places:
    """The first block of each key of `contributions`."""
    rows, groups = _keys(blocks, probabilities)
    return rows[groups.order[groups.first]]


def evidence(blocks: Blocks, probabilities: Float64, known: Known, *, is_among: bool = True) -> Float32:
    """What the site's other pages tell about each block: shape (len(EVIDENCE), n_blocks).

    `is_among`: the page is one of those that `known` sums up, so that its own contribution is subtracted.
    Zeros where no other page has the block's layout.
    """
    n_blocks, n_others, of_site = len(blocks), known.n_pages - is_among, known.of_keys
    result = np.zeros((len(EVIDENCE), n_blocks), np.float32)
    if n_others <= 0 or not n_blocks or not len(of_site):
        return result
    rows, groups = _keys(blocks, probabilities)
    place = np.minimum(np.searchsorted(of_site.key, groups.key), len(of_site) - 1)
    n_pages, total = of_site.sums[:, place] * (of_site.key[place] == groups.key)
    if is_among:
        own = _sums(blocks, probabilities, rows, groups)
        n_pages, total = n_pages - own[0], total - own[1]
    is_seen, divisor = n_pages > 0, np.maximum(n_pages, 1)
    mean = mean_log_odds(total, divisor)
    n_pages = np.maximum(n_pages, 0)
    of_groups = np.stack([mean, n_pages, np.minimum(n_pages / n_others, 1.0)]) * is_seen
    group, texts = groups.of_rows(), rows[n_blocks:]
    result[:N_REPEATS] = of_groups[:, group[:n_blocks]]
    result[N_REPEATS, texts] = n_pages[group[n_blocks:]]
    result[N_REPEATS] *= result[N_PAGES] > 0
    result[REPEAT_RATIO] = np.minimum(result[N_REPEATS] / np.maximum(result[N_PAGES], 1), 1.0)
    return result


class _Groups(NamedTuple):
    """Equal keys: the distinct ones, the order that sorts all, where in it each distinct key begins."""

    key: UInt64
    order: Places
    first: Places

    def of_rows(self) -> Places:
        """The number of its distinct key, per row."""
        numbers = np.zeros(len(self.order), np.intp)
        numbers[self.first[1:]] = 1
        result = np.empty_like(numbers)
        result[self.order] = np.cumsum(numbers)
        return result


def _groups(key: UInt64) -> _Groups:
    order = np.argsort(key, kind="stable")
    in_order = key[order]
    is_first = np.ones(len(key), bool)
    is_first[1:] = in_order[1:] != in_order[:-1]
    first = np.flatnonzero(is_first)
    return _Groups(in_order[first], order, first)


def _keys(blocks: Blocks, probabilities: Float64) -> tuple[Places, _Groups]:
    """The blocks whose keys are grouped: all, by layout, and again those with texts that may be content."""
    likely = (blocks.n_letters > 0) & (probabilities[:, OTHER] <= 1.0 - _MIN_CONTENT)
    with_text = np.flatnonzero(likely)
    texts = (blocks.letters_hash ^ blocks.class_path * _IN_LAYOUT)[with_text]
    key = np.concatenate([blocks.class_path, texts]) << _KIND_BITS
    key[len(blocks) :] |= np.uint64(TEXT)
    return np.concatenate([np.arange(len(blocks)), with_text]), _groups(key)


def _sums(blocks: Blocks, probabilities: Float64, rows: Places, groups: _Groups) -> Int64:
    """One column a key: the mean of its blocks' log-odds is weighted by the root of their words."""
    if not len(rows):
        return np.empty((len(SUMS), 0), np.int64)
    weights = np.sqrt(blocks.n_words + 1.0)
    columns = np.stack([weights * log_odds(probabilities), weights])[:, rows[groups.order]]
    total, weight = np.add.reduceat(columns, groups.first, axis=1)
    mean = np.rint(total / weight * _SCALE).astype(np.int64)
    return np.stack([np.ones_like(mean), mean])
