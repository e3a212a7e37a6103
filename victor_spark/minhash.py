"""MinHash (Broder 1997): similar sets share buckets; sketches estimate the similarity of a pair.

A set is an array of hashes, of the shingles of a text or of other numbers. A shingle is a run of words; in
scripts without spaces, each character is a word. A shorter text is one shingle; one without words has none.
"""

from typing import Final
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from victor_spark.kernels.num import GOLDEN

_N_HASHES: Final = 128
_LEAST_RECALL: Final = 0.99
_SKETCH: Final = 1024
_RANDOM: Final = np.random.RandomState(20)  # the only generator of numpy whose numbers never change
_FACTORS: Final = _RANDOM.randint(1 << 32, size=_N_HASHES, dtype=np.uint32) | np.uint32(1)
_ADDENDS: Final = _RANDOM.randint(1 << 32, size=_N_HASHES, dtype=np.uint32)
_BASE: Final = np.uint64(GOLDEN)


def shingles(words: list[str], n: int) -> NDArray[np.uint32]:
    """The hashes of the distinct runs of `n` words, ascending."""
    hashes = np.array([crc32(word.encode("utf-8", "replace")) for word in words], np.uint64)
    n = min(n, len(hashes))
    runs = np.zeros(len(hashes) - n + 1 if n else 0, np.uint64)
    for first in range(n):
        runs = runs * _BASE + hashes[first : first + len(runs)]
    return np.unique(hashes_of(runs))


def hashes_of(values: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """The hash of each number."""
    return (_mixed(values) >> np.uint64(32)).astype(np.uint32)


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The values with every bit spread over all bits (the finaliser of SplitMix64)."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        values = (values ^ (values >> np.uint64(shift))) * np.uint64(factor)
    return values ^ (values >> np.uint64(31))


def rows_of_band(threshold: float) -> int:
    """The most hashes per band with which `_LEAST_RECALL` of the pairs at the threshold share a bucket."""
    recalls = {n: 1 - (1 - threshold**n) ** (_N_HASHES // n) for n in range(1, _N_HASHES + 1)}
    return max((n for n, recall in recalls.items() if recall >= _LEAST_RECALL), default=1)


def buckets(shingles: NDArray[np.uint32], rows: int, n_hashes: int = _N_HASHES) -> NDArray[np.int64]:
    """The buckets of a set, one for each band of `rows` hashes; sets that share one may be similar."""
    minima = np.full(n_hashes, 0xFFFFFFFF, np.uint32)
    for first in range(0, len(shingles), _SKETCH):  # in pieces, to bound the memory
        hashes = shingles[first : first + _SKETCH, None] * _FACTORS[:n_hashes] + _ADDENDS[:n_hashes]
        np.minimum(minima, hashes.min(axis=0), out=minima)
    bands = minima[: n_hashes // rows * rows].reshape(-1, rows).astype(np.uint64)
    found = _mixed(np.arange(1, len(bands) + 1 if len(shingles) else 1, dtype=np.uint64))
    for column in bands.T[:, : len(found)]:
        found = _mixed(found * _BASE + column)
    return found.view(np.int64)


def sketch(shingles: NDArray[np.uint32]) -> bytes:
    """The smallest hashes of the shingles."""
    return shingles[:_SKETCH].astype("<u4").tobytes()


def similarity(one: bytes, other: bytes) -> float:
    """The Jaccard similarity of two texts, from their sketches.

    Exact if they have at most 1,024 shingles together; otherwise estimated from the smallest hashes.
    """
    first, second = np.frombuffer(one, "<u4"), np.frombuffer(other, "<u4")
    union = np.union1d(first, second)[:_SKETCH]
    shared = np.intersect1d(first, second, assume_unique=True)
    return float(np.searchsorted(shared, union[-1], side="right")) / len(union) if len(union) else 0.0
