# cython: language_level=3, infer_types=True
"""Nodes → Markdown: GitHub's flavour, which any CommonMark parser reads as it is meant.

Cython pure Python mode.
"""

from typing import Any

import cython
import numpy as np
from cython.cimports.victor_spark.rendering import num as at

at.check()

# Marks inside a line before it is known where they stand: Markdown reads ** only beside certain characters.
# Those of STRONG, EM, STRIKE begin with 1, 3, 5, and end with 2, 4, 6.
_LAST_MARK = cython.declare(cython.uint, 6)
_BREAK = cython.declare(cython.uint, 15)
_CODE_END = cython.declare(cython.uint, 16)
_PARAGRAPH, _HEADING, _CELL = 0, 1, 2
_MAX_COLUMN_SPAN = cython.declare(cython.int, 100)
_MAX_ROW_SPAN = cython.declare(cython.int, 65534)
_LONGEST_SUP = cython.declare(cython.int, 60)
_LONGEST_ENTITY = cython.declare(cython.int, 32)


@cython.cclass
class Writer:
    """Writes the nodes of one page; nodes of the kind ROOT are left out.

    `filled`: a row a node and one more, for how many nodes before have content.
    """

    points: cython.const[cython.uint][::1]
    properties: cython.const[cython.uchar][::1]
    nodes: cython.const[cython.int][:, :]
    filled: cython.int[::1]
    values: list
    links: cython.bint
    images: cython.bint
    emphasis: cython.bint
    out: cython.uint[::1]
    n: cython.Py_ssize_t
    line: cython.uint[::1]
    n_line: cython.Py_ssize_t
    partner: cython.int[::1]
    prefix: cython.uint[::1]
    n_prefix: cython.Py_ssize_t
    inside: cython.int  # bits of the kinds of emphasis around
    in_link: cython.bint
    is_marked: cython.bint

    def __init__(self, values: list, *views: object, links: bool, images: bool, emphasis: bool):
        self.points, self.properties, self.nodes, self.filled = views
        self.values = values
        self.links, self.images, self.emphasis = links, images, emphasis
        room = 1024 + 2 * self.points.shape[0]
        self.out = memoryview(np.empty(room, dtype=np.uint32))
        self.line = memoryview(np.empty(1024, dtype=np.uint32))
        self.partner = memoryview(np.empty(1, dtype=np.int32))
        self.prefix = memoryview(np.empty(1024, dtype=np.uint32))
        self.n = self.n_line = self.n_prefix = 0
        self.inside = 0
        self.in_link = self.is_marked = False

    def write(self, n: cython.Py_ssize_t) -> str:
        """The Markdown of the first `n` nodes."""
        count: cython.int = 0
        i: cython.Py_ssize_t
        for i in range(n):
            self.filled[i] = count
            kind = self.nodes[at.N_OP, i]
            count += (kind == at.TEXT and self.nodes[at.N_A, i] < self.nodes[at.N_B, i]) or (
                kind == at.CODE or kind == at.HR or kind >= at.MATH or (kind == at.IMAGE and self.images)
            )
        self.filled[n] = count
        self._children(0, n, False)
        return self._written(0)

    @cython.cfunc
    def _written(self, begin: cython.Py_ssize_t) -> str:
        written: str = np.asarray(self.out[begin : self.n]).tobytes().decode("utf-32-le", "replace")
        return written

    # --- blocks ----------------------------------------------------------------------------------------

    @cython.cfunc
    def _has_content(self, node: cython.Py_ssize_t) -> cython.bint:
        return self.filled[self.nodes[at.N_END, node] + 1] > self.filled[node]

    @cython.cfunc
    def _children(self, i: cython.Py_ssize_t, stop: cython.Py_ssize_t, tight: cython.bint) -> cython.bint:
        """Writes nodes one below the other; whether there was anything to write."""
        wrote: cython.bint = False
        lists: cython.bint = False
        begin: cython.Py_ssize_t
        while i < stop:
            kind = self.nodes[at.N_OP, i]
            if kind != at.ROOT and kind != at.CLOSE and self._has_content(i):
                begin = self.n
                if wrote:
                    self._next(not tight)
                if self._block(i, kind, lists):
                    lists = kind == at.LIST and not lists
                    wrote = True
                else:
                    self.n = begin
            i = self.nodes[at.N_END, i] + 1
        return wrote

    @cython.cfunc
    def _block(self, i: cython.Py_ssize_t, kind: cython.int, other: cython.bint) -> cython.bint:
        """Writes a node; `other`: it is a list that stands below another one."""
        end: cython.Py_ssize_t = self.nodes[at.N_END, i]
        begin: cython.Py_ssize_t = self.n
        first: cython.Py_ssize_t = i + 1
        if kind == at.P:
            if end == i + 2 and self.nodes[at.N_OP, first] == at.MATH and self.nodes[at.N_B, first]:
                self._put_text(f"$$\n{self.values[self.nodes[at.N_A, first]]}\n$$")
                return True
            self.n_line = 0
            self._pieces(first, end)
            return self._end_line(_PARAGRAPH)
        if kind == at.HEADING:
            if self.nodes[at.N_OP, first] == at.STRONG and self.nodes[at.N_END, first] == end - 1:
                first += 1
            level = self.nodes[at.N_A, i]
            self._put_text("#" * (level if level > 2 else 2) + " ")
            self.n_line = 0
            self._pieces(first, end)
            return self._end_line(_HEADING)
        if kind == at.LIST:
            return self._list(i, end, other)
        if kind == at.CODE:
            language, code = self.values[self.nodes[at.N_A, i]]
            fence = "`" * (max(_longest_run(code, "`"), 2) + 1)
            self._put_text(f"{fence}{language}\n{code}\n{fence}")
            return True
        if kind == at.TABLE:
            return self._table(i, end)
        if kind == at.HR:
            self._put_text("---")
            return True
        n_prefix = self.n_prefix
        wrote: cython.bint
        if kind == at.QUOTE:
            self._nest("> ", "> ")
            wrote = self._children(first, end, False)
        elif kind == at.CALLOUT:
            wrote = self._callout(i, end)
        elif kind == at.FOOTNOTE:
            self._nest(f"[^{self.values[self.nodes[at.N_A, i]]}]: ", "    ")
            text_begin = self.n
            wrote = self._children(first, end, False)
            lead = text_begin
            while lead < self.n and chr(self.out[lead]) in ".):,; ":
                lead += 1
            self._move(lead, text_begin)
        else:  # figures, captions, definitions and the like
            wrote = self._children(first, end, False)
        self.n_prefix = n_prefix
        if not wrote:
            self.n = begin
        return wrote

    @cython.cfunc
    def _callout(self, i: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
        name: str = self.values[self.nodes[at.N_A, i]]
        first: cython.Py_ssize_t = i + 1
        self._nest(f"> [!{name}]", "> ")
        self._next(False)
        begin = self.n
        wrote: cython.bint = False
        if self.nodes[at.N_OP, first] == at.TITLE:
            last = self.nodes[at.N_END, first]
            wrote = self._children(first + 1, last, False)
            title = self._written(begin)
            self.n = begin
            first = last + 1
            if title.lower() == name.lower():
                wrote = False
            elif wrote:
                is_bold = self.emphasis and "*" not in title and "\n" not in title
                self._put_line(f"**{title}**" if is_bold else title)
        before = self.n
        if wrote:
            self._next(True)
        if not self._children(first, end, False):
            self.n = before
            return wrote
        return True

    @cython.cfunc
    def _list(self, i: cython.Py_ssize_t, end: cython.Py_ssize_t, other: cython.bint) -> cython.bint:
        number: cython.int = self.nodes[at.N_A, i]
        numbered: cython.bint = number >= 0
        loose: cython.bint = False
        wrote: cython.bint = False
        child: cython.Py_ssize_t = i + 1
        while child < end:
            loose = loose or (self.nodes[at.N_OP, child] == at.ITEM and not self._is_tight(child))
            child = self.nodes[at.N_END, child] + 1
        child = i + 1
        while child < end:
            last = self.nodes[at.N_END, child]
            state = self.nodes[at.N_B, child]
            if self.nodes[at.N_OP, child] == at.ITEM and (state or self._has_content(child)):
                begin, n_prefix = self.n, self.n_prefix
                if wrote:
                    self._next(loose)
                if numbered and self.nodes[at.N_A, child] >= 0:
                    number = self.nodes[at.N_A, child]
                mark = f"{number}{')' if other else '.'} " if numbered else "* " if other else "- "
                self._nest(mark, " " * len(mark))
                if state:
                    self._put_line("[x] " if state == 2 else "[ ] ")
                if self._children(child + 1, last, self._is_tight(child)) or state:
                    wrote = True
                    number += 1
                else:
                    self.n = begin
                self.n_prefix = n_prefix
            child = last + 1
        child = i + 1
        while child < end:  # footnotes stand below
            kind = self.nodes[at.N_OP, child]
            if kind != at.ITEM and kind != at.ROOT and self._has_content(child):
                begin = self.n
                if wrote:
                    self._next(True)
                if self._block(child, kind, False):
                    wrote = True
                else:
                    self.n = begin
            child = self.nodes[at.N_END, child] + 1
        return wrote

    @cython.cfunc
    def _is_tight(self, item: cython.Py_ssize_t) -> cython.bint:
        """Whether an item is a line and lists below it."""
        first: cython.bint = True
        child: cython.Py_ssize_t = item + 1
        while child < self.nodes[at.N_END, item]:
            if self._has_content(child):
                number = self.nodes[at.N_A, child]
                if not first and (self.nodes[at.N_OP, child] != at.LIST or (number != -1 and number != 1)):
                    return False
                first = False
            child = self.nodes[at.N_END, child] + 1
        return True

    # --- tables ----------------------------------------------------------------------------------------

    @cython.cfunc
    def _table(self, i: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
        wrote: cython.bint = False
        child: cython.Py_ssize_t = i + 1
        rows: list = []
        while child < end:
            kind = self.nodes[at.N_OP, child]
            if kind == at.ROW:
                rows.append(child)
            elif self._has_content(child):
                if wrote:
                    self._next(True)
                wrote = self._block(child, kind, False) or wrote
            child = self.nodes[at.N_END, child] + 1
        grid = self._grid(rows)
        if not grid:
            return wrote
        if wrote:
            self._next(True)
        width: cython.Py_ssize_t = max(map(len, grid))
        n_rows: cython.int = 0
        for cells in grid:
            if n_rows:
                self._next(False)
            if n_rows == 1:
                self._put_line("| " + "--- | " * (width - 1) + "--- |")
                self._next(False)
            n_rows += 1
            self._put_line("| ")
            for cell in cells:
                if cell >= 0:
                    self.n_line = 0
                    self._flatten(cell + 1, self.nodes[at.N_END, cell])
                    self._end_line(_CELL)
                self._put_line(" | ")
            if n_rows == 1:
                self._put_line(" | " * (width - len(cells)))
            self.n -= 1
        if n_rows == 1:
            self._next(False)
            self._put_line("| " + "--- | " * (width - 1) + "--- |")
        return True

    @cython.cfunc
    def _grid(self, rows: list) -> list:
        """The cells of each row of a table, -1 for empty ones and where others reach, but not at the end."""
        grid: list = []
        below: dict = {}  # columns that a cell above reaches into, and how many rows more
        room: cython.Py_ssize_t = 1000
        if rows:
            room += 2 * (self.nodes[at.N_END, rows[len(rows) - 1]] - rows[0])
        for row in rows:
            cells: list = []
            taken, below = below, {}
            cell: cython.Py_ssize_t = row + 1
            while cell < self.nodes[at.N_END, row]:
                across, down = self.nodes[at.N_A, cell], abs(self.nodes[at.N_B, cell])
                while len(cells) in taken:
                    cells.append(-1)
                    room -= 1
                across = max(1, min(across, _MAX_COLUMN_SPAN, room))
                if down > 1 and room > 0:
                    for column in range(len(cells), len(cells) + across):
                        below[column] = min(down, _MAX_ROW_SPAN) - 1
                cells.append(cell if self._has_content(cell) else -1)
                cells.extend([-1] * (across - 1))
                room -= across
                cell = self.nodes[at.N_END, cell] + 1
            for column, more in taken.items():
                if more > 1 and room > 0:
                    below.setdefault(column, more - 1)
                    room -= 1
            while cells and cells[len(cells) - 1] < 0:
                cells.pop()
            if cells:
                grid.append(cells)
        return grid

    @cython.cfunc
    def _flatten(self, i: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.void:
        """Adds the lines in some nodes to the one at hand."""
        while i < stop:
            end: cython.Py_ssize_t = self.nodes[at.N_END, i]
            kind = self.nodes[at.N_OP, i]
            if self.n_line and (kind == at.P or kind == at.HEADING or kind == at.CODE):
                self._add(32)
            if kind == at.P or kind == at.HEADING:
                self._pieces(i + 1, end)
            elif kind == at.CODE:
                begin = self.n_line
                self._add_text(" ".join(self.values[self.nodes[at.N_A, i]][1].split()))
                self._end_code(begin)
            elif end > i:
                self._flatten(i + 1, end)
            i = end + 1

    # --- what is written -------------------------------------------------------------------------------

    @cython.cfunc
    def _room(self, size: cython.Py_ssize_t) -> cython.void:
        """Makes sure that `size` more code points can be written."""
        if self.n + size > self.out.shape[0]:
            grown = np.empty(2 * (self.n + size), dtype=np.uint32)
            grown[: self.n] = self.out[: self.n]
            self.out = memoryview(grown)

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _put(self, c: cython.uint) -> cython.void:
        self.out[self.n] = c
        self.n += 1

    @cython.cfunc
    def _put_line(self, text: str) -> cython.void:
        self._room(len(text))
        for c in text:
            self._put(ord(c))

    @cython.cfunc
    def _put_text(self, text: str) -> cython.void:
        """Writes text of several lines."""
        first: cython.bint = True
        for line in text.split("\n"):
            if not first:
                self._line_end(line != "")
            self._put_line(line)
            first = False

    @cython.cfunc
    def _line_end(self, filled: cython.bint) -> cython.void:
        """Begins a line; one without text has no white space at its end."""
        self._room(self.n_prefix + 3)
        self._put(10)
        n = self.n_prefix
        while not filled and n and self.prefix[n - 1] == 32:
            n -= 1
        for k in range(n):
            self._put(self.prefix[k])

    @cython.cfunc
    def _next(self, blank: cython.bint) -> cython.void:
        """Begins a line, below an empty one if asked for."""
        if blank:
            self._line_end(False)
        self._line_end(True)

    @cython.cfunc
    def _nest(self, mark: str, prefix: str) -> cython.void:
        """Writes the mark of a container, the lines of which begin with `prefix`."""
        self._put_line(mark)
        for c in prefix:
            if self.n_prefix < self.prefix.shape[0]:
                self.prefix[self.n_prefix] = ord(c)
                self.n_prefix += 1

    @cython.cfunc
    def _move(self, begin: cython.Py_ssize_t, to: cython.Py_ssize_t) -> cython.void:
        """Moves what is written from `begin` on."""
        k: cython.Py_ssize_t
        by = to - begin
        if by > 0:
            self._room(by)
            for k in range(self.n - 1, begin - 1, -1):
                self.out[k + by] = self.out[k]
        elif by < 0:
            for k in range(begin, self.n):
                self.out[k + by] = self.out[k]
        self.n += by

    @cython.cfunc
    def _end_line(self, mode: cython.int) -> cython.bint:
        """Writes the line at hand; whether there is text in it. In paragraphs its breaks are written, too."""
        i: cython.Py_ssize_t
        stop: cython.Py_ssize_t = self.n_line
        begin: cython.Py_ssize_t = self.n
        c: cython.uint
        if self.is_marked:
            self._resolve()
            stop = self.n_line
        self._room(3 * stop + 8)
        start: cython.Py_ssize_t = begin
        for i in range(stop):
            c = self.line[i]
            if c == _BREAK:
                if mode == _PARAGRAPH:
                    self._trim(start)
                    if self.n > start:
                        start = self._end_of_line(start, stop - i)
                    continue
                c = 32
            if c == 32 and (self.n == start or (mode != _PARAGRAPH and self.out[self.n - 1] == 32)):
                continue
            if 0 < c <= _LAST_MARK:
                self._put(42 if c < 5 else 126)
                if c < 3 or c > 4:
                    self._put(42 if c < 5 else 126)
            elif c == _CODE_END:  # two spans side by side
                if i + 1 < stop and self.line[i + 1] == 96:
                    self._put(32)
            else:
                if c == 124 and mode == _CELL:
                    self._put(92)
                self._put(c)
        self._trim(start)
        if mode == _PARAGRAPH:
            if self.n == start and start > begin:  # no line follows
                self.n = start - self.n_prefix - 3
            else:
                self._escape_start(start)
        elif mode == _HEADING:
            i = self.n
            while i > begin and self.out[i - 1] == 35:
                i -= 1
            if i < self.n and (i == begin or self.out[i - 1] == 32):
                self._move(i, i + 1)
                self.out[i] = 92
        return self.n > begin

    @cython.cfunc
    def _end_of_line(self, start: cython.Py_ssize_t, more: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Ends a line with a break; where the next one begins."""
        self._escape_start(start)
        self._room(3 * more + self.n_prefix + 8)
        self._put(32)
        self._put(32)
        self._line_end(True)
        return self.n

    @cython.cfunc
    def _trim(self, begin: cython.Py_ssize_t) -> cython.void:
        while self.n > begin and self.out[self.n - 1] == 32:
            self.n -= 1

    @cython.cfunc
    def _escape_start(self, begin: cython.Py_ssize_t) -> cython.void:
        """A line must not turn into a heading, quote, list, rule or table by how it begins."""
        if begin >= self.n:
            return
        c = self.out[begin]
        i: cython.Py_ssize_t = begin
        escaped: cython.Py_ssize_t = -1
        if c == 35:
            while i < self.n and self.out[i] == 35:
                i += 1
            if i - begin <= 6 and (i == self.n or self.out[i] == 32):
                escaped = begin
        elif c == 62:
            escaped = begin
        elif 48 <= c <= 57:
            while i < self.n and 48 <= self.out[i] <= 57:
                i += 1
            if i - begin <= 9 and i < self.n and (self.out[i] == 46 or self.out[i] == 41):
                if i + 1 == self.n or self.out[i + 1] == 32:
                    escaped = i
        elif (c == 43 or c == 45) and (begin + 1 == self.n or self.out[begin + 1] == 32):
            escaped = begin
        elif c == 45 or c == 61 or c == 124 or c == 58:
            setext: cython.bint = c == 45 or c == 61
            delimits: cython.bint = c != 61
            for i in range(begin, self.n):
                c = self.out[i]
                setext = setext and (c == 45 or c == 61 or c == 32)
                delimits = delimits and (c == 45 or c == 58 or c == 124 or c == 32)
            if setext or delimits:
                escaped = begin
        if escaped >= 0:
            self._move(escaped, escaped + 1)
            self.out[escaped] = 92

    # --- lines -----------------------------------------------------------------------------------------

    @cython.cfunc
    def _line_room(self, size: cython.Py_ssize_t) -> cython.void:
        """Makes sure that `size` more code points fit into the line."""
        if self.n_line + size > self.line.shape[0]:
            grown = np.empty(2 * (self.n_line + size), dtype=np.uint32)
            grown[: self.n_line] = self.line[: self.n_line]
            self.line = memoryview(grown)

    @cython.cfunc
    def _add(self, c: cython.uint) -> cython.void:
        self._line_room(1)
        self._append(c)

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _append(self, c: cython.uint) -> cython.void:
        self.line[self.n_line] = c
        self.n_line += 1

    @cython.cfunc
    def _add_text(self, text: str) -> cython.void:
        for c in text:
            if ord(c) >= 32:
                self._add(ord(c))

    @cython.cfunc
    def _insert(self, i: cython.Py_ssize_t, text: str) -> cython.void:
        """Puts text into the line before position `i`."""
        k: cython.Py_ssize_t
        size: cython.Py_ssize_t = len(text)
        old: cython.Py_ssize_t = self.n_line
        for _ in range(size):
            self._add(0)
        for k in range(old - 1, i - 1, -1):
            self.line[k + size] = self.line[k]
        for k in range(size):
            self.line[i + k] = ord(text[k])

    @cython.cfunc
    def _core_begin(self, i: cython.Py_ssize_t) -> cython.Py_ssize_t:
        while i < self.n_line and (self.line[i] == 32 or self.line[i] == _BREAK):
            i += 1
        return i

    @cython.cfunc
    def _core_end(self, begin: cython.Py_ssize_t) -> cython.Py_ssize_t:
        i: cython.Py_ssize_t = self.n_line
        while i > begin and (self.line[i - 1] == 32 or self.line[i - 1] == _BREAK):
            i -= 1
        return i

    @cython.cfunc
    def _pieces(self, i: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.void:
        """Adds some nodes to the line at hand."""
        begin: cython.Py_ssize_t
        while i < stop:
            kind = self.nodes[at.N_OP, i]
            end: cython.Py_ssize_t = self.nodes[at.N_END, i]
            begin = self.n_line
            if kind == at.TEXT:
                self._add_escaped(self.points, self.nodes[at.N_A, i], self.nodes[at.N_B, i])
            elif kind == at.SPACE:
                self._add(32)
            elif kind == at.BR:
                self._add(_BREAK)
            elif kind == at.LINK:
                was, self.in_link = self.in_link, True
                self._pieces(i + 1, end)
                self.in_link = was
                if self._core_begin(begin) == self.n_line:
                    self.n_line = begin
                elif self.links and not was:
                    self._end_link(begin, self.values[self.nodes[at.N_A, i]])
            elif at.STRONG <= kind <= at.STRIKE:
                bit: cython.int = 1 << (kind - at.STRONG)
                nested = (self.inside & bit) != 0 or (kind == at.STRIKE and self.inside != 0)
                self.inside |= bit
                self._pieces(i + 1, end)
                if not nested:
                    self.inside ^= bit
                    first = self._core_begin(begin)
                    if self.emphasis and first < self.n_line:
                        self._insert(self._core_end(first), chr(2 * (kind - at.STRONG) + 2))
                        self._insert(first, chr(2 * (kind - at.STRONG) + 1))
                        self.is_marked = True
            elif kind == at.SUP or kind == at.SUB:
                self._pieces(i + 1, end)
                first = self._core_begin(begin)
                last = self._core_end(first)
                is_ref = self.line[first] == 91 and last > first + 1 and self.line[first + 1] == 94
                if 0 < last - first <= _LONGEST_SUP and not is_ref:
                    self._insert(last, "</sup>" if kind == at.SUP else "</sub>")
                    self._insert(first, "<sup>" if kind == at.SUP else "<sub>")
            elif kind == at.CODESPAN:
                self._add_code(i + 1, end)
            elif kind == at.IMAGE:
                if self.images:
                    address, alt = self.values[self.nodes[at.N_A, i]]
                    self._add_text("![")
                    points = np.array([alt]).view(np.uint32) if alt else np.empty(0, dtype=np.uint32)
                    self._add_escaped(memoryview(points), 0, len(alt))
                    self._add_address(address)
            elif kind == at.MATH:
                self._add_math(self.values[self.nodes[at.N_A, i]], self.nodes[at.N_B, i] != 0)
            elif kind == at.REF:
                self._escape_exclamation(begin)
                self._add_text(f"[^{self.values[self.nodes[at.N_A, i]]}]")
            i = end + 1

    @cython.cfunc
    def _add_escaped(
        self, points: cython.const[cython.uint][::1], i: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> cython.void:
        """Adds text with what means something in Markdown escaped; white space as one space."""
        was_white: cython.bint = False
        c: cython.uint
        self._line_room(2 * (end - i))
        while i < end:
            c = points[i]
            i += 1
            if c < 1114112 and (self.properties[c] & at.CHAR_CLASS_MASK) == at.CHAR_WHITE:
                if not was_white:
                    self._append(32)
                was_white = True
                continue
            was_white = False
            if c < 32:
                continue
            if (
                c == 92
                or c == 96
                or c == 42
                or c == 95
                or c == 91
                or c == 93
                or c == 126
                or (c == 60 and i < end and _opens_tag(points[i]))
                or (c == 38 and self._is_entity(points, i, end))
            ):
                self._append(92)
            self._append(c)

    @cython.cfunc
    def _is_entity(
        self, points: cython.const[cython.uint][::1], i: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> cython.bint:
        """Whether what follows a '&' at i - 1 makes a character of it."""
        if i < end and points[i] == 35:
            return True
        stop = i + _LONGEST_ENTITY
        begin = i
        while i < end and i < stop and (_is_letter(points[i]) or 48 <= points[i] <= 57):
            i += 1
        return begin < i < end and points[i] == 59

    @cython.cfunc
    def _escape_exclamation(self, i: cython.Py_ssize_t) -> cython.void:
        """A link after an exclamation mark must not be an image."""
        if i and self.line[i - 1] == 33:
            self._insert(i - 1, "\\")

    @cython.cfunc
    def _end_link(self, begin: cython.Py_ssize_t, address: str) -> cython.void:
        """Makes a link of the line from `begin` on; the white space around the text stands outside."""
        first = self._core_begin(begin)
        last = self._core_end(first)
        n_after = self.n_line - last
        for k in range(first, last):
            if self.line[k] == _BREAK:
                self.line[k] = 32
        self._insert(first, "[")
        self.n_line = last + 1
        self._add_address(address)
        for _ in range(n_after):
            self._add(32)
        self._escape_exclamation(first)

    @cython.cfunc
    def _add_address(self, address: str) -> cython.void:
        """Adds an address in parentheses, after the text in brackets."""
        self._line_room(5 * len(address) + 3)
        self._append(93)
        self._append(40)
        i: cython.Py_ssize_t
        n: cython.Py_ssize_t = len(address)
        for i in range(n):
            c: cython.uint = ord(address[i])
            if c == 32 or c == 60 or c == 62 or c == 92 or c == 96 or c == 124:
                self._add_text(f"%{c:02X}")
            elif c == 40 or c == 41:
                self._append(92)
                self._append(c)
            elif c == 38 and _begins_entity(address, i + 1):
                self._add_text("&amp;")
            elif c > 32 and c != 127 and not (
                c < 1114112 and (self.properties[c] & at.CHAR_CLASS_MASK) == at.CHAR_WHITE
            ):
                self._append(c)
        self._append(41)

    @cython.cfunc
    def _add_code(self, i: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.void:
        """Adds code as a span."""
        begin: cython.Py_ssize_t = self.n_line
        k: cython.Py_ssize_t
        while i < stop:
            self._line_room(self.nodes[at.N_B, i] - self.nodes[at.N_A, i] + 2)
            white: cython.bint = self.nodes[at.N_OP, i] != at.TEXT
            for k in range(self.nodes[at.N_A, i], self.nodes[at.N_B, i] if not white else 0):
                c = self.points[k]
                if c < 1114112 and (self.properties[c] & at.CHAR_CLASS_MASK) == at.CHAR_WHITE:
                    white = True
                elif c >= 32:
                    if white and self.n_line > begin:
                        self._append(32)
                    white = False
                    self._append(c)
            if white and self.n_line > begin and self.line[self.n_line - 1] != 32:
                self._append(32)
            i += 1
        self.n_line = self._core_end(begin)
        self._end_code(begin)

    @cython.cfunc
    def _end_code(self, begin: cython.Py_ssize_t) -> cython.void:
        """Makes a span of code of the line from `begin` on."""
        if begin == self.n_line:
            return
        runs: set = set()
        run: cython.int = 0
        for k in range(begin, self.n_line):
            if self.line[k] == 96:
                run += 1
            elif run:
                runs.add(run)
                run = 0
        runs.add(run)
        size: cython.int = 1
        while size in runs:
            size += 1
        fence = "`" * size
        if self.line[begin] == 96 or self.line[self.n_line - 1] == 96:
            self._insert(begin, fence + " ")
            self._add(32)
        else:
            self._insert(begin, fence)
        self._add_text(fence)
        self._add(_CODE_END)

    @cython.cfunc
    def _add_math(self, tex: str, display: cython.bint) -> cython.void:
        tex = tex.replace("\n", " ") if display else " ".join(tex.split())
        if "$" in tex and "\\$" not in tex:
            tex = tex.replace("$", "\\$")
        if self.n_line:
            c = self.line[self.n_line - 1]
            if c == 36 or chr(c).isalnum():
                self._add(32)
        mark = "$$" if display else "$"
        self._add_text(f"{mark}{tex}{mark}")

    # --- emphasis --------------------------------------------------------------------------------------

    @cython.cfunc
    def _resolve(self) -> cython.void:
        """Leaves out marks that a parser would not read as meant, with their partners."""
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        self.is_marked = False
        if self.partner.shape[0] < self.line.shape[0]:
            self.partner = memoryview(np.empty(2 * self.line.shape[0], dtype=np.int32))
        for i in range(self.n_line):  # one that ends where the same begins
            c = self.line[i]
            if 0 < c <= _LAST_MARK and c % 2 == 0:
                k = i + 1
                while k < self.n_line and self.line[k] == 32:
                    k += 1
                if k < self.n_line and self.line[k] == c - 1:
                    self.line[i] = self.line[k] = 0
        self._drop_zeros()
        for _ in range(3):
            if not self._mark_wrong():
                return
            self._drop_zeros()
        for i in range(self.n_line):
            if self.line[i] <= _LAST_MARK:
                self.line[i] = 0
        self._drop_zeros()

    @cython.cfunc
    def _drop_zeros(self) -> cython.void:
        k: cython.Py_ssize_t = 0
        for i in range(self.n_line):
            if self.line[i]:
                self.line[k] = self.line[i]
                k += 1
        self.n_line = k

    @cython.cfunc
    def _class(self, c: cython.uint) -> cython.int:
        """0 of white space, 1 of punctuation, 2 of letters."""
        if c == _BREAK or c == _CODE_END:
            return 0 if c == _BREAK else 1
        kind = self.properties[c] & at.CHAR_CLASS_MASK if c < 1114112 else at.CHAR_OTHER
        return 0 if kind == at.CHAR_WHITE else 2 if kind == at.CHAR_LETTER or kind == at.CHAR_DIGIT else 1

    @cython.cfunc
    def _mark_wrong(self) -> cython.bint:
        """Replaces marks that would not be read as meant, and their partners, by 0; whether there were any."""
        i: cython.Py_ssize_t = 0
        k: cython.Py_ssize_t
        last: cython.int = -1  # the innermost open mark; `partner` of one is that around it, negative
        was_opening: cython.bint = False
        nested: cython.bint = False
        for i in range(self.n_line):
            if self.line[i] <= _LAST_MARK:
                nested = nested or (was_opening and self.line[i] % 2 == 1)
                was_opening = self.line[i] % 2 == 1
        any_: cython.bint = False
        i = 0
        while i < self.n_line:
            if self.line[i] > _LAST_MARK:
                i += 1
                continue
            k = i
            n_opening: cython.int = 0
            while k < self.n_line and self.line[k] <= _LAST_MARK:
                n_opening += self.line[k] % 2 == 1
                k += 1
            before = self._class(self.line[i - 1]) if i else 0
            after = self._class(self.line[k]) if k < self.n_line else 0
            opens = after != 0 and (after != 1 or before != 2)
            closes = before != 0 and (before != 1 or after != 2)
            mixed = 0 < n_opening < k - i
            both = opens and closes and (k - i > 1 or nested)
            while i < k:
                opening = self.line[i] % 2 == 1
                wrong = (mixed and opening) or both or not (opens if opening else closes)
                any_ = any_ or wrong
                if opening:
                    self.partner[i] = last
                    last = cython.cast(cython.int, i)
                    if wrong:
                        self.line[i] += 128  # as its partner is to be found
                elif last >= 0:
                    if wrong or self.line[last] > 128:
                        self.line[last] = self.line[i] = 0
                    last = self.partner[last]
                elif wrong:
                    self.line[i] = 0
                i += 1
        while last >= 0:
            if self.line[last] > 128:
                self.line[last] = 0
            last = self.partner[last]
        return any_


@cython.cfunc
@cython.inline
def _is_letter(c: cython.uint) -> cython.bint:
    return 97 <= c <= 122 or 65 <= c <= 90


@cython.cfunc
@cython.inline
def _opens_tag(c: cython.uint) -> cython.bint:
    """Whether a '<' before this character may open a tag."""
    return _is_letter(c) or c == 47 or c == 33 or c == 63


@cython.cfunc
def _begins_entity(text: str, i: cython.Py_ssize_t) -> cython.bint:
    end = text.find(";", i, i + _LONGEST_ENTITY)
    return text[i : i + 1] == "#" or (end > i and text[i:end].isalnum())


@cython.cfunc
def _longest_run(text: str, letter: str) -> cython.int:
    """The length of the longest run of a letter."""
    longest: cython.int = 0
    run: cython.int = 0
    for c in text:
        run = run + 1 if c == letter else 0
        longest = run if run > longest else longest
    return longest
