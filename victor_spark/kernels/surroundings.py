"""Rows of features from the surroundings of a block: its paragraph, the paragraphs and elements around it.

kernels.num has the names of the rows, model.surroundings what they mean. A paragraph is a run of blocks
without a paragraph break; an element is a block-level element. Cython pure Python mode.
"""

import cython
from cython import Py_ssize_t
from cython.cimports.victor_spark.kernels import num

num.check()

_FARTHEST = cython.declare(cython.float, num.FARTHEST)
_NO_PARAGRAPH = cython.declare(cython.float, num.NO_PARAGRAPH)
_LONG_PARAGRAPH = cython.declare(cython.double, 25.0)  # words
_MOST_WORDS = cython.declare(cython.double, 100.0)  # of a paragraph, in windows
# The score of a paragraph: its words, less these.
_COST_OF_PARAGRAPH = cython.declare(cython.double, 4.0)
_LINK_COST = cython.declare(cython.double, 3.0)  # for each word in a link
_MOST_SCORE = cython.declare(cython.double, 80.0)
_PART_OF_NEXT = cython.declare(cython.double, 0.5)  # of the score, what the next element outwards gets
_PART_OF_PAGE = cython.declare(cython.double, 0.1)  # of the page's own score, what counts
_LEAST_SCORE = cython.declare(cython.double, 1e-9)  # as a divisor
_LAST_ELEMENT = cython.declare(cython.int, 2147483647)


@cython.cfunc
def _of_elements(
    places: num.IntRows, sums: num.DoubleRows, last_inside: num.Ints, table: cython.double[:, ::1]
) -> Py_ssize_t:
    """Fills `table` (num.ELEMENT_SUMS, n_elements); returns the element with the best score.

    The sums are those of all that stands inside an element. Its score says how much unlinked text stands
    directly inside it (the idea of readability): a paragraph counts for the element around its own, and half
    for the next; the share of words in links scales the score down.
    """
    n_elements: Py_ssize_t = table.shape[1]
    best: Py_ssize_t = 0
    for k in range(table.shape[0]):
        for e in range(n_elements):
            table[k, e] = 0.0
    for p in range(sums.shape[1]):
        plain: cython.double = sums[num.SUM_WORDS, p] - sums[num.SUM_LINKED, p]
        score: cython.double = plain - _LINK_COST * sums[num.SUM_LINKED, p] - _COST_OF_PARAGRAPH
        score = min(score, _MOST_SCORE)
        if score > 0.0:
            table[num.ELEMENT_SCORE, places[num.PLACE_ELEMENT_1, p]] += score
            table[num.ELEMENT_SCORE, places[num.PLACE_ELEMENT_2, p]] += _PART_OF_NEXT * score
        e = places[num.PLACE_ELEMENT, p]
        table[num.ELEMENT_WORDS, e] += sums[num.SUM_WORDS, p]
        table[num.ELEMENT_LINKED, e] += sums[num.SUM_LINKED, p]
        table[num.ELEMENT_PARAGRAPHS, e] += 1.0
    # The sums of words, linked words and paragraphs inside: differences of running totals. The column of the
    # link share holds them until it is filled itself.
    for k in range(num.ELEMENT_PARAGRAPHS + 1):
        total: cython.double = 0.0
        for e in range(n_elements):
            total += table[k, e]
            table[k, e] = total
        for e in range(n_elements):
            p = min(last_inside[e], n_elements - 1)
            table[num.ELEMENT_LINK_SHARE, e] = table[k, p] - (table[k, e - 1] if e else 0.0)
        table[num.ELEMENT_LINK_SHARE, 0] = total
        for e in range(n_elements):
            table[k, e] = table[num.ELEMENT_LINK_SHARE, e]
    table[num.ELEMENT_SCORE, 0] *= _PART_OF_PAGE
    for e in range(n_elements):
        words: cython.double = max(table[num.ELEMENT_WORDS, e], 1.0)
        table[num.ELEMENT_LINK_SHARE, e] = table[num.ELEMENT_LINKED, e] / words
        table[num.ELEMENT_SCORE, e] *= 1.0 - table[num.ELEMENT_LINK_SHARE, e]
        if table[num.ELEMENT_SCORE, e] > table[num.ELEMENT_SCORE, best]:
            best = e
    score = max(table[num.ELEMENT_SCORE, best], _LEAST_SCORE)
    for e in range(n_elements):
        table[num.ELEMENT_OF_BEST, e] = table[num.ELEMENT_SCORE, e] / score
    return best


@cython.ccall
def of_paragraphs(
    places: num.IntRows,
    sums: num.DoubleRows,
    last_inside: num.Ints,
    heading_level: num.Ints,
    spans: num.DoubleRows,
    elements: cython.double[:, ::1],
    scratch: cython.double[:, ::1],
    runs: cython.int[:, ::1],
    rows: cython.float[:, ::1],
    page: cython.float[::1],
) -> cython.void:
    """Fills `rows`, a column a paragraph, and `page`, one number for all blocks.

    `spans` holds most words that a paragraph counts for, words that it costs, and what a linked word costs,
    of each kind of run; `elements` (num.ELEMENT_SUMS, n_elements), `scratch` (num.SCRATCH, n_paragraphs) and
    `runs` (1 + len(spans), 2) are scratch.
    """
    n: Py_ssize_t = sums.shape[1]
    n_blocks: Py_ssize_t = heading_level.shape[0]
    best = _of_elements(places, sums, last_inside, elements)
    all_words: cython.double = elements[num.ELEMENT_WORDS, 0]
    all_plain: cython.double = _own(places, sums, n, n_blocks, scratch, rows)
    r: Py_ssize_t = num.PARAGRAPH_POSITION + 1
    r = _neighbours(sums, num.SUM_WORDS, n, num.WORDS_REACH, rows, r)
    r = _neighbours(scratch, num.SCRATCH_LINKS, n, num.LINKS_REACH, rows, r)
    r = _windows(n, scratch, rows, r)
    _find_runs(places, sums, last_inside, best, n, spans, scratch, runs)
    for k in range(runs.shape[0]):
        low = runs[k, num.RUN_FIRST]
        high = runs[k, num.RUN_LAST]
        plain: cython.double = 0.0
        for p in range(n):
            rows[r, p] = p - low if p < low else p - high if p > high else 0
            if low <= p <= high:
                plain += scratch[num.SCRATCH_PLAIN, p]
        page[k] = plain / max(all_plain, 1.0)
        r += 1
    r = _kin(places, sums, n, num.PLACE_PATH, all_words, scratch, rows, r)
    r = _kin(places, sums, n, num.PLACE_CLASS, all_words, scratch, rows, r)
    r = _since(places, heading_level, n, scratch, rows, r)
    _around(places, elements, n, rows, r)
    longest: cython.double = 0.0
    n_long: cython.int = 0
    for p in range(n):
        longest = max(longest, scratch[num.SCRATCH_PLAIN, p])
        n_long += scratch[num.SCRATCH_PLAIN, p] >= _LONG_PARAGRAPH
    k = runs.shape[0]
    page[k + num.PAGE_WORDS] = all_words
    page[k + num.PAGE_LINKS] = elements[num.ELEMENT_LINKED, 0] / max(all_words, 1.0)
    page[k + num.PAGE_PARAGRAPHS] = n
    page[k + num.PAGE_LONG] = n_long
    page[k + num.PAGE_LONGEST] = longest
    page[k + num.PAGE_MEAN] = all_plain / n
    page[k + num.PAGE_SCORE] = elements[num.ELEMENT_SCORE, best]


@cython.cfunc
def _own(
    places: num.IntRows,
    sums: num.DoubleRows,
    n: Py_ssize_t,
    n_blocks: Py_ssize_t,
    scratch: cython.double[:, ::1],
    rows: cython.float[:, ::1],
) -> cython.double:
    """The rows num.PARAGRAPH: what a paragraph has itself. Returns the words outside links of all."""
    all_plain: cython.double = 0.0
    for p in range(n):
        plain: cython.double = sums[num.SUM_WORDS, p] - sums[num.SUM_LINKED, p]
        links: cython.double = sums[num.SUM_LINKED, p] / max(sums[num.SUM_WORDS, p], 1.0)
        scratch[num.SCRATCH_PLAIN, p] = plain
        scratch[num.SCRATCH_LINKS, p] = links
        all_plain += plain
        high = places[num.PLACE_BLOCK, p + 1] if p + 1 < n else n_blocks
        rows[num.PARAGRAPH_WORDS, p] = sums[num.SUM_WORDS, p]
        rows[num.PARAGRAPH_PLAIN, p] = plain
        rows[num.PARAGRAPH_LINKS, p] = links
        rows[num.PARAGRAPH_BLOCKS, p] = high - places[num.PLACE_BLOCK, p]
        rows[num.PARAGRAPH_SENTENCES, p] = sums[num.SUM_SENTENCES, p]
        rows[num.PARAGRAPH_POSITION, p] = cython.cast(cython.double, p) / n
    return all_plain


@cython.cfunc
def _neighbours(
    values: num.DoubleRows,
    row: Py_ssize_t,
    n: Py_ssize_t,
    reach: Py_ssize_t,
    rows: cython.float[:, ::1],
    r: Py_ssize_t,
) -> Py_ssize_t:
    """A row for each of the `reach` paragraphs before and after: values[row] of it."""
    for by in range(-reach, reach + 1):
        if by:
            for p in range(n):
                rows[r, p] = values[row, p + by] if 0 <= p + by < n else _NO_PARAGRAPH
            r += 1
    return r


@cython.cfunc
def _windows(
    n: Py_ssize_t, scratch: cython.double[:, ::1], rows: cython.float[:, ::1], r: Py_ssize_t
) -> Py_ssize_t:
    """Two rows for each window: the means of words outside links and of the share of words in links."""
    plain: cython.double = 0.0
    links: cython.double = 0.0
    for p in range(n):  # running totals
        plain += min(scratch[num.SCRATCH_PLAIN, p], _MOST_WORDS)
        links += scratch[num.SCRATCH_LINKS, p]
        scratch[num.SCRATCH_PLAIN_UP_TO, p] = plain
        scratch[num.SCRATCH_LINKS_UP_TO, p] = links
    for k in range(num.N_WINDOWS):
        reach = num.WINDOW_NEAR if k == 0 else num.WINDOW_MIDDLE if k == 1 else num.WINDOW_FAR
        for p in range(n):
            low = p - reach
            high = p + reach if p + reach < n else n - 1
            plain = scratch[num.SCRATCH_PLAIN_UP_TO, high]
            links = scratch[num.SCRATCH_LINKS_UP_TO, high]
            if low > 0:
                plain -= scratch[num.SCRATCH_PLAIN_UP_TO, low - 1]
                links -= scratch[num.SCRATCH_LINKS_UP_TO, low - 1]
            else:
                low = 0
            rows[r + num.WINDOW_PLAIN, p] = plain / (high - low + 1)
            rows[r + num.WINDOW_LINKS, p] = links / (high - low + 1)
        r += num.WINDOW_LINKS + 1
    return r


@cython.cfunc
def _find_runs(
    places: num.IntRows,
    sums: num.DoubleRows,
    last_inside: num.Ints,
    best: Py_ssize_t,
    n: Py_ssize_t,
    spans: num.DoubleRows,
    scratch: cython.double[:, ::1],
    runs: cython.int[:, ::1],
) -> cython.void:
    """Fills `runs`: first the paragraphs inside the best element, then the best run of each kind."""
    runs[0, num.RUN_FIRST] = -1
    last = last_inside[best] if best else _LAST_ELEMENT
    for p in range(n):
        if best <= places[num.PLACE_ELEMENT, p] <= last:
            if runs[0, num.RUN_FIRST] < 0:
                runs[0, num.RUN_FIRST] = cython.cast(cython.int, p)
            runs[0, num.RUN_LAST] = cython.cast(cython.int, p)
    if runs[0, num.RUN_FIRST] < 0:
        runs[0, num.RUN_FIRST] = 0
        runs[0, num.RUN_LAST] = cython.cast(cython.int, n - 1)
    for k in range(spans.shape[0]):
        most = spans[k, num.SPAN_MOST]
        cost = spans[k, num.SPAN_COST]
        link_cost = spans[k, num.SPAN_LINK_COST]
        total: cython.double = 0.0
        lowest: cython.double = 0.0
        highest: cython.double = 0.0
        after_lowest: Py_ssize_t = 0
        for p in range(n):  # the run with the highest sum
            if total < lowest:
                lowest = total
                after_lowest = p
            plain: cython.double = min(scratch[num.SCRATCH_PLAIN, p], most)
            total += plain - cost - link_cost * min(sums[num.SUM_LINKED, p], most)
            if p == 0 or total - lowest > highest:
                highest = total - lowest
                runs[k + 1, num.RUN_FIRST] = cython.cast(cython.int, after_lowest)
                runs[k + 1, num.RUN_LAST] = cython.cast(cython.int, p)


@cython.cfunc
def _since(
    places: num.IntRows,
    heading_level: num.Ints,
    n: Py_ssize_t,
    scratch: cython.double[:, ::1],
    rows: cython.float[:, ::1],
    r: Py_ssize_t,
) -> Py_ssize_t:
    """How many paragraphs back a heading, an h1 and a long paragraph are, and how many ahead a long one."""
    since_heading: cython.float = _FARTHEST
    since_h1: cython.float = _FARTHEST
    since_long: cython.float = _FARTHEST
    for p in range(n):
        level = heading_level[places[num.PLACE_BLOCK, p]]
        since_heading = 0.0 if level > 0 else since_heading + 1.0 if since_heading < _FARTHEST else _FARTHEST
        since_h1 = 0.0 if level == 1 else since_h1 + 1.0 if since_h1 < _FARTHEST else _FARTHEST
        is_long: cython.bint = scratch[num.SCRATCH_PLAIN, p] >= _LONG_PARAGRAPH
        since_long = 0.0 if is_long else since_long + 1.0 if since_long < _FARTHEST else _FARTHEST
        rows[r + num.SINCE_HEADING, p] = since_heading
        rows[r + num.SINCE_H1, p] = since_h1
        rows[r + num.SINCE_LONG, p] = since_long
    since_long = _FARTHEST
    for q in range(n):
        p = n - 1 - q
        is_long = scratch[num.SCRATCH_PLAIN, p] >= _LONG_PARAGRAPH
        since_long = 0.0 if is_long else since_long + 1.0 if since_long < _FARTHEST else _FARTHEST
        rows[r + num.UNTIL_LONG, p] = since_long
    return r + num.UNTIL_LONG + 1


@cython.cfunc
def _around(
    places: num.IntRows, elements: num.DoubleRows, n: Py_ssize_t, rows: cython.float[:, ::1], r: Py_ssize_t
) -> cython.void:
    """The content of each of the elements around a paragraph."""
    all_words: cython.double = max(elements[num.ELEMENT_WORDS, 0], 1.0)
    for k in range(num.N_AROUND):
        for p in range(n):
            e = places[num.PLACE_ELEMENT + k, p]
            rows[r + num.AROUND_WORDS, p] = elements[num.ELEMENT_WORDS, e]
            rows[r + num.AROUND_LINKS, p] = elements[num.ELEMENT_LINK_SHARE, e]
            rows[r + num.AROUND_SHARE, p] = elements[num.ELEMENT_WORDS, e] / all_words
            rows[r + num.AROUND_SCORE, p] = elements[num.ELEMENT_OF_BEST, e]
            rows[r + num.AROUND_PARAGRAPHS, p] = elements[num.ELEMENT_PARAGRAPHS, e]
        r += num.AROUND_PARAGRAPHS + 1


@cython.cfunc
def _kin(
    places: num.IntRows,
    sums: num.DoubleRows,
    n: Py_ssize_t,
    row: Py_ssize_t,
    all_words: cython.double,
    scratch: cython.double[:, ::1],
    rows: cython.float[:, ::1],
    r: Py_ssize_t,
) -> Py_ssize_t:
    """Four rows from `r` on: how many paragraphs are of the same kin, their mean words, links, share."""
    for p in range(n):
        scratch[num.SCRATCH_KIN_COUNT, p] = 0.0
        scratch[num.SCRATCH_KIN_WORDS, p] = 0.0
        scratch[num.SCRATCH_KIN_LINKED, p] = 0.0
    for p in range(n):
        g = places[row, p]
        scratch[num.SCRATCH_KIN_COUNT, g] += 1.0
        scratch[num.SCRATCH_KIN_WORDS, g] += sums[num.SUM_WORDS, p]
        scratch[num.SCRATCH_KIN_LINKED, g] += sums[num.SUM_LINKED, p]
    for p in range(n):
        g = places[row, p]
        rows[r + num.KIN_COUNT, p] = scratch[num.SCRATCH_KIN_COUNT, g]
        rows[r + num.KIN_WORDS, p] = scratch[num.SCRATCH_KIN_WORDS, g] / scratch[num.SCRATCH_KIN_COUNT, g]
        words = scratch[num.SCRATCH_KIN_WORDS, g]
        rows[r + num.KIN_LINKS, p] = scratch[num.SCRATCH_KIN_LINKED, g] / max(words, 1.0)
        rows[r + num.KIN_SHARE, p] = words / max(all_words, 1.0)
    return r + num.KIN_SHARE + 1


@cython.ccall
def spread(
    table: num.FloatRows, of_block: num.Ints, page: num.Floats, first: Py_ssize_t, rows: cython.float[:, ::1]
) -> cython.void:
    """Copies each row of a table of paragraphs to their blocks, then each number of the page to all blocks.

    The rows from `first` on are filled.
    """
    for k in range(table.shape[0]):
        for i in range(of_block.shape[0]):
            rows[first + k, i] = table[k, of_block[i]]
    first += table.shape[0]
    for k in range(page.shape[0]):
        for i in range(of_block.shape[0]):
            rows[first + k, i] = page[k]
