"""Feature sets by name; a set's name means one list of features for ever."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from victor_spark.blocks import Blocks, Float32
from victor_spark.model import surroundings, weights
from victor_spark.model.features import VICTOR_2008, BlockView
from victor_spark.model.patterns import Patterns
from victor_spark.model.weights import Weights

Strip: TypeAlias = Callable[[int, int], Float32]
"""Answers one question: which values have the features of the blocks from one to before another?"""
Guess: TypeAlias = Callable[[Float32], Float32]
"""Answers one question: given the values of some features, what are each block's log-odds of content?"""


@dataclass(frozen=True, slots=True)
class FeatureSet:
    """The features of blocks, by name and in order.

    `strips` gives them for a page with at least one block, a strip of blocks at a time: shape (len(names),
    blocks of the strip). Those of a whole large page may take more room than all else known of it. Where the
    set `is_learnt`, the last ones are what learnt weights say of a block, and what a guess makes of all
    others; without weights those are left out, without a guess the last one.
    """

    names: tuple[str, ...]
    strips: Callable[[Blocks, Patterns, Weights | None, Guess | None], Strip]
    is_learnt: bool = False


LANGUAGE: Final = frozenset({"langid1", "langid2"})
"""Features that need the language profiles. They bring victor-2008 nothing on our pages (docs/quality.md)."""


def _victor_2008(blocks: Blocks, patterns: Patterns, _weights: Weights | None, _guess: Guess | None) -> Strip:
    view = BlockView(blocks, patterns)
    rows = np.empty((len(VICTOR_2008), len(blocks)), dtype=np.float32)
    for row, feature in enumerate(VICTOR_2008.values()):
        rows[row] = feature(view)
    return lambda first, end: np.ascontiguousarray(rows[:, first:end])


def _victor_2(blocks: Blocks, _patterns: Patterns, learnt: Weights | None, guess: Guess | None) -> Strip:
    return _learnt(blocks, len(_VICTOR_2), learnt, guess)


def _victor_2_templates(
    blocks: Blocks, _patterns: Patterns, learnt: Weights | None, guess: Guess | None
) -> Strip:
    return _learnt(blocks, len(_VICTOR_2_TEMPLATES), learnt, guess)


def _learnt(blocks: Blocks, n_features: int, learnt: Weights | None, guess: Guess | None) -> Strip:
    """All features, those at the end that weights and a guess give as far as these are there."""
    fill, n_own = surroundings.rows_of(blocks), len(surroundings.NAMES)
    weigh = learnt.rows_of(blocks) if learnt else None

    def strip(first: int, end: int) -> Float32:
        rows = np.empty((n_features, end - first), dtype=np.float32)
        fill(first, rows[:n_own])
        rows[n_own : -1 - len(weights.FEATURES)] = blocks.template_share[first:end]
        if weigh is None:
            return rows[: -1 - len(weights.FEATURES)]
        weigh(first, rows[-1 - len(weights.FEATURES) : -1])
        if guess is None:
            return rows[:-1]
        rows[-1] = guess(rows[:-1])
        return rows

    return strip


SCORE: Final = "score"
"""What trees make of the other features: the log-odds of content."""

TEMPLATE_SHARE: Final = "template_share"
"""The feature that needs the templates of the page's site; 0 where there are none."""

_VICTOR_2: Final = (*surroundings.NAMES, *weights.FEATURES, SCORE)
_VICTOR_2_TEMPLATES: Final = (*surroundings.NAMES, TEMPLATE_SHARE, *weights.FEATURES, SCORE)

FEATURE_SETS: Final[Mapping[str, FeatureSet]] = {
    "victor-2008": FeatureSet(tuple(VICTOR_2008), _victor_2008),
    "victor-2": FeatureSet(_VICTOR_2, _victor_2, is_learnt=True),
    "victor-2-templates": FeatureSet(_VICTOR_2_TEMPLATES, _victor_2_templates, is_learnt=True),
}
