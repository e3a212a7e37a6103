"""Two alignments of words: Ratcliff–Obershelp matching, and the best monotone alignment of a page with gold.

`match` takes the longest common run, and then matches the parts to its left and right in the same way. The
blocks are those of difflib's SequenceMatcher without junk: of several longest runs, the one that starts
earliest in `a`, then earliest in `b`. A suffix automaton of the shorter side finds the length of the longest
run, in linear time if each symbol is followed by few different ones. One sweep takes all runs of this length
that the definition takes one after the other, so that the parts between them have shorter runs only: the
depth is then at most √(2n); that of difflib is n.

In `align`, every matched pair scores 1 and every run of pairs (consecutive on both sides) costs `open_cost`.
Only pairs of equal words are visited (after Hunt and Szymanski, 1977), so the time is O(pairs · log gold)
instead of O(page · gold). Cython pure Python mode.
"""

import cython
from cython import Py_ssize_t
from cython.cimports.victor_spark.kernels import num

num.check()

_NO_ROW = cython.declare(cython.int, -2)  # of no page word, nor the one before the first


@cython.ccall
def match(
    a: num.Ints,
    b: num.Ints,
    root: cython.int[::1],
    states: cython.int[:, ::1],
    edges: cython.int[:, ::1],
    ends: cython.int[:, ::1],
    pending: cython.int[:, ::1],
    found: cython.int[:, ::1],
) -> cython.int:
    """Writes the blocks to `found` (rows: start in a, start in b, length; unordered); returns how many.

    `a` and `b` hold symbols 0..n_symbols - 1. The other arrays are work space; with s the shorter and l the
    longer length, the shapes are: `root` (n_symbols,), filled with -1 before and after; `states` (4, 2s + 2);
    `edges` (3, 3s + 4); `ends` (4, l + 1); `pending` (4, s + 2); `found` (3, s).
    """
    n_found: cython.int = 0
    j: cython.int
    a_high: cython.int = cython.cast(cython.int, a.shape[0])
    b_high: cython.int = cython.cast(cython.int, b.shape[0])
    n_pending: cython.int = _with_parts(pending, 0, 0, a_high, 0, b_high)
    while n_pending:
        n_pending -= 1
        a_low = pending[num.PENDING_A_LOW, n_pending]
        a_high = pending[num.PENDING_A_HIGH, n_pending]
        b_low = pending[num.PENDING_B_LOW, n_pending]
        b_high = pending[num.PENDING_B_HIGH, n_pending]
        # Rows ENDS_A and ENDS_B: for each position of a and of b the automaton's state for the run of
        # the longest length that ends there, or -1.
        if a_high - a_low <= b_high - b_low:
            longest = _runs(a, a_low, a_high, b, b_low, b_high, root, states, edges, ends, num.ENDS_A)
        else:
            longest = _runs(b, b_low, b_high, a, a_low, a_high, root, states, edges, ends, num.ENDS_B)
        if longest == 0:
            continue
        # Per state the ends in b of its run, ascending: STATE_END the first, ENDS_NEXT the next.
        for i in range(a_low, a_high):
            if ends[num.ENDS_A, i] >= 0:
                states[num.STATE_END, ends[num.ENDS_A, i]] = -1
        for j in range(b_low, b_high):
            if ends[num.ENDS_B, j] >= 0:
                states[num.STATE_END, ends[num.ENDS_B, j]] = -1
        for j in range(b_high - 1, b_low - 1, -1):
            state = ends[num.ENDS_B, j]
            if state >= 0:
                ends[num.ENDS_NEXT, j] = states[num.STATE_END, state]
                states[num.STATE_END, state] = j
        a_done = a_low
        b_done: cython.int = b_low
        i = a_low + longest - 1
        while i < a_high:
            state = ends[num.ENDS_A, i]
            j = -1
            if state >= 0:
                j = states[num.STATE_END, state]
                while j >= 0 and j - longest + 1 < b_done:
                    j = ends[num.ENDS_NEXT, j]
                states[num.STATE_END, state] = j
            if j < 0:
                i += 1
                continue
            found[num.FOUND_A, n_found] = i - longest + 1
            found[num.FOUND_B, n_found] = j - longest + 1
            found[num.FOUND_LENGTH, n_found] = longest
            n_found += 1
            if longest > 1:
                n_pending = _with_parts(pending, n_pending, a_done, i - longest + 1, b_done, j - longest + 1)
            a_done = i + 1
            b_done = j + 1
            i += longest
        if longest > 1:
            n_pending = _with_parts(pending, n_pending, a_done, a_high, b_done, b_high)
    return n_found


@cython.cfunc
@cython.inline
def _with_parts(
    pending: cython.int[:, ::1],
    n_pending: cython.int,
    a_low: cython.int,
    a_high: cython.int,
    b_low: cython.int,
    b_high: cython.int,
) -> cython.int:
    """Adds a part of `a` and one of `b` that are to be matched, unless one is empty; how many are pending."""
    if a_low >= a_high or b_low >= b_high:
        return n_pending
    pending[num.PENDING_A_LOW, n_pending] = a_low
    pending[num.PENDING_A_HIGH, n_pending] = a_high
    pending[num.PENDING_B_LOW, n_pending] = b_low
    pending[num.PENDING_B_HIGH, n_pending] = b_high
    return n_pending + 1


@cython.cfunc
def _runs(
    short: num.Ints,
    s_low: cython.int,
    s_high: cython.int,
    other: num.Ints,
    o_low: cython.int,
    o_high: cython.int,
    root: cython.int[::1],
    states: cython.int[:, ::1],
    edges: cython.int[:, ::1],
    ends: cython.int[:, ::1],
    s_row: cython.int,
) -> cython.int:
    """The length of the longest run that two segments share; fills `ends` with the states of such runs.

    `s_row` is the row of `ends` for `short`. If nothing is shared, returns 0 and leaves `ends` as it is.
    """
    longest: cython.int = 0
    o_row: cython.int = 1 - s_row

    _build(short, s_low, s_high, root, states, edges)
    state: cython.int = 0
    length: cython.int = 0
    for i in range(o_low, o_high):
        target = root[other[i]] if state == 0 else _target(states, edges, state, other[i])
        while target < 0 and state != 0:
            state = states[num.STATE_LINK, state]
            length = states[num.STATE_LENGTH, state]
            target = root[other[i]] if state == 0 else _target(states, edges, state, other[i])
        if target >= 0:
            state = target
            length += 1
        ends[o_row, i] = state
        ends[num.ENDS_LENGTH, i] = length
        if length > longest:
            longest = length
    if longest:
        for i in range(o_low, o_high):
            if ends[num.ENDS_LENGTH, i] != longest:
                ends[o_row, i] = -1
        state = 0
        length = 0
        for i in range(s_low, s_high):
            state = root[short[i]] if state == 0 else _target(states, edges, state, short[i])
            length += 1
            while states[num.STATE_LENGTH, states[num.STATE_LINK, state]] >= longest:
                state = states[num.STATE_LINK, state]
                length = states[num.STATE_LENGTH, state]
            if length > longest:
                length = longest
            ends[s_row, i] = state if length == longest else -1
    for i in range(s_low, s_high):
        root[short[i]] = -1
    return longest


@cython.cfunc
def _build(
    text: num.Ints,
    low: cython.int,
    high: cython.int,
    root: cython.int[::1],
    states: cython.int[:, ::1],
    edges: cython.int[:, ::1],
) -> cython.void:
    """Builds the suffix automaton of text[low:high] (Blumer et al., 1985).

    The rows of `states`: length of the longest string, suffix link, first edge. The rows of `edges`: symbol,
    target, next edge. The edges of state 0 are in `root`.
    """
    n_states: cython.int = 1
    n_edges: cython.int = 0
    last: cython.int = 0

    states[num.STATE_LENGTH, 0] = 0
    states[num.STATE_LINK, 0] = -1
    states[num.STATE_EDGE, 0] = -1
    for i in range(low, high):
        symbol = text[i]
        new = n_states
        n_states += 1
        states[num.STATE_LENGTH, new] = states[num.STATE_LENGTH, last] + 1
        states[num.STATE_EDGE, new] = -1
        state: cython.int = last
        target = -1
        while state >= 0:
            target = root[symbol] if state == 0 else _target(states, edges, state, symbol)
            if target >= 0:
                break
            if state == 0:
                root[symbol] = new
            else:
                _add_edge(states, edges, n_edges, state, symbol, new)
                n_edges += 1
            state = states[num.STATE_LINK, state]
        if state < 0:
            states[num.STATE_LINK, new] = 0
        elif states[num.STATE_LENGTH, target] == states[num.STATE_LENGTH, state] + 1:
            states[num.STATE_LINK, new] = target
        else:
            clone = n_states
            n_states += 1
            states[num.STATE_LENGTH, clone] = states[num.STATE_LENGTH, state] + 1
            states[num.STATE_LINK, clone] = states[num.STATE_LINK, target]
            states[num.STATE_EDGE, clone] = -1
            edge: cython.int = states[num.STATE_EDGE, target]
            while edge >= 0:
                _add_edge(
                    states, edges, n_edges, clone, edges[num.EDGE_SYMBOL, edge], edges[num.EDGE_TARGET, edge]
                )
                n_edges += 1
                edge = edges[num.EDGE_NEXT, edge]
            states[num.STATE_LINK, target] = clone
            states[num.STATE_LINK, new] = clone
            while state > 0:
                edge = _edge(states, edges, state, symbol)
                if edge < 0 or edges[num.EDGE_TARGET, edge] != target:
                    break
                edges[num.EDGE_TARGET, edge] = clone
                state = states[num.STATE_LINK, state]
            if state == 0 and root[symbol] == target:
                root[symbol] = clone
        last = new


@cython.cfunc
@cython.inline
def _add_edge(
    states: cython.int[:, ::1],
    edges: cython.int[:, ::1],
    edge: cython.int,
    state: cython.int,
    symbol: cython.int,
    target: cython.int,
) -> cython.void:
    """Puts an edge in front of the others of a state."""
    edges[num.EDGE_SYMBOL, edge] = symbol
    edges[num.EDGE_TARGET, edge] = target
    edges[num.EDGE_NEXT, edge] = states[num.STATE_EDGE, state]
    states[num.STATE_EDGE, state] = edge


@cython.cfunc
@cython.inline
@cython.exceptval(-2, check=True)  # -1 is a result
def _edge(
    states: cython.int[:, ::1], edges: cython.int[:, ::1], state: cython.int, symbol: cython.int
) -> cython.int:
    """The edge `symbol` of a state other than the root; -1 if there is no such edge."""
    edge: cython.int = states[num.STATE_EDGE, state]
    while edge >= 0 and edges[num.EDGE_SYMBOL, edge] != symbol:
        edge = edges[num.EDGE_NEXT, edge]
    return edge


@cython.cfunc
@cython.inline
@cython.exceptval(-2, check=True)  # -1 is a result
def _target(
    states: cython.int[:, ::1], edges: cython.int[:, ::1], state: cython.int, symbol: cython.int
) -> cython.int:
    """The target of that edge, or -1."""
    edge = _edge(states, edges, state, symbol)
    return edges[num.EDGE_TARGET, edge] if edge >= 0 else -1


@cython.ccall
def align(
    page: num.Ints,
    first: num.Ints,
    positions: num.Ints,
    pair_rows: cython.int[::1],
    links: cython.int[::1],
    thresholds: cython.int[:, ::1],
    runs: cython.int[:, ::1],
    matched: cython.int[::1],
    open_cost: cython.int,
) -> cython.int:
    """Fills `matched` with the gold position of each page word, or -1; returns the alignment's score.

    `page` holds word ids, -1 for words that the gold lacks. The gold positions of word w, ascending, are
    `positions[first[w]:first[w + 1]]`. Work space with any content: `pair_rows` and `links` (n pairs),
    `thresholds` (2, n_gold + 2), `runs` (3, n_gold).
    """
    n_page: Py_ssize_t = page.shape[0]
    n_pairs: cython.int = 0
    best: cython.int = 0

    # Thresholds of s: the earliest gold position where a prefix alignment scores s, and the pair that it ends
    # with; s ascending means positions ascending. Runs of p: the last page word paired with gold position p,
    # the best score of a run that ends there, and its pair.
    thresholds[num.THRESHOLD_POSITION, 0] = -1
    thresholds[num.THRESHOLD_PAIR, 0] = -1
    for k in range(runs.shape[1]):
        runs[num.ALIGNED_ROW, k] = _NO_ROW

    for i in range(n_page):
        matched[i] = -1
        w = page[i]
        if w < 0:
            continue
        # In descending order, so that a pair of this word does not change the scores of its other pairs.
        for k in range(first[w + 1] - 1, first[w] - 1, -1):
            p = positions[k]
            low = 0
            high = best
            while low < high:  # the last score reached before p
                middle = (low + high + 1) // 2
                if thresholds[num.THRESHOLD_POSITION, middle] < p:
                    low = middle
                else:
                    high = middle - 1
            score = cython.cast(cython.int, low) + 1 - open_cost
            link = thresholds[num.THRESHOLD_PAIR, low]
            goes_on: cython.bint = p > 0 and runs[num.ALIGNED_ROW, p - 1] == i - 1
            if goes_on and runs[num.ALIGNED_SCORE, p - 1] + 1 >= score:
                score = runs[num.ALIGNED_SCORE, p - 1] + 1
                link = runs[num.ALIGNED_PAIR, p - 1]
            pair_rows[n_pairs] = cython.cast(cython.int, i)
            links[n_pairs] = link
            runs[num.ALIGNED_ROW, p] = cython.cast(cython.int, i)
            runs[num.ALIGNED_SCORE, p] = score
            runs[num.ALIGNED_PAIR, p] = n_pairs
            if score > 0 and (score > best or p <= thresholds[num.THRESHOLD_POSITION, score]):
                thresholds[num.THRESHOLD_POSITION, score] = p
                thresholds[num.THRESHOLD_PAIR, score] = n_pairs
                best = max(best, score)
            n_pairs += 1

    # Back along the links. The pairs of a row were written with descending gold positions.
    pair = thresholds[num.THRESHOLD_PAIR, best]
    while pair >= 0:
        i = pair_rows[pair]
        w = page[i]
        k = pair
        while k > 0 and pair_rows[k - 1] == i:
            k -= 1
        matched[i] = positions[first[w + 1] - 1 - (pair - k)]
        pair = links[pair]
    return best
