"""Ratcliff–Obershelp matching blocks and the longest common subsequence of two sequences.

The blocks are exactly those of `difflib.SequenceMatcher(None, a, b, autojunk=False)`, which the
CleanEval measures are defined by; the time is nearly linear, so whole pages compare by character.
"""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from victor_spark.blocks import Int32
from victor_spark.kernels import matching as kernel


def blocks(a: Sequence[Hashable], b: Sequence[Hashable]) -> Int32:
    """The matching blocks in order, shape (n, 3): start in a, start in b, length.

    No two touch on both sides, and there is no empty last one: otherwise as difflib gives them.
    """
    found = _found(a, b)
    rows = found[np.argsort(found[:, 0], kind="stable")]
    if not len(rows):
        return rows
    apart = (rows[1:, :2] != rows[:-1, :2] + rows[:-1, 2:]).any(axis=1)
    first = np.flatnonzero(np.concatenate([[True], apart]))
    lengths = np.add.reduceat(rows[:, 2], first)
    return np.column_stack([rows[first, :2], lengths]).astype(np.int32)


def n_matched(a: Sequence[Hashable], b: Sequence[Hashable]) -> int:
    """The number of tokens in the matching blocks."""
    return int(_found(a, b)[:, 2].sum())


def subsequence(a: Sequence[Hashable], b: Sequence[Hashable]) -> int:
    """The length of the longest common subsequence (bit-parallel, after Hyyrö 2004): ROUGE-L's count."""
    places: dict[Hashable, int] = {}
    for row, token in enumerate(a):
        places[token] = places.get(token, 0) | 1 << row
    everywhere = (1 << len(a)) - 1
    unmatched = everywhere
    for token in b:
        if here := unmatched & places.get(token, 0):
            unmatched = (unmatched + here) & everywhere | unmatched - here
    return len(a) - unmatched.bit_count()


def _found(a: Sequence[Hashable], b: Sequence[Hashable]) -> Int32:
    """The kernel's blocks, shape (n, 3), in no order."""
    left, right, n_symbols = _symbols(a, b)
    short, long = sorted((len(left), len(right)))
    found = np.empty((3, short), np.int32)
    if not short:
        return found.T
    work: tuple[npt.NDArray[np.int32], ...] = (
        np.full(n_symbols, -1, np.int32),
        np.empty((4, 2 * short + 2), np.int32),
        np.empty((3, 3 * short + 4), np.int32),
        np.empty((4, long + 1), np.int32),
        np.empty((4, short + 2), np.int32),
        found,
    )
    # Views give Python's own integers where the kernel runs uncompiled.
    n = kernel.match(*(array.data for array in (left, right, *work)))
    return found[:, :n].T


def _symbols(a: Sequence[Hashable], b: Sequence[Hashable]) -> tuple[Int32, Int32, int]:
    """Both sequences as numbers from 0 on, equal ones for equal tokens, and how many numbers there are."""
    if isinstance(a, str) and isinstance(b, str):
        points = np.frombuffer((a + b).encode("utf-32-le", "surrogatepass"), np.uint32)
        known, numbers = np.unique(points, return_inverse=True)
        every = numbers.astype(np.int32)
        return every[: len(a)], every[len(a) :], len(known)
    ids: dict[Any, int] = {}
    left, right = (
        np.fromiter((ids.setdefault(token, len(ids)) for token in each), np.int32, len(each))
        for each in (a, b)
    )
    return left, right, len(ids)
