"""Which strings are repeated, and can't be longer: maximal repeats over several texts, by a suffix array.

Everything is columns and whole-array steps: prefix doubling (Manber & Myers 1990) sorts the suffixes by
their first `depth` characters in log₂(depth) rounds, so time is O(n log n) for any text, also one letter
a million times. Repeats shorter than `depth` are exact; longer ones are not looked at.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

Int64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

_FIRST_TERMINATOR: Final = 0x110000  # the first number that is no character


@dataclass(frozen=True, slots=True)
class Joined:
    """Several strings as one row of numbers: their characters, each string closed by a number of its own.

    `owner` says for every position which string it belongs to, `starts` where each string begins.
    """

    codes: Int64
    owner: Int64
    starts: Int64


@dataclass(frozen=True, slots=True)
class SuffixArray:
    """The positions of all suffixes in the order of their first `depth` codes.

    `lcp[row]` is how many codes the suffixes of rows `row - 1` and `row` share, at most `depth`; lcp[0] is 0.
    """

    order: Int64
    lcp: Int64
    depth: int


@dataclass(frozen=True, slots=True)
class Repeats:
    """The maximal repeats of one length: repeat i stands at the positions order[first[i]:end[i]]."""

    length: int
    first: Int64
    end: Int64


def joined(strings: Sequence[str]) -> Joined:
    """The strings in one row, so that a repeat can span no two of them."""
    pieces = [_codes(text, number) for number, text in enumerate(strings)]
    lengths = np.array([len(piece) for piece in pieces], dtype=np.int64)
    return Joined(
        codes=np.concatenate([np.empty(0, dtype=np.int64), *pieces]),
        owner=np.repeat(np.arange(len(pieces), dtype=np.int64), lengths),
        starts=np.cumsum(lengths) - lengths,
    )


def _codes(text: str, number: int) -> Int64:
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.int64)
    return np.append(points, _FIRST_TERMINATOR + number)


def suffix_array(codes: Int64, depth: int) -> SuffixArray:
    """Sorts the suffixes by their first `depth` codes (rounded up to a power of two)."""
    ranks = [np.unique(codes, return_inverse=True)[1].astype(np.int64)]
    width = 1
    while width < depth:
        ranks.append(_doubled(ranks[-1], width))
        width *= 2
    order = np.argsort(ranks[-1], kind="stable").astype(np.int64)
    return SuffixArray(order, _lcp(order, ranks), width)


def _doubled(rank: Int64, width: int) -> Int64:
    """Ranks by the first 2 · width codes, from ranks by the first `width`."""
    second = np.zeros_like(rank)
    second[:-width] = rank[width:] + 1
    pairs = rank * (len(rank) + 1) + second
    doubled: Int64 = np.unique(pairs, return_inverse=True)[1].astype(np.int64)
    return doubled


def _lcp(order: Int64, ranks: Sequence[Int64]) -> Int64:
    """Common prefixes of neighbours: equal ranks by 2^k codes are 2^k common codes, from large k to small."""
    n = len(order)
    left, right = order[:-1].copy(), order[1:].copy()
    for power in range(len(ranks) - 1, -1, -1):
        padded = np.append(ranks[power], [-1, -2])  # beyond the end nothing is equal
        equal = padded[np.minimum(left, n)] == padded[np.minimum(right, n + 1)]
        left, right = left + (equal << power), right + (equal << power)
    lcp = np.minimum(right - order[1:], 1 << len(ranks) - 1)
    return np.concatenate([np.zeros(min(n, 1), dtype=np.int64), lcp])


def maximal_repeats(codes: Int64, array: SuffixArray, shortest: int = 1) -> Iterator[Repeats]:
    """Repeats of every length from the longest below `array.depth` to `shortest`, as columns.

    A repeat is maximal when not all its occurrences go on with the same code, nor all come after
    the same one. Time is O(n) a length.
    """
    before = np.append(-1, codes[:-1])[array.order]
    longest = min(array.depth - 1, int(array.lcp.max(initial=0)))
    for length in range(longest, shortest - 1, -1):
        first, end = _runs(array.lcp, length)
        if len(first):
            keep = _spread(array.lcp == length, before, first, end)
            if keep.any():
                yield Repeats(length, first[keep], end[keep])


def _runs(lcp: Int64, length: int) -> tuple[Int64, Int64]:
    """First row and end of every run of suffixes that share their first `length` codes."""
    shared = np.concatenate([lcp >= length, [False]]).astype(np.int8)
    edges = np.diff(shared, prepend=0)
    return np.flatnonzero(edges == 1) - 1, np.flatnonzero(edges == -1)


def _spread(branches: Bool, before: Int64, first: Int64, end: Int64) -> Bool:
    """Which runs branch to the right (some neighbours share no more) and to the left."""
    n_branches = np.concatenate([[0], np.cumsum(branches)])
    right = n_branches[end] > n_branches[first + 1]
    left = over_runs(np.minimum, before, first, end) < over_runs(np.maximum, before, first, end)
    return np.asarray(right & left)


def over_runs(function: np.ufunc, column: Int64, first: Int64, end: Int64) -> Int64:
    """A ufunc such as np.minimum over column[first[i]:end[i]] for every i; runs are apart and not empty."""
    edges = np.column_stack([first, end]).ravel()
    inside = edges if not len(edges) or edges[-1] < len(column) else edges[:-1]
    return np.asarray(function.reduceat(column, inside)[::2], dtype=np.int64)
