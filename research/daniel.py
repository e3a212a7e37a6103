"""DAnIEL: does a news text report an epidemic? (Lejeune, Brixtel, Doucet & Lucas 2015, as in Table 7.)

Journalists repeat what matters in the salient places of a text. So a text is relevant when a string
is repeated in at least two of its zones and is (nearly) the name of a disease. Characters only: no
tokeniser, no stemmer, the same for every language; 80 % of a name suffice, in place of morphology.
"""

import math
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np

from research import FOLDER, repeats
from research.repeats import Int64, Joined, Repeats, SuffixArray
from victor_spark.errors import ConfigurationError

LANGUAGES: Final = ("en", "zh", "el", "pl", "ru")
"""Languages with a lexicon, in the order of Table 7."""

THRESHOLD: Final = 0.8
_MAX_RATIO: Final = 0.99  # the ratio of a whole name, so that its place still counts
_INITIAL_PENALTY: Final = 0.1  # the string begins with another letter than the name
_MIDDLE_PENALTY: Final = 0.1  # no occurrence in the first two or the last two zones
_FEW_SENTENCES: Final = 5
_SHORT_PIECE: Final = 2
_NO_LENGTH: Final = 1 << 40  # beyond all numbers of zones and lengths of names


@dataclass(frozen=True, slots=True)
class Evidence:
    """The best match of a text: its score in 0..1, the repeated string, and the disease it stands for."""

    score: float
    string: str = ""
    disease: str = ""

    @property
    def relevant(self) -> bool:
        """Whether the text is about an epidemic."""
        return self.score >= THRESHOLD


NONE: Final = Evidence(0.0)
"""The result for a text without any match."""


@cache
def lexicon(language: str) -> tuple[str, ...]:
    """The names of diseases in conf/daniel/<language>.txt; ConfigurationError where there are none."""
    path = FOLDER / "conf" / "daniel" / f"{language}.txt"
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"no lexicon of diseases for {language!r}: {error}") from error
    names = tuple(line.strip() for line in lines if line.strip() and not line.startswith("#"))
    if not names:
        raise ConfigurationError(f"{path} names no disease")
    return names


def classify(text: str, names: Sequence[str]) -> Evidence:
    """The best match in a text whose paragraphs are lines; no match scores 0."""
    parts = zones(_folded(text))
    if not parts:
        return NONE
    return max(_matches(parts, names), key=lambda match: match.score, default=NONE)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()


def zones(text: str) -> list[str]:
    """The paragraphs; where there are fewer than three the text cut into three, or whole when it is short."""
    lines = [stripped for line in text.split("\n") if (stripped := line.strip())]
    if len(lines) >= 3 or not lines:
        return lines
    pieces = [piece for line in lines for piece in line.split(". ") if len(piece) > _SHORT_PIECE]
    if len(pieces) < _FEW_SENTENCES:
        return ["\n".join(lines)]
    if len(lines) == 2:
        middle = len(lines[1]) // 2
        return [lines[0], lines[1][:middle], lines[1][middle:]]
    third = math.ceil(len(lines[0]) / 3)
    return [lines[0][start : start + third] for start in range(0, len(lines[0]), third)]


def _matches(parts: Sequence[str], names: Sequence[str]) -> Iterator[Evidence]:
    """Every repeated string that is part of a name, with the name it is most of."""
    folded = [_folded(name) for name in names]
    text = repeats.joined([*parts, *folded])
    array = repeats.suffix_array(text.codes, max(map(len, folded)) + 1)
    table = _Rows.of(text, array, len(parts), folded)
    shortest = math.ceil(THRESHOLD * min(map(len, folded)))
    for found in repeats.maximal_repeats(text.codes, array, shortest):
        for row in table.candidates(found, 2 if len(parts) > 1 else 1):
            first, end = int(found.first[row]), int(found.end[row])
            places = _places(text, array.order[first:end], parts)
            ratio, name = table.nearest(found.length, first, end)
            start = int(array.order[first])
            string = "".join(map(chr, text.codes[start : start + found.length]))
            yield Evidence(score(ratio, places), string, names[name])


@dataclass(frozen=True, slots=True)
class _Rows:
    """The owner of each row of the suffix array: a zone (its number) or a name (its length)."""

    zone_low: Int64  # number of the zone; a name: beyond all numbers ...
    zone_high: Int64  # ... below all numbers
    name_length: Int64  # a zone: beyond all lengths
    name: Int64
    is_initial: repeats.Bool  # the suffix begins with the same character as its name

    @classmethod
    def of(cls, text: Joined, array: SuffixArray, n_zones: int, names: Sequence[str]) -> "_Rows":
        owner = text.owner[array.order]
        in_zone = owner < n_zones
        lengths = np.array([_NO_LENGTH] * n_zones + [len(name) for name in names], dtype=np.int64)
        return cls(
            zone_low=np.where(in_zone, owner, _NO_LENGTH),
            zone_high=np.where(in_zone, owner, -1),
            name_length=lengths[owner],
            name=owner - n_zones,
            is_initial=text.codes[array.order] == text.codes[text.starts[owner]],
        )

    def candidates(self, found: Repeats, n_zones: int) -> list[int]:
        """Which repeats stand in at least `n_zones` (one or two) zones and are most of some name."""
        low = repeats.over_runs(np.minimum, self.zone_low, found.first, found.end)
        high = repeats.over_runs(np.maximum, self.zone_high, found.first, found.end)
        shortest = repeats.over_runs(np.minimum, self.name_length, found.first, found.end)
        enough = (low < high) if n_zones > 1 else (high >= 0)
        return np.flatnonzero(enough & (found.length >= THRESHOLD * shortest)).tolist()

    def nearest(self, length: int, first: int, end: int) -> tuple[float, int]:
        """The share of the name that the string is, less the penalty, and the name where that is most."""
        rows = first + np.flatnonzero(self.name_length[first:end] < _NO_LENGTH)
        ratios = length / self.name_length[rows]
        ratios = np.minimum(ratios, _MAX_RATIO) - np.where(self.is_initial[rows], 0.0, _INITIAL_PENALTY)
        best = int(np.argmax(ratios))
        return max(0.0, float(ratios[best])), int(self.name[rows[best]])


def _places(text: Joined, positions: Int64, parts: Sequence[str]) -> list[float]:
    """Where the string stands, nearest to an end of the text first: zones, or shares of a single one."""
    owners = text.owner[positions]
    if len(parts) > 1:
        own = np.unique(owners[owners < len(parts)])
        return sorted(np.minimum(own, len(parts) - 1 - own).tolist())
    shares = positions[owners == 0] / len(parts[0])
    return sorted(np.minimum(shares, 1 - shares).tolist())


def score(ratio: float, places: Sequence[float]) -> float:
    """The score of a match with this ratio at these places (sorted, nearest to an end of the text first)."""
    nearest, second = places[0], places[min(1, len(places) - 1)]
    if nearest == 1:
        value = ratio
    elif second <= 1:
        value = ratio ** (1 + nearest * second)
    else:
        value = ratio ** (1 + nearest * math.log(second))
    return value if not {0, 1}.isdisjoint(places) else value - _MIDDLE_PENALTY
