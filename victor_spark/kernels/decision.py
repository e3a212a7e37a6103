# cython: language_level=3
"""What keeping blocks is expected to gain, from their probabilities. Cython pure Python mode."""

import cython


@cython.ccall
@cython.boundscheck(False)
@cython.wraparound(False)
@cython.cdivision(True)
def keep_best(
    marginals: cython.const[cython.double][:, ::1],
    words: cython.const[cython.double][::1],
    order: cython.const[cython.Py_ssize_t][::1],
    beta_squared: cython.double,
    least: cython.double,
    kept: cython.uchar[::1],
) -> cython.int:
    """Fills `kept`: the likeliest blocks, as many as make the expected F highest; none where F1 is too low.

    `order`: the blocks, the likeliest first; `least`: the F1 that some number of them has to reach.
    """
    n: cython.Py_ssize_t = words.shape[0]
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    p: cython.double = 2.0
    total: cython.double = 0.0
    gained: cython.double = 0.0
    n_words: cython.double = 0.0
    f: cython.double
    highest: cython.double = -1.0
    highest_f1: cython.double = -1.0
    for k in range(n):
        total += words[order[k]] * (1.0 - marginals[order[k], 2])
        n_words += words[order[k]]
        kept[k] = 0
    if n_words == 0.0 or not total > 0.0:
        return 0
    n_words = 0.0
    for k in range(n):
        i = order[k]
        n_words += words[i]
        gained += words[i] * (1.0 - marginals[i, 2])
        f = 2.0 * gained / (n_words + total)
        if f > highest_f1:
            highest_f1 = f
        f = gained / (n_words + beta_squared * total)
        if f > highest:
            highest = f
            p = 1.0 - marginals[i, 2]
    if highest_f1 >= least:
        for i in range(n):
            kept[i] = 1.0 - marginals[i, 2] >= p
    return 0


@cython.ccall
@cython.boundscheck(False)
@cython.wraparound(False)
@cython.cdivision(True)
def expected_f1(
    marginals: cython.const[cython.double][:, ::1],
    words: cython.const[cython.double][::1],
    kept: cython.const[cython.uchar][::1],
) -> cython.double:
    """The F1 by words to expect of what is kept; 0 where there is nothing."""
    i: cython.Py_ssize_t
    total: cython.double = 0.0
    gained: cython.double = 0.0
    for i in range(words.shape[0]):
        total += words[i] * (1.0 - marginals[i, 2])
        if kept[i]:
            total += words[i]
            gained += words[i] * (1.0 - marginals[i, 2])
    return 2.0 * gained / total if total else 0.0


@cython.ccall
@cython.boundscheck(False)
@cython.wraparound(False)
@cython.cdivision(True)
def mean_content(
    marginals: cython.const[cython.double][:, ::1],
    starts: cython.const[cython.int][::1],
    ends: cython.const[cython.int][::1],
    kept: cython.const[cython.uchar][::1],
) -> cython.double:
    """How likely the kept blocks are content, in the mean by characters; there are some."""
    i: cython.Py_ssize_t
    content: cython.double = 0.0
    n_chars: cython.double = 0.0
    for i in range(starts.shape[0]):
        if kept[i]:
            content += (1.0 - marginals[i, 2]) * (ends[i] - starts[i])
            n_chars += ends[i] - starts[i]
    return content / n_chars
