"""Many strings of symbols as one trie, for templates that are sought all at once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from victor_spark.blocks import Int32, UInt8
from victor_spark.kernels import trie as kernel
from victor_spark.kernels import views


@dataclass(frozen=True, slots=True)
class Trie:
    """Strings numbered as they were given, in the arrays of kernels.trie; `stack` is its work space."""

    heads: Int32
    children: Int32
    symbols: Int32
    strings: Int32
    following: Int32
    anchors: UInt8
    stack: Int32

    def covered(
        self, sets: Int32, edges: UInt8, set_heads: Int32, set_symbols: Int32, before: int | None = None
    ) -> Int32:
        """For each token, the token before which the longest match that starts there ends (0: none starts).

        Token i is any of the symbols set_symbols[set_heads[s]:set_heads[s + 1]] with s = sets[i]. Only
        strings numbered less than `before` are sought.
        """
        last, covered = np.zeros(len(self.anchors), dtype=np.int32), np.empty(len(sets), dtype=np.int32)
        tokens = (sets, edges, set_heads, set_symbols)
        tree = (self.heads, self.children, self.symbols, self.strings, self.following, self.anchors)
        limit = len(self.anchors) if before is None else before
        work = (last, self.stack, covered)
        kernel.spans(*views(*tokens, *tree), limit, *views(*work))
        return covered


def trie(strings: Sequence[tuple[int, ...]], anchors: Sequence[int]) -> Trie:
    """The trie of strings; equal ones, differently anchored, share a path."""
    members: dict[tuple[int, ...], list[int]] = {}
    for number, string in enumerate(strings):
        members.setdefault(string, []).append(number)
    distinct = sorted(members)
    firsts = np.cumsum([0, *map(len, distinct)]).astype(np.int32)
    flat = np.array([symbol for string in distinct for symbol in string], dtype=np.int32)
    symbols, parents = np.empty(len(flat) + 1, dtype=np.int32), np.empty(len(flat) + 1, dtype=np.int32)
    ends = np.empty(len(distinct), dtype=np.int32)
    n = kernel.build(*views(flat, firsts, symbols, parents, ends))
    by_parent = np.lexsort((symbols[1:n], parents[1:n])) + 1
    held, following = np.full(n, -1, dtype=np.int32), np.full(len(strings), -1, dtype=np.int32)
    held[ends] = [members[string][0] for string in distinct]
    for numbers in members.values():
        following[numbers[:-1]] = numbers[1:]
    return Trie(
        heads=np.searchsorted(parents[by_parent], np.arange(n + 1)).astype(np.int32),
        children=by_parent.astype(np.int32),
        symbols=symbols[by_parent],
        strings=held,
        following=following,
        anchors=np.array(anchors, dtype=np.uint8),
        stack=np.empty((2, n + 1), dtype=np.int32),
    )
