"""Dense decoding of a linear-chain CRF with three labels: bins, state scores, marginals, revision.

Victor, section 3.1, steps 5 to 7. Cython pure Python mode.
"""

import cython
from cython import Py_ssize_t
from cython.cimports.libc.math import exp, log
from cython.cimports.victor_spark.kernels import num

num.check()
assert num.N_LABELS == 3  # sums over labels are written out, and sizes of arrays are

_LEAST_CONTENT = cython.declare(cython.double, 1e-300)  # of a divisor


@cython.ccall
def bins(
    values: num.FloatRows, edges: num.Floats, first_edge: num.Ints, codes: cython.uchar[:, ::1]
) -> cython.void:
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


@cython.ccall
def state_scores(
    codes: num.ByteRows,
    singles: cython.const[cython.double][:, :, :, ::1],
    boundary: num.DoubleRows,
    bias: num.Doubles,
    conjunctions: num.IntRows,
    conjunction_weights: num.DoubleRows,
    scores: cython.double[:, ::1],
) -> cython.void:
    """Fills scores[i, label], the sum of the weights of all attributes of block i.

    singles[f, bin, r, label] weighs feature f of the block r - reach away; boundary[r] a block that isn't
    there; a row of `conjunctions` is (first weight, n parts, then feature, offset and stride of each part).
    """
    n: Py_ssize_t = codes.shape[1]
    reach: Py_ssize_t = (boundary.shape[0] - 1) // 2
    for i in range(n):
        for label in range(num.N_LABELS):
            scores[i, label] = bias[label]
        for r in range(2 * reach + 1):
            j: Py_ssize_t = i + r - reach
            if j < 0 or j >= n:
                for label in range(num.N_LABELS):
                    scores[i, label] += boundary[r, label]
    for feature in range(codes.shape[0]):
        any_code: cython.uchar = 0
        for j in range(n):
            any_code |= codes[feature, j]
        if any_code == 0:  # most have no edges
            continue
        for j in range(n):
            code: Py_ssize_t = codes[feature, j]
            if code == 0:
                continue
            for r in range(2 * reach + 1):
                i = j - (r - reach)
                if 0 <= i < n:
                    for label in range(num.N_LABELS):
                        scores[i, label] += singles[feature, code, r, label]
    for row in range(conjunctions.shape[0]):
        for i in range(n):
            code = 0
            for part in range(conjunctions[row, num.CONJUNCTION_N_PARTS]):
                at = num.N_PART_COLUMNS * part
                j = i + conjunctions[row, at + num.CONJUNCTION_OFFSET]
                if 0 <= j < n:
                    feature = conjunctions[row, at + num.CONJUNCTION_FEATURE]
                    code += codes[feature, j] * conjunctions[row, at + num.CONJUNCTION_STRIDE]
            if code:
                code += conjunctions[row, num.CONJUNCTION_FIRST_WEIGHT]
                for label in range(num.N_LABELS):
                    scores[i, label] += conjunction_weights[code, label]


@cython.ccall
def forward_backward(
    states: cython.double[:, ::1], transitions: num.DoubleRows, marginals: cython.double[:, ::1]
) -> cython.void:
    """Turns state scores, which it writes over, and transitions[from, to] into marginal probabilities (n, 3).

    Scaled so that each row of the forward pass sums to 1; time and memory are linear in n. Sums over labels
    are written out, in the order of blocks.LABELS.
    """
    n: Py_ssize_t = states.shape[0]
    step = cython.declare(cython.double[9])  # from each label to each, N_LABELS * from + to
    back = cython.declare(cython.double[3])
    product = cython.declare(cython.double[3])
    for label in range(num.N_LABELS):
        back[label] = 1.0
        for to in range(num.N_LABELS):
            step[num.N_LABELS * label + to] = exp(transitions[label, to])
    for i in range(n):
        highest: cython.double = max(
            states[i, num.LABEL_HEADER], states[i, num.LABEL_TEXT], states[i, num.LABEL_OTHER]
        )
        for label in range(num.N_LABELS):
            states[i, label] = exp(states[i, label] - highest)
            product[label] = states[i, label]
            if i:
                product[label] *= (
                    marginals[i - 1, num.LABEL_HEADER] * step[num.LABEL_HEADER * num.N_LABELS + label]
                    + marginals[i - 1, num.LABEL_TEXT] * step[num.LABEL_TEXT * num.N_LABELS + label]
                    + marginals[i - 1, num.LABEL_OTHER] * step[num.LABEL_OTHER * num.N_LABELS + label]
                )
        total: cython.double = product[num.LABEL_HEADER] + product[num.LABEL_TEXT] + product[num.LABEL_OTHER]
        for label in range(num.N_LABELS):
            marginals[i, label] = product[label] / total
    for i in range(n - 2, -1, -1):
        for label in range(num.N_LABELS):
            product[label] = back[label] * states[i + 1, label]
        for label in range(num.N_LABELS):
            at = num.N_LABELS * label
            back[label] = (
                step[at + num.LABEL_HEADER] * product[num.LABEL_HEADER]
                + step[at + num.LABEL_TEXT] * product[num.LABEL_TEXT]
                + step[at + num.LABEL_OTHER] * product[num.LABEL_OTHER]
            )
        total = back[num.LABEL_HEADER] + back[num.LABEL_TEXT] + back[num.LABEL_OTHER]
        for label in range(num.N_LABELS):
            back[label] /= total
            product[label] = marginals[i, label] * back[label]
        total = product[num.LABEL_HEADER] + product[num.LABEL_TEXT] + product[num.LABEL_OTHER]
        for label in range(num.N_LABELS):
            marginals[i, label] = product[label] / total


@cython.ccall
def log_odds(marginals: num.DoubleRows, least: cython.double, rows: cython.float[:, ::1]) -> cython.void:
    """Fills `rows` (2, n): the log-odds of content, P(other) at least `least` from 0 and 1; P(header)."""
    for i in range(marginals.shape[0]):
        other: cython.double = marginals[i, num.LABEL_OTHER]
        other = least if other < least else 1.0 - least if other > 1.0 - least else other
        rows[num.CRF_CONTENT, i] = cython.cast(cython.float, log((1.0 - other) / other))
        rows[num.CRF_HEADER, i] = cython.cast(cython.float, marginals[i, num.LABEL_HEADER])


@cython.ccall
def revise(
    marginals: num.DoubleRows,
    chain: num.Floats,
    trees: num.Floats,
    words: num.Doubles,
    most_of_chain: cython.double,
    revised: cython.double[:, ::1],
) -> cython.void:
    """Fills `revised` (n, 3): content by both log-odds, split between header and text as in `marginals`.

    `most_of_chain` is the chain's weight for a block without words; with each word it becomes smaller.
    """
    for i in range(marginals.shape[0]):
        part = most_of_chain * exp(-words[i])
        content = 1.0 / (1.0 + exp(-((1.0 - part) * trees[i] + part * chain[i])))
        header: cython.double = marginals[i, num.LABEL_HEADER]
        header /= max(header + marginals[i, num.LABEL_TEXT], _LEAST_CONTENT)
        revised[i, num.LABEL_HEADER] = content * header
        revised[i, num.LABEL_TEXT] = content * (1.0 - header)
        revised[i, num.LABEL_OTHER] = 1.0 - content
