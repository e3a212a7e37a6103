# cython: language_level=3
"""What stands around a block: paragraphs, elements, windows, runs and kin, as rows of features.

The names of the rows, in their order, and what they mean stand in model.surroundings. A paragraph is a run
of blocks without a paragraph break; an element is a block-level element. Cython pure Python mode.
"""

import cython

N_PLACES = 8
"""Rows of `places`: first block, element, the three elements around it, path and class kin, own number."""

N_SUMS = 3
"""Rows of `sums`: words, words in links, sentences."""

_FAR = cython.declare(cython.float, 1000.0)
_N_AROUND = cython.declare(cython.int, 4)


@cython.ccall
def layout(
    paragraph: cython.const[cython.int][::1],
    n_words: cython.const[cython.int][::1],
    linked: cython.const[cython.uchar][::1],
    n_sentences: cython.const[cython.int][::1],
    parent_block: cython.const[cython.int][::1],
    elements: cython.const[cython.int][:, ::1],
    path: cython.const[cython.ulonglong][::1],
    class_path: cython.const[cython.ulonglong][::1],
    of_block: cython.int[::1],
    places: cython.int[:, ::1],
    sums: cython.double[:, ::1],
    key: cython.ulonglong,
    slots: cython.int[::1],
) -> cython.longlong:
    """Fills the paragraph of each block, and `places` and `sums`, a column a paragraph.

    `slots` is scratch for a hash table: a power of two, at least twice the number of blocks; `key`, odd,
    decides where in it a hash goes. Returns
    n_paragraphs, and how many elements matter (one more than the last that holds a paragraph) * 2**32.
    """
    n: cython.Py_ssize_t = paragraph.shape[0]
    i: cython.Py_ssize_t
    p: cython.Py_ssize_t = -1
    last_element: cython.int = 0
    element: cython.int
    around: cython.int
    for i in range(n):
        if i == 0 or paragraph[i] != paragraph[i - 1]:
            p += 1
            element = parent_block[i]
            if element > last_element:
                last_element = element
            places[0, p] = cython.cast(cython.int, i)
            places[1, p] = element
            for around in range(1, _N_AROUND):
                element = elements[0, element]
                places[1 + around, p] = element
            sums[0, p] = 0.0
            sums[1, p] = 0.0
            sums[2, p] = 0.0
        of_block[i] = cython.cast(cython.int, p)
        sums[0, p] += n_words[i]
        if linked[i]:
            sums[1, p] += n_words[i]
        sums[2, p] += n_sentences[i]
    _group(path, places, 5, p + 1, key, slots)
    _group(class_path, places, 6, p + 1, key, slots)
    return (cython.cast(cython.longlong, last_element + 1) << 32) | (p + 1)


@cython.cfunc
def _group(
    hashes: cython.const[cython.ulonglong][::1],
    places: cython.int[:, ::1],
    row: cython.Py_ssize_t,
    n: cython.Py_ssize_t,
    key: cython.ulonglong,
    slots: cython.int[::1],
) -> cython.int:
    """places[row, p]: the number (0, 1, …) of the hash that paragraph p's first block has."""
    mask: cython.ulonglong = cython.cast(cython.ulonglong, slots.shape[0] - 1)
    all_bits: cython.ulonglong = 18446744073709551615
    prime: cython.ulonglong = 15485907386658061715
    code: cython.ulonglong
    slot: cython.ulonglong
    p: cython.Py_ssize_t
    n_groups: cython.int = 0
    for p in range(slots.shape[0]):
        slots[p] = -1
    for p in range(n):
        code = hashes[places[0, p]]
        slot = ((code ^ key) * prime) & all_bits
        slot = ((slot ^ (slot >> 32)) * key) & all_bits
        slot = ((((slot ^ (slot >> 32)) * prime) & all_bits) >> 32) & mask
        while slots[slot] >= 0 and hashes[places[0, slots[slot]]] != code:
            slot = (slot + 1) & mask
        if slots[slot] < 0:
            slots[slot] = cython.cast(cython.int, p)
            places[row, p] = n_groups
            n_groups += 1
        else:
            places[row, p] = places[row, slots[slot]]
    return n_groups


@cython.ccall
def of_elements(
    places: cython.const[cython.int][:, ::1],
    sums: cython.const[cython.double][:, ::1],
    last_inside: cython.const[cython.int][::1],
    n: cython.Py_ssize_t,
    table: cython.double[:, ::1],
) -> cython.int:
    """Fills `table` (6, n_elements): inside each element words, linked words, paragraphs; the share of
    words in links; score; and how much of the best score that is. Returns the element with the best.

    The score says how much unlinked text stands right inside an element (the idea of readability): a
    paragraph counts for the element around its own, half for the next; links inside scale it down.
    """
    n_elements: cython.Py_ssize_t = table.shape[1]
    p: cython.Py_ssize_t
    e: cython.Py_ssize_t
    k: cython.Py_ssize_t
    best: cython.Py_ssize_t = 0
    plain: cython.double
    score: cython.double
    total: cython.double
    for k in range(6):
        for e in range(n_elements):
            table[k, e] = 0.0
    for p in range(n):
        plain = sums[0, p] - sums[1, p]
        score = plain - 3.0 * sums[1, p] - 4.0
        if score > 80.0:
            score = 80.0
        if score > 0.0:
            table[4, places[2, p]] += score
            table[4, places[3, p]] += 0.5 * score
        e = places[1, p]
        table[0, e] += sums[0, p]
        table[1, e] += sums[1, p]
        table[2, e] += 1.0
    for k in range(3):  # running totals, then what stands between an element and the last inside it
        total = 0.0
        for e in range(n_elements):
            total += table[k, e]
            table[k, e] = total
        for e in range(n_elements):
            p = last_inside[e]
            if p >= n_elements:
                p = n_elements - 1
            table[3, e] = table[k, p] - (table[k, e - 1] if e else 0.0)
        table[3, 0] = total
        for e in range(n_elements):
            table[k, e] = table[3, e]
    table[4, 0] *= 0.1
    for e in range(n_elements):
        table[3, e] = table[1, e] / (table[0, e] if table[0, e] > 1.0 else 1.0)
        table[4, e] *= 1.0 - table[3, e]
        if table[4, e] > table[4, best]:
            best = e
    score = table[4, best] if table[4, best] > 1e-9 else 1e-9
    for e in range(n_elements):
        table[5, e] = table[4, e] / score
    return cython.cast(cython.int, best)


@cython.cfunc
def _best_run(
    values: cython.double[:, ::1],
    row: cython.Py_ssize_t,
    n: cython.Py_ssize_t,
    runs: cython.int[:, ::1],
    run: cython.Py_ssize_t,
) -> cython.int:
    """Fills runs[run]: first and last place of the run of values[row] with the highest sum."""
    p: cython.Py_ssize_t
    total: cython.double = 0.0
    lowest: cython.double = 0.0
    highest: cython.double = 0.0
    after_lowest: cython.Py_ssize_t = 0
    for p in range(n):
        if total < lowest:
            lowest = total
            after_lowest = p
        total += values[row, p]
        if p == 0 or total - lowest > highest:
            highest = total - lowest
            runs[run, 0] = cython.cast(cython.int, after_lowest)
            runs[run, 1] = cython.cast(cython.int, p)
    return 0


@cython.ccall
def of_paragraphs(
    places: cython.const[cython.int][:, ::1],
    sums: cython.const[cython.double][:, ::1],
    elements: cython.const[cython.double][:, ::1],
    heading_level: cython.const[cython.int][::1],
    last_inside: cython.const[cython.int][::1],
    best: cython.Py_ssize_t,
    n: cython.Py_ssize_t,
    n_blocks: cython.Py_ssize_t,
    spans: cython.const[cython.double][:, ::1],
    scratch: cython.double[:, ::1],
    runs: cython.int[:, ::1],
    rows: cython.float[:, ::1],
    page: cython.float[::1],
) -> cython.int:
    """Fills `rows`, a column a paragraph, and `page`, one number for all blocks.

    `spans` holds most words that a paragraph counts for, words that it costs, and what a linked word
    costs, of each kind of run; `scratch` (5, n) and `runs` (1 + len(spans), 2) are scratch space.
    """
    p: cython.Py_ssize_t
    q: cython.Py_ssize_t
    e: cython.Py_ssize_t
    k: cython.Py_ssize_t
    r: cython.Py_ssize_t
    by: cython.Py_ssize_t
    low: cython.Py_ssize_t
    high: cython.Py_ssize_t
    total: cython.double
    linked: cython.double
    most: cython.double
    cost: cython.double
    link_cost: cython.double
    all_words: cython.double = elements[0, 0]
    all_plain: cython.double = 0.0
    longest: cython.double = 0.0
    n_long: cython.int = 0
    since_heading: cython.float = _FAR
    since_h1: cython.float = _FAR
    since_long: cython.float = _FAR
    level: cython.int
    for p in range(n):
        scratch[0, p] = sums[0, p] - sums[1, p]  # words outside links
        scratch[1, p] = sums[1, p] / (sums[0, p] if sums[0, p] > 1.0 else 1.0)  # share of words in links
        all_plain += scratch[0, p]
        if scratch[0, p] > longest:
            longest = scratch[0, p]
        if scratch[0, p] >= 25.0:
            n_long += 1
        high = places[0, p + 1] if p + 1 < n else n_blocks
        rows[0, p] = sums[0, p]
        rows[1, p] = scratch[0, p]
        rows[2, p] = scratch[1, p]
        rows[3, p] = high - places[0, p]
        rows[4, p] = sums[2, p]
        rows[5, p] = cython.cast(cython.double, p) / n
    r = 6
    for by in range(-3, 4):  # neighbours' words, then their links
        if by:
            for p in range(n):
                rows[r, p] = sums[0, p + by] if 0 <= p + by < n else -1.0
            r += 1
    for by in range(-2, 3):
        if by:
            for p in range(n):
                rows[r, p] = scratch[1, p + by] if 0 <= p + by < n else -1.0
            r += 1
    total = 0.0
    linked = 0.0
    for p in range(n):  # running totals for the windows
        total += scratch[0, p] if scratch[0, p] < 100.0 else 100.0
        linked += scratch[1, p]
        scratch[2, p] = total
        scratch[3, p] = linked
    for k in range(3):
        by = 2 if k == 0 else 5 if k == 1 else 15
        for p in range(n):
            low = p - by
            high = p + by if p + by < n else n - 1
            total = scratch[2, high]
            linked = scratch[3, high]
            if low > 0:
                total -= scratch[2, low - 1]
                linked -= scratch[3, low - 1]
            else:
                low = 0
            rows[r, p] = total / (high - low + 1)
            rows[r + 1, p] = linked / (high - low + 1)
        r += 2
    runs[0, 0] = -1
    high = last_inside[best] if best else 2147483647
    for p in range(n):  # the paragraphs inside the best element
        if best <= places[1, p] <= high:
            if runs[0, 0] < 0:
                runs[0, 0] = cython.cast(cython.int, p)
            runs[0, 1] = cython.cast(cython.int, p)
    if runs[0, 0] < 0:
        runs[0, 0] = 0
        runs[0, 1] = cython.cast(cython.int, n - 1)
    for k in range(spans.shape[0]):
        most = spans[k, 0]
        cost = spans[k, 1]
        link_cost = spans[k, 2]
        for p in range(n):
            total = scratch[0, p] if scratch[0, p] < most else most
            linked = sums[1, p] if sums[1, p] < most else most
            scratch[4, p] = total - cost - link_cost * linked
        _best_run(scratch, 4, n, runs, k + 1)
    for k in range(runs.shape[0]):
        low = runs[k, 0]
        high = runs[k, 1]
        total = 0.0
        for p in range(n):
            rows[r, p] = p - low if p < low else p - high if p > high else 0
            if low <= p <= high:
                total += scratch[0, p]
        page[k] = total / (all_plain if all_plain > 1.0 else 1.0)
        r += 1
    r = _kin(places, sums, n, 5, all_words, scratch, rows, r)
    r = _kin(places, sums, n, 6, all_words, scratch, rows, r)
    for p in range(n):
        level = heading_level[places[0, p]]
        since_heading = 0.0 if level > 0 else since_heading + 1.0 if since_heading < _FAR else _FAR
        since_h1 = 0.0 if level == 1 else since_h1 + 1.0 if since_h1 < _FAR else _FAR
        since_long = 0.0 if scratch[0, p] >= 25.0 else since_long + 1.0 if since_long < _FAR else _FAR
        rows[r, p] = since_heading
        rows[r + 1, p] = since_h1
        rows[r + 2, p] = since_long
    since_long = _FAR
    for q in range(n):
        p = n - 1 - q
        since_long = 0.0 if scratch[0, p] >= 25.0 else since_long + 1.0 if since_long < _FAR else _FAR
        rows[r + 3, p] = since_long
    r += 4
    for k in range(_N_AROUND):
        for p in range(n):
            e = places[1 + k, p]
            rows[r, p] = elements[0, e]
            rows[r + 1, p] = elements[3, e]
            rows[r + 2, p] = elements[0, e] / (all_words if all_words > 1.0 else 1.0)
            rows[r + 3, p] = elements[5, e]
            rows[r + 4, p] = elements[2, e]
        r += 5
    k = runs.shape[0]
    page[k] = all_words
    page[k + 1] = elements[1, 0] / (all_words if all_words > 1.0 else 1.0)
    page[k + 2] = n
    page[k + 3] = n_long
    page[k + 4] = longest
    page[k + 5] = all_plain / n
    page[k + 6] = elements[4, best]
    return cython.cast(cython.int, r)


@cython.cfunc
def _kin(
    places: cython.const[cython.int][:, ::1],
    sums: cython.const[cython.double][:, ::1],
    n: cython.Py_ssize_t,
    row: cython.Py_ssize_t,
    all_words: cython.double,
    scratch: cython.double[:, ::1],
    rows: cython.float[:, ::1],
    r: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """Four rows from `r` on: how many paragraphs are of the same kin, their mean words, links, share."""
    p: cython.Py_ssize_t
    g: cython.Py_ssize_t
    for p in range(n):
        scratch[2, p] = 0.0
        scratch[3, p] = 0.0
        scratch[4, p] = 0.0
    for p in range(n):
        g = places[row, p]
        scratch[2, g] += 1.0
        scratch[3, g] += sums[0, p]
        scratch[4, g] += sums[1, p]
    for p in range(n):
        g = places[row, p]
        rows[r, p] = scratch[2, g]
        rows[r + 1, p] = scratch[3, g] / scratch[2, g]
        rows[r + 2, p] = scratch[4, g] / (scratch[3, g] if scratch[3, g] > 1.0 else 1.0)
        rows[r + 3, p] = scratch[3, g] / (all_words if all_words > 1.0 else 1.0)
    return r + 4


@cython.ccall
def spread(
    table: cython.const[cython.float][:, ::1],
    of_block: cython.const[cython.int][::1],
    page: cython.const[cython.float][::1],
    first: cython.Py_ssize_t,
    rows: cython.float[:, ::1],
) -> cython.int:
    """Copies each row of a table of paragraphs to their blocks, then each number of the page to all blocks.

    The rows from `first` on are filled. Returns the row after the last.
    """
    k: cython.Py_ssize_t
    i: cython.Py_ssize_t
    for k in range(table.shape[0]):
        for i in range(of_block.shape[0]):
            rows[first + k, i] = table[k, of_block[i]]
    first += table.shape[0]
    for k in range(page.shape[0]):
        for i in range(of_block.shape[0]):
            rows[first + k, i] = page[k]
    return cython.cast(cython.int, first + page.shape[0])
