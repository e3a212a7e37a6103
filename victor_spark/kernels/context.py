"""Rows of features from a first guess of which blocks are content: of a block's neighbours, elements and kin.

model.revision has the names of the rows, in their order, and says what they are for; a paragraph's `places`
and `sums` are those of kernels.surroundings. Cython pure Python mode.
"""

import cython
from cython import Py_ssize_t
from cython.cimports.victor_spark.kernels import num

num.check()

_FARTHEST = cython.declare(cython.float, num.FARTHEST)
_NO_PARAGRAPH = cython.declare(cython.float, num.NO_PARAGRAPH)
_NO_LOGIT = cython.declare(cython.float, -9.0)  # of a block that isn't there
_LIKELY = cython.declare(cython.double, 0.5)  # a guess above it is one of content
_MOST_WORDS = cython.declare(cython.double, 60.0)  # of a paragraph, in windows and runs
_EXTRA_WORDS = cython.declare(cython.double, 0.1)  # of each block, so that those without words count, too
_LEAST_DIVISOR = cython.declare(cython.double, 1e-9)  # a number of words
_LEAST_REST = cython.declare(cython.double, 1e-6)  # words of other paragraphs; fewer are rounding errors


@cython.ccall
def of_blocks(
    guesses: num.Floats,
    logits: num.Floats,
    n_words: num.Ints,
    of_block: num.Ints,
    masses: cython.double[:, ::1],
    rows: cython.float[:, ::1],
) -> cython.void:
    """Fills `rows` with the logits of the guesses two blocks before to two after, and `masses`.

    A block counts as many words as it has, and _EXTRA_WORDS.
    """
    n: Py_ssize_t = logits.shape[0]
    for by in range(-num.BLOCK_GUESS_REACH, num.BLOCK_GUESS_REACH + 1):
        for i in range(n):
            rows[by + num.BLOCK_GUESS_REACH, i] = logits[i + by] if 0 <= i + by < n else _NO_LOGIT
    for i in range(masses.shape[1]):
        masses[num.MASS_CONTENT, i] = 0.0
        masses[num.MASS_WORDS, i] = 0.0
    for i in range(n):
        weight = n_words[i] + _EXTRA_WORDS
        masses[num.MASS_CONTENT, of_block[i]] += weight * guesses[i]
        masses[num.MASS_WORDS, of_block[i]] += weight


@cython.ccall
def of_paragraphs(
    masses: num.DoubleRows,
    places: num.IntRows,
    last_inside: num.Ints,
    scratch: cython.double[:, ::1],
    elements: cython.double[:, ::1],
    rows: cython.float[:, ::1],
    page: cython.float[::1],
) -> cython.void:
    """Fills `rows`, a column a paragraph, and `page`, one number for all blocks.

    `scratch` (num.GUESS_SCRATCH, n_paragraphs) and `elements` (num.GUESS_ELEMENTS, n_elements) are scratch
    space.
    """
    n: Py_ssize_t = masses.shape[1]
    total: cython.double = 0.0
    words: cython.double = 0.0
    weighted: cython.double = 0.0
    weights: cython.double = 0.0
    most: cython.float = 0.0
    n_good: cython.int = 0
    for p in range(n):
        total += masses[num.MASS_CONTENT, p]
        words += masses[num.MASS_WORDS, p]
        rows[num.OWN_GUESS, p] = masses[num.MASS_CONTENT, p] / masses[num.MASS_WORDS, p]
        most = max(most, rows[num.OWN_GUESS, p])
        n_good += rows[num.OWN_GUESS, p] > _LIKELY
        weight: cython.double = min(masses[num.MASS_WORDS, p], _MOST_WORDS)
        weighted += weight * rows[num.OWN_GUESS, p]
        weights += weight
        scratch[num.GUESS_SCRATCH_CONTENT_UP_TO, p] = weighted
        scratch[num.GUESS_SCRATCH_WORDS_UP_TO, p] = weights
    total = max(total, _LEAST_DIVISOR)
    r = num.OWN_GUESS + 1
    for by in range(-num.GUESS_REACH, num.GUESS_REACH + 1):  # the neighbours' guesses
        if by:
            for p in range(n):
                rows[r, p] = rows[num.OWN_GUESS, p + by] if 0 <= p + by < n else _NO_PARAGRAPH
            r += 1
    for k in range(num.N_WINDOWS):
        reach = (
            num.GUESS_WINDOW_NEAR if k == 0 else num.GUESS_WINDOW_MIDDLE if k == 1 else num.GUESS_WINDOW_FAR
        )
        for p in range(n):
            low = p - reach
            high = p + reach if p + reach < n else n - 1
            weight = scratch[num.GUESS_SCRATCH_WORDS_UP_TO, high]
            weighted = scratch[num.GUESS_SCRATCH_CONTENT_UP_TO, high]
            if low > 0:
                weight -= scratch[num.GUESS_SCRATCH_WORDS_UP_TO, low - 1]
                weighted -= scratch[num.GUESS_SCRATCH_CONTENT_UP_TO, low - 1]
            rows[r, p] = weighted / weight
        r += 1
    page[num.GUESS_PAGE_RUN] = _of_run(masses, total, rows, r)
    r = _of_elements(masses, places, last_inside, total, elements, rows, r + num.GUESS_UNTIL + 1)
    r = _of_kin(masses, places, num.PLACE_PATH, total, scratch, rows, r)
    _of_kin(masses, places, num.PLACE_CLASS, total, scratch, rows, r)
    page[num.GUESS_PAGE_WORDS] = total
    page[num.GUESS_PAGE_SHARE] = total / words
    page[num.GUESS_PAGE_PARAGRAPHS] = n_good
    page[num.GUESS_PAGE_MOST] = most


@cython.cfunc
def _of_run(
    masses: num.DoubleRows, total: cython.double, rows: cython.float[:, ::1], r: Py_ssize_t
) -> cython.float:
    """Fills the rows num.GUESS from `r` on; returns the share of the content that the best run has.

    The rows are the content before and after, and the distances to the best run of likely paragraphs and to
    the likely paragraphs before and after.
    """
    n: Py_ssize_t = masses.shape[1]
    first: Py_ssize_t = 0
    last: Py_ssize_t = 0
    after_lowest: Py_ssize_t = 0
    lowest: cython.double = 0.0
    highest: cython.double = 0.0
    running: cython.double = 0.0
    inside: cython.double = 0.0
    since: cython.float = _FARTHEST
    for p in range(n):
        if running < lowest:
            lowest = running
            after_lowest = p
        running += min(masses[num.MASS_WORDS, p], _MOST_WORDS) * (rows[num.OWN_GUESS, p] - _LIKELY)
        if p == 0 or running - lowest > highest:
            highest = running - lowest
            first = after_lowest
            last = p
    running = 0.0
    for p in range(n):
        rows[r + num.GUESS_BEFORE, p] = running / total
        running += masses[num.MASS_CONTENT, p]
        rows[r + num.GUESS_AFTER, p] = (total - running) / total
        rows[r + num.GUESS_RUN, p] = p - first if p < first else p - last if p > last else 0
        if first <= p <= last:
            inside += masses[num.MASS_CONTENT, p]
        since = 0.0 if rows[num.OWN_GUESS, p] > _LIKELY else since + 1.0 if since < _FARTHEST else _FARTHEST
        rows[r + num.GUESS_SINCE, p] = since
    since = _FARTHEST
    for q in range(n):
        p = n - 1 - q
        since = 0.0 if rows[num.OWN_GUESS, p] > _LIKELY else since + 1.0 if since < _FARTHEST else _FARTHEST
        rows[r + num.GUESS_UNTIL, p] = since
    return cython.cast(cython.float, inside / total)


@cython.ccall
def doubt(
    guesses: num.Floats, others: num.Floats, logs: num.Floats, logs_of_others: num.Floats, words: num.Ints
) -> cython.double:
    """The mean entropy of the guesses, in nats, by words; `others` are 1 - `guesses`."""
    sum_of_entropies: cython.double = 0.0
    weights: cython.double = 0.0
    for i in range(guesses.shape[0]):
        entropy: cython.float = guesses[i] * logs[i]
        entropy += others[i] * logs_of_others[i]
        sum_of_entropies -= entropy * (words[i] + _EXTRA_WORDS)
        weights += words[i] + _EXTRA_WORDS
    return sum_of_entropies / weights


@cython.cfunc
def _of_elements(
    masses: num.DoubleRows,
    places: num.IntRows,
    last_inside: num.Ints,
    total: cython.double,
    elements: cython.double[:, ::1],
    rows: cython.float[:, ::1],
    r: Py_ssize_t,
) -> Py_ssize_t:
    """Two rows for each of the elements around a paragraph: how likely its words are content, and its share
    of the page's content. Then one for each but the innermost: how likely the words that it has more are.
    """
    n: Py_ssize_t = masses.shape[1]
    n_elements: Py_ssize_t = elements.shape[1]
    for k in range(elements.shape[0]):
        for e in range(n_elements):
            elements[k, e] = 0.0
    for p in range(n):
        e = places[num.PLACE_ELEMENT, p]
        elements[num.GUESS_ELEMENT_CONTENT_UP_TO, e] += masses[num.MASS_CONTENT, p]
        elements[num.GUESS_ELEMENT_WORDS_UP_TO, e] += masses[num.MASS_WORDS, p]
    for k in range(num.GUESS_ELEMENT_CONTENT_UP_TO, num.GUESS_ELEMENT_WORDS_UP_TO + 1):
        for e in range(1, n_elements):
            elements[k, e] += elements[k, e - 1]
        for e in range(n_elements):
            last = last_inside[e] if 0 < e and last_inside[e] < n_elements else n_elements - 1
            inside = elements[k, last] - (elements[k, e - 1] if e else 0.0)
            elements[k - num.GUESS_ELEMENT_CONTENT_UP_TO, e] = inside
    for k in range(num.N_AROUND):
        for p in range(n):
            e = places[num.PLACE_ELEMENT + k, p]
            content: cython.double = elements[num.GUESS_ELEMENT_CONTENT, e]
            words: cython.double = elements[num.GUESS_ELEMENT_WORDS, e]
            rows[r, p] = content / (words if words > _LEAST_DIVISOR else _LEAST_DIVISOR)
            rows[r + 1, p] = content / total
        r += 2
    for k in range(1, num.N_AROUND):
        for p in range(n):
            e = places[num.PLACE_ELEMENT + k, p]
            inner = places[num.PLACE_ELEMENT + k - 1, p]
            content = elements[num.GUESS_ELEMENT_CONTENT, e] - elements[num.GUESS_ELEMENT_CONTENT, inner]
            words = elements[num.GUESS_ELEMENT_WORDS, e] - elements[num.GUESS_ELEMENT_WORDS, inner]
            rows[r, p] = content / words if words > _LEAST_REST else _NO_PARAGRAPH
        r += 1
    return r


@cython.cfunc
def _of_kin(
    masses: num.DoubleRows,
    places: num.IntRows,
    kin: Py_ssize_t,
    total: cython.double,
    scratch: cython.double[:, ::1],
    rows: cython.float[:, ::1],
    r: Py_ssize_t,
) -> Py_ssize_t:
    """How likely the paragraphs of the same kin are content, their share of it, and the others of them."""
    n: Py_ssize_t = masses.shape[1]
    for p in range(n):
        scratch[num.GUESS_SCRATCH_KIN_CONTENT, p] = 0.0
        scratch[num.GUESS_SCRATCH_KIN_WORDS, p] = 0.0
    for p in range(n):
        g = places[kin, p]
        scratch[num.GUESS_SCRATCH_KIN_CONTENT, g] += masses[num.MASS_CONTENT, p]
        scratch[num.GUESS_SCRATCH_KIN_WORDS, g] += masses[num.MASS_WORDS, p]
    for p in range(n):
        content: cython.double = scratch[num.GUESS_SCRATCH_KIN_CONTENT, places[kin, p]]
        words: cython.double = scratch[num.GUESS_SCRATCH_KIN_WORDS, places[kin, p]]
        rows[r + num.GUESS_KIN_MEAN, p] = content / words
        rows[r + num.GUESS_KIN_SHARE, p] = content / total
        words -= masses[num.MASS_WORDS, p]
        content -= masses[num.MASS_CONTENT, p]
        rows[r + num.GUESS_KIN_OTHERS, p] = content / words if words > _LEAST_REST else _NO_PARAGRAPH
    return r + num.GUESS_KIN_OTHERS + 1
