"""Finds the white space between the blocks of preformatted text, and the blocks that are left out.

Left out are line numbers, buttons beside code, and the pronunciation of a word (`rt`). To drop a number
wrongly is worse than to keep it. So line numbers must be named by a class or id, or they must count from 1 in
cells beside as many lines of code.
"""

import re
from dataclasses import replace
from typing import Final

import numpy as np

from victor_html.elements import fnv1a, open_table
from victor_spark.blocks import CODE, Blocks, Bool, Int32, UInt8, UInt32
from victor_spark.html.characters import properties
from victor_spark.html.tags import BIT, has, tables
from victor_spark.kernels import listings as kernel
from victor_spark.kernels import text_of, views
from victor_spark.kernels.num import NAMED_AROUND, NAMED_END, hashed

_NUMBERS, _CODE, _GUTTER, _LINES, _FRAGMENT, _CELL, _BUTTON, _HIDDEN = (1 << bit for bit in range(8))
_WORDS: Final = {
    _NUMBERS: "lineno linenos linenodiv linenr linenum linenums linenumber linenumbers line+number"
    " line+numbers line+num line+nums line+no line+nos line+nr blob+num crayon+num crayon+nums ln+num"
    " ln+nums",
    _CODE: "code",
    _GUTTER: "gutter gutters ln lnt lnum",
    _LINES: "syntaxhighlighter crayon+code tab+size code+lines cm+content view+lines ace+content"
    " enlighter+code",
    _FRAGMENT: "fragment",
    _CELL: "blob+code",
    _BUTTON: "button btn clipboard copybtn copy+btn copy+button hover+info tooltiptext",
    _HIDDEN: "ttname ttdeci ttdoc ttdef",
}
"""Meanings of words in class, id and role: the element holds line numbers, or code (`_GUTTER` is less certain
and yields to it), or lines that a style sheet makes preformatted (`_FRAGMENT`: if it has numbers, `_CELL`:
one line); it is a button or its tooltip, or hidden until a reader points at a name in the code (Doxygen)."""


def _hash(name: str) -> int:
    """A word, or two joined by a +, as the scan computes it."""
    first, *second = map(fnv1a, name.split("+"))
    return hashed(first, second[0]) if second else first


_KINDS: Final = {_hash(name): kind for kind, names in _WORDS.items() for name in names.split()}
_SLOTS, _PLACES = open_table([*_KINDS], 256)
_SLOT_KINDS: Final = np.array([*_KINDS.values(), 0], dtype=np.uint8)[_PLACES]
_LOOKS_LIKE_CODE: Final = re.compile(r"[;{}=]|\w\n?\(")
_NUMBER: Final = re.compile(r"(\d{1,7})[.:|]*")
_FEWEST_UNNAMED: Final = 3
_LONGEST_BUTTON: Final = 30
_LANGUAGE: Final = re.compile(r"[A-Za-z][\w+#.-]{0,14}")
"""The name of a programming language, as it stands beside a button."""
_SPACES: Final = (ord(" "), ord("\xa0"))
_RUBY: Final = re.compile(r"<(r[tp])[ >].*?</\1>", re.DOTALL)
"""How the word before it is pronounced (`rt`), and the brackets around that (`rp`)."""


def found(blocks: Blocks, html: UInt32) -> Blocks:
    """The blocks with the white space inside listings, and with `left_out` set."""
    left_out = np.zeros(len(blocks), dtype=bool)
    if has(blocks, "rt"):
        spans = [match.span() for match in _RUBY.finditer(text_of(html))]
        rows = np.searchsorted(blocks.start, np.array(spans, dtype=blocks.start.dtype).reshape(-1, 2))
        for first, stop in rows.tolist():
            left_out[first:stop] = True
    kinds = np.empty(blocks.named_elements.shape[1], dtype=np.uint8)
    ends = blocks.named_elements[NAMED_END]
    all_kinds = kernel.kinds(*views(ends, blocks.name_words, _SLOTS, _SLOT_KINDS, kinds))
    may_be_code = all_kinds & (_LINES | _FRAGMENT | _CELL) or left_out.any()
    if blocks.listing.any():
        blocks = _with_gaps(blocks, html)
    elif not may_be_code and not (has(blocks, "code") and blocks.td_group.any()):
        return blocks
    left_out |= _buttons(blocks, kinds)
    listing = blocks.listing.copy()
    rows = np.flatnonzero(~left_out)
    part = blocks
    if len(rows) < len(blocks):
        part = replace(blocks, **{name: getattr(blocks, name)[rows] for name in _READ})
    may_be_numbers = all_kinds & (_LINES | _CELL | _NUMBERS | _GUTTER) or part.td_group.any()
    numbers = _numbers(part) if may_be_numbers else {}
    if all_kinds & (_LINES | _CELL) or (numbers and all_kinds & (_NUMBERS | _GUTTER)):
        left_out[rows], listing[rows] = _named_so(part, kinds.tolist(), numbers)
    for row in numbers:
        if not left_out[rows[row]] and (stop := _end_of_column(part, row, numbers)):
            left_out[rows[row:stop]] = True
    for row, number in numbers.items():
        if (
            number[0] == 1
            and not part.listing[row]
            and not left_out[rows[row]]
            and (beside := _rows_of_code(part, row, numbers, html))
        ):
            own = listing[rows[beside[0] + 1]] or listing.max() + 1
            listing[rows[row] : rows[beside[-1] - 1] + 1] = own
            left_out[rows[beside[:-1]]] = True
    if not left_out.any() and (listing == blocks.listing).all():
        return blocks
    white_space = np.where((listing > 0) & (blocks.listing == 0), CODE, blocks.white_space).astype(np.int32)
    marked = replace(blocks, left_out=left_out, listing=listing, white_space=white_space)
    return _unspaced(_with_gaps(marked, html))


_READ: Final = (
    "start", "td_group", "listing", "white_space", "named", "text_start", "text_end", "gap_ends", "n_letters",
    "n_num_tokens", "n_mix_tokens",
)  # fmt: skip
"""The columns of `Blocks` that this module reads for single blocks."""


def _buttons(blocks: Blocks, kinds: UInt8) -> Bool:
    """Which blocks are hidden, or are buttons beside or in code, or the name of its language before them."""
    inside = np.zeros(len(kinds), dtype=np.int32)
    kernel.count_inside(*views(blocks.named_elements[NAMED_AROUND], blocks.named, inside))
    named = (kinds & _BUTTON > 0) & (inside == 1)
    in_prose = (blocks.containers & np.uint64(BIT["p"])) > 0  # what stands there is named there
    is_hidden = (kinds & _HIDDEN > 0)[blocks.named] & ~in_prose
    is_button: Bool = named[blocks.named] | ((blocks.containers & np.uint64(BIT["button"])) > 0)
    is_button &= (blocks.text_end - blocks.text_start <= _LONGEST_BUTTON) & ~in_prose
    is_button |= is_hidden
    if not is_button.any():
        return is_button
    code = np.append((blocks.listing > 0) & (blocks.white_space == CODE) & ~is_button, False)
    edges = np.flatnonzero(np.diff(is_button, prepend=False, append=False)).tolist()
    for first, stop in zip(edges[::2], edges[1::2], strict=True):
        is_button[first:stop] = is_hidden[first:stop] | (code[stop] or code[first - 1])
        before = first - 1
        is_beside = first and blocks.parent_block[before] == blocks.parent_block[first]
        if is_beside and code[stop] and not code[before]:
            text = blocks.text[blocks.text_start[before] : blocks.text_end[before]]
            is_button[before] = blocks.heading_level[before] == 0 and bool(_LANGUAGE.fullmatch(text))
    return is_button


def _with_gaps(blocks: Blocks, html: UInt32) -> Blocks:
    """The blocks with the white space between those of a listing."""
    gaps, ends = np.empty(len(html), dtype=np.uint32), np.empty(len(blocks), dtype=np.int32)
    tags = tables()
    n = kernel.gaps(
        *views(html, blocks.start, blocks.end, blocks.listing, blocks.white_space),
        *views(blocks.parent_block, blocks.left_out.view(np.uint8), tags.slots, tags.slot_tags, tags.flags),
        *views(properties(), gaps, ends),
    )
    return replace(blocks, gaps=gaps[:n].copy(), gap_ends=ends)


def _numbers(blocks: Blocks) -> dict[int, range]:
    """The blocks that consist of a number, or of several consecutive ones."""
    numbers: dict[int, range] = {}
    rows = (blocks.n_num_tokens > 0) & (blocks.n_letters == 0) & (blocks.n_mix_tokens == 0)
    for row in np.flatnonzero(rows).tolist():
        text = blocks.text[blocks.text_start[row] : blocks.text_end[row]]
        words = [_NUMBER.fullmatch(word) for word in text.split()]
        values = [int(word[1]) for word in words if word]
        if len(values) == len(words) and values == [values[0] + i for i in range(len(values))]:
            numbers[row] = range(values[0], values[-1] + 1)
    return numbers


def _named_so(blocks: Blocks, kinds: list[int], numbers: dict[int, range]) -> tuple[Bool, Int32]:
    """Which blocks are line numbers by the names of their elements, and the listing of each block.

    An element named so must hold numbers only, and code must follow it, or precede it in the same listing.
    """
    n = len(kinds)
    around: list[int] = blocks.named_elements[NAMED_AROUND].tolist()
    named, outer, lines = ([0] * n for _ in range(3))  # the nearest elements of a kind; the named one around
    for element in range(1, n):
        kind, up = kinds[element], around[element]
        is_named = kind & _NUMBERS or (kind & _GUTTER and not kind & _CODE)
        outer[element] = named[up]
        named[element] = element if is_named else 0 if kind & _CODE else named[up]
        lines[element] = element if kind & (_LINES | _FRAGMENT | _CELL) else lines[up]
    of, holder = np.array(named)[blocks.named], np.array(lines)[blocks.named]
    number = np.zeros(len(blocks), dtype=bool)
    number[list(numbers)] = True
    left_out: Bool = (of > 0) & (np.bincount(of, weights=~number, minlength=n) == 0)[of]
    holders = [element for element in set(lines) if kinds[element] & (_LINES | _CELL)]
    is_cell = np.isin(holder, [element for element in holders if kinds[element] & _CELL])
    if is_cell.any():  # lines in cells are one listing with their numbers, up to where something else stands
        begins = np.maximum.accumulate(np.where(is_cell | left_out, 0, np.arange(len(blocks)) + 1))
        is_cell |= left_out & (np.bincount(begins, is_cell) > 0)[begins]
        holder = np.where(is_cell, n + begins, holder)
    named_so = np.isin(holder, [*holders, *set(holder[left_out].tolist()) - {0}])
    by_name = (blocks.listing == 0) & (is_cell | named_so)
    listing = np.where(by_name, blocks.listing.max(initial=0) + holder, blocks.listing).astype(np.int32)
    code = (listing * (by_name | (blocks.white_space == CODE))).tolist()
    before = -1  # the last row of the numbers before
    edges = np.flatnonzero(np.diff(left_out, prepend=False, append=False)).tolist()
    for first, stop in zip(edges[::2], edges[1::2], strict=True):
        follows = stop < len(code) and code[stop] and of[stop] in (0, outer[of[stop - 1]])
        if not follows and not (first and 0 < code[first - 1] == code[first]):
            left_out[first:stop] = False
            continue
        own, other = code[before + 1], code[stop] if follows else 0
        counts = before >= 0 and numbers[before][-1] + 1 == numbers[first][0]
        if own and other not in (0, own) and counts and all(code[i] == own for i in range(before + 1, first)):
            end = stop  # lines in elements of their own are one listing
            while end < len(code) and code[end] == other:
                end += 1
            listing[first:end] = own
            code[first:end] = [own] * (end - first)
        before = stop - 1
    return left_out, listing


def _end_of_column(blocks: Blocks, first: int, numbers: dict[int, range]) -> int:
    """The end of preformatted numbers from 1 on in a cell beside one with as many lines of code; else 0."""
    cells = blocks.td_group
    if numbers[first][0] != 1 or not blocks.listing[first] or not cells[first]:
        return 0
    code, last = first, 0
    while code in numbers and cells[code] == cells[first] and numbers[code][0] == last + 1:
        last = numbers[code][-1]
        code += 1
    stop = code
    while stop < len(cells) and cells[stop] == cells[first] + 1 and blocks.listing[stop]:
        stop += 1
    if stop == code or last < _FEWEST_UNNAMED or (first and cells[first - 1] == cells[first]):
        return 0
    text = blocks.text[blocks.text_start[code] : blocks.text_end[stop - 1]]  # a line break after each block
    gaps = blocks.gaps[blocks.gap_ends[code] : blocks.gap_ends[stop - 1]]
    n_lines = text.count("\n") - (stop - 1 - code) + int((gaps == ord("\n")).sum()) + 1
    return code if abs(n_lines - last) <= 1 and _LOOKS_LIKE_CODE.search(text) else 0


def _rows_of_code(blocks: Blocks, first: int, numbers: dict[int, range], html: UInt32) -> list[int]:
    """The blocks of numbers from 1 on, each alone in a cell beside one line of code, and the end.

    [] if they are few, if no line is indented, or if the table has a header or cells without code: the
    numbers may then be those of steps.
    """
    rows: list[int] = []
    if first and "</th>" in text_of(html[blocks.end[first - 1] : blocks.start[first]]):
        return rows
    cells, row, is_indented = blocks.td_group, first, False
    while row in numbers and len(numbers[row]) == 1 and numbers[row][0] == len(rows) + 1 and cells[row]:
        stop = row + 1
        while stop < len(cells) and cells[stop] == cells[row] + 1:
            stop += 1
        if stop > row + 1:
            begin = blocks.start[row + 1]
            tags = text_of(html[max(begin - _TAGS_READ, 0) : begin])
            is_code = _CODE_TAG.search(tags) and "</code>" not in text_of(html[begin : blocks.end[stop - 1]])
            if not is_code and not blocks.listing[row + 1 : stop].all():
                break
            is_indented = is_indented or _INDENTED.search(tags) is not None
        elif not (stop in numbers and cells[stop] == cells[row] + 2):  # an empty line
            break
        rows.append(row)
        row = stop
    text = blocks.text[blocks.text_start[first] : blocks.text_end[row - 1]]
    is_numbered = len(rows) >= _FEWEST_UNNAMED and is_indented and _LOOKS_LIKE_CODE.search(text)
    return [*rows, row] if is_numbered else []


_TAGS_READ: Final = 200
"""The number of code points before a line of code that are searched for its tags and its indentation."""
_INDENTED: Final = re.compile(r"(?:[ \xa0]|&nbsp;){2}(?:<[^<>]*>)*\Z")
_CODE_TAG: Final = re.compile(r"<code[ >][^<]*(?:<span[^<]*)*\Z")


def _unspaced(blocks: Blocks) -> Blocks:
    """The blocks without the space after line numbers, in listings that have one after each number."""
    number, listing = blocks.left_out, blocks.listing
    inside = (listing[1:] == listing[:-1]) & (blocks.parent_block[1:] == blocks.parent_block[:-1])
    rows = np.flatnonzero(number[:-1] & ~number[1:] & inside)
    starts = blocks.gap_ends[rows]
    spaced = np.isin(np.append(blocks.gaps, 0)[starts], _SPACES) & (starts < blocks.gap_ends[rows + 1])
    dropped = starts[~np.isin(listing[rows], listing[rows[~spaced]])]
    ends = blocks.gap_ends - np.searchsorted(dropped, blocks.gap_ends).astype(np.int32)
    return replace(blocks, gaps=np.delete(blocks.gaps, dropped), gap_ends=ends)
