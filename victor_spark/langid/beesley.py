"""Beesley (1988): how probable a text's letters are in each language, from trigrams.

A language's score is the sum over the text's trigrams of log P(trigram) above a floor that all
languages share, so a trigram that a profile doesn't have adds nothing. Tables for all languages are
sparse: only the languages that have a trigram are visited for it. Tables for few languages
("lanes") are dense rows, one gather and one vector addition a letter.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from victor_spark.kernels import ngrams
from victor_spark.langid.normalise import Int32, UInt32
from victor_spark.langid.profiles import Profiles, packed

UInt8 = npt.NDArray[np.uint8]
UInt16 = npt.NDArray[np.uint16]
UInt64 = npt.NDArray[np.uint64]

_ALL: Final = 2**31 - 1
_LOAD: Final = 3
"""Slots per n-gram, at least: fewer collisions for more memory."""
_REST: Final = 400
"""How many trigrams of each language outside the lanes stand for it in the last lane."""


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """All languages' trigrams: hash slots and their (language << 8 | gain) entries."""

    languages: tuple[str, ...]
    slots: UInt64
    entries: UInt16


@dataclass(frozen=True, slots=True, eq=False)
class LaneTable:
    """Trigrams of few languages: hash slots and rows of gains, one column a lane."""

    slots: UInt64
    rows: UInt8


def slots_of(grams: UInt32, first: UInt32, counts: UInt32) -> UInt64:
    """A hash table of n-grams (rows of three numbers, all different) for the kernels."""
    slots = np.zeros(1 << (_LOAD * len(grams)).bit_length(), dtype=np.uint64)
    ngrams.insert(slots, grams, first, counts)
    return slots


def table(profiles: Profiles) -> Table:
    """The sparse table of all languages."""
    loaded = [profiles.profiles[name] for name in profiles.languages]
    trigrams = np.concatenate([profile.trigrams for profile in loaded])
    gains = np.concatenate([profile.gains for profile in loaded]).astype(np.uint16)
    lengths = [len(profile.gains) for profile in loaded]
    languages = np.repeat(np.arange(len(loaded), dtype=np.uint16), lengths)
    keys = packed(trigrams)
    order = np.argsort(keys, kind="stable")
    first = np.flatnonzero(np.diff(keys[order], prepend=np.uint64(0)))
    counts = np.diff(first, append=len(keys))
    grams = np.ascontiguousarray(trigrams[order[first]])
    slots = slots_of(grams, first.astype(np.uint32), counts.astype(np.uint32))
    entries = (languages[order] << np.uint16(8)) | gains[order]
    return Table(profiles.languages, slots, entries)


def gains(
    profiles: Profiles, text: UInt32, starts: Int32, ends: Int32, most_letters: int = _ALL
) -> tuple[Int32, Int32]:
    """Folded text's gains by segment and language (n_segments, n_languages), and the letters read."""
    expanded = profiles.table(table)
    output = np.zeros((len(starts), len(profiles.languages)), dtype=np.int32)
    n_letters = np.zeros(len(starts), dtype=np.int32)
    ngrams.score_trigrams(
        text, starts, ends, expanded.slots, expanded.entries, most_letters, output, n_letters
    )
    return output, n_letters


def lane_table(profiles: Profiles, lanes: tuple[str, ...]) -> LaneTable:
    """Rows of the lanes' gains; the last column is for trigrams that only other languages have."""
    own = [profiles.profiles[name] for name in lanes]
    others = [profiles.profiles[name] for name in profiles.languages if name not in lanes]
    tops = [np.argsort(-profile.gains.astype(np.int32), kind="stable")[:_REST] for profile in others]
    trigrams = np.concatenate(
        [profile.trigrams for profile in own]
        + [profile.trigrams[top] for profile, top in zip(others, tops, strict=True)]
    )
    gains = [profile.gains for profile in own]
    gains += [profile.gains[top] for profile, top in zip(others, tops, strict=True)]
    columns = [*range(len(own)), *[len(own)] * len(others)]
    column = np.repeat(columns, [len(part) for part in gains])
    keys, first, inverse = np.unique(packed(trigrams), return_index=True, return_inverse=True)
    rows = np.zeros((len(keys), len(own) + 1), dtype=np.uint8)
    np.maximum.at(rows, (inverse, column), np.concatenate(gains))
    rows[(rows[:, :-1] > 0).any(axis=1), -1] = 0
    return LaneTable(_numbered(np.ascontiguousarray(trigrams[first])), rows)


def _numbered(grams: UInt32) -> UInt64:
    numbers = np.arange(len(grams), dtype=np.uint32)
    return slots_of(grams, numbers, np.ones(len(grams), dtype=np.uint32))


def lane_gains(
    profiles: Profiles, lanes: tuple[str, ...], text: UInt32, starts: Int32, ends: Int32, most_letters: int
) -> tuple[UInt16, Int32]:
    """Gains of the lanes and the last lane (n_segments, n_lanes + 1) in the first letters; letters."""
    expanded = profiles.table(lane_table, lanes)
    output = np.zeros((len(starts), len(lanes) + 1), dtype=np.uint16)
    n_letters = np.zeros(len(starts), dtype=np.int32)
    ngrams.score_lanes(text, starts, ends, expanded.slots, expanded.rows, most_letters, output, n_letters)
    return output, n_letters
