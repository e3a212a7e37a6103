"""A trained CRF as dense arrays, and its decoder: marginal probabilities of a page's blocks."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from victor_spark.blocks import LABELS, Blocks, Float32, Float64, Int32, UInt8
from victor_spark.kernels import crf as kernel
from victor_spark.kernels import views
from victor_spark.model import revision
from victor_spark.model.decision import n_words
from victor_spark.model.features import FeatureTable, Strip
from victor_spark.model.trees import Trees
from victor_spark.model.weights import Weights


@dataclass(frozen=True)
class Model:
    """Weights ready for the decoder, with the feature table they were trained on.

    singles: (n_features, n bins, 2 reach + 1, 3); boundary: (2 reach + 1, 3); bias: (3,);
    transitions: (from, to); conjunctions: see kernels.crf.state_scores. `weights`, and the trees before
    and after the CRF, `first` and `last`, are None where the table needs none.
    """

    table: FeatureTable
    singles: Float64
    boundary: Float64
    bias: Float64
    transitions: Float64
    conjunctions: Int32
    conjunction_weights: Float64
    weights: Weights | None
    first: Trees | None
    last: Trees | None
    about: Mapping[str, Any]

    def values(self, blocks: Blocks) -> Float32:
        """All features of all blocks: shape (n_features, n_blocks)."""
        return self.table.values(blocks, self.weights, self.first)

    def strips(self, blocks: Blocks) -> Strip:
        """The features of a few blocks at a time, of a page with one or more; there is room for ADDED."""
        n_more = len(revision.ADDED) if self.last is not None else 0
        return self.table.strips(blocks, self.weights, self.first, n_more)


def marginals(model: Model, blocks: Blocks) -> Float64:
    """P(header), P(text), P(other) per block: shape (n_blocks, 3), rows sum to 1."""
    if not len(blocks):
        return np.empty((0, len(LABELS)))
    n, n_own, words = len(blocks), len(model.table.names), n_words(blocks)
    bins, guesses = np.empty((n_own, n), dtype=np.uint8), np.empty(n, dtype=np.float32)
    strips = [slice(first, min(first + STRIP, n)) for first in range(0, n, STRIP)]
    values = model.strips(blocks)
    for strip in strips:
        of_strip = values(strip.start, strip.stop)
        bins[:, strip], guesses[strip] = model.table.bins(of_strip[:n_own]), of_strip[n_own - 1]
    del values  # its columns of the page are computed again below: they take too much memory to keep
    chain = _forward_backward(model, scores(model, bins))
    del bins
    if model.last is None:
        return chain
    complete = revision.completing(blocks, guesses, chain)
    values = model.strips(blocks) if len(strips) > 1 else lambda _first, _end: of_strip
    result = np.empty_like(chain)
    for strip in strips:
        rows = values(strip.start, strip.stop)
        complete(strip.start, rows[n_own:])
        result[strip] = revision.revised(model.last, rows, chain[strip], words[strip])
    return result


STRIP: Final = 4096
"""The number of blocks whose features are computed at a time; 99.9 % of pages have fewer."""


def chain_marginals(model: Model, values: Float32) -> Float64:
    """P(header), P(text), P(other) by the CRF alone, from all features of its table."""
    return _forward_backward(model, scores(model, model.table.bins(values)))


def scores(model: Model, bins: UInt8) -> Float64:
    """State scores (sums of weights) per block and label: shape (n_blocks, 3)."""
    result = np.empty((bins.shape[1], len(LABELS)))
    singles = (model.singles, model.boundary, model.bias)
    conjunctions = (model.conjunctions, model.conjunction_weights)
    kernel.state_scores(*views(bins, *singles, *conjunctions, result))
    return result


def _forward_backward(model: Model, states: Float64) -> Float64:
    result = np.empty_like(states)
    kernel.forward_backward(*views(states, model.transitions, result))
    return result
