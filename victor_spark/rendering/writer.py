# cython: language_level=3, infer_types=True, auto_cpdef=True
"""Nodes → Markdown: GitHub's flavour, which any CommonMark parser reads as it is meant.

All lines are written into one buffer first, then put together to blocks. Cython pure Python mode.
"""

import re
from typing import Any

import cython
import numpy as np
from cython.cimports.victor_spark.rendering import num as at

from victor_spark.kernels.assemble import is_wide
from victor_spark.rendering.structure import columns_of

at.check()

# Marks inside a line before it is known where they stand: Markdown reads ** only beside certain characters.
# Those of STRONG, EM, STRIKE begin with 1, 3, 5, and end with 2, 4, 6.
_WRITTEN = {"\x01": "**", "\x02": "**", "\x03": "*", "\x04": "*", "\x05": "~~", "\x06": "~~"}
_OPENING = "\x01\x03\x05"
_RUN = re.compile("[\x01-\x06]+")
_NESTED = re.compile("[\x01\x03\x05][^\x02\x04\x06]*[\x01\x03\x05]")
_SAME = re.compile("\x02(\\s*)\x01|\x04(\\s*)\x03|\x06(\\s*)\x05")
_BREAK = "\x0f"
_CODE_END = "\x10"
_MARK = "\x11"  # an exclamation mark that stays; before a link or footnote others are escaped
_MAY_MEAN = frozenset("#>+-=|:0123456789")
_LINE_START = re.compile(
    r"(?m)^(?:#{1,6}(?=\s|$)|>|[+-](?=\s|$)|[-=][-= ]*$|[|:][-:| ]*$|-[-:| ]*$|(\d{1,9})([.)](?=\s|$)))"
)
_ODD = re.compile(r"[<>\\`|()\x00-\x1f\x7f]|\s|&(?=#|\w+;)")
_IN_ADDRESS = {c: f"%{ord(c):02X}" for c in " <>\\`|"} | {"(": "\\(", ")": "\\)", "&": "&amp;"}
_LONGEST_SUP = cython.declare(cython.int, 60)
_LONGEST_ENTITY = cython.declare(cython.int, 32)
_LONGEST_FORMULA = cython.declare(cython.int, 400)


@cython.final
@cython.cclass
class Writer:
    """Writes the nodes of one page; blocks of the kind ROOT are left out, in lines only what they say.

    `lines`: columns of a row a node, and one more: how many nodes before have content; of paragraphs and
    headings, where their line begins and ends in `text`, and whether it has emphasis.
    """

    points: cython.const[cython.uint][::1]
    properties: cython.const[cython.uchar][::1]
    nodes: cython.const[cython.int][:, :]
    lines: cython.int[:, ::1]
    values: list[Any]
    array: Any
    line: cython.uint[::1]
    n: cython.Py_ssize_t
    text: str
    inside: cython.int  # bits of the kinds of emphasis around
    in_link: cython.bint
    is_marked: cython.bint

    def __init__(self, values: list[Any], *views: object):
        self.points, self.properties, self.nodes, self.lines = views
        self.values = values
        self.array = np.empty(1024 + 2 * len(self.points), dtype=np.uint32)
        self.line = memoryview(self.array)
        self.n = self.inside = 0
        self.in_link = self.is_marked = False

    def write(self, n: cython.Py_ssize_t) -> str:
        """The Markdown of the first `n` nodes."""
        count: cython.int = 0
        done: cython.Py_ssize_t = 0
        for i in range(n):
            self.lines[0, i] = count
            kind = self.nodes[at.N_OP, i]
            count += (kind == at.TEXT and self.nodes[at.N_A, i] < self.nodes[at.N_B, i]) or (
                kind == at.CODE or kind == at.HR or kind >= at.IMAGE
            )
            if i >= done and (kind == at.P or kind == at.HEADING):
                done = self.nodes[at.N_END, i]
                self.is_marked = False
                self.insert(self.n, "\n")
                self.lines[1, i] = cython.cast(cython.int, self.n)
                self.pieces(i + 1, done)
                self.lines[2, i] = cython.cast(cython.int, self.n)
                self.lines[3, i] = self.is_marked
        self.lines[0, n] = count
        self.text = self.array[: self.n].tobytes().decode("utf-32-le", "replace")
        return self.blocks(0, n)

    # --- blocks ----------------------------------------------------------------------------------------

    def blocks(self, i: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> str:
        """Nodes below each other."""
        parts: list[str] = []
        other: cython.bint = False
        while i < stop:
            kind = self.nodes[at.N_OP, i]
            if kind != at.ROOT and self.has_content(i):
                text = self.block(i, kind, other)
                if text:
                    other = kind == at.LIST and not other
                    parts.append(text)
            i = self.nodes[at.N_END, i] + 1
        return "\n\n".join(parts)

    def has_content(self, node: cython.Py_ssize_t) -> cython.bint:
        """Whether anything is to be written of a node."""
        return self.lines[0, self.nodes[at.N_END, node] + 1] > self.lines[0, node]

    def block(self, i: cython.Py_ssize_t, kind: cython.int, other: cython.bint) -> str:
        """A node; `other`: it is a list that stands below another one."""
        end: cython.Py_ssize_t = self.nodes[at.N_END, i]
        value = self.nodes[at.N_A, i]
        if kind == at.P:
            if end == i + 2 and self.nodes[at.N_OP, i + 1] == at.MATH and self.nodes[at.N_B, i + 1]:
                return f"$$\n{self.values[self.nodes[at.N_A, i + 1]]}\n$$"
            return _paragraph(self.inline(i))
        if kind == at.HEADING:
            text = " ".join(self.inline(i).replace(_BREAK, " ").split())
            if self.nodes[at.N_OP, i + 1] == at.STRONG and self.nodes[at.N_END, i + 1] == end - 1:
                text = text.removeprefix("**").removesuffix("**")
            text = re.sub(r"(^|\s)(#+)$", r"\1\\\2", text) if text.endswith("#") else text
            return f"{'#' * (value if value > 2 else 2)} {text}" if text else ""
        if kind == at.LIST:
            return self.items(i, end, value, other)
        if kind == at.CODE:
            language, code = self.values[value]
            fence = "`" * (max(2, *map(len, re.findall("`+", code)), 0) + 1)
            return f"{fence}{language}\n{code}\n{fence}"
        if kind == at.QUOTE:
            return _prefixed(self.blocks(i + 1, end), "> ")
        if kind == at.CALLOUT:
            first = i + 1
            title = ""
            if self.nodes[at.N_OP, first] == at.TITLE:
                title = self.blocks(first + 1, self.nodes[at.N_END, first])
                first = self.nodes[at.N_END, first] + 1
            if title.strip("*").lower() == self.values[value].lower():
                title = ""
            inside = "\n\n".join(filter(None, (title, self.blocks(first, end))))
            return _prefixed(f"[!{self.values[value]}]\n{inside}", "> ") if inside else ""
        if kind == at.TABLE:
            return self.table(i, end)
        if kind == at.FOOTNOTE:
            text = self.blocks(i + 1, end).lstrip(".):,; ")
            return f"[^{self.values[value]}]: {_indented(text, 4)}" if text else ""
        return "---" if kind == at.HR else self.blocks(i + 1, end)  # figures, captions, definitions

    def items(
        self, i: cython.Py_ssize_t, end: cython.Py_ssize_t, first: cython.int, other: cython.bint
    ) -> str:
        """A list, and footnotes that stand in it below."""
        shown: list[str] = []
        notes: list[str] = []
        number: cython.int = first
        loose: cython.bint = False
        i += 1
        while i < end:
            last = self.nodes[at.N_END, i]
            kind = self.nodes[at.N_OP, i]
            state = self.nodes[at.N_B, i] if kind == at.ITEM else 0
            if kind != at.ITEM:
                if text := self.block(i, kind, False):
                    notes.append(text)
            elif (tight := self.item(i + 1, last)) or state:
                loose = loose or tight[:1] == "\n"
                if first >= 0 and self.nodes[at.N_A, i] >= 0:
                    number = self.nodes[at.N_A, i]
                mark = f"{number}{')' if other else '.'} " if first >= 0 else "* " if other else "- "
                box = "" if state == 0 else "[x] " if state == 2 else "[ ] "
                shown.append(f"{mark}{box}{_indented(tight.removeprefix(chr(10)), len(mark))}")
                number += 1
            i = last + 1
        return "\n\n".join([*([("\n\n" if loose else "\n").join(shown)] if shown else []), *notes])

    def item(self, i: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> str:
        """The content of an item; a newline before it where it is more than a line and lists after it."""
        parts: list[str] = []
        tight: cython.bint = True
        other: cython.bint = False
        while i < stop:
            kind = self.nodes[at.N_OP, i]
            text = self.block(i, kind, other) if self.has_content(i) else ""
            if text:
                other = kind == at.LIST and not other
                number = self.nodes[at.N_A, i]
                tight = tight and (not parts or (kind == at.LIST and (number == -1 or number == 1)))
                parts.append(text)
            i = self.nodes[at.N_END, i] + 1
        return "\n".join(parts) if tight else "\n" + "\n\n".join(parts)

    def table(self, i: cython.Py_ssize_t, end: cython.Py_ssize_t) -> str:
        """A table, and what stands in it outside of rows above it; where others reach, cells are empty."""
        before: list[str] = []
        cells: list[int] = []
        places: list[tuple[int, int, int]] = []
        i += 1
        while i < end:
            row: cython.Py_ssize_t = i
            cell: cython.Py_ssize_t = i + 1
            i = self.nodes[at.N_END, row] + 1
            if self.nodes[at.N_OP, row] != at.ROW:
                before.append(self.block(row, self.nodes[at.N_OP, row], False))
                continue
            while cell < i - 1:
                cells.append(cell)
                places.append((row, self.nodes[at.N_A, cell], abs(self.nodes[at.N_B, cell])))
                cell = self.nodes[at.N_END, cell] + 1
        grid: dict[int, dict[int, str]] = {}
        for cell, (own, _, _), column in zip(cells, places, columns_of(places), strict=True):
            pieces: list[str] = []
            self.flatten(cell + 1, self.nodes[at.N_END, cell], pieces)
            if text := " ".join(" ".join(pieces).split()):
                grid.setdefault(own, {})[column] = text.replace("|", "\\|")
        if grid:
            width = max([max(texts) for texts in grid.values()]) + 1
            rows = [[texts.get(column, "") for column in range(max(texts) + 1)] for texts in grid.values()]
            rows[0] += [""] * (width - len(rows[0]))
            rows.insert(1, ["---"] * width)
            before.append("\n".join([f"| {' | '.join(texts)} |" for texts in rows]))
        return "\n\n".join(filter(None, before))

    def flatten(self, i: cython.Py_ssize_t, stop: cython.Py_ssize_t, pieces: list[str]) -> cython.void:
        """Adds the lines in some nodes to `pieces`."""
        while i < stop:
            kind = self.nodes[at.N_OP, i]
            end: cython.Py_ssize_t = self.nodes[at.N_END, i]
            if kind == at.P or kind == at.HEADING:
                pieces.append(self.inline(i).replace(_BREAK, " "))
            elif kind == at.CODE:
                code = " ".join(self.values[self.nodes[at.N_A, i]][1].split())
                pieces.append(_finished(_span(code)))
            elif end > i:
                self.flatten(i + 1, end, pieces)
            i = end + 1

    def inline(self, i: cython.Py_ssize_t) -> str:
        """The line of a paragraph or heading, with its breaks."""
        text = self.text[self.lines[1, i] : self.lines[2, i]].strip()
        if self.lines[3, i]:
            text = _resolved(text)
        return _finished(text)

    # --- lines -----------------------------------------------------------------------------------------

    def room(self, size: cython.Py_ssize_t) -> cython.void:
        """Makes sure that `size` more code points fit into the buffer."""
        if self.n + size > self.line.shape[0]:
            self.array = np.concatenate([self.array, np.empty(self.n + size, dtype=np.uint32)])
            self.line = memoryview(self.array)

    def insert(self, i: cython.Py_ssize_t, text: str) -> cython.void:
        """Puts text into the line before position `i`."""
        size: cython.Py_ssize_t = len(text)
        self.room(size)
        for k in range(self.n - 1, i - 1, -1):
            self.line[k + size] = self.line[k]
        for k in range(size):
            self.line[i + k] = ord(text[k])
        self.n += size

    def begin_of(self, i: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Where, from `i` on, the line has more than spaces and breaks."""
        while i < self.n and (self.line[i] == 32 or self.line[i] == 15):
            i += 1
        return i

    def end_of(self, begin: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Where that ends."""
        i = self.n
        while i > begin and (self.line[i - 1] == 32 or self.line[i - 1] == 15):
            i -= 1
        return i

    def pieces(self, i: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.void:
        """Adds some nodes to the line at hand."""
        while i < stop:
            kind = self.nodes[at.N_OP, i]
            value = self.nodes[at.N_A, i]
            end: cython.Py_ssize_t = self.nodes[at.N_END, i]
            begin = self.n
            if kind == at.TEXT:
                self.escaped(self.points, value, self.nodes[at.N_B, i], False)
            elif kind == at.BR:
                self.insert(begin, _BREAK)
            elif kind == at.SPACE:
                if self.line[begin - 1] != 32:
                    self.insert(begin, " ")
            elif kind == at.LINK:
                was, self.in_link = self.in_link, True
                self.pieces(i + 1, end)
                self.in_link = was
                if self.begin_of(begin) == self.n:
                    self.n = begin
                elif not was:
                    self.link(begin, self.values[value])
            elif at.STRONG <= kind <= at.STRIKE:
                bit: cython.int = 1 << (kind - at.STRONG)
                nested = (self.inside & bit) != 0 or (kind == at.STRIKE and self.inside != 0)
                self.inside |= bit
                self.pieces(i + 1, end)
                first = self.begin_of(begin)
                self.inside = self.inside if nested else self.inside ^ bit
                if not nested and first < self.n:
                    self.insert(self.end_of(first), chr(2 * (kind - at.STRONG) + 2))
                    self.insert(first, chr(2 * (kind - at.STRONG) + 1))
                    self.is_marked = True
            elif kind == at.SUP or kind == at.SUB:
                self.pieces(i + 1, end)
                first = self.begin_of(begin)
                last = self.end_of(first)
                is_ref = last > first + 1 and self.line[first] == 91 and self.line[first + 1] == 94
                if 0 < last - first <= _LONGEST_SUP and not is_ref:
                    self.insert(last, "</sup>" if kind == at.SUP else "</sub>")
                    self.insert(first, "<sup>" if kind == at.SUP else "<sub>")
            elif kind == at.CODESPAN:
                for k in range(i + 1, end):
                    if self.nodes[at.N_OP, k] == at.TEXT:
                        self.escaped(self.points, self.nodes[at.N_A, k], self.nodes[at.N_B, k], True)
                    else:
                        self.insert(self.n, " ")
                code = self.array[begin : self.n].tobytes().decode("utf-32-le", "replace")
                self.n = begin
                self.insert(begin, _span(" ".join(code.split())))
            elif kind == at.IMAGE:
                address, alt = self.values[value]
                self.insert(begin, f"{_MARK}[")
                points = np.array([f"{alt} "]).view(np.uint32)
                self.escaped(memoryview(points), 0, len(alt), False)
                self.insert(self.n, f"]({_address(address)})")
            elif kind == at.MATH:
                before = chr(self.line[begin - 1]) if begin else ""
                space = " " if before == "$" or before.isalnum() else ""
                self.insert(begin, space + _math(self.values[value], self.nodes[at.N_B, i]))
            elif kind == at.ROOT:
                self.pieces(i + 1, end)
            elif kind == at.REF:
                self.insert(begin, f"[^{self.values[value]}]")
            i = end + 1

    def escaped(
        self,
        points: cython.const[cython.uint][::1],
        i: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        is_code: cython.bint,
    ) -> cython.void:
        """Adds text, what means something in Markdown escaped (but in code); white space as one space."""
        was_white: cython.bint = False
        breaks: cython.bint = False  # between two lines
        self.room(2 * (end - i))
        n = self.n
        while i < end:
            c = points[i]
            i += 1
            if c < 1114112 and (self.properties[c] & at.CHAR_CLASS_MASK) == at.CHAR_WHITE:
                breaks = c == 10 or (was_white and breaks)
                if not was_white:
                    self.line[n] = 32
                    n += 1
                was_white = True
                continue
            if was_white and breaks and n > self.n + 1 and is_wide(c) and is_wide(self.line[n - 2]):
                n -= 1
            was_white = False
            if c < 32:
                continue
            if not is_code and (
                _means_something(c, points[i] if i < end else 0)
                or (c == 38 and _is_entity(points, i, end))
                or (c == 36 and _opens_formula(points, i, end))
            ):
                self.line[n] = 92
                n += 1
            self.line[n] = c
            n += 1
        self.n = n

    def link(self, begin: cython.Py_ssize_t, address: str) -> cython.void:
        """Makes a link of the line from `begin` on; the white space around the text stands outside."""
        first = self.begin_of(begin)
        last = self.end_of(first)
        for k in range(first, last):
            if self.line[k] == 15:
                self.line[k] = 32
        self.insert(last, f"]({_address(address)})")
        self.insert(first, "[")


def _means_something(c: cython.uint, following: cython.uint) -> cython.bint:
    """Whether Markdown reads a character as more than itself, but for the '&' of an entity."""
    if c >= 64:
        return c == 91 or c == 92 or c == 93 or c == 95 or c == 96 or c == 126
    if c == 60:  # it may open a tag
        return _is_letter(following) or following == 47 or following == 33 or following == 63
    return c == 42


def _is_entity(
    points: cython.const[cython.uint][::1], i: cython.Py_ssize_t, end: cython.Py_ssize_t
) -> cython.bint:
    """Whether what follows a '&' at i - 1 makes a character of it."""
    begin = i
    if i < end and points[i] == 35:
        return True
    while i < end and i < begin + _LONGEST_ENTITY and (_is_letter(points[i]) or 48 <= points[i] <= 57):
        i += 1
    return begin < i < end and points[i] == 59


def _opens_formula(
    points: cython.const[cython.uint][::1], i: cython.Py_ssize_t, end: cython.Py_ssize_t
) -> cython.bint:
    """Whether a '$' at i - 1 may begin a formula: the next one closes it (no white space before it)."""
    if i >= end or points[i] <= 32:
        return False
    begin = i
    while i < end and points[i] != 36:
        if i - begin > _LONGEST_FORMULA:
            return False
        i += 1
    return i < end and points[i - 1] > 32


def _is_letter(c: cython.uint) -> cython.bint:
    return 97 <= c <= 122 or 65 <= c <= 90


def _address(address: str) -> str:
    """An address inside the parentheses of a link."""
    if _ODD.search(address):
        address = _ODD.sub(lambda odd: _IN_ADDRESS.get(odd[0], ""), address)
    return address


def _math(tex: str, display: cython.bint) -> str:
    tex = re.sub(r"[\x00-\x1f]", " ", tex) if display else " ".join(tex.split())
    tex = tex.replace("$", "\\$") if "$" in tex and "\\$" not in tex else tex
    tex = tex.replace("!", _MARK)
    return f"$${tex}$$" if display else f"${tex}$"


def _span(text: str) -> str:
    """Code inside a line."""
    if not text:
        return ""
    runs = set(map(len, re.findall("`+", text))) if "`" in text else ()
    size: cython.int = 1
    while size in runs:
        size += 1
    fence = "`" * size
    space = " " if text[0] == "`" or text.endswith("`") else ""
    return f"{fence}{space}{text}{space}{fence}{_CODE_END}".replace("!", _MARK)


def _finished(text: str) -> str:
    """A line without signs of our own."""
    if _CODE_END in text:  # two spans of code side by side
        text = text.replace("\x10`", " `").replace(_CODE_END, "")
    return text.replace("![", "\\![").replace(_MARK, "!")


def _paragraph(text: str) -> str:
    """Lines that end with two spaces; none may turn into a heading, quote, list, rule or table."""
    if _BREAK in text:
        text = "  \n".join([line for part in text.split(_BREAK) if (line := part.strip())])
    elif text[:1] not in _MAY_MEAN:
        return text
    return _LINE_START.sub(lambda one: f"{one[1]}\\{one[2]}" if one[1] else f"\\{one[0]}", text)


def _indented(text: str, size: cython.int) -> str:
    """Lines below the first indented; empty ones have no white space."""
    return re.sub(r"\n(?!\n|$)", "\n" + " " * size, text) if "\n" in text else text


def _prefixed(text: str, prefix: str) -> str:
    """The lines of a text with a prefix, empty ones without its spaces."""
    return (
        "\n".join([prefix + line if line else prefix.rstrip() for line in text.split("\n")]) if text else ""
    )


def _resolved(text: str) -> str:
    """The text with its marks written where a parser reads them as meant, and left out elsewhere."""
    text = _SAME.sub(lambda same: same[1] or same[2] or same[3] or "", text)
    for _ in range(3):
        bad = _wrong_marks(text)
        if not bad:
            break
        text = "".join([c for i, c in enumerate(text) if i not in bad])
    else:
        text = _RUN.sub("", text)
    for mark, written in _WRITTEN.items():
        text = text.replace(mark, written)
    return text


def _wrong_marks(text: str) -> set[int]:
    """Positions of marks that would not be read as meant, with those they belong to."""
    open_: list[int] = []
    partner: dict[int, int] = {}
    wrong: set[int] = set()
    is_nested = _NESTED.search(text) is not None
    for run in _RUN.finditer(text):
        marks = run[0]
        before, after = text[max(run.start() - 1, 0) : run.start()], text[run.end() : run.end() + 1]
        opens = _place(after) > 0 and (_place(after) > 1 or _place(before) < 2)
        closes = _place(before) > 0 and (_place(before) > 1 or _place(after) < 2)
        is_mixed = 0 < sum([c in _OPENING for c in marks]) < len(marks)
        both = opens and closes and (len(marks) > 1 or is_nested)
        for at_, mark in enumerate(marks, run.start()):
            opening = mark in _OPENING
            if opening:
                open_.append(at_)
            elif open_:
                partner[at_] = open_.pop()
                partner[partner[at_]] = at_
            if (is_mixed and opening) or both or not (opens if opening else closes):
                wrong.add(at_)
    return wrong | {partner[at_] for at_ in wrong if at_ in partner}


def _place(c: str) -> cython.int:
    """What stands beside a mark: 0: nothing, white space or a break, 1: punctuation, 2: a letter or digit."""
    return 0 if not c or c == _BREAK or c.isspace() else 2 if c.isalnum() else 1
