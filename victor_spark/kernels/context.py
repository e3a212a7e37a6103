# cython: language_level=3, infer_types=True
"""What a first guess says of a block's neighbours, elements and kin, as rows of features.

The names of the rows, in their order, and what they are for stand in model.revision; a paragraph's `places`
and `sums` are those of kernels.surroundings. Cython pure Python mode.
"""

import cython
from cython.cimports.victor_spark.kernels import num

num.check()

_FAR = cython.declare(cython.float, 1000.0)
_N_AROUND = cython.declare(cython.int, 4)


@cython.ccall
def of_blocks(
    guesses: cython.const[cython.float][::1],
    logits: cython.const[cython.float][::1],
    n_words: cython.const[cython.int][::1],
    of_block: cython.const[cython.int][::1],
    masses: cython.double[:, ::1],
    rows: cython.float[:, ::1],
) -> cython.int:
    """Fills `rows` with the logits of the guesses two blocks before to two after, and `masses`.

    Words count one tenth more than they are, so that blocks without any count, too.
    """
    n: cython.Py_ssize_t = logits.shape[0]
    for by in range(-2, 3):
        for i in range(n):
            rows[by + 2, i] = logits[i + by] if 0 <= i + by < n else -9.0
    for i in range(masses.shape[1]):
        masses[num.MASS_CONTENT, i] = 0.0
        masses[num.MASS_WORDS, i] = 0.0
    for i in range(n):
        weight = n_words[i] + 0.1
        masses[num.MASS_CONTENT, of_block[i]] += weight * guesses[i]
        masses[num.MASS_WORDS, of_block[i]] += weight
    return 5


@cython.ccall
def of_paragraphs(
    masses: cython.const[cython.double][:, ::1],
    places: cython.const[cython.int][:, ::1],
    last_inside: cython.const[cython.int][::1],
    scratch: cython.double[:, ::1],
    elements: cython.double[:, ::1],
    rows: cython.float[:, ::1],
    page: cython.float[::1],
) -> cython.int:
    """Fills `rows`, a column a paragraph, and `page`, one number for all blocks.

    `scratch` (4, n_paragraphs) and `elements` (4, n_elements) are scratch space. Returns how many rows.
    """
    n: cython.Py_ssize_t = masses.shape[1]
    first: cython.Py_ssize_t = 0
    last: cython.Py_ssize_t = 0
    after_lowest: cython.Py_ssize_t = 0
    total: cython.double = 0.0
    words: cython.double = 0.0
    weight: cython.double
    lowest: cython.double = 0.0
    highest: cython.double = 0.0
    running: cython.double = 0.0
    inside: cython.double = 0.0
    most: cython.float = 0.0
    since: cython.float = _FAR
    n_good: cython.int = 0
    for p in range(n):
        total += masses[num.MASS_CONTENT, p]
        words += masses[num.MASS_WORDS, p]
        rows[0, p] = masses[num.MASS_CONTENT, p] / masses[num.MASS_WORDS, p]
        if rows[0, p] > most:
            most = rows[0, p]
        if rows[0, p] > 0.5:
            n_good += 1
    total = total if total > 1e-9 else 1e-9
    r = 1
    for by in range(-4, 5):  # the neighbours' guesses
        if by:
            for p in range(n):
                rows[r, p] = rows[0, p + by] if 0 <= p + by < n else -1.0
            r += 1
    for p in range(n):  # running totals for the windows, and the best run of likely paragraphs
        weight = masses[num.MASS_WORDS, p] if masses[num.MASS_WORDS, p] < 60.0 else 60.0
        scratch[0, p] = (scratch[0, p - 1] if p else 0.0) + weight * rows[0, p]
        scratch[1, p] = (scratch[1, p - 1] if p else 0.0) + weight
        if running < lowest:
            lowest = running
            after_lowest = p
        running += weight * (rows[0, p] - 0.5)
        if p == 0 or running - lowest > highest:
            highest = running - lowest
            first = after_lowest
            last = p
    for k in range(3):
        by = 3 if k == 0 else 8 if k == 1 else 25
        for p in range(n):
            low = p - by
            high = p + by if p + by < n else n - 1
            weight = scratch[1, high]
            running = scratch[0, high]
            if low > 0:
                weight -= scratch[1, low - 1]
                running -= scratch[0, low - 1]
            rows[r, p] = running / weight
        r += 1
    running = 0.0
    for p in range(n):  # how much of the content stands before and after; the way to the best run
        rows[r + num.GUESS_BEFORE, p] = running / total
        running += masses[num.MASS_CONTENT, p]
        rows[r + num.GUESS_AFTER, p] = (total - running) / total
        rows[r + num.GUESS_RUN, p] = p - first if p < first else p - last if p > last else 0
        if first <= p <= last:
            inside += masses[num.MASS_CONTENT, p]
        since = 0.0 if rows[0, p] > 0.5 else since + 1.0 if since < _FAR else _FAR
        rows[r + num.GUESS_SINCE, p] = since
    since = _FAR
    for q in range(n):
        p = n - 1 - q
        since = 0.0 if rows[0, p] > 0.5 else since + 1.0 if since < _FAR else _FAR
        rows[r + num.GUESS_UNTIL, p] = since
    r = _of_elements(masses, places, last_inside, total, elements, rows, r + num.GUESS_UNTIL + 1)
    r = _of_kin(masses, places, num.PLACE_PATH, total, scratch, rows, r)
    r = _of_kin(masses, places, num.PLACE_CLASS, total, scratch, rows, r)
    page[num.GUESS_PAGE_WORDS] = total
    page[num.GUESS_PAGE_SHARE] = total / words
    page[num.GUESS_PAGE_PARAGRAPHS] = n_good
    page[num.GUESS_PAGE_MOST] = most
    page[num.GUESS_PAGE_RUN] = inside / total
    return cython.cast(cython.int, r)


@cython.ccall
def doubt(
    guesses: cython.const[cython.float][::1],
    others: cython.const[cython.float][::1],
    logs: cython.const[cython.float][::1],
    logs_of_others: cython.const[cython.float][::1],
    words: cython.const[cython.int][::1],
) -> cython.double:
    """The mean entropy of the guesses, in nats, by words; `others` are 1 - `guesses`."""
    entropy: cython.float
    sum_of_entropies: cython.double = 0.0
    weights: cython.double = 0.0
    for i in range(guesses.shape[0]):
        entropy = guesses[i] * logs[i]
        entropy += others[i] * logs_of_others[i]
        sum_of_entropies -= entropy * (words[i] + 0.1)
        weights += words[i] + 0.1
    return sum_of_entropies / weights


@cython.cfunc
def _of_elements(
    masses: cython.const[cython.double][:, ::1],
    places: cython.const[cython.int][:, ::1],
    last_inside: cython.const[cython.int][::1],
    total: cython.double,
    elements: cython.double[:, ::1],
    rows: cython.float[:, ::1],
    r: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """For each of the elements around a paragraph how likely its words are content, and its share of
    the page's content; then for each but the outermost how likely the rest of the next one is."""
    n: cython.Py_ssize_t = masses.shape[1]
    n_elements: cython.Py_ssize_t = elements.shape[1]
    for k in range(4):
        for e in range(n_elements):
            elements[k, e] = 0.0
    for p in range(n):
        e = places[num.PLACE_ELEMENT, p]
        elements[2, e] += masses[num.MASS_CONTENT, p]
        elements[3, e] += masses[num.MASS_WORDS, p]
    for e in range(1, n_elements):
        elements[2, e] += elements[2, e - 1]
        elements[3, e] += elements[3, e - 1]
    for e in range(n_elements):
        p = last_inside[e]
        if p >= n_elements or e == 0:
            p = n_elements - 1
        for k in range(2):
            elements[k, e] = elements[2 + k, p] - (elements[2 + k, e - 1] if e else 0.0)
    for k in range(_N_AROUND):
        for p in range(n):
            e = places[num.PLACE_ELEMENT + k, p]
            rows[r, p] = elements[0, e] / (elements[1, e] if elements[1, e] > 1e-9 else 1e-9)
            rows[r + 1, p] = elements[0, e] / total
        r += 2
    for k in range(1, _N_AROUND):
        for p in range(n):
            e = places[num.PLACE_ELEMENT + k, p]
            inner = places[num.PLACE_ELEMENT + k - 1, p]
            words = elements[1, e] - elements[1, inner]
            rows[r, p] = (elements[0, e] - elements[0, inner]) / words if words > 1e-6 else -1.0
        r += 1
    return r


@cython.cfunc
def _of_kin(
    masses: cython.const[cython.double][:, ::1],
    places: cython.const[cython.int][:, ::1],
    kin: cython.Py_ssize_t,
    total: cython.double,
    scratch: cython.double[:, ::1],
    rows: cython.float[:, ::1],
    r: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """How likely the paragraphs of the same kin are content, their share of it, and the others of them."""
    n: cython.Py_ssize_t = masses.shape[1]
    for p in range(n):
        scratch[2, p] = 0.0
        scratch[3, p] = 0.0
    for p in range(n):
        g = places[kin, p]
        scratch[2, g] += masses[num.MASS_CONTENT, p]
        scratch[3, g] += masses[num.MASS_WORDS, p]
    for p in range(n):
        g = places[kin, p]
        rows[r, p] = scratch[2, g] / scratch[3, g]
        rows[r + 1, p] = scratch[2, g] / total
        others = scratch[3, g] - masses[num.MASS_WORDS, p]
        rows[r + 2, p] = (scratch[2, g] - masses[num.MASS_CONTENT, p]) / others if others > 1e-6 else -1.0
    return r + 3
