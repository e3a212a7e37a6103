"""Which language a text is in, by Beesley's trigrams; the function type that other methods share.

A guess names the best language and a score like a probability, which grows with the lead over the best
rival outside its confusable group. Texts with few letters, or that no profile fits, have the language None.
"""

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

import numpy as np

from victor_spark.blocks import Int32, UInt32
from victor_spark.langid import scores
from victor_spark.langid.profiles import STEP, Profiles
from victor_spark.langid.settings import settings


@dataclass(frozen=True, slots=True)
class Guess:
    """A text's language, or None, and 0 ≤ score ≤ 1."""

    language: str | None
    score: float


Identifier: TypeAlias = Callable[[Sequence[str]], list[Guess]]
"""Texts → a guess for each."""

UNKNOWN: Final = Guess(None, 0.0)


def page(text: UInt32, profiles: Profiles) -> Guess:
    """The language of a whole text, given as code points; of a long one, windows spread over it.

    Half of every other window is read first, and the rest only where the score of these is low.
    """
    numbers = settings().page
    n, length = numbers.n_windows, numbers.window
    if len(text) <= n * length:
        return _guess(text, profiles)
    starts = [(len(text) - length) * place // (n - 1) for place in range(n)]
    first = _guess(_windows(text, starts[::2], length // 2), profiles)
    return first if first.score >= _NO_DOUBT else _guess(_windows(text, starts, length), profiles)


_NO_DOUBT: Final = 1 - 1e-6


def _windows(text: UInt32, starts: Sequence[int], length: int) -> UInt32:
    return np.concatenate([text[start : start + length] for start in starts])


def _guess(text: UInt32, profiles: Profiles) -> Guess:
    whole = np.array([0], dtype=np.int32), np.array([len(text)], dtype=np.int32)
    return guesses(*scores.gains(profiles, text, *whole), profiles)[0]


def shares(text: UInt32, starts: Int32, ends: Int32, profiles: Profiles) -> dict[str, float]:
    """The share of the text's characters in each language, by blocks; the largest first.

    A block is in the text's commonest language unless another is clearly better, since the language of a
    few words is uncertain. Blocks with few letters, and blocks that no profile fits, have no language.
    """
    numbers = settings().blocks
    if not len(starts):
        return {}
    gains, n_letters = scores.gains(profiles, text, starts, ends, numbers.most_letters)
    common = gains.sum(axis=0).argmax()
    best = gains.argmax(axis=1)
    rows = np.arange(len(starts))
    unclear = (gains[rows, best] - gains[:, common]) * STEP < numbers.switch
    best[unclear] = common
    fits = gains[rows, best] * STEP >= settings().page.least_gain * np.maximum(n_letters, 1)
    known = fits & (n_letters >= numbers.least_letters)
    weights = np.bincount(best[known], weights=(ends - starts)[known], minlength=len(profiles.languages))
    weights = weights / max(weights.sum(), 1)
    totals: dict[str, float] = {}  # those of a confusable group are all given to its heaviest member
    for i in np.argsort(-weights, kind="stable")[: np.count_nonzero(weights)].tolist():
        group = settings().group(profiles.languages[i])
        name = next((name for name in totals if name in group), profiles.languages[i])
        totals[name] = totals.get(name, 0.0) + float(weights[i])
    return dict(sorted(totals.items(), key=lambda pair: -pair[1]))


def is_among(language: str | None, targets: Collection[str]) -> bool:
    """Whether the label is one of the targets or in the confusable group of one."""
    return any(language in settings().group(target) for target in targets)


def guesses(gains: Int32, n_letters: Int32, profiles: Profiles) -> list[Guess]:
    """Guesses from trigram gains (n_texts, n_languages)."""
    numbers, found = settings().page, []
    for row, n in zip(gains, n_letters.tolist(), strict=True):
        best, rival = best_and_rival(row, profiles.languages)
        gain = float(row[best]) * STEP
        is_known = n >= numbers.least_letters and gain >= numbers.least_gain * n
        score = 1 / (1 + math.exp(-min((gain - rival * STEP) / numbers.temperature, 50)))
        found.append(Guess(profiles.languages[best], score) if is_known else UNKNOWN)
    return found


def best_and_rival(points: Int32, languages: tuple[str, ...]) -> tuple[int, int]:
    """The best column, and the points of its best rival outside the best one's group."""
    best = int(points.argmax())
    rivals = points.copy()
    for place in _group(best, languages):
        rivals[place] = _LOWEST
    return best, int(rivals[rivals.argmax()])  # a fifth of the time of `max`


_LOWEST: Final = -(2**30)


@lru_cache(maxsize=1 << 10)
def _group(column: int, languages: tuple[str, ...]) -> list[int]:
    """The columns of a language and of the others of its confusable group."""
    group = settings().group(languages[column])
    return [place for place, name in enumerate(languages) if name in group]
