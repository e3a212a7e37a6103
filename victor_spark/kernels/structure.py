# cython: language_level=3
"""The elements of the canonical HTML as columns: tag, marks of its class, extent, parent and blocks.

Runs only where structure is asked for. The input is a serialised tree, as that of `markup`: balanced tags,
no comments, `<` and `>` escaped everywhere else. Cython pure Python mode.
"""

import cython

COLUMNS = ("kind", "marks", "start", "inner", "end", "parent", "first", "last")
"""The int32 columns that `elements` fills, a column an element in document order.

`kind`: what its tag is to the caller; `marks`: bits of the words in class, role and id; `start`: of its tag,
`inner`: the end of that, `end`: the start of its end tag; `parent`: the row of the element around it (-1:
none); blocks `first` to `last` (not included) are inside it.
"""
FIRST_NOT_VOID = 16
"""Kinds below have no end tag."""

_KIND = cython.declare(cython.int, COLUMNS.index("kind"))
_MARKS = cython.declare(cython.int, COLUMNS.index("marks"))
_START = cython.declare(cython.int, COLUMNS.index("start"))
_INNER = cython.declare(cython.int, COLUMNS.index("inner"))
_END = cython.declare(cython.int, COLUMNS.index("end"))
_PARENT = cython.declare(cython.int, COLUMNS.index("parent"))
_FIRST = cython.declare(cython.int, COLUMNS.index("first"))
_LAST = cython.declare(cython.int, COLUMNS.index("last"))
_NOT_VOID = cython.declare(cython.int, FIRST_NOT_VOID)


@cython.ccall
def elements(
    html: cython.const[cython.uint][::1],
    slots: cython.const[cython.uint][::1],
    slot_kinds: cython.const[cython.int][::1],
    word_slots: cython.const[cython.uint][::1],
    word_marks: cython.const[cython.int][::1],
    block_starts: cython.const[cython.int][::1],
    stack: cython.int[::1],
    rows: cython.int[:, ::1],
) -> cython.Py_ssize_t:
    """Fills `rows` (COLUMNS, a column for each `<` at least) and returns how many elements there are.

    `slots`/`slot_kinds`: an open-addressing table from the FNV-1a hash of a tag's name to its kind;
    `word_slots`/`word_marks`: from that of a word to bits. A name in `class` is looked up whole, with a
    space after it, and each of its words (letters and digits), in small letters.
    """
    n: cython.Py_ssize_t = html.shape[0]
    n_blocks: cython.Py_ssize_t = block_starts.shape[0]
    low_bits: cython.ulonglong = 4294967295
    slot_mask: cython.uint = cython.cast(cython.uint, slots.shape[0] - 1)
    i: cython.Py_ssize_t = 0
    start: cython.Py_ssize_t
    block: cython.Py_ssize_t = 0
    n_rows: cython.Py_ssize_t = 0
    depth: cython.Py_ssize_t = 0
    row: cython.Py_ssize_t
    name: cython.uint
    slot: cython.uint
    marks: cython.int
    kind: cython.int
    while i < n:
        if html[i] != 60:
            i += 1
            continue
        start = i
        i += 1
        while block < n_blocks and block_starts[block] < start:
            block += 1
        if i < n and html[i] == 47:
            while i < n and html[i] != 62:
                i += 1
            if depth > 0:
                depth -= 1
                row = stack[depth]
                rows[_END, row] = cython.cast(cython.int, start)
                rows[_LAST, row] = cython.cast(cython.int, block)
            continue
        name = 2166136261
        while i < n and html[i] != 62 and html[i] != 32 and html[i] != 47:
            name = ((name ^ html[i]) * 16777619) & low_bits
            i += 1
        if i == start + 1 or html[start + 1] == 33:
            continue
        slot = name & slot_mask
        while slots[slot] != name and slots[slot] != 0:
            slot = (slot + 1) & slot_mask
        kind = slot_kinds[slot]
        marks = 0
        while i < n and html[i] != 62:
            if html[i] != 61 or i + 1 >= n or html[i + 1] != 34:
                i += 1
                continue
            if _is_named(html, i):
                row = i + 2
                i = row
                while i < n and html[i] != 34:
                    i += 1
                marks |= _marks(html, row, i, word_slots, word_marks)
            else:
                i += 2
                while i < n and html[i] != 34:
                    i += 1
            i += 1
        i += 1
        rows[_KIND, n_rows] = kind
        rows[_MARKS, n_rows] = marks
        rows[_START, n_rows] = cython.cast(cython.int, start)
        rows[_INNER, n_rows] = cython.cast(cython.int, i)
        rows[_END, n_rows] = cython.cast(cython.int, i)
        rows[_PARENT, n_rows] = stack[depth - 1] if depth > 0 else -1
        rows[_FIRST, n_rows] = cython.cast(cython.int, block)
        rows[_LAST, n_rows] = cython.cast(cython.int, block)
        if kind == 0 or kind >= _NOT_VOID:
            stack[depth] = cython.cast(cython.int, n_rows)
            depth += 1
        n_rows += 1
    while depth > 0:  # only where the input is no serialised tree
        depth -= 1
        rows[_END, stack[depth]] = cython.cast(cython.int, n)
        rows[_LAST, stack[depth]] = cython.cast(cython.int, n_blocks)
    return n_rows


@cython.cfunc
@cython.inline
def _is_named(html: cython.const[cython.uint][::1], i: cython.Py_ssize_t) -> cython.bint:
    """Whether the '=' at `i` (6 at least) ends the name class, role or id."""
    last: cython.uint = html[i - 1]
    if i < 6:
        return False
    if last == 115:
        return html[i - 2] == 115 and html[i - 3] == 97 and html[i - 4] == 108 and html[i - 6] == 32
    if last == 101:
        return html[i - 2] == 108 and html[i - 3] == 111 and html[i - 4] == 114 and html[i - 5] == 32
    return last == 100 and html[i - 2] == 105 and html[i - 3] == 32


@cython.cfunc
def _marks(
    html: cython.const[cython.uint][::1],
    i: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    slots: cython.const[cython.uint][::1],
    marks: cython.const[cython.int][::1],
) -> cython.int:
    """The bits of the names and words from `i` to `end`."""
    found: cython.int = 0
    low_bits: cython.ulonglong = 4294967295
    name: cython.uint = 2166136261
    word: cython.uint = 2166136261
    c: cython.uint
    while i <= end:
        c = html[i] if i < end else 32
        if 65 <= c <= 90:
            c += 32
        if (97 <= c <= 122) or 48 <= c <= 57:
            word = ((word ^ c) * 16777619) & low_bits
            name = ((name ^ c) * 16777619) & low_bits
        else:
            if word != 2166136261:
                found |= _of_word(word, slots, marks)
                word = 2166136261
            name = ((name ^ c) * 16777619) & low_bits
            if c <= 32:
                found |= _of_word(name, slots, marks)
                name = 2166136261
        i += 1
    return found


@cython.cfunc
@cython.inline
def _of_word(
    word: cython.uint, slots: cython.const[cython.uint][::1], marks: cython.const[cython.int][::1]
) -> cython.int:
    mask: cython.uint = cython.cast(cython.uint, slots.shape[0] - 1)
    slot: cython.uint = word & mask
    while slots[slot] != word and slots[slot] != 0:
        slot = (slot + 1) & mask
    return marks[slot]
