# cython: language_level=3, infer_types=True
"""Dense decoding of a linear-chain CRF with three labels: bins, state scores, marginals, revision.

Victor, section 3.1, steps 5 to 7. Cython pure Python mode.
"""

import cython
from cython.cimports.libc.math import exp, log


@cython.ccall
def bins(
    values: cython.const[cython.float][:, ::1],
    edges: cython.const[cython.float][::1],
    first_edge: cython.const[cython.int][::1],
    codes: cython.uchar[:, ::1],
) -> cython.int:
    """Fills codes[f, i] with the number of edges of feature f that are <= values[f, i].

    The edges of feature f are edges[first_edge[f]:first_edge[f + 1]], ascending; NaN gets bin 0.
    Features without edges are left as they are.
    """
    for feature in range(values.shape[0]):
        if first_edge[feature] == first_edge[feature + 1]:
            continue
        for i in range(values.shape[1]):
            codes[feature, i] = 0
        for edge in range(first_edge[feature], first_edge[feature + 1]):
            least = edges[edge]
            for i in range(values.shape[1]):
                codes[feature, i] += values[feature, i] >= least
    return 0


@cython.ccall
def state_scores(
    codes: cython.const[cython.uchar][:, ::1],
    singles: cython.const[cython.double][:, :, :, ::1],
    boundary: cython.const[cython.double][:, ::1],
    bias: cython.const[cython.double][::1],
    conjunctions: cython.const[cython.int][:, ::1],
    conjunction_weights: cython.const[cython.double][:, ::1],
    scores: cython.double[:, ::1],
) -> cython.int:
    """Fills scores[i, label], the sum of the weights of all attributes of block i.

    singles[f, bin, r, label] weighs feature f of the block r - reach away; boundary[r] a block
    that isn't there; a row of `conjunctions` is (first weight, n parts, then feature, offset and
    stride of each part).
    """
    n: cython.Py_ssize_t = codes.shape[1]
    reach: cython.Py_ssize_t = (boundary.shape[0] - 1) // 2
    for i in range(n):
        scores[i, 0] = bias[0]
        scores[i, 1] = bias[1]
        scores[i, 2] = bias[2]
        for r in range(2 * reach + 1):
            j: cython.Py_ssize_t = i + r - reach
            if j < 0 or j >= n:
                scores[i, 0] += boundary[r, 0]
                scores[i, 1] += boundary[r, 1]
                scores[i, 2] += boundary[r, 2]
    for feature in range(codes.shape[0]):
        any_code: cython.uchar = 0
        for j in range(n):
            any_code |= codes[feature, j]
        if any_code == 0:  # most have no edges
            continue
        for j in range(n):
            code: cython.Py_ssize_t = codes[feature, j]
            if code == 0:
                continue
            for r in range(2 * reach + 1):
                i = j - (r - reach)
                if 0 <= i < n:
                    scores[i, 0] += singles[feature, code, r, 0]
                    scores[i, 1] += singles[feature, code, r, 1]
                    scores[i, 2] += singles[feature, code, r, 2]
    for row in range(conjunctions.shape[0]):
        for i in range(n):
            code = 0
            for part in range(conjunctions[row, 1]):
                j = i + conjunctions[row, 3 + 3 * part]
                if 0 <= j < n:
                    code += codes[conjunctions[row, 2 + 3 * part], j] * conjunctions[row, 4 + 3 * part]
            if code:
                code += conjunctions[row, 0]
                scores[i, 0] += conjunction_weights[code, 0]
                scores[i, 1] += conjunction_weights[code, 1]
                scores[i, 2] += conjunction_weights[code, 2]
    return 0


@cython.ccall
def forward_backward(
    states: cython.double[:, ::1],
    transitions: cython.const[cython.double][:, ::1],
    marginals: cython.double[:, ::1],
) -> cython.int:
    """Turns state scores, which it writes over, and transitions[from, to] into marginal probabilities (n, 3).

    Scaled so that each row of the forward pass sums to 1; time and memory are linear in n.
    """
    n: cython.Py_ssize_t = states.shape[0]
    e0: cython.double
    e1: cython.double
    e2: cython.double
    t00: cython.double = exp(transitions[0, 0])
    t01: cython.double = exp(transitions[0, 1])
    t02: cython.double = exp(transitions[0, 2])
    t10: cython.double = exp(transitions[1, 0])
    t11: cython.double = exp(transitions[1, 1])
    t12: cython.double = exp(transitions[1, 2])
    t20: cython.double = exp(transitions[2, 0])
    t21: cython.double = exp(transitions[2, 1])
    t22: cython.double = exp(transitions[2, 2])
    for i in range(n):
        total = states[i, 0]
        if states[i, 1] > total:
            total = states[i, 1]
        if states[i, 2] > total:
            total = states[i, 2]
        states[i, 0] = exp(states[i, 0] - total)
        states[i, 1] = exp(states[i, 1] - total)
        states[i, 2] = exp(states[i, 2] - total)
    e0 = e1 = e2 = 1.0
    for i in range(n):
        if i:
            b0 = marginals[i - 1, 0]
            b1 = marginals[i - 1, 1]
            b2 = marginals[i - 1, 2]
            e0 = b0 * t00 + b1 * t10 + b2 * t20
            e1 = b0 * t01 + b1 * t11 + b2 * t21
            e2 = b0 * t02 + b1 * t12 + b2 * t22
        e0 *= states[i, 0]
        e1 *= states[i, 1]
        e2 *= states[i, 2]
        total = e0 + e1 + e2
        marginals[i, 0] = e0 / total
        marginals[i, 1] = e1 / total
        marginals[i, 2] = e2 / total
    b0 = b1 = b2 = 1.0
    for i in range(n - 2, -1, -1):
        e0 = b0 * states[i + 1, 0]
        e1 = b1 * states[i + 1, 1]
        e2 = b2 * states[i + 1, 2]
        b0 = t00 * e0 + t01 * e1 + t02 * e2
        b1 = t10 * e0 + t11 * e1 + t12 * e2
        b2 = t20 * e0 + t21 * e1 + t22 * e2
        total = b0 + b1 + b2
        b0 /= total
        b1 /= total
        b2 /= total
        e0 = marginals[i, 0] * b0
        e1 = marginals[i, 1] * b1
        e2 = marginals[i, 2] * b2
        total = e0 + e1 + e2
        marginals[i, 0] = e0 / total
        marginals[i, 1] = e1 / total
        marginals[i, 2] = e2 / total
    return 0


@cython.ccall
def log_odds(
    marginals: cython.const[cython.double][:, ::1], least: cython.double, rows: cython.float[:, ::1]
) -> cython.int:
    """Fills `rows` (2, n): the log-odds of content, P(other) at least `least` from 0 and 1; P(header)."""
    other: cython.double
    for i in range(marginals.shape[0]):
        other = marginals[i, 2]
        other = least if other < least else 1.0 - least if other > 1.0 - least else other
        rows[0, i] = cython.cast(cython.float, log((1.0 - other) / other))
        rows[1, i] = cython.cast(cython.float, marginals[i, 0])
    return 0


@cython.ccall
def revise(
    marginals: cython.const[cython.double][:, ::1],
    chain: cython.const[cython.float][::1],
    trees: cython.const[cython.float][::1],
    words: cython.const[cython.double][::1],
    most_of_chain: cython.double,
    revised: cython.double[:, ::1],
) -> cython.int:
    """Fills `revised` (n, 3): content by both log-odds, split between header and text as in `marginals`.

    `most_of_chain` is the chain's weight for a block without words; with each word it becomes smaller.
    """
    for i in range(marginals.shape[0]):
        part = most_of_chain * exp(-words[i])
        content = 1.0 / (1.0 + exp(-((1.0 - part) * trees[i] + part * chain[i])))
        header: cython.double = marginals[i, 0] + marginals[i, 1]
        header = marginals[i, 0] / (header if header > 1e-300 else 1e-300)
        revised[i, 0] = content * header
        revised[i, 1] = content * (1.0 - header)
        revised[i, 2] = 1.0 - content
    return 0
