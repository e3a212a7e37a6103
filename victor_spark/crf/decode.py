"""Dense decoding: marginal probabilities and the likeliest labels of a page's blocks."""

import numpy as np

from victor_spark.crf import revision
from victor_spark.crf.decision import n_words
from victor_spark.crf.model import Model
from victor_spark.kernels import crf as kernel
from victor_spark.page import LABELS, Blocks, Float32, Float64, UInt8


def marginals(model: Model, blocks: Blocks) -> Float64:
    """P(header), P(text), P(other) per block: shape (n_blocks, 3), rows sum to 1."""
    if not len(blocks):
        return np.empty((0, len(LABELS)))
    values = model.values(blocks)
    chain = chain_marginals(model, values)
    if model.last is None:
        return chain
    rows = revision.features(blocks, values, chain)
    return revision.revised(model.last, rows, chain, n_words(blocks))


def chain_marginals(model: Model, values: Float32) -> Float64:
    """What the CRF alone says, from all features of its table."""
    return _forward_backward(model, scores(model, values))


def scores(model: Model, values: Float32) -> Float64:
    """State scores (sums of weights) per block and label: shape (n_blocks, 3)."""
    result = np.empty((values.shape[1], len(LABELS)))
    if len(result):
        kernel.state_scores(
            memoryview(model.table.bins(values)),
            memoryview(model.singles),
            memoryview(model.boundary),
            memoryview(model.bias),
            memoryview(model.conjunctions),
            memoryview(model.conjunction_weights),
            memoryview(result),
        )
    return result


def _forward_backward(model: Model, states: Float64) -> Float64:
    result = np.empty_like(states)
    if len(states):
        kernel.forward_backward(memoryview(states), memoryview(model.transitions), memoryview(result))
    return result


def viterbi(model: Model, blocks: Blocks) -> UInt8:
    """The CRF's likeliest label sequence, as indices into LABELS."""
    states = scores(model, model.values(blocks))
    labels = np.zeros(len(blocks), dtype=np.uint8)
    if len(blocks):
        back = np.empty(states.shape, dtype=np.uint8)
        kernel.viterbi(
            memoryview(states), memoryview(model.transitions), memoryview(back), memoryview(labels)
        )
    return labels
