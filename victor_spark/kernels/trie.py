# cython: language_level=3, infer_types=True
"""Many strings of symbols matched at once, where a token can be several symbols: itself and what it is like.

The trie's nodes: node 0 is the root; children of node v are `children[heads[v]:heads[v + 1]]`, whose
symbols, in ascending order, are `symbols` at the same places. Cython pure Python mode.
"""

import cython


@cython.ccall
def build(
    strings: cython.const[cython.int][::1],
    firsts: cython.const[cython.int][::1],
    symbols: cython.int[::1],
    parents: cython.int[::1],
    ends: cython.int[::1],
) -> cython.int:
    """The trie of sorted, distinct strings (string i: strings[firsts[i]:firsts[i + 1]]); its number of nodes.

    Writes each node's symbol and parent, in depth-first order, and the node where each string ends.
    `symbols` and `parents` have room for all symbols plus the root.
    """
    n: cython.int = 1
    symbols[0] = -1
    parents[0] = -1
    for row in range(firsts.shape[0] - 1):
        start = firsts[row]
        stop = firsts[row + 1]
        common = 0
        node = 0
        if row:
            before = firsts[row - 1]
            while (
                common < stop - start
                and before + common < start
                and (strings[before + common] == strings[start + common])
            ):
                common += 1
            # The previous string's path: climb from its end to the depth that is shared.
            node = ends[row - 1]
            for _climbed in range(start - before - common):
                node = parents[node]
        for i in range(start + common, stop):
            symbols[n] = strings[i]
            parents[n] = node
            node = n
            n += 1
        ends[row] = node
    return n


@cython.ccall
def spans(
    tokens: cython.const[cython.int][::1],
    edges: cython.const[cython.uchar][::1],
    set_heads: cython.const[cython.int][::1],
    set_symbols: cython.const[cython.int][::1],
    heads: cython.const[cython.int][::1],
    children: cython.const[cython.int][::1],
    symbols: cython.const[cython.int][::1],
    strings: cython.const[cython.int][::1],
    following: cython.const[cython.int][::1],
    anchors: cython.const[cython.uchar][::1],
    except_from: cython.int,
    last: cython.int[::1],
    stack: cython.int[:, ::1],
    covered: cython.int[::1],
) -> cython.Py_ssize_t:
    """For each token, where the longest match that starts there ends (0: none starts); how many matches.

    Token i stands for the symbols of set `tokens[i]`. `strings[v]`: a string that ends at node v, -1:
    none; `following[string]`: another that ends there; `anchors[string]`: 1 for only where it begins a
    line, 2 for only where it ends one. Matches of one string do not overlap, the leftmost first, as
    Python's `finditer` has it: `last`, a zero a string. Strings numbered `except_from` or higher don't
    count. `stack` has two rows, of nodes + 1 columns.
    """
    n: cython.Py_ssize_t = 0
    n_tokens: cython.int = cython.cast(cython.int, tokens.shape[0])
    string: cython.int
    low: cython.int
    high: cython.int
    middle: cython.int
    for start in range(n_tokens):
        covered[start] = 0
        stack[0, 0] = 0
        stack[1, 0] = start
        top = 1
        while top:
            top -= 1
            node = stack[0, top]
            position = stack[1, top]
            string = strings[node]
            while string >= 0:
                if (
                    string < except_from
                    and start >= last[string]
                    and (not anchors[string] & 1 or edges[start] & 1)
                    and (not anchors[string] & 2 or edges[position - 1] & 2)
                ):
                    last[string] = position
                    n += 1
                    if position > covered[start]:
                        covered[start] = position
                string = following[string]
            if position == n_tokens:
                continue
            for i in range(set_heads[tokens[position]], set_heads[tokens[position] + 1]):
                symbol = set_symbols[i]
                low = heads[node]
                high = heads[node + 1]
                while low < high:
                    middle = (low + high) // 2
                    if symbols[middle] < symbol:
                        low = middle + 1
                    else:
                        high = middle
                if low < heads[node + 1] and symbols[low] == symbol:
                    stack[0, top] = children[low]
                    stack[1, top] = position + 1
                    top += 1
    return n
