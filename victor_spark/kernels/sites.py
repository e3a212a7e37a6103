"""A page and its site: the keys of its blocks, its contribution to the sums, the evidence of other pages.

kernels.num has the names of the rows; sites.evidence says what they mean. Cython pure Python mode.
"""

import cython
from cython import Py_ssize_t
from cython.cimports.libc.math import exp, floor, log, sqrt
from cython.cimports.victor_spark.kernels import num

num.check()

SCALE = 1024.0
"""Log-odds are rounded to multiples of 1 / SCALE."""
LEAST = 1e-6
"""Probabilities closer to 0 and 1 than this count as this far from them."""
MIN_CONTENT = 0.02
"""Texts with a lower P(content) are no keys: two thirds of all, which need no second reason to be dropped."""

_SCALE = cython.declare(cython.double, SCALE)
_LEAST = cython.declare(cython.double, LEAST)
_MOST_OTHER = cython.declare(cython.double, 1.0 - MIN_CONTENT)


@cython.cfunc
@cython.inline
def _log_odds(other: cython.double) -> cython.double:
    """The log-odds of content of a block by its P(other), finite."""
    other = min(max(other, _LEAST), 1.0 - _LEAST)
    return log((1.0 - other) / other)


@cython.ccall
def mean_log_odds(total: cython.longlong, n_pages: cython.longlong) -> cython.double:
    """The mean log-odds of content, from a sum over at least one page."""
    most = _log_odds(0.0)
    return min(max(total / (_SCALE * n_pages), -most), most)


@cython.ccall
def contribute(
    class_path: num.UInt64s,
    letters_hash: num.UInt64s,
    n_letters: num.Ints,
    n_words: num.Ints,
    marginals: num.DoubleRows,
    key: cython.ulonglong,
    slots: cython.int[::1],
    odds: cython.double[::1],
    means: cython.double[:, ::1],
    of_blocks: cython.int[:, ::1],
    keys: cython.ulonglong[::1],
    firsts: cython.int[::1],
    log_odds: cython.longlong[::1],
) -> Py_ssize_t:
    """Finds the distinct keys of a page, layouts first; returns how many there are.

    A block has the key of its layout, and one of its text there if that has letters and may be content.
    Fills `of_blocks` with the numbers of both (-1: no key), and for each key `keys`, the first block in
    `firsts`, and in `log_odds` the mean of its blocks' log-odds, weighted by the root of their words, as a
    multiple of 1 / SCALE. `key`: a random number of this process. `slots`: room for two keys a block, all -1;
    `odds`, `means`: work space.
    """
    n: Py_ssize_t = class_path.shape[0]
    n_keys: cython.int = 0
    mask: cython.ulonglong = cython.cast(cython.ulonglong, slots.shape[0] - 1)
    for kind in range(num.N_KEYED):
        for i in range(n):
            code = class_path[i]
            if kind == num.KEYED_LAYOUT:
                odds[i] = _log_odds(marginals[i, num.LABEL_OTHER])
            elif n_letters[i] > 0 and marginals[i, num.LABEL_OTHER] <= _MOST_OTHER:
                code = letters_hash[i] ^ (code * num.GOLDEN & num.ALL_64_BITS)
            else:
                of_blocks[kind, i] = -1
                continue
            code = (code << 1 | kind) & num.ALL_64_BITS
            slot = num.spread(code, key) & mask
            while slots[slot] >= 0 and keys[slots[slot]] != code:
                slot = (slot + 1) & mask
            if slots[slot] < 0:
                slots[slot] = n_keys
                keys[n_keys] = code
                firsts[n_keys] = cython.cast(cython.int, i)
                means[num.MEAN_WEIGHT, n_keys] = means[num.MEAN_SUM, n_keys] = 0.0
                n_keys += 1
            of_blocks[kind, i] = slots[slot]
            weight = sqrt(n_words[i] + 1.0)
            means[num.MEAN_WEIGHT, slots[slot]] += weight
            means[num.MEAN_SUM, slots[slot]] += weight * odds[i]
    for k in range(n_keys):
        mean = means[num.MEAN_SUM, k] / means[num.MEAN_WEIGHT, k]
        log_odds[k] = cython.cast(cython.longlong, floor(mean * _SCALE + 0.5))
    return n_keys


@cython.ccall
def compare(
    of_blocks: num.IntRows,
    keys: num.UInt64s,
    log_odds: cython.const[cython.longlong][::1],
    site_keys: num.UInt64s,
    site_sums: cython.const[cython.longlong][:, ::1],
    n_others: cython.double,
    is_among: cython.bint,
    n_pages: cython.longlong[::1],
    means: cython.double[::1],
    evidence: cython.float[:, ::1],
) -> cython.void:
    """Fills `evidence` (zeros) for the blocks of a page with the keys that `contribute` found.

    `site_keys` (ascending) and `site_sums` are those of the site, from which the page's own are subtracted if
    it `is_among` its pages; `n_others`: the number of other pages. `n_pages`, `means`: work space.
    """
    for k in range(keys.shape[0]):
        low: Py_ssize_t = 0
        high: Py_ssize_t = site_keys.shape[0]
        while low < high:
            middle = (low + high) >> 1
            if site_keys[middle] < keys[k]:
                low = middle + 1
            else:
                high = middle
        n_pages[k] = 0
        if low < site_keys.shape[0] and site_keys[low] == keys[k]:
            n_pages[k] = site_sums[num.SITE_N_PAGES, low] - is_among
            if n_pages[k] > 0:
                total = site_sums[num.SITE_LOG_ODDS, low] - (log_odds[k] if is_among else 0)
                means[k] = mean_log_odds(total, n_pages[k])
    for i in range(of_blocks.shape[1]):
        layout = of_blocks[num.KEYED_LAYOUT, i]
        text = of_blocks[num.KEYED_TEXT, i]
        if n_pages[layout] > 0:
            with_layout: cython.double = n_pages[layout]
            evidence[num.EVIDENCE_CONSENSUS, i] = means[layout]
            evidence[num.EVIDENCE_N_PAGES, i] = with_layout
            evidence[num.EVIDENCE_SHARE, i] = min(with_layout / n_others, 1.0)
            if text >= 0 and n_pages[text] > 0:
                evidence[num.EVIDENCE_REPEATS, i] = min(n_pages[text] / with_layout, 1.0)


@cython.cfunc
@cython.inline
def _level(n_pages: cython.double) -> cython.int:
    """How often a number of pages (whole, but for rounding) can be halved, plus 1; 0 for no page."""
    level: cython.int = 0
    n_pages += 0.01
    while n_pages >= 1.0:
        n_pages /= 2.0
        level += 1
    return level


@cython.ccall
def revise(
    marginals: num.DoubleRows,
    words: num.Doubles,
    paragraph: num.Ints,
    evidence: num.FloatRows,
    parameters: num.Doubles,
    odds: cython.double[::1],
    masses: cython.double[::1],
    revised: cython.double[:, ::1],
) -> cython.void:
    """Fills `revised` with the marginals after the evidence; `parameters`: those of a site model, in order.

    A repeated text loses log-odds by the share of the other blocks' likely content that is on fewer pages, by
    powers of two (`_level`). That share is 0 where a whole page is repeated: it is the same article at
    another address.
    The log-odds of a paragraph's blocks change alike, by the mean of the changes that the evidence of each
    makes, weighted by the root of its words; then each is calibrated. `odds`, `masses` (N_PAGE_LEVELS zeros):
    work space.
    """
    n: Py_ssize_t = words.shape[0]
    level: cython.int = 0
    mass: cython.double = 0.0
    for i in range(n):
        odds[i] = _log_odds(marginals[i, num.LABEL_OTHER])
        n_pages: cython.double = evidence[num.EVIDENCE_N_PAGES, i]
        if n_pages > 0.0:
            difference: cython.double = evidence[num.EVIDENCE_CONSENSUS, i] - odds[i]
            prior = parameters[num.PARAMETER_PRIOR_PAGES]
            if difference < 0.0:
                prior *= parameters[num.PARAMETER_DOUBT]
            odds[i] += parameters[num.PARAMETER_WEIGHT] * n_pages / max(n_pages + prior, 1.0) * difference
        likely = words[i] / (1.0 + exp(-odds[i]))
        mass += likely
        masses[_level(n_pages * evidence[num.EVIDENCE_REPEATS, i])] += likely
    for level in range(1, masses.shape[0]):
        masses[level] += masses[level - 1]
    first: Py_ssize_t = 0
    weights: cython.double = 0.0
    change: cython.double = 0.0
    for i in range(n):
        n_pages = evidence[num.EVIDENCE_N_PAGES, i]
        if n_pages > 0.0:
            others = mass - words[i] / (1.0 + exp(-odds[i]))
            level = _level(n_pages * evidence[num.EVIDENCE_REPEATS, i])
            among = min(masses[level - 1] / others, 1.0) if level and others > 0.0 else 0.0
            repeated = evidence[num.EVIDENCE_SHARE, i] * evidence[num.EVIDENCE_REPEATS, i] * among
            after = odds[i] - parameters[num.PARAMETER_REPEATED] * repeated
            weight = sqrt(words[i] + _LEAST)
            weights += weight
            change += weight * (after - _log_odds(marginals[i, num.LABEL_OTHER]))
        if i + 1 == n or paragraph[i + 1] != paragraph[i]:
            for k in range(first, i + 1):
                for label in range(num.N_LABELS):
                    revised[k, label] = marginals[k, label]
                if evidence[num.EVIDENCE_N_PAGES, k] > 0.0:
                    shifted = _log_odds(marginals[k, num.LABEL_OTHER]) + change / weights
                    _set(revised, k, parameters[num.PARAMETER_CALIBRATION] * shifted)
            first = i + 1
            weights = change = 0.0


@cython.cfunc
def _set(marginals: cython.double[:, ::1], i: Py_ssize_t, odds: cython.double) -> cython.void:
    """Gives a block new log-odds of content; the shares of header and text in its content stay."""
    before = marginals[i, num.LABEL_HEADER] + marginals[i, num.LABEL_TEXT]
    content = 1.0 / (1.0 + exp(-odds))
    header = content * (marginals[i, num.LABEL_HEADER] / before) if before > 0.0 else 0.0
    marginals[i, num.LABEL_HEADER] = header
    marginals[i, num.LABEL_TEXT] = content - header
    marginals[i, num.LABEL_OTHER] = 1.0 - content
