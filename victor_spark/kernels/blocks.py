"""The paragraphs of blocks, and features of single blocks: their counts, their ancestors and the words in
class, id, role and itemprop of these, blocks with the same letters on the page, and the title in a block.

The names of the rows stand in kernels.num and model.surroundings. Cython pure Python mode.
"""

import cython
from cython import Py_ssize_t
from cython.cimports.libc.math import exp, log
from cython.cimports.victor_spark.kernels import num

num.check()
assert num.MAX_ORIGINS == 8  # the size of an array
assert num.ROW_N_OTHER == num.ROW_N_LETTERS + 4
assert num.ROW_N_OTHER_TOKENS == num.ROW_N_ALPHA_TOKENS + 3

_FADING = cython.declare(cython.float, 0.5)  # what each element further out weighs in NAME_SUMS' `fading`
_LAST_PAIR = cython.declare(cython.uint, 1023)


@cython.ccall
def layout(
    paragraph: num.Ints,
    n_words: num.Ints,
    linked: num.Bytes,
    n_sentences: num.Ints,
    parent_block: num.Ints,
    elements: num.IntRows,
    path: num.UInt64s,
    class_path: num.UInt64s,
    of_block: cython.int[::1],
    places: cython.int[:, ::1],
    sums: cython.double[:, ::1],
    slots: cython.int[::1],
    key: cython.ulonglong,
) -> cython.longlong:
    """Fills the paragraph of each block, and `places` and `sums`, a column a paragraph.

    `slots` is scratch for a hash table: a power of two, at least twice the number of blocks; `key`, odd,
    decides where in it a hash goes. Returns n_paragraphs + 2**32 * the number of elements that matter, which
    is one more than the last that holds a paragraph.
    """
    n: Py_ssize_t = paragraph.shape[0]
    p: Py_ssize_t = -1
    last_element: cython.int = 0
    for i in range(n):
        if i == 0 or paragraph[i] != paragraph[i - 1]:
            p += 1
            element: cython.int = parent_block[i]
            if element > last_element:
                last_element = element
            places[num.PLACE_BLOCK, p] = cython.cast(cython.int, i)
            places[num.PLACE_ELEMENT, p] = element
            for around in range(1, num.N_AROUND):
                element = elements[num.ELEMENTS_OUTER, element]
                places[num.PLACE_ELEMENT + around, p] = element
            for k in range(sums.shape[0]):
                sums[k, p] = 0.0
        of_block[i] = cython.cast(cython.int, p)
        sums[num.SUM_WORDS, p] += n_words[i]
        if linked[i]:
            sums[num.SUM_LINKED, p] += n_words[i]
        sums[num.SUM_SENTENCES, p] += n_sentences[i]
    _find_firsts(path, places, num.PLACE_BLOCK, num.PLACE_PATH, p + 1, key, slots)
    _find_firsts(class_path, places, num.PLACE_BLOCK, num.PLACE_CLASS, p + 1, key, slots)
    return (cython.cast(cython.longlong, last_element + 1) << 32) | (p + 1)


@cython.ccall
def of_page(
    n_words: num.Ints,
    n_sentences: num.Ints,
    depth: num.Ints,
    div_group: num.Ints,
    td_group: num.Ints,
    letters_hash: num.UInt64s,
    linked: num.Bytes,
    slots: cython.int[::1],
    twins: cython.int[:, ::1],
    ratios: cython.double[:, ::1],
    page: cython.float[::1],
    key: cython.ulonglong,
) -> cython.double:
    """Values of the whole page that `of_blocks` needs: `twins` (2, n_blocks) and, a column a layout group,
    `ratios` (2, more than there are). The mean depth of the blocks.

    `slots` and `key` are as in `layout`; `page` gets the numbers of the paper's document features.
    """
    n: Py_ssize_t = n_words.shape[0]
    words: cython.double = 0.0
    sentences: cython.double = 0.0
    depths: cython.double = 0.0
    for i in range(n):
        words += n_words[i]
        sentences += n_sentences[i]
        depths += depth[i]
        twins[num.TWINS_COUNT, i] = cython.cast(cython.int, i)  # the block itself, until it is counted
    _find_firsts(letters_hash, twins, num.TWINS_COUNT, num.TWINS_FIRST, n, key, slots)
    for i in range(n):
        twins[num.TWINS_COUNT, i] = 0
        twins[num.TWINS_COUNT, twins[num.TWINS_FIRST, i]] += 1
    page[num.DOCUMENT_WORD_COUNT] = words
    page[num.DOCUMENT_SENTENCE_COUNT] = sentences
    page[num.DOCUMENT_BLOCK_COUNT] = n
    page[num.DOCUMENT_MAX_DIV_GROUP] = _word_ratios(n_words, linked, div_group, ratios, num.RATIO_DIV)
    page[num.DOCUMENT_MAX_TD_GROUP] = _word_ratios(n_words, linked, td_group, ratios, num.RATIO_TD)
    return depths / n


@cython.ccall
def of_blocks(
    counts: num.IntRows,
    n_words: num.Ints,
    containers: num.UInt64s,
    hints: num.ByteRows,
    of_block: num.Ints,
    rows: cython.float[:, ::1],
    places: num.IntRows,
    twins: num.IntRows,
    ratios: num.DoubleRows,
    features: num.Ints,
    n_containers: Py_ssize_t,
    first: Py_ssize_t,
    mean_depth: cython.double,
) -> cython.void:
    """Fills `rows`: one for each container, each row of `hints`, each count, and the ratios of counts.

    `counts` are blocks.ROWS, `features` the numbers of those that are features themselves. `counts`,
    `n_words`, `containers`, `hints`, `of_block` and `rows` are of the blocks from `first` on, the other
    columns of all.
    """
    n: Py_ssize_t = containers.shape[0]
    last: cython.double = max(twins.shape[1] - 1, 1)
    one: cython.ulonglong = 1
    for r in range(n_containers):
        for i in range(n):
            rows[r, i] = cython.cast(cython.float, (containers[i] >> cython.cast(cython.ulonglong, r)) & one)
    r = n_containers
    for k in range(hints.shape[0]):
        for i in range(n):
            rows[r, i] = hints[k, i]
        r += 1
    for k in range(features.shape[0]):
        for i in range(n):
            rows[r, i] = cython.cast(cython.float, counts[features[k], i])
        r += 1
    for i in range(n):
        n_chars: cython.double = counts[num.ROW_TEXT_END, i] - counts[num.ROW_TEXT_START, i]
        words: cython.double = n_words[i]
        tokens: cython.double = words + counts[num.ROW_N_OTHER_TOKENS, i]
        tokens = max(tokens, 1.0)
        for k in range(num.ROW_N_OTHER - num.ROW_N_LETTERS + 1):
            rows[r + num.CHAR_ALPHA_REL + k, i] = counts[num.ROW_N_LETTERS + k, i] / n_chars
        for k in range(num.ROW_N_OTHER_TOKENS - num.ROW_N_ALPHA_TOKENS + 1):
            rows[r + num.TOKEN_ALPHA_REL + k, i] = counts[num.ROW_N_ALPHA_TOKENS + k, i] / tokens
        rows[r + num.SENTENCE_AVG_LENGTH, i] = words / max(counts[num.ROW_N_SENTENCES, i], 1)
        rows[r + num.BLOCK_WORDS, i] = words
        rows[r + num.BLOCK_CHARS, i] = n_chars
        rows[r + num.BLOCK_WORD_LENGTH, i] = counts[num.ROW_N_LETTERS, i] / max(words, 1.0)
        rows[r + num.BLOCK_PLACE, i] = first + i - places[num.PLACE_BLOCK, of_block[i]]
        rows[r + num.POSITION, i] = (first + i) / last
        rows[r + num.DEPTH_REL, i] = counts[num.ROW_DEPTH, i] - mean_depth
    for i in range(n):  # of blocks with the same letters the first, and how many there are
        k = twins[num.TWINS_FIRST, first + i]
        rows[r + num.FIRST_DUPLICATE, i] = 1.0 if k == first + i and twins[num.TWINS_COUNT, k] > 1 else 0.0
        rows[r + num.DUPLICATE_COUNT, i] = twins[num.TWINS_COUNT, k]
        rows[r + num.DIV_GROUP_WORD_RATIO, i] = ratios[num.RATIO_DIV, counts[num.ROW_DIV_GROUP, i]]
        rows[r + num.TD_GROUP_WORD_RATIO, i] = ratios[num.RATIO_TD, counts[num.ROW_TD_GROUP, i]]


@cython.cfunc
def _find_firsts(
    hashes: num.UInt64s,
    table: cython.int[:, ::1],
    of_block: Py_ssize_t,
    row: Py_ssize_t,
    n: Py_ssize_t,
    key: cython.ulonglong,
    slots: cython.int[::1],
) -> cython.void:
    """table[row, k]: the first entry with the hash of entry k, which is that of block table[of_block, k]."""
    mask: cython.ulonglong = cython.cast(cython.ulonglong, slots.shape[0] - 1)
    for k in range(slots.shape[0]):
        slots[k] = -1
    for k in range(n):
        code = hashes[table[of_block, k]]
        slot = num.spread(code, key) & mask
        while slots[slot] >= 0 and hashes[table[of_block, slots[slot]]] != code:
            slot = (slot + 1) & mask
        if slots[slot] < 0:
            slots[slot] = cython.cast(cython.int, k)
        table[row, k] = slots[slot]


@cython.cfunc
def _word_ratios(
    n_words: num.Ints, linked: num.Bytes, groups: num.Ints, ratios: cython.double[:, ::1], row: Py_ssize_t
) -> cython.float:
    """Fills ratios[row]: the share of each layout group in the words outside links; the greatest share."""
    total: cython.double = 0.0
    greatest: cython.double = 0.0
    last: Py_ssize_t = 0
    for i in range(groups.shape[0]):
        last = max(last, groups[i])
    for i in range(last + 1):
        ratios[row, i] = 0.0
    for i in range(groups.shape[0]):
        if not linked[i] and groups[i]:
            ratios[row, groups[i]] += n_words[i]
            total += n_words[i]
    total = max(total, 1.0)
    for i in range(last + 1):
        ratios[row, i] /= total
        greatest = max(greatest, ratios[row, i])
    return cython.cast(cython.float, greatest)


@cython.cfunc
@cython.inline
def _small(c: cython.uint) -> cython.uint:
    """A letter's small form where it is at a fixed distance: Latin, Greek and Cyrillic capitals."""
    if c < num.N_ASCII:
        return c | num.SMALL if ord("A") <= c <= ord("Z") else c
    if (
        (ord("À") <= c <= ord("Þ") and c != ord("×"))
        or ord("Α") <= c <= ord("Ϋ")
        or ord("А") <= c <= ord("Я")
    ):
        return c + (ord("я") - ord("Я"))
    if ord("Ѐ") <= c <= ord("Џ"):
        return c + (ord("ѐ") - ord("Ѐ"))
    if ord("Ā") <= c <= ord("ķ") or ord("Ŋ") <= c <= ord("ŷ"):  # in pairs
        return c | 1
    return c


@cython.ccall
def title_shares(
    text: num.UInts,
    starts: num.Ints,
    ends: num.Ints,
    n_letters: num.Ints,
    title: cython.uint[::1],
    shares: cython.float[::1],
) -> cython.void:
    """Fills the share of the title that each block repeats, 0 for blocks that are no part of it.

    Letters' case doesn't matter; `title` becomes small letters.
    """
    n: Py_ssize_t = title.shape[0]
    pairs = cython.declare(cython.uchar[1024])  # which pairs of characters the title has, by their low bits
    for k in range(_LAST_PAIR + 1):
        pairs[k] = 0
    for j in range(n):
        title[j] = _small(title[j])
        if j:
            pairs[(title[j - 1] << 5 ^ title[j]) & _LAST_PAIR] = 1
    for block in range(starts.shape[0]):
        shares[block] = 0.0
        start = starts[block]
        length = ends[block] - start
        if length > n or length < 2 or n_letters[block] == 0:
            continue
        first = _small(text[start])
        if not pairs[(first << 5 ^ _small(text[start + 1])) & _LAST_PAIR]:
            continue
        for at in range(n - length + 1):
            if title[at] != first:
                continue
            j = 1
            while j < length and title[at + j] == _small(text[start + j]):
                j += 1
            if j == length:
                shares[block] = cython.cast(cython.float, cython.cast(cython.double, length) / n)
                break


@cython.ccall
def weigh(
    named_elements: num.IntRows,
    words: num.UInts,
    slots: num.UInts,
    slot_weights: num.Floats,
    of_block: num.Ints,
    sums: cython.float[:, ::1],
    rows: cython.float[:, ::1],
) -> cython.void:
    """Fills `rows` (num.NAME_SUMS, n_blocks) with the sums of the innermost named element around each block.

    `named_elements`, `words` and `of_block` are the columns `named_elements`, `name_words` and `named` of
    Blocks; `slots`/`slot_weights` an open-addressing table from a word's hash to its weight (free slots: 0);
    `sums` (num.NAME_SUMS, n named elements + 1) is scratch. An element weighs what its words do together.
    """
    i: Py_ssize_t = 0
    for e in range(sums.shape[0]):
        sums[e, 0] = 0.0
    for e in range(1, named_elements.shape[1]):
        weight: cython.float = 0.0
        while i < named_elements[num.NAMED_END, e]:
            weight += slot_weights[num.place(slots, words[i])]
            i += 1
        around = named_elements[num.NAMED_AROUND, e]
        sums[num.NAMES_ALL, e] = sums[num.NAMES_ALL, around] + weight
        sums[num.NAMES_HIGHEST, e] = max(sums[num.NAMES_HIGHEST, around], weight)
        sums[num.NAMES_LOWEST, e] = min(sums[num.NAMES_LOWEST, around], weight)
        sums[num.NAMES_FADING, e] = sums[num.NAMES_FADING, around] * _FADING + weight
        sums[num.NAMES_INNERMOST, e] = weight
    for e in range(sums.shape[0]):
        for i in range(of_block.shape[0]):
            rows[e, i] = sums[e, of_block[i]]


@cython.ccall
def origins(
    source_elements: num.Bytes,
    numbers: num.Ints,
    weights: num.FloatRows,
    least: cython.double,
    rows: cython.float[:, ::1],
) -> cython.void:
    """Fills the first rows with the log-probability of each collection, at least log(`least`).

    `numbers` are those of the weights' columns among the `source_elements` of the page, or as many as there
    are of these for an element that no page has; the last column is added on every page.
    """
    n: Py_ssize_t = numbers.shape[0]
    highest: cython.double = 0.0
    total: cython.double = 0.0
    logits = cython.declare(cython.double[8])
    for k in range(weights.shape[0]):
        logits[k] = weights[k, n]
        for e in range(n):
            if numbers[e] < source_elements.shape[0] and source_elements[numbers[e]]:
                logits[k] += weights[k, e]
        if k == 0 or logits[k] > highest:
            highest = logits[k]
    for k in range(weights.shape[0]):
        logits[k] = exp(logits[k] - highest)
        total += logits[k]
    for k in range(weights.shape[0]):
        rows[k, 0] = cython.cast(cython.float, log(logits[k] / total + least))
        for i in range(1, rows.shape[1]):
            rows[k, i] = rows[k, 0]
