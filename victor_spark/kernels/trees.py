# cython: language_level=3, infer_types=True
"""Oblivious trees: which leaf each block falls into, and what the leaves add up to.

All nodes of one depth of such a tree ask the same question, so the answers are the bits of a leaf's number,
and a question is put to all blocks at once. Cython pure Python mode.
"""

import cython

_AT_ONCE = cython.declare(cython.Py_ssize_t, 4)


@cython.cfunc
def _leaves(
    values: cython.const[cython.float][:, ::1],
    features: cython.const[cython.int][:, ::1],
    thresholds: cython.const[cython.float][:, ::1],
    tree: cython.Py_ssize_t,
    found: cython.ushort[:, ::1],
    row: cython.Py_ssize_t,
) -> cython.int:
    """Fills found[row] with each block's leaf of one tree: bit d is the answer to question d.

    The question is whether values[features[tree, d], block] > thresholds[tree, d]; of NaN it is not.
    """
    n = values.shape[1]
    depth = features.shape[1]
    d = 0
    at = cython.declare(cython.Py_ssize_t[6])
    above = cython.declare(cython.float[6])
    for i in range(n):
        found[row, i] = 0
    while d + 6 <= depth:  # six at once: the bits go to memory and back a sixth as often
        for k in range(6):
            at[k] = features[tree, d + k]
            above[k] = thresholds[tree, d + k]
        for i in range(n):
            found[row, i] |= (
                (values[at[0], i] > above[0])
                | (values[at[1], i] > above[1]) * 2
                | (values[at[2], i] > above[2]) * 4
                | (values[at[3], i] > above[3]) * 8
                | (values[at[4], i] > above[4]) * 16
                | (values[at[5], i] > above[5]) * 32
            ) << d
        d += 6
    while d < depth:
        for i in range(n):
            found[row, i] |= (values[features[tree, d], i] > thresholds[tree, d]) << d
        d += 1
    return 0


@cython.ccall
def add_values(
    values: cython.const[cython.float][:, ::1],
    features: cython.const[cython.int][:, ::1],
    thresholds: cython.const[cython.float][:, ::1],
    of_leaves: cython.const[cython.float][:, ::1],
    scratch: cython.ushort[:, ::1],
    sums: cython.float[::1],
) -> cython.int:
    """Adds of_leaves[t, leaf] of all trees to each block's sum; `scratch` is (4, n_blocks)."""
    whole: cython.Py_ssize_t = features.shape[0] // _AT_ONCE * _AT_ONCE
    for tree in range(features.shape[0]):
        row = tree % _AT_ONCE
        _leaves(values, features, thresholds, tree, scratch, row)
        if tree >= whole:
            for i in range(values.shape[1]):
                sums[i] += of_leaves[tree, scratch[row, i]]
        elif row == _AT_ONCE - 1 and not cython.compiled:  # stored, so rounded, one by one
            for i in range(values.shape[1]):
                for k in range(_AT_ONCE):
                    sums[i] += of_leaves[tree - 3 + k, scratch[k, i]]
        elif row == _AT_ONCE - 1:  # the sums go to memory and back a quarter as often
            for i in range(values.shape[1]):
                sums[i] = (
                    sums[i]
                    + of_leaves[tree - 3, scratch[0, i]]
                    + of_leaves[tree - 2, scratch[1, i]]
                    + of_leaves[tree - 1, scratch[2, i]]
                    + of_leaves[tree, scratch[3, i]]
                )
    return 0
