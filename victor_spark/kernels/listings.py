"""The white space that a browser shows between the blocks of preformatted text. Cython pure Python mode."""

import cython
from cython import Py_ssize_t
from cython.cimports.victor_spark.kernels import num

num.check()

# What stands before the white space at hand: text, a start tag or an end tag.
_TEXT = cython.declare(cython.int, 0)
_OPENED = cython.declare(cython.int, 1)
_CLOSED = cython.declare(cython.int, 2)


@cython.ccall
def kinds(
    ends: num.Ints, words: num.UInts, slots: num.UInts, slot_kinds: num.Bytes, of_elements: cython.uchar[::1]
) -> cython.int:
    """Fills the bits that the words of each named element stand for; all of these bits.

    The words of element e end at `ends[e]`; `slots`/`slot_kinds` is an open-addressing table from a word's
    hash to its bits (hash 0: free).
    """
    i: Py_ssize_t = 0
    all_kinds: cython.int = 0
    for e in range(ends.shape[0]):
        kind: cython.int = 0
        while i < ends[e]:
            kind |= slot_kinds[num.place(slots, words[i])]
            i += 1
        of_elements[e] = cython.cast(cython.uchar, kind)
        all_kinds |= kind
    return all_kinds


@cython.ccall
def count_inside(around: num.Ints, named: num.Ints, inside: cython.int[::1]) -> cython.void:
    """Adds to `inside` how many blocks each named element has, itself or in elements inside it."""
    for block in range(named.shape[0]):
        inside[named[block]] += 1
    for element in range(around.shape[0] - 1, 0, -1):
        inside[around[element]] += inside[element]


@cython.ccall
def gaps(
    html: num.UInts,
    starts: num.Ints,
    ends: num.Ints,
    listing: num.Ints,
    white_space: num.Ints,
    parent_block: num.Ints,
    left_out: num.Bytes,
    slots: num.UInts,
    slot_tags: num.Int16s,
    tag_flags: num.UInt16s,
    properties: num.Bytes,
    out: cython.uint[::1],
    out_ends: cython.int[::1],
) -> Py_ssize_t:
    """Writes the white space before each block of a listing to `out` (len(html) is enough); its length.

    That of block i ends at `out_ends[i]`, where that of i + 1 begins. A `br` is a line break, and so is a
    block-level tag after text. White space between two block-level tags is left out; an element or a row that
    holds nothing else is an empty line. The first block of a listing has its indentation alone. The white
    space between the number of a line and its code is left out.
    """
    n: Py_ssize_t = 0
    for block in range(starts.shape[0]):
        first = n
        is_same: cython.bint = block > 0 and listing[block - 1] == listing[block]
        if listing[block] == 0:
            out_ends[block] = cython.cast(cython.int, n)
            continue
        i = ends[block - 1] if block else 0
        stop = starts[block]
        after_number: cython.bint = block > 0 and left_out[block - 1] and not left_out[block]
        if after_number:
            while i < stop and html[i] != ord("<"):
                i += 1
        n = _between(html, i, stop, block > 0, slots, slot_tags, tag_flags, properties, out, n)
        if not is_same or (after_number and parent_block[block - 1] != parent_block[block]):
            start = _without_spaces(out, first, n)
            for i in range(start, n):  # the last line alone
                out[first + i - start] = out[i]
            n -= start - first
        elif left_out[block] and left_out[block - 1]:  # an empty line
            n = first
            out[n] = ord("\n")
            n += 1
        elif left_out[block]:
            n = _without_spaces(out, first, n)
        if white_space[block] == num.LINES:
            start = first
            for i in range(first, n):  # line breaks alone, or a space where there is none
                if out[i] == ord("\n"):
                    out[start] = ord("\n")
                    start += 1
            if start == first and n > first:
                out[start] = ord(" ")
                start += 1
            n = start
        out_ends[block] = cython.cast(cython.int, n)
    return n


@cython.cfunc
def _between(
    html: num.UInts,
    i: Py_ssize_t,
    stop: Py_ssize_t,
    after_text: cython.bint,
    slots: num.UInts,
    slot_tags: num.Int16s,
    tag_flags: num.UInt16s,
    properties: num.Bytes,
    out: cython.uint[::1],
    n: Py_ssize_t,
) -> Py_ssize_t:
    """Writes to out[n:] the white space between `i` and `stop`, with that of tags; returns its end.

    `after_text`: whether a block stands before `i`.
    """
    start = n  # of the white space since the last text or tag of a block-level element
    after = _TEXT
    n_breaks = 0
    was_cell: cython.bint = False
    in_row: cython.bint = False  # one that holds nothing as yet
    while i < stop:
        c: cython.uint = html[i]
        i += 1
        if c == ord("&") and i + num.WIDTH_NBSP - 2 < stop and html[i] == ord("n"):  # &nbsp;
            c = ord("\xa0")
            i += num.WIDTH_NBSP - 1
        if c != ord("<"):
            if c < num.N_CODE_POINTS and (properties[c] & num.CLASS_MASK) == num.WHITE and c != ord("\r"):
                out[n] = c
                n += 1
            continue
        closing: cython.bint = i < stop and html[i] == ord("/")
        if closing:
            i += 1
        name_hash: cython.uint = num.FNV_SEED
        while i < stop and html[i] != ord(">") and html[i] != ord(" ") and html[i] != ord("/"):
            name_hash = num.hashed(name_hash, html[i])
            i += 1
        while i < stop and html[i] != ord(">"):
            i += 1
        i += 1
        flags = tag_flags[slot_tags[num.place(slots, name_hash)]]
        if flags & num.TAG_BR:
            out[n] = ord("\n")
            n += 1
            n_breaks += 1
        if not flags & num.TAG_BLOCK_LEVEL:
            continue
        is_cell: cython.bint = (flags & num.TAG_TD) != 0
        if after == _TEXT:
            n = _without_spaces(out, start, n)
            if n == start and after_text:
                out[n] = ord("\n")
                n += 1
        else:
            if after == _OPENED and closing:  # <div> </div>, but not a cell beside others
                n_breaks = 1 if n > start and not is_cell else 0
            elif in_row and closing and was_cell and not is_cell:  # </td></tr>
                n_breaks = 1
                in_row = False
            n = start
            while n_breaks > 0:
                out[n] = ord("\n")
                n += 1
                n_breaks -= 1
        in_row = in_row or (is_cell and not closing and after == _OPENED and not was_cell)
        was_cell = is_cell
        start = n
        n_breaks = 0
        after = _CLOSED if closing else _OPENED
    return n


@cython.cfunc
@cython.inline
def _without_spaces(out: cython.uint[::1], start: Py_ssize_t, n: Py_ssize_t) -> Py_ssize_t:
    """The end of what is written without the spaces after its last line break."""
    while n > start and out[n - 1] != ord("\n"):
        n -= 1
    return n
