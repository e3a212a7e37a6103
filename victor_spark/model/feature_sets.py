"""Feature sets by name. A published name means one list of features for ever: a change makes a new name.

A set is a sequence of parts. To add features, write a part (their names, and what computes them), and a set
with it under a new name here and in conf/features/.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from victor_spark.blocks import Blocks, Float32
from victor_spark.model import surroundings, victor_2008, weights
from victor_spark.model.surroundings import Fill
from victor_spark.model.victor_2008 import VICTOR_2008, Patterns
from victor_spark.model.weights import Weights

Strip: TypeAlias = Callable[[int, int], Float32]
"""Gives the values of the features of the blocks from one to before another."""
Guess: TypeAlias = Callable[[Float32], Float32]
"""Gives each block's log-odds of content from the values of the other features."""


@dataclass(frozen=True, slots=True)
class Part:
    """Some features of a set: their names, and what fills their rows for a page with at least one block."""

    names: tuple[str, ...]
    rows_of: Callable[[Blocks, Patterns], Fill]


@dataclass(frozen=True, slots=True)
class FeatureSet:
    """The features of blocks: those of all parts in order.

    Where the set `is_learnt`, the features of trained weights follow, and last the score: what trees make of
    all other features.
    """

    parts: tuple[Part, ...]
    is_learnt: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The features in the order of their rows."""
        own = tuple(name for part in self.parts for name in part.names)
        return (*own, *weights.FEATURES, SCORE) if self.is_learnt else own

    def strips(
        self, blocks: Blocks, patterns: Patterns, learnt: Weights | None, guess: Guess | None
    ) -> Strip:
        """The features of a page with at least one block, for a strip of blocks at a time.

        Shape (n_features, n_blocks). All values of a large page may take more memory than everything else
        about it. Without weights their features and the score are left out; without a guess the score is.
        """
        fills = [(len(part.names), part.rows_of(blocks, patterns)) for part in self.parts]
        weigh = learnt.rows_of(blocks) if learnt and self.is_learnt else None
        n_features = sum(n for n, _ in fills) + self.is_learnt * (len(weights.FEATURES) + 1)

        def strip(first: int, end: int) -> Float32:
            rows = np.empty((n_features, end - first), dtype=np.float32)
            n_known = 0
            for n_rows, fill in fills:
                fill(first, rows[n_known : n_known + n_rows])
                n_known += n_rows
            if weigh is None:
                return rows[:n_known]
            weigh(first, rows[n_known:-1])
            if guess is None:
                return rows[:-1]
            rows[-1] = guess(rows[:-1])
            return rows

        return strip


SCORE: Final = "score"
"""What trees make of the other features: the log-odds of content."""

LANGUAGE: Final = frozenset({"langid1", "langid2"})
"""Features that need the language profiles. They bring victor-2008 nothing on our pages (docs/quality.md)."""

TEMPLATE_SHARE: Final = "template_share"
"""The feature that needs the templates of the page's site; 0 where there are none."""


def _template_share(blocks: Blocks, _patterns: Patterns) -> Fill:
    def fill(first: int, rows: Float32) -> None:
        rows[:] = blocks.template_share[first : first + rows.shape[1]]

    return fill


_PAPER: Final = Part(tuple(VICTOR_2008), victor_2008.rows_of)
_SURROUNDINGS: Final = Part(surroundings.NAMES, lambda blocks, _patterns: surroundings.rows_of(blocks))
_TEMPLATES: Final = Part((TEMPLATE_SHARE,), _template_share)

FEATURE_SETS: Final[Mapping[str, FeatureSet]] = {
    "victor-2008": FeatureSet((_PAPER,)),
    "victor-2": FeatureSet((_SURROUNDINGS,), is_learnt=True),
    "victor-2-templates": FeatureSet((_SURROUNDINGS, _TEMPLATES), is_learnt=True),
}
