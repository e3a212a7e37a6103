"""Writes nodes as Markdown in GitHub's flavour, escaped so that CommonMark parsers read it as it is meant.

Cython pure Python mode.
"""

import re
from typing import Any

import cython
from cython import Py_ssize_t
from cython.cimports.victor_spark.rendering import num as at

from victor_spark.rendering.structure import Structure, columns_of, in_one_line

at.check()

# Marks inside a line before it is known where they stand: Markdown reads ** only beside certain characters.
# Those of STRONG, EM, STRIKE begin with 1, 3, 5, and end with 2, 4, 6.
_WRITTEN = {"\x01": "**", "\x02": "**", "\x03": "*", "\x04": "*", "\x05": "~~", "\x06": "~~"}
_OPENING = cython.declare(str, "\x01\x03\x05")
_RUN = cython.declare(object, re.compile("[\x01-\x06]+"))
_PAIR = re.compile("([^\x01-\x06]*)([\x01\x03\x05])([^\x01-\x06]+)([\x02\x04\x06])([^\x01-\x06]*)")
_NESTED = re.compile("[\x01\x03\x05][^\x02\x04\x06]*[\x01\x03\x05]")
_SAME = re.compile("([\x02\x04\x06])(\\s*)([\x01\x03\x05])")
_BREAK = cython.declare(str, "\x0f")
_AROUND = cython.declare(str, " \x0f")
_CODE_END = cython.declare(str, "\x10")
_MARK = cython.declare(str, "\x11")  # an exclamation mark that stays; others are escaped before a link
_MAY_MEAN = cython.declare(frozenset, frozenset("#>+-=|:0123456789"))
_LINE_START = re.compile(
    r"(?:#{1,6}(?=\s|$)|>|[+-](?=\s|$)|[-=][-= ]*$|[|:][-:| ]*$|-[-:| ]*$|(\d{1,9})([.)](?=\s|$)))"
)
_ODD = re.compile(r"[<>\\`|()\x00-\x1f\x7f\s&](?:(?<!&)|(?=#|\w+;))")
_IN_ADDRESS = {c: f"%{ord(c):02X}" for c in " <>\\`|"} | {"(": "\\(", ")": "\\)", "&": "&amp;"}
_MEANS = re.compile(
    r"[]*_[\\`~<&$](?:(?<![<&$])|(?<=<)(?=[A-Za-z/!?])|(?<=&)(?=#|[A-Za-z0-9]{1,32};)"
    r"|(?<=\$)(?=[^\s$]\$|[^\s$][^$]{0,398}[^\s$]\$))"
)
_SPACES = re.compile("  +")
_NOT_BEFORE_FORMULA = re.compile(r"[^\W_$]\Z|\$\Z")
_CONTROL = re.compile("[\x00-\x1f]")
_IN_BRACKETS = re.compile(r"\\\[(\[\^[^]]*\])\\\]")
_LONGEST_SUP = cython.declare(cython.int, 60)


@cython.final
@cython.cclass
class Writer:
    """Writes the nodes of one page. Blocks of the kind ROOT are left out; in a line, what they hold stays."""

    points: at.UInts
    nodes: cython.const[cython.int][:, :]
    properties: at.Bytes
    text: str
    values: list[Any]
    inside: cython.int  # bits of the kinds of emphasis around
    in_link: cython.bint
    next_number: cython.int  # of the item that would continue the last list
    is_plain: cython.bint  # whether the line at hand is text alone

    def __init__(self, page: Structure, *views: object):
        self.points, self.nodes, self.properties = views
        self.text, self.values = page.text, page.values
        self.inside = 0
        self.in_link = self.is_plain = False
        self.next_number = 0

    # --- blocks ----------------------------------------------------------------------------------------

    def blocks(self, i: Py_ssize_t, stop: Py_ssize_t, in_item: cython.bint = False) -> str:
        """The nodes from `i` up to `stop` below each other.

        In an item (`in_item`): without empty lines if it is a line, or a line with lists after it; otherwise
        with a newline before.
        """
        parts: list[str] = []
        tight: cython.bint = in_item
        other: cython.bint = False
        before: cython.int = at.ROOT  # the kind of the node above
        while i < stop:
            kind = self.nodes[at.N_OP, i]
            number = self.nodes[at.N_A, i]
            goes_on: cython.bint = number > 1 and number == self.next_number  # with the numbers of a list
            is_other: cython.bint = kind == at.LIST == before and other == goes_on
            if kind != at.ROOT and (text := self.block(i, kind, is_other)):
                before, other = kind, is_other
                tight = tight and (not parts or (kind == at.LIST and (number == -1 or number == 1)))
                parts.append(text)
            i = self.nodes[at.N_END, i] + 1
        return "\n".join(parts) if tight else "\n" * in_item + "\n\n".join(parts)

    def block(self, i: Py_ssize_t, kind: cython.int, other: cython.bint) -> str:
        """A node; `other`: it is a list that stands below another one."""
        end: Py_ssize_t = self.nodes[at.N_END, i]
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
            inside = self.blocks(i + 1, end)
            title, _, rest = inside.partition("\n\n")
            inside = rest if title.strip("#*: ").upper() == self.values[value] else inside
            return _prefixed(f"[!{self.values[value]}]\n{inside}", "> ") if inside else ""
        if kind == at.TABLE:
            return self.table(i, end)
        if kind == at.FOOTNOTE:
            text = self.blocks(i + 1, end).lstrip(".):,; ")
            return f"[^{self.values[value]}]: {_indented(text, 4)}" if text else ""
        return "---" if kind == at.HR else self.blocks(i + 1, end)  # figures, captions, definitions

    def items(self, i: Py_ssize_t, end: Py_ssize_t, first: cython.int, other: cython.bint) -> str:
        """A list, and footnotes that stand in it below."""
        shown: list[str] = []
        notes: list[str] = []
        number: cython.int = first
        counts_down: cython.bint = self.nodes[at.N_B, i] != 0
        loose: cython.bint = False
        i += 1
        while i < end:
            last = self.nodes[at.N_END, i]
            kind = self.nodes[at.N_OP, i]
            state = self.nodes[at.N_B, i] if kind == at.ITEM else 0
            if kind != at.ITEM:
                if text := self.block(i, kind, False):
                    notes.append(text)
            elif tight := self.blocks(i + 1, last, True):
                loose = loose or tight[:1] == "\n"
                if first >= 0 and self.nodes[at.N_A, i] >= 0:
                    number = self.nodes[at.N_A, i]
                mark = f"{number}{')' if other else '.'} " if first >= 0 else "* " if other else "- "
                box = "" if state == 0 else "[x] " if state == 2 else "[ ] "
                shown.append(f"{mark}{box}{_indented(tight.removeprefix(chr(10)), len(mark))}")
                number = max(number - 1, 0) if counts_down else number + 1
            i = last + 1
        self.next_number = number if first >= 0 else 0
        return "\n\n".join([*([("\n\n" if loose else "\n").join(shown)] if shown else []), *notes])

    def table(self, i: Py_ssize_t, end: Py_ssize_t) -> str:
        """A table, and what stands in it outside of rows above it; where others reach, cells are empty."""
        before: list[str] = []
        cells: list[int] = []
        places: list[tuple[int, int, int]] = []
        i += 1
        while i < end:
            row: Py_ssize_t = i
            cell: Py_ssize_t = i + 1
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

    def flatten(self, i: Py_ssize_t, stop: Py_ssize_t, pieces: list[str]) -> cython.void:
        """Adds the lines in some nodes to `pieces`."""
        while i < stop:
            kind = self.nodes[at.N_OP, i]
            end: Py_ssize_t = self.nodes[at.N_END, i]
            if kind == at.P or kind == at.HEADING:
                pieces.append(self.inline(i).replace(_BREAK, " "))
            elif kind == at.CODE:
                code = " ".join(self.values[self.nodes[at.N_A, i]][1].split())
                pieces.append(_finished(_span(code)))
            elif end > i:
                self.flatten(i + 1, end, pieces)
            i = end + 1

    def inline(self, i: Py_ssize_t) -> str:
        """The line of a paragraph or heading, with its breaks."""
        self.is_plain = True
        line = self.line(i + 1, self.nodes[at.N_END, i]).strip()
        text = _SPACES.sub(" ", line) if "  " in line else line
        if self.is_plain:
            return text
        is_marked = "\x02" in text or "\x04" in text or "\x06" in text
        return _finished(_resolved(text) if is_marked else text)

    # --- lines -----------------------------------------------------------------------------------------

    def line(self, i: Py_ssize_t, stop: Py_ssize_t) -> str:
        """The nodes from `i` up to `stop` beside each other."""
        parts: list[str] = []
        while i < stop:
            kind = self.nodes[at.N_OP, i]
            value = self.nodes[at.N_A, i]
            end: Py_ssize_t = self.nodes[at.N_END, i]
            self.is_plain = self.is_plain and (kind == at.TEXT or kind == at.SPACE)
            if kind == at.TEXT:
                parts.append(self.escaped(value, self.nodes[at.N_B, i]))
            elif kind == at.SPACE:
                parts.append(" ")
            elif kind == at.LINK:
                was, self.in_link = self.in_link, True
                text = self.line(i + 1, end)
                self.in_link = was
                if not was:
                    of_image = text.lstrip(_AROUND).startswith(_MARK)
                    text = _marked(text, "[", f"]({_address(self.values[value])})")
                    text = f" {text} " if of_image else text
                parts.append(text)
            elif at.STRONG <= kind <= at.STRIKE:
                bit: cython.int = 1 << (kind - at.STRONG)
                nested = (self.inside & bit) != 0 or (kind == at.STRIKE and self.inside != 0)
                self.inside |= bit
                text = self.line(i + 1, end)
                self.inside = self.inside if nested else self.inside ^ bit
                mark = 2 * (kind - at.STRONG) + 1
                parts.append(text if nested else _marked(text, chr(mark), chr(mark + 1)))
            elif kind == at.SUP or kind == at.SUB:
                parts.append(_raised(self.line(i + 1, end), "sup" if kind == at.SUP else "sub"))
            elif kind == at.CODESPAN:
                text = ""
                for k in range(i + 1, end):
                    is_text = self.nodes[at.N_OP, k] == at.TEXT
                    text += self.text[self.nodes[at.N_A, k] : self.nodes[at.N_B, k]] if is_text else " "
                parts.append(_span(" ".join(text.split())))
            elif kind == at.BR:
                parts.append(_BREAK)
            elif kind == at.IMAGE:
                address, alt = self.values[value]
                parts.append(f"{_MARK}[{_escaped(alt) if alt else ''}]({_address(address)})")
            elif kind == at.MATH:
                begins = not parts or not _NOT_BEFORE_FORMULA.search(parts[len(parts) - 1])
                tex = _math(self.values[value], self.nodes[at.N_B, i])
                parts.append(tex if begins else f" {tex}")
            elif kind == at.REF:
                parts.append(f"[^{self.values[value]}]")
            elif kind == at.ROOT:
                end = i  # what is inside stands here
            i = end + 1
        return "".join(parts)

    def escaped(self, first: Py_ssize_t, last: Py_ssize_t) -> str:
        """Text, what means something in Markdown escaped, white space as one space."""
        parts: list[str] = []
        points = self.points
        begin: Py_ssize_t = first  # of what is not yet in `parts`
        i: Py_ssize_t = first
        while i < last:
            c = points[i]
            after: Py_ssize_t = i + 1
            if ord("a") <= c <= ord("z"):  # most are letters
                i = after
                continue
            if self.is_white(c):
                while after < last and self.is_white(points[after]):
                    after += 1
                if c != ord(" ") or after > i + 1:
                    inside = first < i and after < last
                    is_wide = inside and points[i - 1] >= at.FIRST_WIDE and points[after] >= at.FIRST_WIDE
                    if is_wide or (i == first and after == last):
                        return _escaped(self.text[first:last])
                    parts += [self.text[begin:i], " "]
                    begin = after
            elif c == ord("*") or c == ord("~") or (ord("[") <= c <= ord("`") and c != ord("^")):
                parts += [self.text[begin:i], "\\"]
                begin = i
            elif c < ord(" ") or c == ord("$"):
                return _escaped(self.text[first:last])
            elif (c == ord("&") or c == ord("<")) and after < last and points[after] > ord(" "):
                return _escaped(self.text[first:last])
            i = after
        return "".join([*parts, self.text[begin:last]]) if parts else self.text[first:last]

    @cython.cfunc
    def is_white(self, c: cython.uint) -> cython.bint:
        """Whether a character is white space."""
        return (self.properties[c] & at.CHAR_CLASS_MASK) == at.CHAR_WHITE


def _marked(text: str, before: str, behind: str) -> str:
    """Text between two marks; white space at its ends stands outside of them, a link has no breaks."""
    core = text.strip(_AROUND)
    if not core:
        return "" if before == "[" else text
    first = text.find(core)
    inside = core.replace(_BREAK, " ") if before == "[" else core
    return f"{text[:first]}{before}{inside}{behind}{text[first + len(core) :]}"


def _raised(text: str, name: str) -> str:
    size = len(text.strip(_AROUND))
    if "[^" in text:  # a reference, in brackets perhaps
        text = _IN_BRACKETS.sub(r"\1", text)
    is_reference = text.lstrip(_AROUND).startswith("[^")
    return text if is_reference or size > _LONGEST_SUP else _marked(text, f"<{name}>", f"</{name}>")


def _escaped(text: str) -> str:
    text = in_one_line(text)
    return _MEANS.sub(r"\\\g<0>", text if text.isprintable() else _CONTROL.sub("", text))


def _address(address: str) -> str:
    """An address inside the parentheses of a link."""
    return _ODD.sub(lambda odd: _IN_ADDRESS.get(odd[0], ""), address)


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
    return (text.replace("![", "\\![") if "!" in text else text).replace(_MARK, "!")


def _paragraph(text: str) -> str:
    """Lines that end with two spaces; none may turn into a heading, quote, list, rule or table."""
    if _BREAK in text:
        return "  \n".join([_paragraph(line) for part in text.split(_BREAK) if (line := part.strip())])
    if text[:1] not in _MAY_MEAN or (start := _LINE_START.match(text)) is None:
        return text
    number = start[1] or ""
    return f"{number}\\{text[len(number) :]}"


def _indented(text: str, size: cython.int) -> str:
    """Lines below the first indented; empty ones have no white space."""
    return re.sub(r"\n(?!\n|$)", "\n" + " " * size, text) if "\n" in text else text


def _prefixed(text: str, prefix: str) -> str:
    """The lines of a text with a prefix, empty ones without its spaces."""
    lines = [prefix + line if line else prefix.rstrip() for line in text.split("\n")]
    return "\n".join(lines) if text else ""


def _resolved(text: str) -> str:
    """The text with its marks written where a parser reads them as meant, and left out elsewhere."""
    if pair := _PAIR.fullmatch(text):
        before, begin, inside, end, after = pair.groups()
        begins = _is_read(_place(before[-1:]), _place(inside[:1]))
        if begins and _is_read(_place(after[:1]), _place(inside[-1:])):
            return f"{before}{_WRITTEN[begin]}{inside}{_WRITTEN[end]}{after}"
        return f"{before}{inside}{after}"
    if sum([text.count(mark) for mark in _OPENING]) > 1:
        text = _SAME.sub(lambda same: same[2] if ord(same[1]) == ord(same[3]) + 1 else same[0], text)
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
        start, end = run.span()
        before, after = _place(text[max(start - 1, 0) : start]), _place(text[end : end + 1])
        opens, closes = _is_read(before, after), _is_read(after, before)
        is_mixed = len(marks) > 1 and 0 < sum([c in _OPENING for c in marks]) < len(marks)
        both = opens and closes and (len(marks) > 1 or is_nested)
        for place, mark in enumerate(marks, start):
            opening = mark in _OPENING
            if opening:
                open_.append(place)
            elif open_:
                partner[place] = open_.pop()
                partner[partner[place]] = place
            if (is_mixed and opening) or both or not (opens if opening else closes):
                wrong.add(place)
    return wrong | {partner[place] for place in wrong if place in partner}


def _is_read(outside: cython.int, inside: cython.int) -> cython.bint:
    """Whether a mark can begin or end emphasis: by the `_place` on its outer and its inner side."""
    return inside > 1 or (inside > 0 and outside < 2)


@cython.cfunc
def _place(c: str) -> cython.int:
    """A character beside a mark: 0: none, white space or a break, 1: punctuation, 2: a letter or digit."""
    return 2 if c.isalnum() else 0 if not c or c == _BREAK or c.isspace() else 1
