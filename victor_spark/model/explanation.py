"""Which features decide on a block: the change of its score if a feature has the median of the page instead.

The effect of a feature is the log-odds of content with its value, minus those with the median over the blocks
of the page. Each effect is that of one feature alone; if two features agree, both effects may be small.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeAlias

import numpy as np

from victor_spark.blocks import OTHER, Blocks, Float32, Float64
from victor_spark.model import crf, revision
from victor_spark.model.crf import Model

MAX_EFFECTS: Final = 6
"""The number of effects that are reported for a block: the strongest."""

_MIN_EFFECT: Final = 0.02
_MAX_BLOCKS: Final = 4096
"""Blocks at a time, because effects take memory for each feature of each block."""

Score: TypeAlias = Callable[[Float32], Float32 | Float64]
"""The log-odds of content by features (n_features, n_blocks)."""


@dataclass(frozen=True, slots=True)
class Effect:
    """A feature of a block, its value, and the change of the log-odds of content by that value."""

    name: str
    value: float
    effect: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """For each block its score after the trees and after the CRF, and the strongest effects on it.

    `first`: the log-odds by the trees before the CRF, None without them; `chain`: the CRF's P(content).
    `first_effects` are those on `first`, `last_effects` those on the log-odds by the last trees. In a model
    without trees, `first_effects` are those on the CRF, and there are no others.
    """

    first: Float32 | None
    chain: Float64
    first_effects: tuple[tuple[Effect, ...], ...]
    last_effects: tuple[tuple[Effect, ...], ...]


def explain(model: Model, blocks: Blocks) -> Explanation:
    """The explanation of a page with at least one block."""
    values = model.values(blocks)
    of_chain = crf.chain_marginals(model, values)
    content = 1.0 - of_chain[:, OTHER]
    if model.first is None or model.last is None:
        effects = _effects(values, model.table.names, partial(_log_odds, model), len(blocks))
        return Explanation(None, content, effects, ((),) * len(blocks))
    own, rows = values[:-1], revision.features(blocks, values, of_chain)
    added = (*model.table.names, *revision.ADDED)
    return Explanation(
        first=values[-1],
        chain=content,
        first_effects=_effects(own, model.table.names, model.first),
        last_effects=_effects(rows, added, model.last),
    )


def _log_odds(model: Model, values: Float32) -> Float64:
    other = np.clip(crf.chain_marginals(model, values)[:, OTHER], 1e-9, 1 - 1e-9)
    return np.asarray(np.log((1 - other) / other))


def _effects(
    values: Float32, names: Sequence[str], score: Score, at_once: int = _MAX_BLOCKS
) -> tuple[tuple[Effect, ...], ...]:
    """Per block the strongest effects, the strongest first; computed for `at_once` blocks at a time.

    A score that depends on neighbours needs all blocks at once.
    """
    medians = np.median(values, axis=1)
    found: list[tuple[Effect, ...]] = []
    for at in range(0, values.shape[1], at_once):
        part = np.ascontiguousarray(values[:, at : at + at_once])
        whole, effects, changed = score(part), np.zeros(part.shape), part.copy()
        for row in range(len(part)):
            changed[row] = medians[row]
            effects[row] = whole - score(changed)
            changed[row] = part[row]
        order = np.argsort(-np.abs(effects), axis=0, kind="stable")[:MAX_EFFECTS]
        found += (
            tuple(
                Effect(names[row], float(part[row, block]), float(effects[row, block]))
                for row in rows
                if abs(effects[row, block]) >= _MIN_EFFECT
            )
            for block, rows in enumerate(order.T.tolist())
        )
    return tuple(found)
