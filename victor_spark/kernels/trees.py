# cython: language_level=3, infer_types=True
"""Oblivious trees: which leaf each block falls into, and what the leaves add up to.

All nodes of one depth of such a tree ask the same question, so the answers are the bits of a leaf's number,
and a question is put to all blocks at once. Cython pure Python mode.
"""

import cython


@cython.cfunc
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
    depth: cython.Py_ssize_t = features.shape[1]
    d: cython.Py_ssize_t = 0
    above_one: cython.float
    above_two: cython.float
    above_three: cython.float
    for i in range(n):
        found[row, i] = 0
    while d + 3 <= depth:  # three at once: the bits go to memory and back a third as often
        one = features[tree, d]
        two = features[tree, d + 1]
        three = features[tree, d + 2]
        above_one = thresholds[tree, d]
        above_two = thresholds[tree, d + 1]
        above_three = thresholds[tree, d + 2]
        bit = 1 << d
        next_bit = 2 << d
        last_bit = 4 << d
        for i in range(n):
            found[row, i] |= (
                (values[one, i] > above_one) * bit
                | (values[two, i] > above_two) * next_bit
                | (values[three, i] > above_three) * last_bit
            )
        d += 3
    while d < depth:
        one = features[tree, d]
        above_one = thresholds[tree, d]
        bit = 1 << d
        for i in range(n):
            found[row, i] |= (values[one, i] > above_one) * bit
        d += 1
    return 0


@cython.ccall
def add_values(
    values: cython.const[cython.float][:, ::1],
    features: cython.const[cython.int][:, ::1],
    thresholds: cython.const[cython.float][:, ::1],
    of_leaves: cython.const[cython.float][:, ::1],
    scratch: cython.int[:, ::1],
    sums: cython.float[::1],
) -> cython.int:
    """Adds of_leaves[t, leaf] of all trees to each block's sum; `scratch` is (1, n_blocks)."""
    for tree in range(features.shape[0]):
        _leaves(values, features, thresholds, tree, scratch, 0)
        for i in range(values.shape[1]):
            sums[i] += of_leaves[tree, scratch[0, i]]
    return 0
