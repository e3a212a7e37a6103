"""Feature sets by name; a set's name means one list of features for ever."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from victor_spark.crf import surroundings
from victor_spark.crf.features import VICTOR_2008, BlockView
from victor_spark.crf.patterns import Patterns
from victor_spark.page import Blocks, Float32

Guess: TypeAlias = Callable[[Float32], Float32]
"""Answers one question: given the values of some features, what are each block's log-odds of content?"""


@dataclass(frozen=True, slots=True)
class FeatureSet:
    """The features of blocks, by name and in order.

    `values` gives them for a page with at least one block: shape (len(names), n_blocks). Where the set
    `needs_guess`, its last feature is what a guess makes of the others; without one it is left out.
    """

    names: tuple[str, ...]
    values: Callable[[Blocks, Patterns, Guess | None], Float32]
    needs_guess: bool = False


LANGUAGE: Final = frozenset({"langid1", "langid2"})
"""Features that need the language profiles. They bring victor-2008 nothing on our pages (docs/quality.md)."""


def _victor_2008(blocks: Blocks, patterns: Patterns, _guess: Guess | None) -> Float32:
    view = BlockView(blocks, patterns)
    rows = np.empty((len(VICTOR_2008), len(blocks)), dtype=np.float32)
    for row, feature in enumerate(VICTOR_2008.values()):
        rows[row] = feature(view)
    return rows


def _victor_2(blocks: Blocks, _patterns: Patterns, guess: Guess | None) -> Float32:
    rows = np.empty((len(surroundings.NAMES) + 1, len(blocks)), dtype=np.float32)
    surroundings.features(blocks, rows[:-1])
    return _guessed(rows, guess)


def _victor_2_templates(blocks: Blocks, _patterns: Patterns, guess: Guess | None) -> Float32:
    rows = np.empty((len(surroundings.NAMES) + 2, len(blocks)), dtype=np.float32)
    surroundings.features(blocks, rows[:-2])
    rows[-2] = blocks.template_share
    return _guessed(rows, guess)


def _guessed(rows: Float32, guess: Guess | None) -> Float32:
    """The rows with the last one guessed from the others, or without it."""
    if guess is None:
        return rows[:-1]
    rows[-1] = guess(rows[:-1])
    return rows


SCORE: Final = "score"
"""What trees make of the other features: the log-odds of content."""

TEMPLATE_SHARE: Final = "template_share"
"""The feature that needs the templates of the page's site; 0 where there are none."""

FEATURE_SETS: Final[Mapping[str, FeatureSet]] = {
    "victor-2008": FeatureSet(tuple(VICTOR_2008), _victor_2008),
    "victor-2": FeatureSet((*surroundings.NAMES, SCORE), _victor_2, needs_guess=True),
    "victor-2-templates": FeatureSet(
        (*surroundings.NAMES, TEMPLATE_SHARE, SCORE), _victor_2_templates, needs_guess=True
    ),
}
