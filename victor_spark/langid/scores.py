"""How well folded text fits each language: Beesley's trigrams, Cavnar and Trenkle's ranks, block features.

Beesley (1988): a language's score is the sum over the text's trigrams of log P(trigram) above a floor that
all languages share, so a trigram that a profile doesn't have adds nothing. Tables are sparse: only the
languages that have a trigram are visited for it. They are of all languages, or of few ("lanes").

Cavnar and Trenkle (1994): how far a text's ranking of n-grams is from each language's. N-grams that no
profile has are left out: they would add the same to every language. Equal counts share their middle rank,
so that short texts don't depend on the order of ties.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from victor_spark.blocks import Float32, Int32, UInt8, UInt16, UInt32, UInt64
from victor_spark.kernels import ngrams, num, views
from victor_spark.langid.normalise import folded, folding_table
from victor_spark.langid.profiles import STEP, Profiles, packed
from victor_spark.langid.settings import settings

_ALL_LETTERS: Final = 2**31 - 1
_LOAD: Final = 3
"""Slots per n-gram, at least: fewer collisions for more memory."""
_REST_TRIGRAMS: Final = 400
_REST_NGRAMS: Final = 50
"""The numbers of trigrams and n-grams that represent each language outside the lanes in the last lane."""
_N_COUNTS: Final = 256
"""Higher counts are cut to this one: the commonest n-grams of a page share a rank."""
_N_TABLES: Final = 8
"""The number of tables of a kind that a process keeps, each for a set of targets or for all languages."""


@dataclass(frozen=True, slots=True, eq=False)
class TrigramTable:
    """Trigrams of some columns, each a language: hash slots and their (column << 8 | gain) entries."""

    slots: UInt64
    entries: UInt16


def slots_of(grams: UInt32, first: UInt32, counts: UInt32) -> UInt64:
    """A hash table of n-grams (rows of three numbers, all different) for the kernels."""
    slots = np.zeros(1 << (_LOAD * len(grams)).bit_length(), dtype=np.uint64)
    ngrams.insert(*views(slots, grams, first, counts))
    return slots


@lru_cache(_N_TABLES)
def trigram_table(profiles: Profiles) -> TrigramTable:
    """The table of all languages."""
    loaded = [profiles.profiles[name] for name in profiles.languages]
    trigrams = np.concatenate([profile.trigrams for profile in loaded])
    gains = np.concatenate([profile.gains for profile in loaded])
    lengths = [len(profile.gains) for profile in loaded]
    return _table(trigrams, np.repeat(np.arange(len(loaded), dtype=np.uint16), lengths), gains)


@lru_cache(_N_TABLES)
def lane_table(profiles: Profiles, lanes: tuple[str, ...]) -> TrigramTable:
    """The table of few languages; a last column is for trigrams that only other languages have."""
    parts = [(profiles.profiles[name].trigrams, profiles.profiles[name].gains) for name in lanes]
    for name in profiles.languages:
        if name not in lanes:
            rest = profiles.profiles[name]
            top = rest.commonest(_REST_TRIGRAMS)
            parts.append((rest.trigrams[top], rest.gains[top]))
    trigrams = np.concatenate([part for part, _ in parts])
    gains = np.concatenate([part for _, part in parts])
    column = np.repeat(np.minimum(np.arange(len(parts)), len(lanes)), [len(part) for _, part in parts])
    keys, first, inverse = np.unique(packed(trigrams), return_index=True, return_inverse=True)
    rows = np.zeros((len(keys), len(lanes) + 1), dtype=np.uint8)
    np.maximum.at(rows, (inverse, column), gains)
    rows[(rows[:, :-1] > 0).any(axis=1), -1] = 0
    row, lane = np.nonzero(rows)
    return _table(trigrams[first[row]], lane.astype(np.uint16), rows[row, lane])


def _table(trigrams: UInt32, columns: UInt16, gains: UInt8) -> TrigramTable:
    """The table of trigrams, each as often as it has a gain in a column."""
    keys = packed(trigrams)
    order = np.argsort(keys, kind="stable")
    first = np.flatnonzero(np.diff(keys[order], prepend=np.uint64(0)))
    counts = np.diff(first, append=len(keys))
    grams = np.ascontiguousarray(trigrams[order[first]])
    slots = slots_of(grams, first.astype(np.uint32), counts.astype(np.uint32))
    return TrigramTable(slots, (columns[order] << np.uint16(8)) | gains[order])


def gains(
    profiles: Profiles,
    text: UInt32,
    starts: Int32,
    ends: Int32,
    most_letters: int = _ALL_LETTERS,
    lanes: tuple[str, ...] = (),
) -> tuple[Int32, Int32]:
    """A text's gains by segment and language (n_segments, n_languages), and the letters read.

    With `lanes` the columns are these languages and all others as one.
    """
    expanded = lane_table(profiles, lanes) if lanes else trigram_table(profiles)
    n_columns = len(lanes) + 1 if lanes else len(profiles.languages)
    output = np.zeros((len(starts), n_columns), dtype=np.int32)
    n_letters = np.zeros(len(starts), dtype=np.int32)
    tables, filled = views(expanded.slots, expanded.entries), views(output, n_letters)
    arrays = views(text, folding_table(), starts, ends)
    if ngrams.score_trigrams(*arrays, *tables, most_letters, *filled):
        output[:] = 0
        text, starts, ends = folded(text, starts, ends)
        arrays = views(text, folding_table(), starts, ends)
        ngrams.score_trigrams(*arrays, *tables, most_letters, *filled)
    return output, n_letters


@dataclass(frozen=True, slots=True, eq=False)
class RankTable:
    """A trie over the lanes' n-grams, each with its rank in every lane."""

    slots: UInt64
    roots: UInt64
    ranks: UInt8


@lru_cache(_N_TABLES)
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
            for rank, ngram in enumerate(profiles.profiles[name].ngrams[:_REST_NGRAMS]):
                node = _node(nodes, edges, ngram)
                if node >= n_own:
                    cells.append((node, len(lanes), rank))
    ranks = np.full((len(nodes), len(lanes) + with_rest), num.NO_RANK, dtype=np.uint8)
    node, column, rank = np.array(cells).T
    np.minimum.at(ranks, (node, column), (rank // num.RANK_STEP).astype(np.uint8))
    grams, numbers = np.array(edges, np.uint32), np.arange(len(nodes), dtype=np.uint32)
    goes_on = np.isin(numbers + 1, grams[:, 0])
    kinds = (num.LEAF + goes_on).astype(np.uint32)
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
    histogram, rank_of = np.zeros(_N_COUNTS, dtype=np.int32), np.empty(_N_COUNTS, dtype=np.int32)
    n_ngrams = np.zeros(len(starts), dtype=np.int32)
    arrays = (text, starts, ends, table.slots, table.roots, table.ranks)
    work = (counts, seen, histogram, rank_of)
    ngrams.rank_distances(*views(*arrays), most_letters, *views(*work, output, n_ngrams))
    return output, n_ngrams


def block_scores(
    text: UInt32, starts: Int32, ends: Int32, targets: Sequence[str], profiles: Profiles
) -> tuple[Float32, Float32, Int32]:
    """Victor's langid1 and langid2 (section 3.2) of every block, and how many letters they were read from.

    They are differences from the best rival, since the probability that a block is in a language says more
    about the block's length and letters than about the language.

    langid1 is the best target's trigram log-probability less the best rival's, in nats a letter;
    langid2 the best rival's out-of-place distance less the best target's, as a share of the
    greatest possible (-1 to 1). Rivals are the targets' nearest languages outside their confusable
    groups and, as one, all other languages. Both are shrunk by n / (n + 10) for n letters, and 0
    without letters. `targets` are labels of `profiles`; only a block's first letters are read.
    """
    numbers = settings().blocks
    lanes = lanes_of(profiles, tuple(targets))
    ranks = rank_table(profiles, lanes, True)
    letters = folded(text, starts, ends)
    of_lanes, n_letters = gains(profiles, *letters, numbers.most_letters, lanes)
    out_of_place, n_ngrams = distances(ranks, *letters, numbers.most_letters)
    weight = 1 / np.maximum(n_letters + numbers.shrink, 1)
    langid1 = _lead(of_lanes, len(targets)) * STEP * weight
    most = np.maximum(n_ngrams, 1) * num.FARTHEST_RANK
    langid2 = _lead(-out_of_place.astype(np.int32), len(targets)) / most * n_letters * weight
    return langid1.astype(np.float32), langid2.astype(np.float32), n_letters


@lru_cache(_N_TABLES)
def lanes_of(profiles: Profiles, targets: tuple[str, ...]) -> tuple[str, ...]:
    """The targets and then their rivals, one less than `n_lanes`: the last lane is for all others."""
    numbers = settings()
    excluded = frozenset[str]().union(*(numbers.group(target) for target in targets))
    nearest = [profiles.nearest[target] for target in targets]
    n_ranks = max(map(len, nearest), default=0)
    ranked = [names[rank] for rank in range(n_ranks) for names in nearest if rank < len(names)]
    known = profiles.profiles.keys() - excluded
    rivals = [name for name in dict.fromkeys((*ranked, *numbers.anchors.languages)) if name in known]
    return (*targets, *rivals)[: max(numbers.blocks.n_lanes - 1, len(targets) + 1)]


def _lead(points: Int32, n_targets: int) -> Int32:
    """The best of the first columns minus the best of the others."""
    best = points[:, :n_targets].max(axis=1)
    return np.asarray(best - points[:, n_targets:].max(axis=1))
