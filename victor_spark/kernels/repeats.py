# cython: language_level=3, infer_types=True
"""Repeated strings of a corpus of tokens: suffix array and LCP array → classes with document frequency.

Symbols are numbers; every document ends with a sentinel that occurs nowhere else, so no repeated
string crosses it. Cython pure Python mode.
"""

import cython


@cython.ccall
def classes(
    symbols: cython.const[cython.int][::1],
    suffixes: cython.const[cython.int][::1],
    lcp: cython.const[cython.int][::1],
    documents: cython.const[cython.int][::1],
    least_length: cython.int,
    least_documents: cython.int,
    last: cython.int[::1],
    stack: cython.int[:, ::1],
    found: cython.int[:, ::1],
) -> cython.Py_ssize_t:
    """Every maximal repeat that is long and widespread enough (Yamamoto and Church); how many there are.

    A maximal repeat can't grow to the left or right without losing occurrences. Rows of `found`: first
    and last place in the suffix array, length, document frequency; when there are more than it has room
    for, the rest is only counted. `lcp`: what each suffix shares with the next (0 for the last);
    `documents`: each position's document; `last`: -1 a document; `stack` has four rows, one column
    per level of nesting (at most the longest repeat plus two).
    """
    n: cython.Py_ssize_t = suffixes.shape[0]
    top: cython.int = 0
    n_found: cython.Py_ssize_t = 0
    # Open intervals of the LCP array. Rows of the stack: first place, length, suffixes of a document that is
    # there already, and the symbol before all occurrences (-1: none yet, -2: they differ).
    stack[0, 0] = 0
    stack[1, 0] = 0
    stack[2, 0] = 0
    stack[3, 0] = -1
    for i in range(n):
        # Suffix i joins what is open; then what its successor does not share is closed.
        depth = lcp[i]
        before = symbols[suffixes[i] - 1] if suffixes[i] else -2
        left = cython.cast(cython.int, i)
        if depth > stack[1, top]:
            top += 1
            stack[0, top] = left
            stack[1, top] = depth
            stack[2, top] = 0
            stack[3, top] = -1
        context = stack[3, top]
        stack[3, top] = before if context == -1 or context == before else -2
        document = documents[suffixes[i]]
        seen = last[document]
        if seen >= 0:
            low = 0
            high = top
            while low < high:
                middle = (low + high + 1) // 2
                if stack[0, middle] <= seen:
                    low = middle
                else:
                    high = middle - 1
            stack[2, low] += 1
        last[document] = left
        while stack[1, top] > depth:
            length = stack[1, top]
            seen = left - stack[0, top] + 1 - stack[2, top]
            if length >= least_length and seen >= least_documents and stack[3, top] == -2:
                if n_found < found.shape[0]:
                    found[n_found, 0] = stack[0, top]
                    found[n_found, 1] = left
                    found[n_found, 2] = length
                    found[n_found, 3] = seen
                n_found += 1
            if stack[1, top - 1] < depth:
                stack[1, top] = depth
            else:
                context = stack[3, top]
                stack[2, top - 1] += stack[2, top]
                top -= 1
                before = stack[3, top]
                stack[3, top] = context if before == -1 or before == context else -2
    return n_found


@cython.ccall
def standing(
    found: cython.const[cython.int][:, ::1],
    suffixes: cython.const[cython.int][::1],
    documents: cython.const[cython.int][::1],
    edges: cython.const[cython.uchar][::1],
    n_tokens: cython.const[cython.int][::1],
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
        for kind in range(8):
            counts[row, kind] = 0
        counts[row, 0] = found[row, 1] - found[row, 0] + 1
        counts[row, 7] = suffixes[found[row, 0]]
        share = 0
        for i in range(found[row, 0], found[row, 1] + 1):
            position = suffixes[i]
            document = documents[position]
            if position < counts[row, 7]:
                counts[row, 7] = position
            edge = (edges[position] & 1) | (edges[position + found[row, 2] - 1] & 2)
            for kind in range(1, 4):
                if edge & kind == kind:
                    counts[row, kind] += 1
                    if stamps[kind - 1, document] != row:
                        stamps[kind - 1, document] = cython.cast(cython.int, row)
                        counts[row, 3 + kind] += 1
            share += cython.cast(cython.double, found[row, 2]) / n_tokens[document]
        shares[row] = share / counts[row, 0]
