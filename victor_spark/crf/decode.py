"""Dense decoding: marginal probabilities and the likeliest labels of a page's blocks."""

import numpy as np

from victor_spark.crf.model import Model
from victor_spark.crf.trees import leaves
from victor_spark.kernels import crf as kernel
from victor_spark.kernels import trees as trees_kernel
from victor_spark.page import LABELS, Blocks, Float64, UInt8


def scores(model: Model, blocks: Blocks) -> Float64:
    """State scores (sums of weights) per block and label: shape (n_blocks, 3)."""
    result = np.empty((len(blocks), len(LABELS)))
    if len(blocks):
        values = model.table.values(blocks)
        kernel.state_scores(
            memoryview(model.table.bins(values)),
            memoryview(model.singles),
            memoryview(model.boundary),
            memoryview(model.bias),
            memoryview(model.conjunctions),
            memoryview(model.conjunction_weights),
            memoryview(result),
        )
        if model.table.trees.n_trees:
            found = leaves(model.trees, values)
            trees_kernel.add_weights(memoryview(found), memoryview(model.leaf_weights), memoryview(result))
    return result


def marginals(model: Model, blocks: Blocks) -> Float64:
    """P(header), P(text), P(other) per block: shape (n_blocks, 3), rows sum to 1."""
    states = scores(model, blocks)
    result = np.empty_like(states)
    if len(blocks):
        states -= states.max(axis=1, keepdims=True)
        kernel.forward_backward(
            memoryview(np.exp(states)), memoryview(np.exp(model.transitions)), memoryview(result)
        )
    return result


def viterbi(model: Model, blocks: Blocks) -> UInt8:
    """The likeliest label sequence, as indices into LABELS."""
    states = scores(model, blocks)
    labels = np.zeros(len(blocks), dtype=np.uint8)
    if len(blocks):
        back = np.empty(states.shape, dtype=np.uint8)
        kernel.viterbi(
            memoryview(states), memoryview(model.transitions), memoryview(back), memoryview(labels)
        )
    return labels
