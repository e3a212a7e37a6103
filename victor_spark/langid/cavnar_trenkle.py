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

UInt8 = npt.NDArray[np.uint8]
UInt16 = npt.NDArray[np.uint16]
UInt64 = npt.NDArray[np.uint64]

N_COUNTS: Final = 256
"""Higher counts than fit here are equal: a page's very commonest n-grams share a rank."""
REST: Final = 50
"""How many n-grams of each language outside the lanes stand for it in the last lane."""


@dataclass(frozen=True, slots=True, eq=False)
class RankTable:
    """A trie over the lanes' n-grams, each with its rank in every lane."""

    slots: UInt64
    roots: UInt64
    ranks: UInt8


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
            for rank, ngram in enumerate(profiles.profiles[name].ngrams[:REST]):
                node = _node(nodes, edges, ngram)
                if node >= n_own:
                    cells.append((node, len(lanes), rank))
    ranks = np.full((len(nodes), len(lanes) + with_rest), ngrams.ABSENT, dtype=np.uint8)
    node, column, rank = np.array(cells).T
    np.minimum.at(ranks, (node, column), (rank // ngrams.RANK_STEP).astype(np.uint8))
    grams, numbers = np.array(edges, np.uint32), np.arange(len(nodes), dtype=np.uint32)
    goes_on = np.isin(numbers + 1, grams[:, 0])
    kinds = (ngrams.LEAF + goes_on).astype(np.uint32)
    first = grams[:, 0] == 0
    roots = np.zeros(grams[first, 2].max() + 1, np.uint64)
    roots[grams[first, 2]] = (numbers[first].astype(np.uint64) << np.uint64(10)) | kinds[first]
    return RankTable(slots_of(grams, numbers, kinds), roots, ranks)


def _node(nodes: dict[str, int], edges: list[tuple[int, int, int]], ngram: str) -> int:
    """The n-gram's node, made with those of its beginnings where they are missing."""
    if ngram not in nodes:
        parent = _node(nodes, edges, ngram[:-1]) if len(ngram) > 1 else -1
        edges.append((parent + 1, 0, ord(ngram[-1])))
        nodes[ngram] = len(nodes)
    return nodes[ngram]


def distances(
    table: RankTable, text: UInt32, starts: Int32, ends: Int32, most_letters: int
) -> tuple[UInt16, Int32]:
    """Out-of-place distances by segment and lane in the first letters, and the known n-grams."""
    n_nodes, n_lanes = table.ranks.shape
    counts, seen = np.zeros(n_nodes, dtype=np.int32), np.empty(n_nodes, dtype=np.int32)
    output = np.zeros((len(starts), n_lanes), dtype=np.uint16)
    histogram, rank_of = np.zeros(N_COUNTS, dtype=np.int32), np.empty(N_COUNTS, dtype=np.int32)
    n_ngrams = np.zeros(len(starts), dtype=np.int32)
    ngrams.rank_distances(
        text,
        starts,
        ends,
        table.slots,
        table.roots,
        table.ranks,
        most_letters,
        counts,
        seen,
        histogram,
        rank_of,
        output,
        n_ngrams,
    )
    return output, n_ngrams
