# cython: language_level=3
"""Oblivious trees: which leaf each block falls into, and what the leaves add up to.

All nodes of one depth of such a tree ask the same question, so the answers are the bits of a leaf's number,
and a question is put to all blocks at once. Cython pure Python mode.
"""

import cython


@cython.cfunc
@cython.boundscheck(False)
@cython.wraparound(False)
def _leaves(
    values: cython.const[cython.float][:, ::1],
    features: cython.const[cython.int][:, ::1],
    thresholds: cython.const[cython.float][:, ::1],
    tree: cython.Py_ssize_t,
    found: cython.int[:, ::1],
    row: cython.Py_ssize_t,
) -> cython.int:
    """Fills found[row] with each block's leaf of one tree: bit d is the answer to question d.

    The question is whether values[features[tree, d], block] > thresholds[tree, d]; of NaN it is not.
    """
    n: cython.Py_ssize_t = values.shape[1]
    i: cython.Py_ssize_t
    d: cython.Py_ssize_t
    feature: cython.Py_ssize_t
    bit: cython.int
    threshold: cython.float
    for i in range(n):
        found[row, i] = 0
    for d in range(features.shape[1]):
        feature = features[tree, d]
        threshold = thresholds[tree, d]
        bit = 1 << d
        for i in range(n):
            found[row, i] |= bit * (values[feature, i] > threshold)
    return 0


@cython.ccall
@cython.boundscheck(False)
@cython.wraparound(False)
def leaves(
    values: cython.const[cython.float][:, ::1],
    features: cython.const[cython.int][:, ::1],
    thresholds: cython.const[cython.float][:, ::1],
    found: cython.int[:, ::1],
) -> cython.int:
    """Fills found[t, i] with the leaf of tree t for block i, numbered within the tree."""
    tree: cython.Py_ssize_t
    for tree in range(features.shape[0]):
        _leaves(values, features, thresholds, tree, found, tree)
    return 0


@cython.ccall
@cython.boundscheck(False)
@cython.wraparound(False)
def add_values(
    values: cython.const[cython.float][:, ::1],
    features: cython.const[cython.int][:, ::1],
    thresholds: cython.const[cython.float][:, ::1],
    of_leaves: cython.const[cython.float][:, ::1],
    scratch: cython.int[:, ::1],
    sums: cython.float[::1],
) -> cython.int:
    """Adds of_leaves[t, leaf] of all trees to each block's sum; `scratch` is (1, n_blocks)."""
    tree: cython.Py_ssize_t
    i: cython.Py_ssize_t
    for tree in range(features.shape[0]):
        _leaves(values, features, thresholds, tree, scratch, 0)
        for i in range(values.shape[1]):
            sums[i] += of_leaves[tree, scratch[0, i]]
    return 0


@cython.ccall
@cython.boundscheck(False)
@cython.wraparound(False)
def add_weights(
    values: cython.const[cython.float][:, ::1],
    features: cython.const[cython.int][:, ::1],
    thresholds: cython.const[cython.float][:, ::1],
    weights: cython.const[cython.double][:, :, ::1],
    scratch: cython.int[:, ::1],
    scores: cython.double[:, ::1],
) -> cython.int:
    """Adds weights[t, leaf, label] of all trees to scores[i, label]; `scratch` is (1, n_blocks)."""
    tree: cython.Py_ssize_t
    i: cython.Py_ssize_t
    leaf: cython.Py_ssize_t
    for tree in range(features.shape[0]):
        _leaves(values, features, thresholds, tree, scratch, 0)
        for i in range(values.shape[1]):
            leaf = scratch[0, i]
            scores[i, 0] += weights[tree, leaf, 0]
            scores[i, 1] += weights[tree, leaf, 1]
            scores[i, 2] += weights[tree, leaf, 2]
    return 0
