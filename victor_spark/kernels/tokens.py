"""Tokens of a text as code point spans, a vocabulary that numbers distinct ones, and tries of their strings.

A character's kind says where tokens end: kinds 0 (white space) and 1 (newline) stand between tokens, and
`divided[k1, k2]` says of two other characters next to each other whether a token ends between them (bit
1), and whether that counts as the end of a line too (bit 2).

Strings of these numbers are matched many at once, where a token can be several: itself and what it is like.
A trie's nodes: node 0 is the root; children of node v are `children[heads[v]:heads[v + 1]]`, whose symbols,
in ascending order, are `symbols` at the same places. Cython pure Python mode.
"""

import cython
from cython import Py_ssize_t
from cython.cimports.victor_spark.kernels import num

num.check()


@cython.ccall
def bounds(
    points: num.UInts,
    kinds: num.Bytes,
    divided: num.ByteRows,
    starts: cython.int[::1],
    ends: cython.int[::1],
    edges: cython.uchar[::1],
) -> cython.int:
    """Writes each token's span and edges (1: begins a line, 2: ends one); returns how many there are.

    A token begins a line when nothing or a newline stands right before it, and ends one alike. The
    outputs have room for one token per point.
    """
    n: cython.int = 0
    previous: cython.uchar = num.BETWEEN_NEWLINE
    inside: cython.bint = False
    for i in range(points.shape[0]):
        kind: cython.uchar = kinds[points[i]] if points[i] < num.N_CODE_POINTS else num.INSIDE
        if kind < num.INSIDE:
            if inside:
                ends[n] = cython.cast(cython.int, i)
                if kind == num.BETWEEN_NEWLINE or divided[previous, kind] & num.ENDS_LINE:
                    edges[n] |= num.ENDS_LINE
                n += 1
                inside = False
        elif not inside:
            starts[n] = cython.cast(cython.int, i)
            is_first: cython.bint = (
                previous == num.BETWEEN_NEWLINE or divided[num.BETWEEN_WHITE, kind] & num.ENDS_LINE != 0
            )
            edges[n] = num.BEGINS_LINE if is_first else 0
            inside = True
        else:
            rule = divided[previous, kind]
            if rule & num.ENDS_TOKEN:
                ends[n] = cython.cast(cython.int, i)
                edges[n] |= rule & num.ENDS_LINE
                n += 1
                starts[n] = cython.cast(cython.int, i)
                edges[n] = num.BEGINS_LINE if rule & num.ENDS_LINE else 0
        previous = kind
    if inside:
        ends[n] = cython.cast(cython.int, points.shape[0])
        edges[n] |= num.ENDS_LINE
        n += 1
    return n


@cython.ccall
def intern(
    points: num.UInts,
    starts: num.Ints,
    ends: num.Ints,
    keys: cython.ulonglong[:, ::1],
    slots: cython.int[::1],
    secret: cython.ulonglong,
    n_known: cython.int,
    ids: cython.int[::1],
    first: cython.int[::1],
) -> cython.int:
    """Numbers the tokens: known ones as before, new ones in order; returns how many are known then.

    A token is identified by 128 bits: `keys` has two numbers for each token. `slots` is their hash table (its
    length a power of two, at most half full, -1: free); `secret`, an odd number, changes the places in it.
    `first[k]`: the first token here that is the k-th new one.
    """
    mask: cython.ulonglong = cython.cast(cython.ulonglong, slots.shape[0] - 1)
    n: cython.int = n_known
    for token in range(starts.shape[0]):
        one = num.FNV_64_SEED
        two = num.GOLDEN
        for i in range(starts[token], ends[token]):
            one = (one ^ points[i]) * num.FNV_64_PRIME & num.ALL_64_BITS
            two = (two + points[i]) * num.MIXER & num.ALL_64_BITS
            two = two ^ (two >> 32)
        one = one ^ (one >> 29)
        slot = _mixed(one, two, secret) & mask
        while True:
            known = slots[slot]
            if known < 0:
                slots[slot] = n
                keys[n, num.KEY_ONE] = one
                keys[n, num.KEY_TWO] = two
                first[n - n_known] = cython.cast(cython.int, token)
                ids[token] = n
                n += 1
                break
            if keys[known, num.KEY_ONE] == one and keys[known, num.KEY_TWO] == two:
                ids[token] = known
                break
            slot = (slot + 1) & mask
    return n


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _mixed(one: cython.ulonglong, two: cython.ulonglong, secret: cython.ulonglong) -> cython.ulonglong:
    """32 bits that depend on all bits of a token's keys and of the secret: its place in the hash table.

    The secret stands between the keys, so that no tokens can be made that share a place for every secret.
    """
    mixed: cython.ulonglong = (((one ^ secret) * num.MIXER) ^ two) & num.ALL_64_BITS
    mixed = ((mixed ^ (mixed >> 32)) * secret) & num.ALL_64_BITS
    return (((mixed ^ (mixed >> 32)) * num.MIXER) & num.ALL_64_BITS) >> 32


@cython.ccall
def rehash(
    keys: num.UInt64Rows, secret: cython.ulonglong, n_known: cython.int, slots: cython.int[::1]
) -> cython.void:
    """Fills a larger `slots`, all -1, with the tokens known."""
    mask: cython.ulonglong = cython.cast(cython.ulonglong, slots.shape[0] - 1)
    for token in range(n_known):
        slot: cython.ulonglong = _mixed(keys[token, num.KEY_ONE], keys[token, num.KEY_TWO], secret) & mask
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = token


@cython.ccall
def spans(
    tokens: num.Ints,
    edges: num.Bytes,
    set_heads: num.Ints,
    set_symbols: num.Ints,
    heads: num.Ints,
    children: num.Ints,
    symbols: num.Ints,
    strings: num.Ints,
    following: num.Ints,
    anchors: num.Bytes,
    except_from: cython.int,
    last: cython.int[::1],
    stack: cython.int[:, ::1],
    covered: cython.int[::1],
) -> Py_ssize_t:
    """For each token, where the longest match that starts there ends (0: none starts); how many matches.

    Token i stands for the symbols of set `tokens[i]`. `strings[v]`: a string that ends at node v, -1:
    none; `following[string]`: another that ends there; `anchors[string]`: 1 for only where it begins a
    line, 2 for only where it ends one. Matches of one string do not overlap, the leftmost first, as
    Python's `finditer` has it: `last`, a zero a string. Strings numbered `except_from` or higher don't
    count. `stack` has two rows, of nodes + 1 columns.
    """
    n: Py_ssize_t = 0
    n_tokens: cython.int = cython.cast(cython.int, tokens.shape[0])
    for start in range(n_tokens):
        covered[start] = 0
        stack[num.VISIT_NODE, 0] = 0
        stack[num.VISIT_POSITION, 0] = start
        top = 1
        while top:
            top -= 1
            node = stack[num.VISIT_NODE, top]
            position = stack[num.VISIT_POSITION, top]
            string: cython.int = strings[node]
            while string >= 0:
                if (
                    string < except_from
                    and start >= last[string]
                    and (not anchors[string] & num.BEGINS_LINE or edges[start] & num.BEGINS_LINE)
                    and (not anchors[string] & num.ENDS_LINE or edges[position - 1] & num.ENDS_LINE)
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
                low: cython.int = heads[node]
                high = heads[node + 1]
                while low < high:
                    middle: cython.int = (low + high) // 2
                    if symbols[middle] < symbol:
                        low = middle + 1
                    else:
                        high = middle
                if low < heads[node + 1] and symbols[low] == symbol:
                    stack[num.VISIT_NODE, top] = children[low]
                    stack[num.VISIT_POSITION, top] = position + 1
                    top += 1
    return n
