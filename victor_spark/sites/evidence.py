"""What the pages of a site have in common, as sums that are equal whatever the order of the pages.

Every page contributes one row a key: its layouts (the ancestors of a block, with their classes) and its texts
(the letters of a block). Rows of equal key are added up over the site's pages. The sums are integers, so that
their order changes no bit. The evidence for a block is what is left when the page's own rows are subtracted.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from victor_spark.blocks import OTHER, Blocks, Float32, Float64, UInt8, UInt64

Int64 = npt.NDArray[np.int64]

LAYOUT, TEXT = range(2)
"""Kinds of keys."""

SUMS: Final = ("n_pages", "log_odds", "squares")
"""What a row of a key holds: its pages; the sum of their mean log-odds of content, and of its square."""

EVIDENCE: Final = ("consensus", "spread", "n_pages", "share", "n_repeats", "repeat_share")
"""The rows of `evidence`: of the site's other pages with the block's layout the mean log-odds and its
standard deviation, their number and share; number and share of the other pages with the block's text."""

CONSENSUS, SPREAD, N_PAGES, SHARE, N_REPEATS, REPEAT_SHARE = range(len(EVIDENCE))

_KIND_BITS: Final = np.uint64(1)
_SCALE: Final = 1024.0
"""Log-odds are rounded to multiples of 1 / _SCALE."""

_LEAST: Final = 1e-6
"""Probabilities closer to 0 and 1 than this count as this far from them."""


@dataclass(frozen=True, slots=True)
class Contributions:
    """Sums by key: `key` is a hash with its kind in the last bit, each once, in rising order.

    `sums` has shape (3, n_keys), rows as in SUMS; log-odds are multiples of 1 / 1024.
    """

    key: UInt64
    sums: Int64

    def __len__(self) -> int:
        return len(self.key)

    @property
    def kind(self) -> UInt8:
        """LAYOUT or TEXT per key."""
        return (self.key & _KIND_BITS).astype(np.uint8)


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a site, or of those of its keys that are asked for: sums of `n_pages` pages."""

    n_pages: int
    of_keys: Contributions

    def merged(self, other: "Known") -> "Known":
        """What the pages of both tell; no page may be in both."""
        return Known(self.n_pages + other.n_pages, added([self.of_keys, other.of_keys]))


def known(pages: Iterable[Contributions]) -> Known:
    """What the pages with these contributions tell."""
    rows = list(pages)
    return Known(len(rows), added(rows))


def added(parts: Iterable[Contributions]) -> Contributions:
    """The sums over all parts, whose keys may be in any order and repeat."""
    rows = list(parts)
    if not rows:
        return Contributions(np.empty(0, np.uint64), np.empty((len(SUMS), 0), np.int64))
    key, sums = np.concatenate([each.key for each in rows]), np.concatenate([each.sums for each in rows], 1)
    order, first = _groups(key)
    if not len(order):
        return Contributions(key, sums)
    return Contributions(key[order[first]], np.add.reduceat(sums[:, order], first, axis=1))


def log_odds(probabilities: Float64) -> Float64:
    """The log-odds of content of each block, finite."""
    other = np.clip(probabilities[:, OTHER], _LEAST, 1.0 - _LEAST)
    return np.asarray(np.log((1.0 - other) / other))


def contributions(blocks: Blocks, probabilities: Float64) -> Contributions:
    """What a page tells about its site: a row for every layout and text of its blocks."""
    key, rows = _keys(blocks)
    return _contributions(key, rows, blocks, log_odds(probabilities))


def evidence(blocks: Blocks, probabilities: Float64, known: Known, *, is_among: bool = True) -> Float32:
    """What the site's other pages tell about each block: shape (len(EVIDENCE), n_blocks).

    `is_among`: the page is one of those that `known` sums up, so that its own contribution is subtracted.
    Zeros where no other page has the block's layout or text.
    """
    n_blocks, n_others = len(blocks), known.n_pages - is_among
    result = np.zeros((len(EVIDENCE), n_blocks), np.float32)
    key, rows = _keys(blocks)
    of_site = known.of_keys
    if n_others <= 0 or not len(key) or not len(of_site):
        return result
    place = np.minimum(np.searchsorted(of_site.key, key), len(of_site) - 1)
    sums = of_site.sums[:, place] * (of_site.key[place] == key)
    if is_among:
        own = _contributions(key, rows, blocks, log_odds(probabilities))
        sums -= own.sums[:, np.searchsorted(own.key, key)]
    n_pages = np.maximum(sums[0], 0)
    share = np.minimum(n_pages / n_others, 1.0)
    layouts = slice(0, n_blocks)
    at_least_one, seen = np.maximum(n_pages[layouts], 1), n_pages[layouts] > 0
    mean = sums[1, layouts] / (_SCALE * at_least_one)
    variance = sums[2, layouts] / (_SCALE**2 * at_least_one) - mean**2
    result[CONSENSUS] = np.where(seen, mean, 0.0)
    result[SPREAD] = np.where(seen, np.sqrt(np.maximum(variance, 0.0)), 0.0)
    result[N_PAGES], result[SHARE] = n_pages[layouts], share[layouts]
    result[N_REPEATS, rows[n_blocks:]] = n_pages[n_blocks:]
    result[REPEAT_SHARE, rows[n_blocks:]] = share[n_blocks:]
    return result


def _keys(blocks: Blocks) -> tuple[UInt64, npt.NDArray[np.intp]]:
    """The keys of all blocks' layouts, then those of all texts with letters, and the block of each."""
    rows = np.arange(len(blocks))
    with_letters = np.flatnonzero(blocks.n_letters)
    key = np.concatenate([blocks.class_path, blocks.letters_hash[with_letters]]) << _KIND_BITS
    key[len(blocks) :] |= np.uint64(TEXT)
    return key, np.concatenate([rows, with_letters])


def _contributions(
    key: UInt64, rows: npt.NDArray[np.intp], blocks: Blocks, of_blocks: Float64
) -> Contributions:
    """One row a key: the mean of its blocks' log-odds, weighted by the root of their words."""
    order, first = _groups(key)
    if not len(order):
        return Contributions(key, np.empty((len(SUMS), 0), np.int64))
    chosen = rows[order]
    weights = np.sqrt(blocks.n_words + 1.0)
    total = np.add.reduceat((weights * of_blocks)[chosen], first)
    mean = np.rint(total / np.add.reduceat(weights[chosen], first) * _SCALE).astype(np.int64)
    return Contributions(key[order[first]], np.stack([np.ones_like(mean), mean, mean * mean]))


def _groups(key: UInt64) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """The order that sorts the keys, and where in it each distinct key begins."""
    order = np.argsort(key, kind="stable")
    in_order = key[order]
    is_first = np.ones(len(key), bool)
    is_first[1:] = in_order[1:] != in_order[:-1]
    return order, np.flatnonzero(is_first)
