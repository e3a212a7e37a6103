# cython: language_level=3, infer_types=True
"""The best monotone alignment of a page's words with its gold words, in pairs of equal words.

Every matched pair scores 1 and every run of pairs (consecutive on both sides) costs `open_cost`.
Only pairs of equal words are visited (after Hunt and Szymanski, 1977), so the time is
O(pairs · log gold) instead of O(page · gold). Cython pure Python mode.
"""

import cython


@cython.ccall
def align(
    page: cython.const[cython.int][::1],
    first: cython.const[cython.int][::1],
    positions: cython.const[cython.int][::1],
    pair_rows: cython.int[::1],
    links: cython.int[::1],
    thresholds: cython.int[:, ::1],
    runs: cython.int[:, ::1],
    matched: cython.int[::1],
    open_cost: cython.int,
) -> cython.int:
    """Fills `matched` (a row a page word: its gold position, or -1); returns the alignment's score.

    `page` holds word ids, -1 for words without a partner; the gold positions of word w, ascending,
    are `positions[first[w]:first[w + 1]]`. Work space: `pair_rows` and `links` have an entry per
    pair, `thresholds` (2, n_gold + 2) and `runs` (3, n_gold) whatever content.
    """
    n_page: cython.Py_ssize_t = page.shape[0]
    n_pairs: cython.int = 0
    best: cython.int = 0

    # thresholds[0, s]: the earliest gold position where a prefix alignment scores s, ending with
    # the pair thresholds[1, s]; s ascending means positions ascending. runs[:, p]: the last page
    # word paired with gold position p, the best score of a run that ends there, and its pair.
    thresholds[0, 0] = -1
    thresholds[1, 0] = -1
    for k in range(runs.shape[1]):
        runs[0, k] = -2

    for i in range(n_page):
        matched[i] = -1
        w = page[i]
        if w < 0:
            continue
        # Descending, so that this row's own updates are not seen by its other pairs.
        for k in range(first[w + 1] - 1, first[w] - 1, -1):
            p = positions[k]
            low = 0
            high = best
            while low < high:  # the last score reached before p
                middle = (low + high + 1) // 2
                if thresholds[0, middle] < p:
                    low = middle
                else:
                    high = middle - 1
            score = cython.cast(cython.int, low) + 1 - open_cost
            link = thresholds[1, low]
            if p > 0 and runs[0, p - 1] == i - 1 and runs[1, p - 1] + 1 >= score:
                score = runs[1, p - 1] + 1
                link = runs[2, p - 1]
            pair_rows[n_pairs] = cython.cast(cython.int, i)
            links[n_pairs] = link
            runs[0, p] = cython.cast(cython.int, i)
            runs[1, p] = score
            runs[2, p] = n_pairs
            if score > 0 and (score > best or p <= thresholds[0, score]):
                thresholds[0, score] = p
                thresholds[1, score] = n_pairs
                best = max(best, score)
            n_pairs += 1

    # Back along the links. The pairs of a row were written with descending gold positions.
    pair = thresholds[1, best]
    while pair >= 0:
        i = pair_rows[pair]
        w = page[i]
        k = pair
        while k > 0 and pair_rows[k - 1] == i:
            k -= 1
        matched[i] = positions[first[w + 1] - 1 - (pair - k)]
        pair = links[pair]
    return best
