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
