"""Chooses the blocks to keep by the expected F1, from their probabilities. Cython pure Python mode."""

import cython
from cython.cimports.victor_spark.kernels import num

num.check()


@cython.cfunc
@cython.inline
def _level(other: cython.double) -> cython.int:
    """The level of a block by P(other): 0 for the surest content."""
    return cython.cast(cython.int, min(other * num.LEVELS, num.LEVELS - 1.0)) if other > 0.0 else 0


@cython.ccall
def keep_best(
    marginals: num.DoubleRows,
    words: num.Doubles,
    beta_squared: cython.double,
    least: cython.double,
    sure: cython.double,
    wide: num.Doubles,
    n_words: cython.double[::1],
    kept: cython.uchar[::1],
) -> cython.void:
    """Fills `kept` (zeros): the levels with the highest expected F; none if no expected F1 reaches `least`.

    `n_words` (LEVELS zeros) gets the words of all levels down to each one. Each of these sets is the page's
    content with the same probability; if the highest expected F1 is below `sure`, with the one in `wide`.
    """
    best: cython.int = -1
    best_wide: cython.int = -1
    highest: cython.double = 0.0
    highest_wide: cython.double = 0.0
    highest_f1: cython.double = 0.0
    for i in range(words.shape[0]):
        n_words[_level(marginals[i, num.LABEL_OTHER])] += words[i]
    for k in range(1, num.LEVELS):
        n_words[k] += n_words[k - 1]
    for k in range(num.LEVELS):
        if n_words[k] == (n_words[k - 1] if k else 0.0):
            continue
        f1 = f = f_wide = 0.0
        for j in range(num.LEVELS):
            both = n_words[j] if j < k else n_words[k]
            f1 += both / (n_words[k] + n_words[j])
            both /= n_words[k] + beta_squared * n_words[j]
            f += both
            f_wide += wide[j] * both
        if f1 > highest_f1:
            highest_f1 = f1
        if f > highest:
            highest = f
            best = k
        if f_wide > highest_wide:
            highest_wide = f_wide
            best_wide = k
    highest_f1 *= 2.0 / num.LEVELS
    if highest_f1 < sure:
        best = best_wide
    if highest_f1 >= least:
        for i in range(words.shape[0]):
            kept[i] = _level(marginals[i, num.LABEL_OTHER]) <= best


@cython.ccall
def expected_f1(
    marginals: num.DoubleRows, words: num.Doubles, kept: num.Bytes, n_words: cython.double[:, ::1]
) -> cython.double:
    """The expected F1 by words of the kept blocks; 0 without kept blocks.

    `n_words` (2, LEVELS zeros) gets the words down to each level, and those of them that are kept.
    """
    n_kept: cython.double = 0.0
    f1: cython.double = 0.0
    for i in range(words.shape[0]):
        k = _level(marginals[i, num.LABEL_OTHER])
        n_words[num.DOWN_TO_ALL, k] += words[i]
        if kept[i]:
            n_words[num.DOWN_TO_KEPT, k] += words[i]
            n_kept += words[i]
    if n_kept == 0.0:
        return 0.0
    for k in range(num.LEVELS):
        if k:
            n_words[num.DOWN_TO_ALL, k] += n_words[num.DOWN_TO_ALL, k - 1]
            n_words[num.DOWN_TO_KEPT, k] += n_words[num.DOWN_TO_KEPT, k - 1]
        f1 += n_words[num.DOWN_TO_KEPT, k] / (n_kept + n_words[num.DOWN_TO_ALL, k])
    return f1 * 2.0 / num.LEVELS


@cython.ccall
def mean_content(
    marginals: num.DoubleRows, starts: num.Ints, ends: num.Ints, kept: num.Bytes
) -> cython.double:
    """The mean P(content) of the kept blocks, weighted by characters; at least one block is kept."""
    content: cython.double = 0.0
    n_chars: cython.double = 0.0
    for i in range(starts.shape[0]):
        if kept[i]:
            content += (1.0 - marginals[i, num.LABEL_OTHER]) * (ends[i] - starts[i])
            n_chars += ends[i] - starts[i]
    return content / n_chars
