"""Cavnar and Trenkle (1994): how far a text's ranking of n-grams is from each language's.

N-grams that no profile has are left out: they would add the same to every language. Equal counts
share their middle rank, so that short texts don't depend on the order of ties.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from victor_spark.kernels import ngrams
from victor_spark.langid.beesley import slots_of
from victor_spark.langid.normalise import Int32, UInt32
from victor_spark.langid.profiles import Profiles

Int16 = npt.NDArray[np.int16]
UInt64 = npt.NDArray[np.uint64]

FARTHEST: Final = 400
"""The distance of an n-gram that a profile doesn't have; profiles hold as many."""
_ABSENT: Final = 2 * FARTHEST + 1


@dataclass(frozen=True, slots=True, eq=False)
class RankTable:
    """A trie over the lanes' n-grams, each with its rank in every lane."""

    slots: UInt64
    ranks: Int16


def rank_table(profiles: Profiles, lanes: tuple[str, ...], with_rest: bool) -> RankTable:
    """The lanes' n-grams; with_rest: a last column for n-grams that only other languages have."""
    nodes: dict[str, int] = {}
    edges: list[tuple[int, int, int]] = []
    cells: list[tuple[int, int, int]] = []
    for column, name in enumerate(lanes):
        for rank, ngram in enumerate(profiles.profiles[name].ngrams):
            cells.append((_node(nodes, edges, ngram), column, rank))
    if with_rest:
        n_own = len(nodes)
        for name in profiles.languages:
            for rank, ngram in enumerate(profiles.profiles[name].ngrams):
                node = _node(nodes, edges, ngram)
                if node >= n_own:
                    cells.append((node, len(lanes), rank))
    ranks = np.full((len(nodes), len(lanes) + with_rest), _ABSENT, dtype=np.int16)
    node, column, rank = np.array(cells).T
    np.minimum.at(ranks, (node, column), rank.astype(np.int16))
    numbers = np.arange(len(nodes), dtype=np.uint32)
    return RankTable(slots_of(np.array(edges, np.uint32), numbers, np.ones_like(numbers)), ranks)


def _node(nodes: dict[str, int], edges: list[tuple[int, int, int]], ngram: str) -> int:
    """The n-gram's node, made with those of its beginnings where they are missing."""
    if ngram not in nodes:
        parent = _node(nodes, edges, ngram[:-1]) if len(ngram) > 1 else -1
        edges.append((parent + 1, 0, ord(ngram[-1])))
        nodes[ngram] = len(nodes)
    return nodes[ngram]


def distances(
    table: RankTable, text: UInt32, starts: Int32, ends: Int32, most_letters: int
) -> tuple[Int32, Int32]:
    """Out-of-place distances by segment and lane in the first letters, and the known n-grams."""
    n_nodes, n_lanes = table.ranks.shape
    counts, seen = np.zeros(n_nodes, dtype=np.int32), np.empty(n_nodes, dtype=np.int32)
    output = np.zeros((len(starts), n_lanes), dtype=np.int32)
    n_ngrams = np.zeros(len(starts), dtype=np.int32)
    ngrams.rank_distances(
        text, starts, ends, table.slots, table.ranks, most_letters, FARTHEST, counts, seen, output, n_ngrams
    )
    return output, n_ngrams
