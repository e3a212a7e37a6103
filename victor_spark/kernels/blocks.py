# cython: language_level=3
"""Features of single blocks: what their counts, ancestors and twins on the page say, and the title in them.

The names of the rows, in their order, stand in model.surroundings. Cython pure Python mode.
"""

import cython

COLUMNS = (
    "n_split_p",
    "n_split_br",
    "n_split_hr",
    "n_split_inline",
    "n_split_block",
    "n_letters",
    "n_digits",
    "n_punctuation",
    "n_white",
    "n_other",
    "n_alpha_tokens",
    "n_num_tokens",
    "n_mix_tokens",
    "n_other_tokens",
    "n_sentences",
    "sentence_begin",
    "sentence_end",
    "heading_level",
    "depth",
    "div_group",
    "td_group",
    "text_start",
    "text_end",
)
"""The columns of Blocks that `of_blocks` takes, in the order of its rows."""

_N_LETTERS = cython.declare(cython.Py_ssize_t, COLUMNS.index("n_letters"))
_N_ALPHA_TOKENS = cython.declare(cython.Py_ssize_t, COLUMNS.index("n_alpha_tokens"))
_N_NUM_TOKENS = cython.declare(cython.Py_ssize_t, COLUMNS.index("n_num_tokens"))
_N_MIX_TOKENS = cython.declare(cython.Py_ssize_t, COLUMNS.index("n_mix_tokens"))
_N_OTHER_TOKENS = cython.declare(cython.Py_ssize_t, COLUMNS.index("n_other_tokens"))
_N_SENTENCES = cython.declare(cython.Py_ssize_t, COLUMNS.index("n_sentences"))
_DEPTH = cython.declare(cython.Py_ssize_t, COLUMNS.index("depth"))
_DIV_GROUP = cython.declare(cython.Py_ssize_t, COLUMNS.index("div_group"))
_TD_GROUP = cython.declare(cython.Py_ssize_t, COLUMNS.index("td_group"))
_TEXT_START = cython.declare(cython.Py_ssize_t, COLUMNS.index("text_start"))
_TEXT_END = cython.declare(cython.Py_ssize_t, COLUMNS.index("text_end"))


@cython.ccall
def of_page(
    n_words: cython.const[cython.int][::1],
    n_sentences: cython.const[cython.int][::1],
    depth: cython.const[cython.int][::1],
    div_group: cython.const[cython.int][::1],
    td_group: cython.const[cython.int][::1],
    letters_hash: cython.const[cython.ulonglong][::1],
    linked: cython.const[cython.uchar][::1],
    key: cython.ulonglong,
    slots: cython.int[::1],
    twins: cython.int[:, ::1],
    ratios: cython.double[:, ::1],
    page: cython.float[::1],
) -> cython.double:
    """What `of_blocks` needs to know of the whole page: `twins` (2, n_blocks) and, a column a layout group,
    `ratios` (2, one more than there are). The mean depth of the blocks.

    `key` and `slots` are as in `layout`; `page` gets the numbers of the paper's document features.
    """
    i: cython.Py_ssize_t
    n: cython.Py_ssize_t = n_words.shape[0]
    words: cython.double = 0.0
    sentences: cython.double = 0.0
    depths: cython.double = 0.0
    for i in range(n):
        words += n_words[i]
        sentences += n_sentences[i]
        depths += depth[i]
    _twins(letters_hash, key, slots, twins)
    page[0] = words
    page[1] = sentences
    page[2] = n
    page[3] = _word_ratios(n_words, linked, div_group, ratios, 0)
    page[4] = _word_ratios(n_words, linked, td_group, ratios, 1)
    return depths / n


@cython.ccall
def of_blocks(
    counts: cython.const[cython.int][:, ::1],
    containers: cython.const[cython.ulonglong][::1],
    hints: cython.const[cython.uchar][:, ::1],
    of_block: cython.const[cython.int][::1],
    places: cython.const[cython.int][:, ::1],
    n_containers: cython.Py_ssize_t,
    n_counts: cython.Py_ssize_t,
    first: cython.Py_ssize_t,
    mean_depth: cython.double,
    twins: cython.const[cython.int][:, ::1],
    ratios: cython.const[cython.double][:, ::1],
    rows: cython.float[:, ::1],
) -> cython.int:
    """Fills `rows`: one for each container, each row of `hints`, each count, and the ratios of counts.

    `counts` are the COLUMNS, the first `n_counts` of them features themselves; these, `containers`, `hints`,
    `of_block` and `rows` are of the blocks from `first` on, the other columns those of the whole page.
    Returns how many rows.
    """
    n: cython.Py_ssize_t = containers.shape[0]
    n_all: cython.Py_ssize_t = twins.shape[1]
    one: cython.ulonglong = 1
    i: cython.Py_ssize_t
    r: cython.Py_ssize_t
    k: cython.Py_ssize_t
    words: cython.double
    tokens: cython.double
    n_chars: cython.double
    for r in range(n_containers):
        for i in range(n):
            rows[r, i] = cython.cast(cython.float, (containers[i] >> cython.cast(cython.ulonglong, r)) & one)
    r = n_containers
    for k in range(hints.shape[0]):
        for i in range(n):
            rows[r, i] = hints[k, i]
        r += 1
    for k in range(n_counts):
        for i in range(n):
            rows[r, i] = cython.cast(cython.float, counts[k, i])
        r += 1
    for i in range(n):
        n_chars = counts[_TEXT_END, i] - counts[_TEXT_START, i]
        words = counts[_N_ALPHA_TOKENS, i] + counts[_N_NUM_TOKENS, i] + counts[_N_MIX_TOKENS, i]
        tokens = words + counts[_N_OTHER_TOKENS, i]
        tokens = tokens if tokens > 1.0 else 1.0
        for k in range(5):
            rows[r + k, i] = counts[_N_LETTERS + k, i] / n_chars
        for k in range(4):
            rows[r + 5 + k, i] = counts[_N_ALPHA_TOKENS + k, i] / tokens
        rows[r + 9, i] = words / (counts[_N_SENTENCES, i] if counts[_N_SENTENCES, i] > 1 else 1)
        rows[r + 10, i] = words
        rows[r + 11, i] = n_chars
        rows[r + 12, i] = counts[_N_LETTERS, i] / (words if words > 1.0 else 1.0)
        rows[r + 13, i] = cython.cast(cython.float, first + i - places[0, of_block[i]])
        rows[r + 14, i] = (first + i) / (cython.cast(cython.double, n_all - 1) if n_all > 1 else 1.0)
        rows[r + 15, i] = counts[_DEPTH, i] - mean_depth
    r += 16
    for i in range(n):  # of blocks with the same letters the first, and how many there are
        k = twins[0, first + i]
        rows[r, i] = 1.0 if k == first + i and twins[1, k] > 1 else 0.0
        rows[r + 1, i] = twins[1, k]
        rows[r + 2, i] = cython.cast(cython.float, ratios[0, counts[_DIV_GROUP, i]])
        rows[r + 3, i] = cython.cast(cython.float, ratios[1, counts[_TD_GROUP, i]])
    return cython.cast(cython.int, r + 4)


@cython.cfunc
def _twins(
    hashes: cython.const[cython.ulonglong][::1],
    key: cython.ulonglong,
    slots: cython.int[::1],
    twins: cython.int[:, ::1],
) -> cython.int:
    """twins[0, i]: the first block with the letters of block i; twins[1, first]: how many have them."""
    mask: cython.ulonglong = cython.cast(cython.ulonglong, slots.shape[0] - 1)
    all_bits: cython.ulonglong = 18446744073709551615
    prime: cython.ulonglong = 15485907386658061715
    slot: cython.ulonglong
    i: cython.Py_ssize_t
    for i in range(slots.shape[0]):
        slots[i] = -1
    for i in range(hashes.shape[0]):
        slot = ((hashes[i] ^ key) * prime) & all_bits
        slot = ((slot ^ (slot >> 32)) * key) & all_bits
        slot = ((((slot ^ (slot >> 32)) * prime) & all_bits) >> 32) & mask
        while slots[slot] >= 0 and hashes[slots[slot]] != hashes[i]:
            slot = (slot + 1) & mask
        twins[1, i] = 0
        if slots[slot] < 0:
            slots[slot] = cython.cast(cython.int, i)
        twins[0, i] = slots[slot]
        twins[1, slots[slot]] += 1
    return 0


@cython.cfunc
def _word_ratios(
    n_words: cython.const[cython.int][::1],
    linked: cython.const[cython.uchar][::1],
    groups: cython.const[cython.int][::1],
    ratios: cython.double[:, ::1],
    row: cython.Py_ssize_t,
) -> cython.float:
    """ratios[row]: words outside links in each layout group / such words in all. The greatest."""
    i: cython.Py_ssize_t
    total: cython.double = 0.0
    greatest: cython.double = 0.0
    for i in range(ratios.shape[1]):
        ratios[row, i] = 0.0
    for i in range(groups.shape[0]):
        if not linked[i] and groups[i]:
            ratios[row, groups[i]] += n_words[i]
            total += n_words[i]
    total = total if total > 1.0 else 1.0
    for i in range(ratios.shape[1]):
        ratios[row, i] /= total
        if ratios[row, i] > greatest:
            greatest = ratios[row, i]
    return cython.cast(cython.float, greatest)


@cython.cfunc
@cython.inline
def _small(c: cython.uint) -> cython.uint:
    """A letter's small form where it is at a fixed distance: Latin, Greek and Cyrillic capitals."""
    if c < 128:
        return c + 32 if 65 <= c <= 90 else c
    if (192 <= c <= 222 and c != 215) or 913 <= c <= 939 or 1040 <= c <= 1071:
        return c + 32
    if 1024 <= c <= 1039:
        return c + 80
    if 256 <= c <= 311 or 330 <= c <= 375:
        return c | 1
    return c


@cython.ccall
def title_shares(
    text: cython.const[cython.uint][::1],
    starts: cython.const[cython.int][::1],
    ends: cython.const[cython.int][::1],
    n_letters: cython.const[cython.int][::1],
    title: cython.uint[::1],
    shares: cython.float[::1],
) -> cython.int:
    """Fills the share of the title that each block repeats, 0 for blocks that are no part of it.

    Letters' case doesn't matter; `title` becomes small letters.
    """
    n: cython.Py_ssize_t = title.shape[0]
    block: cython.Py_ssize_t
    length: cython.Py_ssize_t
    start: cython.Py_ssize_t
    at: cython.Py_ssize_t
    j: cython.Py_ssize_t
    first: cython.uint
    for j in range(n):
        title[j] = _small(title[j])
    for block in range(starts.shape[0]):
        shares[block] = 0.0
        start = starts[block]
        length = ends[block] - start
        if length > n or length < 2 or n_letters[block] == 0:
            continue
        first = _small(text[start])
        for at in range(n - length + 1):
            if title[at] != first:
                continue
            j = 1
            while j < length and title[at + j] == _small(text[start + j]):
                j += 1
            if j == length:
                shares[block] = cython.cast(cython.float, cython.cast(cython.double, length) / n)
                break
    return 0
