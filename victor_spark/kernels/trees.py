# cython: language_level=3
"""Evaluates boosted decision trees: which leaf of every tree a block falls into. Pure Python mode."""

import cython


@cython.ccall
@cython.boundscheck(False)
@cython.wraparound(False)
def leaves(
    values: cython.const[cython.double][:, ::1],
    roots: cython.const[cython.int][::1],
    features: cython.const[cython.int][::1],
    thresholds: cython.const[cython.double][::1],
    children: cython.const[cython.int][:, ::1],
    found: cython.int[:, ::1],
) -> cython.int:
    """Fills found[t, i] with the number of the leaf of tree t that column i of `values` ends in.

    Node k asks whether values[features[k], i] <= thresholds[k] and goes on to children[0, k] (yes)
    or children[1, k] (no); a negative child is leaf -1 - child. Leaves are numbered across trees.
    """
    tree: cython.Py_ssize_t
    i: cython.Py_ssize_t
    node: cython.int
    for tree in range(roots.shape[0]):
        for i in range(values.shape[1]):
            node = roots[tree]
            while node >= 0:
                if values[features[node], i] <= thresholds[node]:
                    node = children[0, node]
                else:
                    node = children[1, node]
            found[tree, i] = -1 - node
    return 0


@cython.ccall
@cython.boundscheck(False)
@cython.wraparound(False)
def add_weights(
    found: cython.const[cython.int][:, ::1],
    weights: cython.const[cython.double][:, ::1],
    scores: cython.double[:, ::1],
) -> cython.int:
    """Adds to scores[i] the weights (n_leaves, 3) of the leaves that block i fell into."""
    tree: cython.Py_ssize_t
    i: cython.Py_ssize_t
    leaf: cython.int
    for tree in range(found.shape[0]):
        for i in range(found.shape[1]):
            leaf = found[tree, i]
            scores[i, 0] += weights[leaf, 0]
            scores[i, 1] += weights[leaf, 1]
            scores[i, 2] += weights[leaf, 2]
    return 0
