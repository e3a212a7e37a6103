"""The kept content of a page as nodes: one scan of the tags, one walk over elements and kept blocks.

The input is a serialised tree, as for `markup`: tags are balanced, there are no comments, and `<` and `>` are
escaped everywhere else. The walk calls `Structure` for elements that few pages have: formulas, footnotes,
listings and images. Cython pure Python mode.
"""

from html import unescape
from typing import Any

import cython
import numpy as np
from cython import Py_ssize_t
from cython.cimports.victor_spark.rendering import num as at

at.check()

_MAX_DEPTH = cython.declare(Py_ssize_t, 24)  # deeper containers are left out, but not their content
_MAX_FRAMES = cython.declare(Py_ssize_t, 48)
_MOST_NESTED = cython.declare(cython.int, 10)  # tables in a data table: one with more is the page's layout
_CLIMB = cython.declare(cython.int, 12)  # elements around an image, or nested formulas, that are examined
# Limits in characters:
_LONGEST_ITEM = cython.declare(cython.int, 2000)  # of a list item that is completed
_LONGEST_NOTICE = cython.declare(cython.int, 1500)  # of a notice that is shown because it follows kept text
_LONGEST_CAPTION = cython.declare(cython.int, 500)
_LONGEST_CELL = cython.declare(cython.int, 100)  # the mean in a table whose rows are completed
_SHORT_LABEL = cython.declare(cython.int, 6)  # one shorter than that, if it begins with a letter
_LONGEST_TOOL_BAR = cython.declare(cython.int, 30)  # above code
_LONGEST_NUMBER = cython.declare(cython.int, 5)  # of a list item
_LONGEST_BARE_TAG = cython.declare(cython.int, 12)  # a tag with a number or span is longer
_LONGEST_BEFORE_BOX = cython.declare(cython.int, 200)  # the markup between an item's tag and its check box
_MOST_BEFORE_BOX = cython.declare(Py_ssize_t, 2)  # elements between the two
_FEWEST_LETTERS = cython.declare(cython.int, 3)  # of words that complete a paragraph: a mark has fewer
_END = cython.declare(cython.int, 2147483647)  # a position after the html
# The least ratios of kept characters:
_HALF_RATIO = cython.declare(cython.double, 0.5)  # in what is completed, and around what is shown
_TABLE_RATIO = cython.declare(cython.double, 1.0 / 3.0)  # in a data table, or a row of one, that is completed
_APART_RATIO = cython.declare(cython.double, 0.9)  # around an image that no kept block is beside
_ENDS_RATIO = cython.declare(cython.double, 0.75)  # in a paragraph whose ends are completed, too
_BULLETS = "•·◦▪●○■‣⁃"
_NOT_VISITED = cython.declare(
    cython.int, at.MARK_BLOCK | at.MARK_NOTES | at.MARK_PICTURE | at.MARK_SIDE | at.MARK_HOVER
)


@cython.final
@cython.cclass
class Walk:
    """The walk over one page: `scan`, then `choose`, then `run`.

    `views`: memory views of the fields from `html` to `inlines`. `slots`/`slot_kinds` is an open-addressing
    table from the FNV-1a hash of a tag's name to its kind; `word_slots`/`word_marks` is one from the hash of
    a word to bits. `kept` has a 0 before the first block and a 0 after the last. The walk fills `elements`
    and `nodes`, and enlarges them as needed.
    """

    html: at.UInts
    points: at.UInts
    slots: at.UInts
    slot_kinds: at.Ints
    word_slots: at.UInts
    word_marks: at.Ints
    start: at.Ints
    block_end: at.Ints
    text_start: at.Ints
    text_end: at.Ints
    paragraph: at.Ints
    white_space: at.Ints
    listing: at.Ints
    n_split_br: at.Ints
    space_before: at.Ints
    gaps: at.UInts
    gap_ends: at.Ints
    left_out: at.Bytes
    kept: cython.uchar[::1]
    sums: cython.int[:, ::1]  # before each block: characters, kept characters; next kept block
    kind: cython.int[::1]  # the columns of elements, from here to `stack`
    known_marks: cython.int[::1]
    begin: cython.int[::1]
    inner: cython.int[::1]
    stop: cython.int[::1]
    parent: cython.int[::1]
    first: cython.int[::1]
    last_of: cython.int[::1]
    flags: cython.int[::1]
    stack: cython.int[::1]
    nodes: cython.int[:, ::1]
    frames: cython.int[:, ::1]
    inlines: cython.int[::1]
    elements: Any
    nodes_array: Any
    page: Any
    source: str
    text: str
    n_blocks: Py_ssize_t
    n_elements: Py_ssize_t
    n: Py_ssize_t
    depth: Py_ssize_t
    top: cython.int  # the frame of the innermost container, -1: none
    line: Py_ssize_t  # the current line: the node of an open paragraph or heading, -1: none
    in_heading: cython.bint
    level: cython.int  # open nodes inside the current line
    serial: cython.int  # number of lines so far
    number: cython.int  # the paragraph (`Blocks.paragraph`) of the current line
    link: cython.int  # the value of a link around whole paragraphs, -1: none
    last: cython.int  # the last block shown
    skip: cython.int  # elements and blocks before this position of the html are done
    is_bare: cython.bint  # whether the current line has no text yet
    line_end: cython.int  # the current line is known to reach up to this position of the html
    text_from: cython.int  # where the text of a footnote or list item begins, after its mark
    not_math: cython.int  # the end of the elements that looked like formulas and were none
    n_not_math: cython.int  # the number of nested ones
    listings: cython.int  # the first block of dropped listings that follow each other, and the one after them
    listings_end: cython.int
    examined: cython.int  # the end of the last element between kept text that looked like a formula
    heading: cython.int  # the row of the last heading
    asides: list[int]  # rows of footnotes inside lines

    def __init__(self, page: Any, elements: Any, nodes: Any, *views: object):
        self.html, self.points, self.slots, self.slot_kinds, self.word_slots, self.word_marks = views[:6]
        self.start, self.block_end, self.text_start, self.text_end, self.paragraph = views[6:11]
        self.white_space, self.listing, self.n_split_br, self.space_before = views[11:15]
        self.gaps, self.gap_ends, self.left_out, self.kept = views[15:19]
        self.sums, self.frames, self.inlines = views[19:]
        self.page, self.source, self.text = page, page.html, page.text
        self._set_columns(elements)
        self.nodes_array, self.nodes = nodes, memoryview(nodes)
        self.n_blocks = self.start.shape[0]
        self.n_elements = self.n = self.depth = 0
        self.top = self.link = self.number = self.skip = -1
        self.line = -1
        self.last = -2
        self.in_heading = self.is_bare = False
        self.level = self.serial = self.line_end = self.text_from = 0
        self.not_math = self.n_not_math = self.examined = self.heading = self.listings = self.listings_end = 0
        self.asides = []

    def _set_columns(self, elements: Any) -> cython.void:
        self.elements = elements
        columns: list[Any] = [memoryview(column) for column in elements]
        self.kind, self.known_marks, self.begin, self.inner, self.stop = columns[:5]
        self.parent, self.first, self.last_of, self.flags, self.stack = columns[5:]

    # --- elements --------------------------------------------------------------------------------------

    def scan(self) -> Any:
        """The elements, and the rows of those that may state their kind by a role, or by a class of Word."""
        stated: list[int] = []
        html = self.html
        n: Py_ssize_t = self.source.rfind(">") + 1  # a tag that begins before it also ends before it
        i: Py_ssize_t = 0
        block: Py_ssize_t = 0
        depth: Py_ssize_t = 0
        row: Py_ssize_t = 0
        has_math = False
        while True:
            if block < self.n_blocks and self.start[block] == i:
                i = self.block_end[block]
            while i < n and html[i] != ord("<"):
                i += 1
            if i >= n:
                break
            begin = i
            while block < self.n_blocks and self.start[block] < begin:
                block += 1
            i += 1
            if i < n and html[i] == ord("/"):
                # In MathML, elements with the names of void ones have an end tag.
                if depth > 0 and not (has_math and at.KIND_OTHER < self._kind_of(i + 1) <= at.KIND_INPUT):
                    depth -= 1
                    self.stop[self.stack[depth]] = cython.cast(cython.int, begin)
                    self.last_of[self.stack[depth]] = cython.cast(cython.int, block)
                while html[i] != ord(">"):
                    i += 1
                i += 1
                continue
            if i >= n or html[i] == ord(">") or html[i] == ord("!"):
                continue
            kind = self._kind_of(i)
            may_state: cython.bint = False  # role="…", class="M…"
            if kind == at.KIND_OTHER or kind == at.KIND_P or kind == at.KIND_BLOCK:
                while html[i] != ord(">"):
                    if html[i] == ord("=") and html[i + 1] == ord('"') and self._is_named(i):
                        may_state = may_state or html[i - 1] == ord("e") or html[i + 2] == ord("M")
                    i += 1
            while html[i] != ord(">"):
                i += 1
            i += 1
            if may_state:
                stated.append(row)
            if row >= self.kind.shape[0]:
                self._set_columns(np.concatenate([self.elements, self.elements], axis=1))
            self.kind[row] = kind
            has_math = has_math or kind == at.KIND_MATH
            self.known_marks[row] = -1
            self.begin[row] = cython.cast(cython.int, begin)
            self.inner[row] = cython.cast(cython.int, i)
            self.stop[row] = cython.cast(cython.int, i)
            self.parent[row] = self.stack[depth - 1] if depth > 0 else -1
            self.first[row] = cython.cast(cython.int, block)
            self.last_of[row] = cython.cast(cython.int, block)
            self.flags[row] = 0
            is_amp: cython.bint = kind == at.KIND_IMG and html[begin + 1] == ord("a")
            if kind == at.KIND_OTHER or kind > at.KIND_INPUT or is_amp:
                self.stack[depth] = cython.cast(cython.int, row)
                depth += 1
            row += 1
        while depth > 0:  # only if the input is not a serialised tree
            depth -= 1
            self.stop[self.stack[depth]] = cython.cast(cython.int, n)
            self.last_of[self.stack[depth]] = cython.cast(cython.int, self.n_blocks)
        self.n_elements = row
        return self.elements[: at.E_STACK, :row], stated

    @cython.cfunc
    def _kind_of(self, i: Py_ssize_t) -> cython.int:
        """The kind of an element by the name of its tag, which begins at `i`."""
        n: Py_ssize_t = self.html.shape[0]
        name: cython.uint = at.FNV_SEED
        while i < n and self.html[i] != ord(">") and self.html[i] != ord(" ") and self.html[i] != ord("/"):
            name = at.hashed(name, self.html[i])
            i += 1
        return self.slot_kinds[at.place(self.slots, name)]

    def tag(self, row: Py_ssize_t) -> str:
        """The start tag of an element."""
        return self.source[self.begin[row] : self.inner[row]]

    @cython.ccall
    def after(self, row: Py_ssize_t) -> Py_ssize_t:
        """The row after those inside an element."""
        low: Py_ssize_t = row + 1
        high: Py_ssize_t = self.n_elements
        while low < high:
            middle = (low + high) // 2
            if self.begin[middle] < self.stop[row]:
                low = middle + 1
            else:
                high = middle
        return low

    def attribute(self, row: Py_ssize_t, name: str) -> str:
        """One attribute of an element, "" where it has none."""
        start = self.source.find(f' {name}="', self.begin[row], self.inner[row])
        first = start + len(name) + 3
        value = "" if start < 0 else self.source[first : self.source.find('"', first)]
        return unescape(value) if "&" in value else value

    def text_of(self, row: Py_ssize_t) -> str:
        """The text of an element."""
        first, last = self.first[row], self.last_of[row]
        return self.text[self.text_start[first] : self.text_end[last - 1]] if first < last else ""

    def block_text(self, b: Py_ssize_t) -> str:
        """The text of a block; "" if there is no such block."""
        return self.text[self.text_start[b] : self.text_end[b]] if 0 <= b < self.n_blocks else ""

    @cython.ccall
    def marks(self, row: Py_ssize_t) -> cython.int:
        """The marks of an element, as bits, by its class, role and id. Both the words of letters and digits
        and the whole names (hashed with a space after them) are looked up, in lower case.
        """
        found: cython.int = self.known_marks[row]
        if found >= 0:
            return found
        found = 0
        html = self.html
        i: Py_ssize_t = self.begin[row]
        end: Py_ssize_t = self.inner[row] - 1
        name: cython.uint
        word: cython.uint
        while i < end:
            if html[i] != ord("=") or html[i + 1] != ord('"'):
                i += 1
                continue
            named = self._is_named(i)
            i += 2
            while not named and i < end and html[i] != ord('"'):
                i += 1
            name = word = at.FNV_SEED
            while i < end and html[i] != ord('"'):
                c: cython.uint = html[i]
                if ord("A") <= c <= ord("Z"):
                    c |= at.SMALL
                if (ord("a") <= c <= ord("z")) or ord("0") <= c <= ord("9"):
                    word = at.hashed(word, c)
                elif word != at.FNV_SEED:
                    found |= self._of_word(word)
                    word = at.FNV_SEED
                if c <= ord(" "):
                    found |= self._of_word(at.hashed(name, ord(" ")))
                    name = at.FNV_SEED
                else:
                    name = at.hashed(name, c)
                i += 1
            if named:
                found |= self._of_word(word) | self._of_word(at.hashed(name, ord(" ")))
            i += 1
        kind = self.kind[row]
        if found & at.MARK_SIDE and (kind == at.KIND_A or kind == at.KIND_OTHER or kind == at.KIND_SUMMARY):
            found |= at.MARK_HIDDEN  # not a column of the page
        up = row
        for _ in range(_CLIMB if found & at.MARK_HOVER else 0):
            up = max(self.parent[up], 0)
            if self.kind[up] == at.KIND_CODE or self.kind[up] == at.KIND_PRE:
                found |= at.MARK_HIDDEN
        self.known_marks[row] = found
        return found

    @cython.cfunc
    def _is_named(self, i: Py_ssize_t) -> cython.bint:
        """Whether the '=' at `i` (at least 3) follows the name class, role or id."""
        last: cython.uint = self.html[i - 1]
        before: cython.uint = self.html[i - 2]
        if last == ord("s"):
            return before == ord("s") and self.html[i - 3] == ord("a") and self.html[i - 6] == ord(" ")
        if last == ord("e"):
            return before == ord("l") and self.html[i - 3] == ord("o") and self.html[i - 5] == ord(" ")
        return last == ord("d") and before == ord("i") and self.html[i - 3] == ord(" ")

    @cython.cfunc
    def _of_word(self, word: cython.uint) -> cython.int:
        return self.word_marks[at.place(self.word_slots, word)]

    # --- what is shown ---------------------------------------------------------------------------------

    def choose(self) -> list[int]:
        """Decides which elements are shown in addition to the kept blocks; returns the rows of elements that
        may be references to footnotes.

        Listings, data tables, items, headings and captions are completed if most of them is kept. Listings,
        data tables, notices, formulas and headings between kept text are shown, and images beside it.
        """
        self.choose_tables(True)
        for row in range(self.n_elements):
            kind = self.kind[row]
            if kind == at.KIND_P and self._introduces(row):
                self.keep(row)
            elif self._is_heading(row) or kind in (at.KIND_LI, at.KIND_PRE, at.KIND_FIGCAPTION):
                size, shown = self.size(row), self._kept_size(row)
                if (
                    shown < size
                    and (shown or (kind == at.KIND_PRE and self._stands_between(row)))
                    and (kind == at.KIND_PRE or (size <= _LONGEST_ITEM and shown >= _HALF_RATIO * size))
                    and not self.marks(row) & at.MARK_CALLOUT
                ):
                    self.keep(row)
        for row in range(self.n_elements):
            self._choose_between(row)
        for row in range(self.n_elements - 1, -1, -1):
            if self.flags[row] & at.FLAG_BETWEEN:  # shown only if kept text follows
                self.flags[row] = 0
                if not self.kept[self.last_of[row] + 1]:
                    self.keep(row, 0)
        self.count()
        for row in range(self.n_elements):
            if self.kind[row] == at.KIND_IMG:
                self._choose_image(row)
        self.count()
        return self._labels()

    def choose_tables(self, whole: cython.bint) -> cython.void:
        """Completes the rows of data tables of which a third is kept, unless the table has long cells.

        With `whole`, also completes such tables, and shows data tables between kept text.
        """
        for row in range(self.n_elements):
            if self.kind[row] != at.KIND_TABLE:
                continue
            size, shown = self.size(row), self._kept_size(row)
            between = whole and (shown == 0 or shown < size <= _LONGEST_ITEM) and self._stands_between(row)
            is_code = whole and self._begins_with_code(row)
            if shown == size or not (shown or between) or not (is_code or self.page.is_data(row)):
                continue
            if between or is_code or (whole and shown >= _TABLE_RATIO * size):
                self.keep(row)
                continue
            n_cells = self._count(row, at.KIND_TD, at.KIND_TH)
            for inside in range(row + 1, self.after(row)):
                if self.kind[inside] == at.KIND_TR and size <= _LONGEST_CELL * n_cells:
                    if self._kept_size(inside) >= _TABLE_RATIO * self.size(inside) > 0:
                        self.keep(inside)

    def keep(self, row: Py_ssize_t, kept: cython.uchar = 1) -> cython.void:
        """Shows all blocks of an element (those left out only until `count`), or (`kept` 0) none of them."""
        for b in range(self.first[row], self.last_of[row]):
            self.kept[b + 1] = kept

    def count(self) -> cython.void:
        """Fills `sums` from `kept`, without the blocks left out."""
        size: cython.int = 0
        kept_size: cython.int = 0
        for b in range(self.n_blocks + 1):
            self.sums[at.UP_TO_SIZE, b] = size
            self.sums[at.UP_TO_KEPT_SIZE, b] = kept_size
            if b < self.n_blocks:
                if self.left_out[b]:
                    self.kept[b + 1] = 0
                length = self.text_end[b] - self.text_start[b]
                size += length
                kept_size += length * self.kept[b + 1]
        follows: cython.int = cython.cast(cython.int, self.n_blocks)
        self.sums[at.UP_TO_NEXT, self.n_blocks] = follows
        for b in range(self.n_blocks - 1, -1, -1):
            if self.kept[b + 1]:
                follows = cython.cast(cython.int, b)
            self.sums[at.UP_TO_NEXT, b] = follows

    @cython.ccall
    def size(self, row: Py_ssize_t) -> cython.int:
        """How many characters an element has."""
        return self.sums[at.UP_TO_SIZE, self.last_of[row]] - self.sums[at.UP_TO_SIZE, self.first[row]]

    @cython.cfunc
    def _kept_size(self, row: Py_ssize_t) -> cython.int:
        before = self.sums[at.UP_TO_KEPT_SIZE, self.first[row]]
        return self.sums[at.UP_TO_KEPT_SIZE, self.last_of[row]] - before

    def _stands_between(self, row: Py_ssize_t) -> cython.bint:
        """Whether kept text or a heading precedes an element, and kept text or a mostly kept end follows."""
        is_pre: cython.bint = self.kind[row] == at.KIND_PRE
        most = self.size(row) + _LONGEST_TOOL_BAR
        around = self._up(self.parent[row], self.size(row))
        while is_pre and around > 0 and self.size(around) <= most and not self._kept_size(around):
            row = around
            around = self._up(self.parent[row], self.size(row))
        a, b = self.first[row], self._after_listings(self.last_of[row])
        if around < 0 or a == self.first[around]:
            return False
        others = self.size(around) - self.size(row)
        kept_others = self._kept_size(around) - self._kept_size(row)
        if kept_others < _HALF_RATIO * others:
            return False
        is_last: cython.bint = b == self.last_of[row] or kept_others >= _ENDS_RATIO * others
        ends = is_last and b == self.last_of[around] and self.parent[around] > 0  # not the body
        before = row - 1
        while before > max(around, row - _CLIMB) and not self._is_heading(before):
            before -= 1
        follows = self.kept[a] or (before > around and self._is_heading(before) and self.last_of[before] == a)
        return follows and (self.kept[b + 1] or ends)

    def _after_listings(self, b: cython.int) -> cython.int:
        """The block after the dropped listings, with their tool bars, that begin at block `b`."""
        if self.listings <= b < self.listings_end:
            return self.listings_end
        self.listings = self.listings_end = b
        bar: cython.int = 0
        while b < self.n_blocks and not self.kept[b + 1] and bar <= _LONGEST_TOOL_BAR:
            bar += self.text_end[b] - self.text_start[b]
            b += 1
            if self.left_out[b - 1] or self.listing[b - 1]:
                bar, self.listings_end = 0, b
        return self.listings_end

    @cython.cfunc
    def _is_heading(self, row: Py_ssize_t) -> cython.bint:
        return at.KIND_H1 <= self.kind[row] <= at.KIND_H6

    def _introduces(self, row: Py_ssize_t) -> cython.bint:
        """Whether a paragraph that is not kept ends with a colon, before a kept list, table or listing."""
        b, after = self.last_of[row], self.after(row)
        if not self.size(row) or self._kept_size(row):
            return False
        last: cython.uint = self.points[self.text_end[b - 1] - 1]
        if last != ord(":") and last != ord("\uff1a"):
            return False
        while b < self.n_blocks and self.left_out[b]:  # numbers of lines
            b += 1
        if b >= self.n_blocks or not self.kept[b + 1]:
            return False
        kind = self.kind[after] if after < self.n_elements else at.KIND_OTHER
        return at.KIND_UL <= kind <= at.KIND_TABLE or self.white_space[b] == at.WHITE_CODE

    def _up(self, row: Py_ssize_t, size: cython.int) -> Py_ssize_t:
        """The nearest of an element and its ancestors whose text does not have this size."""
        climbed: cython.int = 0
        while climbed < _CLIMB and row > 0 and self.size(row) == size:
            row = self.parent[row]
            climbed += 1
        return row

    def _choose_between(self, row: Py_ssize_t) -> cython.void:
        """Shows a heading before kept text, a notice or formula after kept text or another one, and a caption
        or summary beside kept text of the same element.
        """
        a, b = self.first[row], self.last_of[row]
        if a == b or b >= self.n_blocks or self._kept_size(row):
            return
        kind = self.kind[row]
        begins: cython.bint = a == 0 or self.kept[a] != 0
        around: Py_ssize_t = max(self.parent[row], 0)
        goes_on: cython.bint = b < self.last_of[around] and self.kept[b + 1]
        if self._is_heading(row):
            if goes_on or (self.kept[b + 1] and (begins or kind == at.KIND_H1)):
                self.keep(row)
        elif (kind == at.KIND_FIGCAPTION or kind == at.KIND_SUMMARY) and self.size(row) < _LONGEST_CAPTION:
            if goes_on or (self.first[around] < a and self.kept[a]):
                self.keep(row)
        elif begins and a and self.size(row) < _LONGEST_NOTICE:
            marks = at.MARK_MATH if kind == at.KIND_MATH else self.marks(row)
            if marks & at.MARK_MATH and self.begin[row] >= self.examined:
                marks |= 0 if self.page.formula(row) is None else at.MARK_CALLOUT
                self.examined = self.stop[row]  # nested ones would take quadratic time
            if marks & at.MARK_CALLOUT:
                self.flags[row] |= at.FLAG_BETWEEN
                self.keep(row)

    def _choose_image(self, row: Py_ssize_t) -> cython.void:
        """Shows an image that belongs to the kept text."""
        around: Py_ssize_t = max(self._up(self.parent[row], 0), 0)
        if self.kind[around] == at.KIND_A and self.kind[max(self.parent[around], 0)] == at.KIND_FIGURE:
            around = max(self.parent[around], 0)
        first, size = self.first[row], self.size(around)
        is_figure: cython.bint = self.kind[around] == at.KIND_FIGURE
        is_dropped: cython.bint = self._kept_size(around) == 0 and size < _LONGEST_CAPTION
        caption: cython.bint = is_dropped and (is_figure or (self.marks(around) & at.MARK_PICTURE) != 0)
        apart: cython.bint = caption or (
            is_dropped and self.kind[around] == at.KIND_A and self.page.leads_to_image(around)
        )
        outer = self._up(around, size) if apart else around
        if apart and self.kind[outer] == at.KIND_FIGURE:  # of a gallery
            outer = self._up(outer, self.size(outer))
        beside: cython.bint = self.kept[first] or self.kept[first + 1]
        if apart:
            beside = beside or self.kept[self.first[around]] or self.kept[self.last_of[around] + 1]
        if not (self.kept[first] and self.kept[first + 1]):
            ratio = _HALF_RATIO if beside or is_figure else _APART_RATIO
            if not 0 < ratio * self.size(outer) <= self._kept_size(outer):
                return
        self.flags[row] |= at.FLAG_SHOWN
        if caption:
            self.keep(around)
        around = row
        for _ in range(4):
            around = max(self.parent[around], 0)
            if self.kind[around] == at.KIND_A or at.KIND_TR <= self.kind[around] <= at.KIND_TH:
                self.flags[around] |= at.FLAG_SHOWN

    def _labels(self) -> list[int]:
        """Rows of short links, superscripts and bold texts; [] if none of them can refer to a footnote."""
        found: list[int] = []
        any_: cython.bint = False
        for row in range(self.n_elements):
            kind = self.kind[row]
            if (kind == at.KIND_A or kind == at.KIND_SUP or kind == at.KIND_STRONG) and self._kept_size(row):
                start = self.text_start[self.first[row]]
                size = self.text_end[self.last_of[row] - 1] - start
                c = self.points[start] | at.SMALL
                if size <= at.LONGEST_LABEL:
                    is_letter = ord("a") <= c <= ord("z") and c != ord("n")  # "note 1"
                    is_label = not is_letter or size < _SHORT_LABEL  # a numeral, a letter
                    any_ = any_ or kind == at.KIND_SUP or (kind == at.KIND_A and is_label)
                    found.append(row)
        return found if any_ else []

    def cells(self, table: Py_ssize_t) -> list[int]:
        """The rows of a table's cells, without those of tables in them."""
        found: list[int] = []
        end: cython.int = 0  # of the table inside
        for row in range(table + 1, self.after(table)):
            kind = self.kind[row]
            if self.begin[row] >= end and kind == at.KIND_TABLE:
                end = self.stop[row]
            elif self.begin[row] >= end and (kind == at.KIND_TD or kind == at.KIND_TH):
                found.append(row)
        return found

    def _count(self, row: Py_ssize_t, first: cython.int, last: cython.int) -> cython.int:
        """How many elements of the kinds from `first` to `last` are inside an element."""
        found: cython.int = 0
        for inside in range(row + 1, self.after(row)):
            found += first <= self.kind[inside] <= last
        return found

    def is_data(self, table: Py_ssize_t) -> cython.bint:
        """Whether a table holds data, not the layout of the page."""
        tag = self.tag(table)
        n_tables = self._count(table, at.KIND_TABLE, at.KIND_TABLE)
        if 'role="presentation"' in tag or 'role="none"' in tag or n_tables > _MOST_NESTED:
            return False
        rows: list[int] = []
        filled: list[int] = []
        has_header: cython.bint = False
        for cell in self.cells(table):
            rows.append(self.parent[cell])
            has_header = has_header or self.kind[cell] == at.KIND_TH
            if self.last_of[cell] > self.first[cell] or self._count(cell, at.KIND_IMG, at.KIND_IMG):
                filled.append(self.parent[cell])
        n_cells, n_rows, n_heads = len(rows), len(set(rows)), self._count(table, at.KIND_THEAD, at.KIND_THEAD)
        if n_rows == n_cells and not (n_heads and self._count(table, at.KIND_TH, at.KIND_TH) == 1):
            return False  # one cell a row
        if n_rows < 2 or (n_rows < n_cells and filled and len(set(filled)) == len(filled)):
            return False  # one row, or all cells but one in each row are empty
        n_inside = self._count(table, at.KIND_P, at.KIND_P) + self._count(table, at.KIND_LI, at.KIND_LI)
        headings = self._count(table, at.KIND_H1, at.KIND_H6)
        is_short = headings == 0 and n_inside <= 1.5 * n_cells and self.size(table) <= 250 * n_cells
        if n_tables:  # in its cells: what is in them is the smaller part
            return has_header and is_short and self._count(table, at.KIND_TD, at.KIND_TH) < 2 * n_cells
        is_named = has_header or n_heads or self._count(table, at.KIND_CAPTION, at.KIND_CAPTION)
        return not (headings and n_inside > n_cells) if is_named else is_short

    # --- the walk --------------------------------------------------------------------------------------

    def run(self) -> Any:
        """The nodes."""
        self._add_elements(0, self.n_elements, 0, cython.cast(cython.int, self.n_blocks))
        for row in self.asides:
            self.skip = -1
            self._end_line()
            label, _, self.text_from = self.page.note(row)
            self._open(at.FOOTNOTE, label, 0, row)
            self._add_elements(row + 1, self.after(row), self.first[row], self.last_of[row])
        return self.nodes_array[:, : self.n]

    def _add_elements(
        self, row: Py_ssize_t, last: Py_ssize_t, b: cython.int, n_blocks: cython.int
    ) -> cython.void:
        """Adds elements from `row` up to `last`, and blocks from `b` up to `n_blocks`."""
        while row <= last:
            begin = self.begin[row] if row < last else _END
            b = self.sums[at.UP_TO_NEXT, b]
            while b < n_blocks and self.start[b] < begin:
                self._close_up_to(self.start[b])
                if self.start[b] >= self.skip:
                    self._add_block(b)
                b = self.sums[at.UP_TO_NEXT, b + 1]
            if row < last and self._is_wanted(row):
                self._close_up_to(begin)
                if begin >= self.skip:
                    self._add_element(row)
            row += 1
        self._close_up_to(_END)
        self._end_line()

    @cython.cfunc
    def _is_wanted(self, row: Py_ssize_t) -> cython.bint:
        """Whether the walk must visit an element: it is shown, or it changes how kept text is shown."""
        kind = self.kind[row]
        if self.flags[row]:
            return True
        first = self.first[row]
        if self._kept_size(row):
            if kind == at.KIND_OTHER or kind == at.KIND_P or kind == at.KIND_BLOCK:
                return (self.marks(row) & ~_NOT_VISITED) != 0
            return kind != at.KIND_THEAD and kind != at.KIND_PICTURE and kind != at.KIND_NOSCRIPT
        if kind == at.KIND_TD or kind == at.KIND_TH:  # empty ones, too
            around = self.parent[row]
            return around >= 0 and (self._kept_size(around) or self.flags[around] != 0)
        if first != self.last_of[row] or not (self.kept[first] or self.kept[first + 1]):
            return False
        if kind == at.KIND_HR:
            return self.kept[first] != 0 and self.kept[first + 1] != 0
        return kind == at.KIND_MATH or (
            (kind == at.KIND_OTHER or kind > at.KIND_INPUT) and (self.marks(row) & at.MARK_MATH) != 0
        )

    def _put(self, op: cython.int, a: cython.int, b: cython.int) -> Py_ssize_t:
        """Adds a node and returns its row."""
        row: Py_ssize_t = self.n
        if row >= self.nodes.shape[1]:
            self.nodes_array = np.concatenate([self.nodes_array, self.nodes_array], axis=1)
            self.nodes = memoryview(self.nodes_array)
        self.nodes[at.N_OP, row] = op
        self.nodes[at.N_A, row] = a
        self.nodes[at.N_B, row] = b
        self.nodes[at.N_END, row] = cython.cast(cython.int, row)
        self.n = row + 1
        return row

    def _end(self, node: Py_ssize_t) -> cython.void:
        """Ends a node; removes it if it is empty, unless it is a cell or an item with a box."""
        kind = self.nodes[at.N_OP, node]
        if self.n == node + 1 and kind != at.CELL and (kind != at.ITEM or self.nodes[at.N_B, node] == 0):
            self.n = node
        else:
            close = self._put(at.CLOSE, cython.cast(cython.int, node), 0)
            self.nodes[at.N_END, node] = cython.cast(cython.int, close)

    def _op(self) -> cython.int:
        """The kind of the innermost container."""
        return self.frames[at.F_OP, self.top] if self.top >= 0 else at.ROOT

    def _push(self, end: cython.int, op: cython.int, node: Py_ssize_t, saved: cython.int) -> cython.void:
        depth: Py_ssize_t = self.depth
        self.frames[at.F_END, depth] = end
        self.frames[at.F_OP, depth] = op
        self.frames[at.F_NODE, depth] = cython.cast(cython.int, node)
        self.frames[at.F_OUTER, depth] = self.top
        self.frames[at.F_SAVED, depth] = saved
        self.frames[at.F_LEVEL, depth] = self.level
        self.frames[at.F_LAZY, depth] = -1
        self.depth = depth + 1

    def _open(self, op: cython.int, a: cython.int, b: cython.int, row: Py_ssize_t) -> cython.bint:
        """Puts a container for an element into the innermost one and enters it."""
        if self.depth >= _MAX_DEPTH:
            return False
        self._end_line()
        if op != at.LIST:
            self._end_item()
        elif self._op() == at.LIST and self.frames[at.F_LAZY, self.top] < 0:
            self._begin_item()  # a list in a list belongs to the item before
        node = self._put(op, a, b)
        self._push(self.stop[row], op, node, 0)
        self.top = cython.cast(cython.int, self.depth - 1)
        return True

    def _begin_item(self) -> cython.void:
        """Begins an item for content that is directly in a list; the content after it joins the item."""
        self._end_item()
        self.frames[at.F_LAZY, self.top] = cython.cast(cython.int, self._put(at.ITEM, -1, 0))

    def _end_item(self) -> cython.void:
        """Ends the last item of the innermost container, if that is a list."""
        if self.top >= 0 and self.frames[at.F_LAZY, self.top] >= 0:
            item = self.frames[at.F_LAZY, self.top]
            self.frames[at.F_LAZY, self.top] = -1
            self._end(item)

    def _close_up_to(self, position: cython.int) -> cython.void:
        """Leaves the elements that end before a position."""
        while self.depth > 0 and self.frames[at.F_END, self.depth - 1] <= position:
            frame = self.depth - 1
            op = self.frames[at.F_OP, frame]
            if op >= at.LINK:
                if self.line >= 0 and self.frames[at.F_SAVED, frame] == self.serial:
                    self._end_inlines(self.frames[at.F_LEVEL, frame])
            elif op == at.HEADING:
                if self.line >= 0 and self.frames[at.F_SAVED, frame] == self.serial:
                    self._end_line()
            elif op == at.ROOT:  # a link around paragraphs
                if self.line >= 0:
                    self._end_inlines(0)
                self.link = self.frames[at.F_SAVED, frame]
            else:
                self._end_line()
                self._end_item()
                self.top = self.frames[at.F_OUTER, frame]
                if op == at.ITEM and self._op() == at.LIST:
                    self.frames[at.F_LAZY, self.top] = self.frames[at.F_NODE, frame]
                else:
                    self._end(self.frames[at.F_NODE, frame])
            self.depth = frame

    def _end_inlines(self, level: cython.int) -> cython.void:
        while self.level > level:
            self.level -= 1
            self._end(self.inlines[self.level])

    def _end_line(self) -> cython.void:
        if self.line >= 0:
            self._end_inlines(0)
            self._end(self.line)
            self.line = -1

    def _begin_line(self, op: cython.int, a: cython.int) -> cython.void:
        self._end_line()
        kind = self._op()
        if kind == at.LIST:
            self._begin_item()
        elif kind == at.ROW and self.depth < _MAX_FRAMES:
            end = self.frames[at.F_END, self.top]
            self._push(end, at.CELL, self._put(at.CELL, 1, 1), 0)
            self.top = cython.cast(cython.int, self.depth - 1)
        self.line = self._put(op, a, 0)
        self.serial += 1
        self.in_heading = op == at.HEADING
        self.is_bare = False
        if kind == at.TITLE:
            self._begin_inline(at.STRONG, 0)
        if self.link >= 0:
            self._begin_inline(at.LINK, self.link)

    def _begin_inline(self, op: cython.int, a: cython.int) -> cython.void:
        self.inlines[self.level] = cython.cast(cython.int, self._put(op, a, 0))
        self.level += 1

    def _before(self, b: cython.int) -> cython.void:
        """Adds the break or space before block `b` (a heading is one line), or begins a new paragraph."""
        if self.is_bare and self._is_broken(self.start[b]):
            self._end_line()
        self.is_bare = False
        self.line_end = self.block_end[b]
        number = self.paragraph[b]
        if self.line < 0 or (number != self.number and not self.in_heading):
            self._begin_line(at.P, 0)
        elif self.n > self.line + 1 and self.last != b:
            n_breaks: cython.int = self.n_split_br[b] != 0
            if not n_breaks and self.white_space[b] and b and self.listing[b] == self.listing[b - 1]:
                for i in range(self.gap_ends[b - 1], self.gap_ends[b]):
                    n_breaks += self.gaps[i] == ord("\n")
            if n_breaks > 1 and not self.in_heading and self.level == 0:  # an empty line
                self._begin_line(at.P, 0)
            elif n_breaks and not self.in_heading:
                self._put(at.BR, 0, 0)
            elif self.space_before[b] or n_breaks or self.number not in (-1, number) or not self._follows(b):
                self._put(at.SPACE, 0, 0)
        self.number, self.last = number, b

    def _follows(self, b: cython.int) -> cython.bint:
        """Whether block `b` directly follows the last block shown: no white space, only left-out blocks."""
        i = self.last + 1
        while 0 <= i < b and self.left_out[i] and not self.space_before[i]:
            i += 1
        return i == b

    def _add_block(self, b: cython.int) -> cython.void:
        white = self.white_space[b]
        if white == at.WHITE_CODE and (self.line < 0 or self.level == 0) and self._add_listing(b):
            return
        self._leave_bare_items()
        self._before(b)
        begin = self.text_start[b]
        if begin <= self.text_from <= self.text_end[b]:
            begin = self.text_from
        if white == at.WHITE_LINES or white == at.WHITE_PROSE:
            for i in range(begin, self.text_end[b]):
                if self.points[i] == ord("\n"):
                    if begin < i or self.level or self.in_heading:
                        self._put(at.TEXT, begin, i)
                        self._put(at.BR, 0, 0)
                    elif self.nodes[at.N_OP, self.n - 1] == at.BR:  # an empty line
                        self.n -= 1
                        self._begin_line(at.P, 0)
                    begin = i + 1
        else:
            points = self.points
            n_dollars: cython.int = 0
            for i in range(begin, self.text_end[b]):
                n_dollars += points[i] == ord("$")
                if n_dollars == 2 or points[i] == ord("\\"):
                    for a, end, value, display in self.page.formulas(begin, self.text_end[b]):
                        if value < 0:
                            self._put(at.TEXT, a, end)
                        else:
                            self._put(at.MATH, value, display)
                    return
        if begin < self.text_end[b]:
            self._put(at.TEXT, begin, self.text_end[b])

    def _leave_bare_items(self) -> cython.void:
        """Leaves a list that was opened for items without a list element."""
        if self.top >= 0 and self.frames[at.F_SAVED, self.top] and self._op() == at.LIST:
            self._leave()

    def _leave(self) -> cython.void:
        """Leaves the innermost container before its element ends."""
        if self.top == self.depth - 1:
            self.frames[at.F_END, self.top] = -1
            self._close_up_to(-1)

    def _add_listing(self, b: cython.int) -> cython.bint:
        """Adds the listing that begins with block `b` and is not an element of its own, if there is one."""
        stop: Py_ssize_t = b
        if not self.listing[b]:
            return False
        while stop < self.n_blocks and self.listing[stop] == self.listing[b]:
            stop += 1
        if b and self.paragraph[b - 1] == self.paragraph[b] and self.kept[b]:
            return False
        if stop < self.n_blocks and self.paragraph[stop - 1] == self.paragraph[stop] and self.kept[stop + 1]:
            return False
        self._add_code(self.page.code(b, stop, ""))
        self.skip = self.block_end[stop - 1]
        return True

    def _add_code(self, value: cython.int) -> cython.void:
        self._end_line()
        if value >= 0:
            self._leave_bare_items()
            if self._op() == at.LIST:
                self._begin_item()
            self._put(at.CODE, value, 0)

    def _add_element(self, row: Py_ssize_t) -> cython.void:
        """Adds the node of an element by its kind; the elements inside are added later."""
        kind = self.kind[row]
        flags = self.flags[row]
        op = self._op()
        marks = self.marks(row)
        if op == at.LIST and not at.KIND_LI <= kind <= at.KIND_OL:
            self._leave_bare_items()
            op = self._op()
        if (op == at.TABLE or op == at.ROW) and at.KIND_TR <= kind <= at.KIND_TH:
            if kind == at.KIND_TR:
                if op == at.TABLE:
                    self._open(at.ROW, 0, 0, row)
            elif op == at.ROW:
                is_bare = self.inner[row] - self.begin[row] <= _LONGEST_BARE_TAG
                across, down = (1, 1) if is_bare else self.page.spans(row)
                self._open(at.CELL, across, down if kind == at.KIND_TD else -down, row)
            return
        if flags & at.FLAG_ASIDES:
            self._add_reference(row)
            self.asides.append(row)
            return
        if flags & at.FLAG_NOTES:
            label, ends, self.text_from = self.page.note(row)
            if op == at.FOOTNOTE and ends != row:  # notes that share an element end where the next begins
                self._leave()
            self._open(at.FOOTNOTE, label, 0, ends)
            return
        is_hidden: cython.bint = marks & at.MARK_HIDDEN or flags & at.FLAG_BACK
        if is_hidden or ((marks & at.MARK_ANCHOR or kind == at.KIND_BUTTON) and self._is_anchor(row)):
            self.skip = self.stop[row]
            return
        if (kind == at.KIND_MATH or marks & at.MARK_MATH) and self._add_math(row):
            return
        if self._is_heading(row):
            if self.depth < _MAX_DEPTH and op != at.TABLE and op != at.ROW:
                self.heading = cython.cast(cython.int, row)
                self._begin_line(at.HEADING, kind - at.KIND_H1 + 1)
                self.number = -1
                self._push(self.stop[row], at.HEADING, self.line, self.serial)
        elif at.KIND_A <= kind <= at.KIND_SUB:
            self._add_inline(row)
        elif kind == at.KIND_IMG:
            self._add_image(row)
        elif kind == at.KIND_PRE or marks & at.MARK_CODE or (kind == at.KIND_CODE and marks & at.MARK_BLOCK):
            self._add_code_of(row)
        elif kind == at.KIND_CODE:
            self._add_span(row)
        elif kind == at.KIND_UL or kind == at.KIND_OL:
            if op != at.TABLE and op != at.ROW:
                first, counts_down = self.page.numbering(row) if kind == at.KIND_OL else (-1, False)
                self._open(at.LIST, first, counts_down, row)
        elif kind == at.KIND_LI:
            self._add_item(row)
        elif kind == at.KIND_TABLE:
            self._add_table(row)
        elif at.KIND_QUOTE <= kind <= at.KIND_SUMMARY or kind == at.KIND_CAPTION:
            into = at.CAPTION if kind == at.KIND_CAPTION else at.QUOTE + kind - at.KIND_QUOTE
            into = at.TITLE if kind == at.KIND_SUMMARY and op == at.CALLOUT else into
            is_box: cython.bint = kind == at.KIND_QUOTE or kind == at.KIND_FIGURE or kind == at.KIND_DETAILS
            if not (is_box and self._add_callout(row, kind, marks)):
                self._open(into, 0, 0, row)
        elif kind == at.KIND_HR:
            self._end_line()
            if op == at.ROOT or op == at.QUOTE or op == at.CALLOUT:
                self._put(at.HR, 0, 0)
        elif self._add_callout(row, kind, marks):
            return
        elif marks & at.MARK_TITLE and op == at.CALLOUT and self.n == self.frames[at.F_NODE, self.top] + 1:
            self._open(at.TITLE, 0, 0, row)

    def _add_callout(self, row: Py_ssize_t, kind: cython.int, marks: cython.int) -> cython.bint:
        """Adds an element as a notice if it is named so; returns whether it did, or is in one."""
        if kind != at.KIND_BLOCK:
            marks &= at.MARK_NOTICE if kind == at.KIND_DETAILS else at.MARK_CALLOUT
        if not marks & (at.MARK_CALLOUT | at.MARK_NOTICE) or self._op() == at.CALLOUT:
            return marks & at.MARK_CALLOUT != 0
        value = self.page.callout(row)
        return value >= 0 and self._open(at.CALLOUT, value, 0, row)

    def _add_item(self, row: Py_ssize_t) -> cython.void:
        op = self._op()
        if op == at.TABLE or op == at.ROW:
            return
        if op != at.LIST:
            if not self._open(at.LIST, -1, 0, row):
                return
            around = self.parent[row]
            self.frames[at.F_END, self.top] = self.stop[around] if around >= 0 else _END
            self.frames[at.F_SAVED, self.top] = 1
        state: cython.int = 0
        for i in range(row + 1, row + _MOST_BEFORE_BOX + 2):
            if i < self.n_elements and self.kind[i] == at.KIND_INPUT:
                begin = self.begin[i]
                if begin < self.stop[row] and begin < self.inner[row] + _LONGEST_BEFORE_BOX:
                    tag = self.tag(i)
                    is_checked = " checked" in tag or 'aria-checked="true"' in tag
                    state = 0 if '="checkbox"' not in tag else 2 if is_checked else 1
                break
        is_bare = self.inner[row] - self.begin[row] <= _LONGEST_BARE_TAG
        number: cython.int = -1 if is_bare else self.page.number(row, "value", -1)
        if self._open(at.ITEM, number, state, row):
            self._leave_out_mark(row)

    def _leave_out_mark(self, row: Py_ssize_t) -> cython.void:
        """Leaves out the bullet or number before the text of an item, as Markdown writes its own.

        A number is left out only if Word wrote it or it is a paragraph of its own: others may be text.
        """
        b, of = self.sums[at.UP_TO_NEXT, self.first[row]], self.frames[at.F_OUTER, self.top]
        if b >= self.last_of[row]:
            return
        start, end = self.text_start[b], self.text_end[b]
        is_alone = start + 1 == end and b + 1 < self.last_of[row]
        c = self.points[start]
        is_numeral = ord("(") <= c < ord("z") or c == ord("§")
        if (ord("•") <= c or c == ord("·")) and _BULLETS.find(chr(c)) >= 0:
            after = self.points[start + 1] if start + 2 < end else 0
            if is_alone or after == ord(" ") or after == ord("\xa0"):
                self.text_from = start + 1
        elif is_numeral and end <= start + _LONGEST_NUMBER and b + 1 < self.last_of[row]:
            is_bare = self.frames[at.F_SAVED, of] != 0  # the list has no element
            is_ordered = self.nodes[at.N_A, self.frames[at.F_NODE, of]] >= 0
            if not is_bare and (not is_ordered or self.paragraph[b] == self.paragraph[b + 1]):
                return
            number = self.page.number_of_item(b, row if is_bare else -1)
            if number > 0 and not is_ordered:
                self.nodes[at.N_A, self.frames[at.F_NODE, of]] = number
            if number >= 0:
                self.text_from = end

    def _add_table(self, row: Py_ssize_t) -> cython.void:
        for i in range(self.depth - 1, self.depth - 4, -1):
            if i >= 0 and (self.frames[at.F_OP, i] == at.TABLE or self.frames[at.F_OP, i] == at.CELL):
                return
        if self._begins_with_code(row):
            value = self.page.table_of_code(row)
            if value is not None:
                self._add_code(value)
                self.skip = self.stop[row]
                return
        if self.page.is_data(row):
            self._open(at.TABLE, 0, 0, row)

    def _begins_with_code(self, row: Py_ssize_t) -> cython.bint:
        """Whether the first text of a table, apart from numbers of lines, is in a listing."""
        b = self.first[row]
        while b < self.last_of[row] and self.left_out[b]:
            b += 1
        return b < self.last_of[row] and self.listing[b] > 0 and self.white_space[b] == at.WHITE_CODE

    def _add_inline(self, row: Py_ssize_t) -> cython.void:
        first, last = self.first[row], self.last_of[row]
        kind = self.kind[row]
        if self._starts_listing(first, last):
            return
        if self.flags[row] & at.FLAG_REFS:
            self._add_reference(row)
            return
        value: cython.int = 0
        if kind == at.KIND_A:
            if self._is_anchor(row):
                self.skip = self.stop[row]
                return
            value = self.page.link(row)
            if value < 0:
                return
        one = self.sums[at.UP_TO_NEXT, first]
        other = last - 1
        while other > one and not self.kept[other + 1]:
            other -= 1
        has_blocks: cython.bint = one < other and self.paragraph[one] != self.paragraph[other]
        if kind == at.KIND_A and not has_blocks and (self.line < 0 or not self.in_heading):
            has_blocks = self._count(row, at.KIND_H1, at.KIND_BLOCK) > 0
            has_blocks |= self._count(row, at.KIND_FIGURE, at.KIND_FIGCAPTION) > 0
        if has_blocks and (self.line < 0 or not self.in_heading):
            if kind == at.KIND_A and self.depth < _MAX_FRAMES:
                self._end_line()
                self._push(self.stop[row], at.ROOT, 0, self.link)
                self.link = value
            return
        if one >= last:  # images alone
            self._begin_without_text(row)
        else:
            self._before(one)
        if self.depth < _MAX_FRAMES:
            self._push(self.stop[row], at.LINK, 0, self.serial)
            self._begin_inline(at.LINK + kind - at.KIND_A, value)

    def _add_reference(self, row: Py_ssize_t) -> cython.void:
        """Adds a reference to a footnote in place of an element."""
        self._begin_without_text(row)
        self._put(at.REF, self.page.reference(row), 0)
        self.skip = self.stop[row]
        self.last = self.last_of[row] - 1

    def _starts_listing(self, first: cython.int, last: cython.int) -> cython.bint:
        """Adds the listing that begins with an element's first block; returns whether there is one."""
        return (
            first < last
            and self.white_space[first] == at.WHITE_CODE
            and self.kept[first + 1] != 0
            and (self.line < 0 or self.paragraph[first] != self.number)
            and self._add_listing(first)
        )

    def _is_anchor(self, row: Py_ssize_t) -> cython.bint:
        """Whether an element in a heading or term is a sign that links to it, or a link to edit it."""
        in_term = self._op() == at.DT
        if not in_term and (self.line < 0 or not self.in_heading):
            return False
        start = self.sums[at.UP_TO_SIZE, self.first[self.heading]]
        begins = self.sums[at.UP_TO_SIZE, self.first[row]] < start + _FEWEST_LETTERS
        return self.page.is_anchor(row, in_term or begins)

    def _begin_without_text(self, row: Py_ssize_t) -> cython.void:
        """Begins a paragraph for an element without text, such as an image, unless it joins the open one."""
        first = self.first[row]
        begin = self.begin[row]
        if self.line >= 0 and not self._is_broken(begin):
            follows: cython.bint = first < self.n_blocks and self.paragraph[first] == self.number
            joins: cython.bint = follows or self.is_bare or self.in_heading or self.level > 0
            if joins or (first and self.paragraph[first - 1] == self.number):
                spaced = self.space_before[first] if follows else begin and self.html[begin - 1] <= ord(" ")
                if spaced and self.n > self.line + 1 and self.nodes[at.N_OP, self.n - 1] != at.SPACE:
                    self._put(at.SPACE, 0, 0)
                if follows and spaced:
                    self.last = first
                return
        self._begin_line(at.P, 0)
        self.number = self.paragraph[first] if first < self.n_blocks else -1
        self.line_end = begin
        self.is_bare = True

    def _is_broken(self, position: cython.int) -> cython.bint:
        """Whether a block-level element begins or ends between the end of the current line and a position."""
        i: Py_ssize_t = self.line_end
        if self.in_heading or i >= position:
            return False
        self.line_end = position
        while i < position:
            if self.html[i] == ord("<"):
                i += 1
                kind = self._kind_of(i + 1 if self.html[i] == ord("/") else i)
                if at.KIND_H1 <= kind <= at.KIND_CAPTION or at.KIND_PRE <= kind <= at.KIND_SUMMARY:
                    return True
            i += 1
        return False

    def _add_image(self, row: Py_ssize_t) -> cython.void:
        found = self.page.image(row)
        if found is None:
            return
        op, value, display = found
        container = self._op()
        if op != at.MATH and (container == at.LIST or container == at.TABLE or container == at.ROW):
            return
        self._begin_without_text(row)
        self._put(op, value, display)
        self._add_space(row, self.inner[row])

    def _add_space(self, row: Py_ssize_t, after: Py_ssize_t) -> cython.void:
        """Adds the space after an element without text, such as an image, that ends at `after`."""
        if after < self.html.shape[0] and self.html[after] <= ord(" "):
            self._put(at.SPACE, 0, 0)
            self.last = self.first[row]

    def _add_math(self, row: Py_ssize_t) -> cython.bint:
        """Adds an element as a formula; returns whether it is one."""
        kind = self.kind[row]
        begin, end = self.begin[row], self.stop[row]
        if begin >= self.not_math:
            self.n_not_math = 0
        elif self.n_not_math > _CLIMB:  # nested elements that look like formulas and are none
            return False
        self.not_math = end if end > self.not_math else self.not_math
        self.n_not_math += 1
        has_blocks = self._count(row, at.KIND_H1, at.KIND_P) or self._count(row, at.KIND_LI, at.KIND_LI)
        if kind == at.KIND_IMG or (kind != at.KIND_MATH and has_blocks):
            return False
        first, last = self.first[row], self.last_of[row]
        found = self.page.formula(row)
        if found is None:
            return kind == at.KIND_MATH and first == last
        value, display = found
        if display and self._op() != at.CELL:
            self._begin_line(at.P, 0)
            self._put(at.MATH, value, 1)
            self._end_line()
        else:
            if last > first:
                self._before(first)
            else:
                self._begin_without_text(row)
            self._put(at.MATH, value, display)
            if last == first:
                self._add_space(row, self.source.find(">", end) + 1)
        self.skip = end
        self.last = last - 1 if last > first else self.last
        return True

    def _add_code_of(self, row: Py_ssize_t) -> cython.void:
        """Adds an element as a listing, or as code inside a line, if it is one."""
        in_cell = self._op() == at.CELL
        found = self.page.listing(row, self.sums[at.UP_TO_NEXT, self.first[row]], in_cell)
        if found == -2:
            self._add_span(row)
        elif found is not None:
            self._add_code(found)
            self.skip = self.stop[row]
            if self.last_of[row] > self.first[row]:
                self.last = self.last_of[row] - 1

    def _add_span(self, row: Py_ssize_t) -> cython.void:
        """Adds code inside a line."""
        first, last = self.first[row], self.last_of[row]
        one = self.sums[at.UP_TO_NEXT, first]
        if self._starts_listing(first, last) or one >= last:
            return
        alone = self.line < 0 or self.paragraph[one] != self.number
        if alone and self._op() != at.CELL:
            is_listing = self.white_space[one] and self.listing[one]
            many = is_listing and self.sums[at.UP_TO_NEXT, one + 1] < last
            for i in range(self.text_start[one] if is_listing else self.text_end[one], self.text_end[one]):
                many = many or self.points[i] == ord("\n")
            for b in range(one + 1, last):
                many = many or self.n_split_br[b] != 0
            ends = is_listing or last >= self.n_blocks or self.n_split_br[last] != 0
            if many and (ends or self.paragraph[last] != self.paragraph[one]):
                self._add_code_of(row)
                return
        self._before(one)
        node = self._put(at.CODESPAN, 0, 0)
        for b in range(one, last):
            if self.kept[b + 1]:
                if b > one and (self.space_before[b] or self.paragraph[b] != self.paragraph[b - 1]):
                    self._put(at.SPACE, 0, 0)
                self._put(at.TEXT, self.text_start[b], self.text_end[b])
        self._end(node)
        self.skip = self.stop[row]
        self.last = last - 1


def complete(
    paragraph: at.Ints,
    text_start: at.Ints,
    text_end: at.Ints,
    n_words: at.Ints,
    n_letters: at.Ints,
    listing: at.Ints,
    left_out: at.Bytes,
    kept: cython.uchar[::1],
    *,
    with_ends: cython.bint,
) -> None:
    """Completes paragraphs. If half of a paragraph is kept, its blocks between kept blocks are kept; if three
    quarters are, those at its ends, too: all (`with_ends`) or punctuation only. Left-out blocks are not
    kept for that, nor are words with few letters, such as [1], outside of code. Punctuation whose words are
    all dropped is not kept.
    """
    first: Py_ssize_t = 0
    after: Py_ssize_t = 0
    n: Py_ssize_t = paragraph.shape[0]
    while first < n:
        size: cython.int = 0
        shown: cython.int = 0
        low: Py_ssize_t = n
        high: Py_ssize_t = 0
        n_kept_words: cython.int = 0
        n_all_words: cython.int = 0
        while after < n and paragraph[after] == paragraph[first]:
            size += text_end[after] - text_start[after]
            n_all_words += 0 if left_out[after] else n_words[after]
            if kept[after]:
                shown += text_end[after] - text_start[after]
                n_kept_words += n_words[after]
                low, high = min(low, after), after
            after += 1
        is_most: cython.bint = shown >= _ENDS_RATIO * size
        if n_kept_words == 0 < n_all_words:
            shown = 0
            kept[first:after] = 0
        for b in range(first, after if shown and shown >= _HALF_RATIO * size else first):
            if not left_out[b] and (n_words[b] == 0 or n_letters[b] >= _FEWEST_LETTERS or listing[b]):
                if low < b < high or (is_most and (with_ends or n_words[b] == 0)):
                    kept[b] = 1
        first = after


def in_lines(
    hints: at.Bytes,
    heading_level: at.Ints,
    paragraph: at.Ints,
    td_group: at.Ints,
    text_start: at.Ints,
    points: at.UInts,
    left_out: at.Bytes,
    kept: at.Bytes,
) -> list[int]:
    """Blocks, kept or in a cell, that an element around them may hide, in a cell or a paragraph with others.

    `hints`: how many elements up the nearest one is that a word or its style says to be hidden.
    """
    found: list[int] = []
    n: Py_ssize_t = paragraph.shape[0]
    for b in range(n):
        by_style: cython.bint = hints[b] <= at.MOST_UP
        in_cell: cython.bint = td_group[b] > 0
        if (by_style or heading_level[b]) and (kept[b] or in_cell) and not left_out[b]:
            among_others: cython.bint = (b > 0 and paragraph[b - 1] == paragraph[b]) or (
                b + 1 < n and paragraph[b + 1] == paragraph[b]
            )
            if (by_style and in_cell) or (among_others and (by_style or points[text_start[b]] == ord("["))):
                found.append(b)
    return found


def has_word(name_words: at.UInts, wanted: at.UInts) -> cython.bint:
    """Whether a page has an element with one of some words, all as hashes."""
    found: cython.int = 0
    for k in range(wanted.shape[0]):
        for i in range(name_words.shape[0]):
            found |= name_words[i] == wanted[k]
    return found != 0
