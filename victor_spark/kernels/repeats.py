"""Repeated strings of a corpus of tokens: suffix array and LCP array → classes with document frequency.

Symbols are numbers; every document ends with a sentinel that occurs nowhere else, so no repeated
string crosses it. Cython pure Python mode.
"""

import cython
from cython import Py_ssize_t
from cython.cimports.victor_spark.kernels import num

num.check()

_NONE = cython.declare(cython.int, -1)
_DIFFER = cython.declare(cython.int, -2)


@cython.ccall
def classes(
    symbols: num.Ints,
    suffixes: num.Ints,
    lcp: num.Ints,
    documents: num.Ints,
    least_length: cython.int,
    least_documents: cython.int,
    last: cython.int[::1],
    stack: cython.int[:, ::1],
    found: cython.int[:, ::1],
) -> Py_ssize_t:
    """Finds the maximal repeats that are long and frequent enough (Yamamoto and Church); returns how many.

    A maximal repeat has more occurrences than any longer string around it. Rows of `found`: first and last
    place in the suffix array, length, document frequency; repeats beyond its size are only counted. `lcp`:
    what each suffix shares with the next (0 for the last); `documents`: each position's document; `last`: -1
    a document; `stack` has four rows, one column per level of nesting (at most the longest repeat + 2).
    """
    n: Py_ssize_t = suffixes.shape[0]
    top: cython.int = 0
    n_found: Py_ssize_t = 0
    # Open intervals of the LCP array. Rows of the stack: first place, length, suffixes of a document that is
    # there already, and the symbol before all occurrences.
    stack[num.OPEN_FIRST, 0] = 0
    stack[num.OPEN_LENGTH, 0] = 0
    stack[num.OPEN_KNOWN, 0] = 0
    stack[num.OPEN_BEFORE, 0] = _NONE
    for i in range(n):
        # Suffix i joins what is open; then what its successor does not share is closed.
        depth = lcp[i]
        before = symbols[suffixes[i] - 1] if suffixes[i] else _DIFFER
        left = cython.cast(cython.int, i)
        if depth > stack[num.OPEN_LENGTH, top]:
            top += 1
            stack[num.OPEN_FIRST, top] = left
            stack[num.OPEN_LENGTH, top] = depth
            stack[num.OPEN_KNOWN, top] = 0
            stack[num.OPEN_BEFORE, top] = _NONE
        context = stack[num.OPEN_BEFORE, top]
        stack[num.OPEN_BEFORE, top] = before if context == _NONE or context == before else _DIFFER
        document = documents[suffixes[i]]
        seen = last[document]
        if seen >= 0:
            low = 0
            high = top
            while low < high:
                middle = (low + high + 1) // 2
                if stack[num.OPEN_FIRST, middle] <= seen:
                    low = middle
                else:
                    high = middle - 1
            stack[num.OPEN_KNOWN, low] += 1
        last[document] = left
        while stack[num.OPEN_LENGTH, top] > depth:
            length = stack[num.OPEN_LENGTH, top]
            seen = left - stack[num.OPEN_FIRST, top] + 1 - stack[num.OPEN_KNOWN, top]
            if length >= least_length and seen >= least_documents and stack[num.OPEN_BEFORE, top] == _DIFFER:
                if n_found < found.shape[0]:
                    found[n_found, num.REPEAT_FIRST] = stack[num.OPEN_FIRST, top]
                    found[n_found, num.REPEAT_LAST] = left
                    found[n_found, num.REPEAT_LENGTH] = length
                    found[n_found, num.REPEAT_DOCUMENTS] = seen
                n_found += 1
            if stack[num.OPEN_LENGTH, top - 1] < depth:
                stack[num.OPEN_LENGTH, top] = depth
            else:
                context = stack[num.OPEN_BEFORE, top]
                stack[num.OPEN_KNOWN, top - 1] += stack[num.OPEN_KNOWN, top]
                top -= 1
                before = stack[num.OPEN_BEFORE, top]
                stack[num.OPEN_BEFORE, top] = context if before == _NONE or before == context else _DIFFER
    return n_found


@cython.ccall
def standing(
    found: num.IntRows,
    suffixes: num.Ints,
    documents: num.Ints,
    edges: num.Bytes,
    n_tokens: num.Ints,
    stamps: cython.int[:, ::1],
    counts: cython.int[:, ::1],
    shares: cython.double[::1],
) -> cython.void:
    """Where the occurrences of each repeat stand.

    Columns of `counts`: occurrences, those that begin a line, end one, both; then the documents of
    each of these three; then the first position in the corpus. `shares`: the mean share of its page's
    tokens (`n_tokens`, one a document) that one occurrence is. `stamps`: (3, documents), all -1.
    """
    share: cython.double
    for row in range(found.shape[0]):
        for kind in range(counts.shape[1]):
            counts[row, kind] = 0
        counts[row, num.STANDING_ALL] = found[row, num.REPEAT_LAST] - found[row, num.REPEAT_FIRST] + 1
        counts[row, num.STANDING_FIRST] = suffixes[found[row, num.REPEAT_FIRST]]
        share = 0
        for i in range(found[row, num.REPEAT_FIRST], found[row, num.REPEAT_LAST] + 1):
            position = suffixes[i]
            document = documents[position]
            if position < counts[row, num.STANDING_FIRST]:
                counts[row, num.STANDING_FIRST] = position
            last = edges[position + found[row, num.REPEAT_LENGTH] - 1]
            edge = (edges[position] & num.BEGINS_LINE) | (last & num.ENDS_LINE)
            for kind in range(num.STANDING_BEGIN, num.STANDING_BOTH + 1):  # bits of `edge`, too
                if edge & kind == kind:
                    counts[row, kind] += 1
                    if stamps[kind - num.STANDING_BEGIN, document] != row:
                        stamps[kind - num.STANDING_BEGIN, document] = cython.cast(cython.int, row)
                        counts[row, num.STANDING_BOTH + kind] += 1
            share += cython.cast(cython.double, found[row, num.REPEAT_LENGTH]) / n_tokens[document]
        shares[row] = share / counts[row, num.STANDING_ALL]
