"""Near-identical pages count once: of pages with nearly the same tokens only the first is mined."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from victor_spark.blocks import Bool, Int32, UInt64

N_BANDS: Final = 6
N_ROWS: Final = 6
MOST_COMPARED: Final = 16
"""With how many pages of one band's bucket a page is compared."""


def distinct(pages: Sequence[Int32], least_likeness: float) -> Bool:
    """Which pages are the first of their kind; an empty page is of no kind.

    Two pages are alike when the share of distinct symbols that both have (Jaccard) is at least
    `least_likeness`. Candidates are found by MinHash: `N_BANDS` bands of `N_ROWS` values.
    """
    sets = [np.unique(page) for page in pages]
    buckets: dict[tuple[int, int], list[int]] = defaultdict(list)
    first = np.zeros(len(pages), dtype=bool)
    for number, symbols in enumerate(sets):
        if not len(symbols):
            continue
        keys = list(enumerate(_bands(symbols)))
        others = {other for key in keys for other in buckets[key][-MOST_COMPARED:]}
        if any(_likeness(symbols, sets[other]) >= least_likeness for other in others):
            continue
        first[number] = True
        for key in keys:
            buckets[key].append(number)
    return first


def _likeness(one: Int32, other: Int32) -> float:
    if min(len(one), len(other)) < 0.5 * max(len(one), len(other)):
        return 0.0
    common = len(np.intersect1d(one, other, assume_unique=True))
    return common / (len(one) + len(other) - common)


_SEEDS: Final = np.random.default_rng(20070504).integers(
    1, 2**63, N_BANDS * N_ROWS, dtype=np.uint64
) | np.uint64(1)


def _bands(symbols: Int32) -> list[int]:
    """One number a band, equal for two sets with the probability likeness ** N_ROWS."""
    mixed: UInt64 = (symbols.astype(np.uint64)[:, None] + np.uint64(1)) * _SEEDS
    mixed ^= mixed >> np.uint64(32)
    mixed *= np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    least: npt.NDArray[np.uint64] = mixed.min(axis=0).reshape(N_BANDS, N_ROWS)
    folded = least[:, 0].copy()
    for row in range(1, N_ROWS):
        folded = folded * np.uint64(0x100000001B3) ^ least[:, row]
    return [int(value) for value in folded.tolist()]
