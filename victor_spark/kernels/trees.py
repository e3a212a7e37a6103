"""Evaluates oblivious trees: the leaf of each block in each tree, and the sum of the leaves' values.

All nodes at one depth of an oblivious tree have the same condition. So the results are the bits of the leaf's
number, and a condition is computed for all blocks at once. Cython pure Python mode.
"""

import cython
from cython import Py_ssize_t
from cython.cimports.victor_spark.kernels import num

num.check()
assert num.MAX_TREE_DEPTH == 16  # the size of arrays
assert num.TREES_AT_ONCE == 4  # sums are written out


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _ask(
    values: num.FloatRows,
    at: cython.p_Py_ssize_t,
    above: cython.p_float,
    bit: cython.p_int,
    n_asked: Py_ssize_t,
    same: cython.int,
    found: cython.int[:, ::1],
    row: Py_ssize_t,
) -> cython.void:
    """Fills found[row] with `same` and the bits of conditions. It is inlined for each constant `n_asked`."""
    for i in range(values.shape[1]):
        leaf: cython.int = same
        for k in range(n_asked):
            leaf |= (values[at[k], i] > above[k]) << bit[k]
        found[row, i] = leaf


@cython.cfunc
@cython.exceptval(check=False)
def _leaves(
    values: num.FloatRows,
    features: num.IntRows,
    thresholds: num.FloatRows,
    uniform: num.Bytes,
    first: Py_ssize_t,
    stop: Py_ssize_t,
    found: cython.int[:, ::1],
) -> num.Vectorised:
    """Fills a row of `found` with each block's leaf, for each tree from `first` to `stop`.

    Bit d of a leaf is the result of condition d: values[features[tree, d], block] > thresholds[tree, d],
    which is false for NaN. There are at most MAX_TREE_DEPTH. `uniform`: the features that have the same value
    for all blocks.
    """
    at = cython.declare(Py_ssize_t[16])
    above = cython.declare(cython.float[16])
    bit = cython.declare(cython.int[16])
    for tree in range(first, stop):
        row: Py_ssize_t = tree - first
        n_asked: Py_ssize_t = 0  # conditions on features that differ between blocks
        same: cython.int = 0  # the bits that all blocks have in common
        for d in range(features.shape[1]):
            feature: Py_ssize_t = features[tree, d]
            at[n_asked] = feature
            above[n_asked] = thresholds[tree, d]
            bit[n_asked] = cython.cast(cython.int, d)
            if uniform[feature]:
                same |= (values[feature, 0] > thresholds[tree, d]) << d
            else:
                n_asked += 1
        if n_asked == 0:
            _ask(values, at, above, bit, 0, same, found, row)
        elif n_asked == 1:
            _ask(values, at, above, bit, 1, same, found, row)
        elif n_asked == 2:
            _ask(values, at, above, bit, 2, same, found, row)
        elif n_asked == 3:
            _ask(values, at, above, bit, 3, same, found, row)
        elif n_asked == 4:
            _ask(values, at, above, bit, 4, same, found, row)
        elif n_asked == 5:
            _ask(values, at, above, bit, 5, same, found, row)
        elif n_asked == 6:
            _ask(values, at, above, bit, 6, same, found, row)
        else:
            _ask(values, at, above, bit, n_asked, same, found, row)


@cython.ccall
def add_values(
    values: num.FloatRows,
    features: num.IntRows,
    thresholds: num.FloatRows,
    of_leaves: num.FloatRows,
    uniform: cython.uchar[::1],
    scratch: cython.int[:, ::1],
    sums: cython.float[::1],
) -> cython.void:
    """Adds of_leaves[t, leaf] of all trees to each block's sum.

    `uniform` (n_features) and `scratch` (TREES_AT_ONCE, n_blocks) are scratch space; there is at least one
    block.
    """
    n = values.shape[1]
    n_trees = features.shape[0]
    for feature in range(values.shape[0]):
        n_unlike: cython.int = values[feature, n - 1] != values[feature, 0]
        if n_unlike == 0:
            for i in range(n):
                n_unlike += values[feature, i] != values[feature, 0]
        uniform[feature] = n_unlike == 0
    for first in range(0, n_trees, 4):
        stop: Py_ssize_t = min(first + 4, n_trees)
        _leaves(values, features, thresholds, uniform, first, stop, scratch)
        if stop < first + 4 or not cython.compiled:  # stored, so rounded, one by one
            for tree in range(first, stop):
                for i in range(n):
                    sums[i] += of_leaves[tree, scratch[tree - first, i]]
        else:  # the sums go to memory and back a quarter as often
            for i in range(n):
                sums[i] = (
                    sums[i]
                    + of_leaves[first, scratch[0, i]]
                    + of_leaves[first + 1, scratch[1, i]]
                    + of_leaves[first + 2, scratch[2, i]]
                    + of_leaves[first + 3, scratch[3, i]]
                )
