"""The kept content as Markdown: GitHub's flavour, which any CommonMark parser reads as it is meant."""

import re
from collections.abc import Sequence
from typing import Any, Final

from victor_spark.rendering.structure import Cleaned
from victor_spark.rendering.tree import Node, tree

# Marks inside a line before it is known where they stand: Markdown reads ** only beside certain characters.
_OPEN: Final = {"strong": "\x01", "em": "\x03", "strike": "\x05"}
_CLOSE: Final = {"strong": "\x02", "em": "\x04", "strike": "\x06"}
_WRITTEN: Final = {"\x01": "**", "\x02": "**", "\x03": "*", "\x04": "*", "\x05": "~~", "\x06": "~~"}
_EXCLAMATION: Final = "\x0e"
_BREAK: Final = "\x0f"
_CODE_END: Final = "\x10"
_IMAGE: Final = re.compile(r"\x0e\[(?:[^\]\\]|\\.)*\]\((?:[^)\\]|\\.)*\)")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f]")
_SPECIAL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\\`*_\[\]~]|<(?=[a-zA-Z/!?])|&(?=#|\w+;)")
_MAY_MEAN: Final = frozenset("#>+-=|:0123456789")
"""What a line can begin with that means something."""
_LINE_START: Final = re.compile(
    r"(?m)^(?:#{1,6}(?=\s|$)|>|[+-](?=\s|$)|[-=][-= ]*$|[|:][-:| ]*$|-[-:| ]*$|(\d{1,9})([.)](?=\s|$)))"
)
_RUN: Final = re.compile("[\x01-\x06]+")
_NESTED: Final = re.compile("[\x01\x03\x05][^\x02\x04\x06]*[\x01\x03\x05]")
_SAME: Final = re.compile("\x02(\\s*)\x01|\x04(\\s*)\x03|\x06(\\s*)\x05")
_BACKQUOTES: Final = re.compile("`+")
_MAX_COLUMN_SPAN: Final = 100
_NOTES: Final = frozenset(("notes", "footnotes", "endnotes", "note", "footnote"))


_SEPARATORS: Final = frozenset(("", *"|-–—:·•»«/<>~"))
"""Characters between the title of a page and the name of its site, or nothing."""


def markdown(document: Cleaned, *, links: bool = True, images: bool = True, emphasis: bool = True) -> str:
    """The kept content of a document; without links their text stays, without images nothing of them."""
    nodes = tree(document)[2]
    if (title := _title(nodes, document.title)) is not None:
        del nodes[title]
    return _Writer(links=links, images=images, emphasis=emphasis).blocks(nodes)


def _title(nodes: Sequence[Node], title: str | None) -> int | None:
    """Which of the nodes is a heading that repeats the page's title."""
    for i, (kind, level, children) in enumerate(nodes[:12]):
        if kind == "heading" and level <= 2 and title:
            text = " ".join(_words(children).lower().split())
            before, found, after = " ".join(title.lower().split()).partition(text)
            parted = before.rstrip()[-1:] in _SEPARATORS and after.lstrip()[:1] in _SEPARATORS
            return i if len(text) > 1 and found and parted else None
    return None


def _words(children: Sequence[Any]) -> str:
    return "".join(child if isinstance(child, str) else _words(child[2]) for child in children)


class _Writer:
    def __init__(self, *, links: bool, images: bool, emphasis: bool) -> None:
        self.links = links
        self.images = images
        self.emphasis = emphasis
        self.inside: set[str] = set()
        self.is_marked = False  # whether the line at hand has emphasis

    # --- blocks ----------------------------------------------------------------------------------------

    def blocks(self, nodes: Sequence[Node]) -> str:
        parts: list[str] = []
        lists = False
        for i, node in enumerate(nodes):
            if node[0] == "heading" and i + 1 < len(nodes) and self.is_of_notes(node, nodes[i + 1]):
                continue
            text = self.block(node, other=lists)
            if not text:
                continue
            lists = node[0] == "list" and not lists
            parts.append(text)
        return "\n\n".join(parts)

    def is_of_notes(self, node: Node, after: Node) -> bool:
        notes = after[0] == "footnote" or (after[0] == "list" and any(n[0] == "footnote" for n in after[2]))
        return notes and "".join(c for c in node[2] if isinstance(c, str)).strip().lower() in _NOTES

    def block(self, node: Node, *, other: bool = False) -> str:
        kind, value, children = node
        if kind == "p":
            if len(children) == 1 and isinstance(children[0], tuple) and children[0][0] == "math":
                tex, display = children[0][1]
                if display:
                    return f"$$\n{tex}\n$$"
            return self.line(children)
        if kind == "heading":
            if len(children) == 1 and children[0][:1] == ("strong",):
                children = children[0][2]
            text = self.one_line(children)
            text = re.sub(r"(^|\s)(#+)$", r"\1\\\2", text)
            return f"{'#' * max(value, 2)} {text}" if text else ""
        if kind == "list":
            return self.list(value, children, other=other)
        if kind == "code":
            language, code = value
            longest = max(map(len, _BACKQUOTES.findall(code)), default=2)
            fence = "`" * max(longest + 1, 3)
            return f"{fence}{language}\n{code}\n{fence}"
        if kind == "quote":
            return _prefixed(self.blocks(children), "> ")
        if kind == "callout":
            title = ""
            if children and children[0][0] == "title":
                title = self.blocks(children[0][2])
                children = children[1:]
            inside = self.blocks(children)
            if title.lower() == value.lower():
                title = ""
            inside = "\n\n".join(
                filter(
                    None,
                    (
                        title and f"**{title}**"
                        if self.emphasis and "*" not in title and "\n" not in title
                        else title,
                        inside,
                    ),
                )
            )
            return _prefixed(f"[!{value}]\n{inside}", "> ") if inside else ""
        if kind == "table":
            return self.table(children)
        if kind == "footnote":
            text = self.blocks(children).lstrip(".):,; ")
            return f"[^{value}]: " + _prefixed(text, "    ", first="") if text else ""
        if kind == "hr":
            return "---"
        return self.blocks(children)  # figure, caption, details, dl, dt, dd, item, title

    def list(self, start: int | None, items: Sequence[Node], *, other: bool) -> str:
        number = start
        parts: list[str] = []
        loose = False
        notes: list[str] = []
        for node in items:
            if node[0] != "item":
                text = self.block(node)
                if text:
                    notes.append(text)
                continue
            own, state = node[1] or (None, None)
            text = self.item(node[2])
            if not text and state is None:
                continue
            loose = loose or text.startswith("\n")
            text = text.removeprefix("\n")
            if number is None:
                marker = "* " if other else "- "
            else:
                number = own if own is not None else number
                marker = f"{number}{')' if other else '.'} "
                number = min(number + 1, 999_999_999)
            box = "" if state is None else "[x] " if state else "[ ] "
            parts.append(marker + box + _prefixed(text, " " * len(marker), first=""))
        if notes:
            parts = [("\n\n" if loose else "\n").join(parts)] if parts else []
            return "\n\n".join([*parts, *notes])
        return ("\n\n" if loose else "\n").join(parts)

    def item(self, children: Sequence[Node]) -> str:
        """The content of an item; a newline before it where it is more than a line and lists after it."""
        parts: list[str] = []
        tight = True
        lists = False
        for child in children:
            text = self.block(child, other=lists)
            if text:
                lists = child[0] == "list" and not lists
                tight = tight and (not parts or (child[0] == "list" and child[1] in (None, 1)))
                parts.append(text)
        return "\n".join(parts) if tight else "\n" + "\n\n".join(parts)

    def table(self, rows: Sequence[Node]) -> str:
        before = [self.blocks([node]) for node in rows if node[0] != "row"]
        grid: list[list[str]] = []
        below: dict[int, int] = {}  # columns that a cell above reaches into, and how many rows more
        room = 1000 + 4 * sum(len(row[2]) for row in rows if row[0] == "row")
        for row in rows:
            if row[0] != "row":
                continue
            cells: list[str] = []
            taken, below = below, {}
            for cell in row[2]:
                if cell[0] != "cell":
                    continue
                across, down, _ = cell[1]
                while len(cells) in taken:
                    cells.append("")
                    room -= 1
                across = max(1, min(across, _MAX_COLUMN_SPAN, room))
                if down > 1 and room > 0:
                    for column in range(len(cells), len(cells) + across):
                        below[column] = min(down, 65534) - 1
                cells.append(self.cell(cell[2]))
                cells.extend([""] * (across - 1))
                room -= across
            for column, more in taken.items():
                if more > 1 and room > 0:
                    below.setdefault(column, more - 1)
                    room -= 1
            while cells and not cells[-1]:
                cells.pop()
            if cells:
                grid.append(cells)
        if not grid:
            return "\n\n".join(filter(None, before))
        width = max(map(len, grid))
        grid[0] += [""] * (width - len(grid[0]))
        lines = [f"| {' | '.join(cells)} |" for cells in grid]
        lines.insert(1, "| " + " | ".join(["---"] * width) + " |")
        return "\n\n".join([*filter(None, before), "\n".join(lines)])

    def cell(self, children: Sequence[Node]) -> str:
        pieces: list[Any] = []
        _flatten(children, pieces)
        return self.one_line(pieces).replace("|", "\\|")

    # --- lines -----------------------------------------------------------------------------------------

    def one_line(self, children: Sequence[Any]) -> str:
        return " ".join(self.inline(children).replace(_BREAK, " ").split())

    def line(self, children: Sequence[Any]) -> str:
        """A paragraph; its lines end with two spaces."""
        text = self.inline(children).strip()
        if _BREAK in text:
            lines = [line.strip() for line in text.split(_BREAK)]
            text = "  \n".join(line for line in lines if line)
        elif text[:1] not in _MAY_MEAN:
            return text
        return _LINE_START.sub(_escaped_start, text)

    def inline(self, children: Sequence[Any]) -> str:
        text = self.pieces(children)
        if self.is_marked:
            text = _resolved(text)
            self.is_marked = False
        if "![" in text:
            text = text.replace("![", "\\![")
        text = text.replace(f"{_CODE_END}`", " `")  # two spans side by side
        return text.replace(_EXCLAMATION, "!").replace(_CODE_END, "")

    def pieces(self, children: Sequence[Any]) -> str:
        out: list[str] = []
        for child in children:
            if isinstance(child, str):
                out.append(_escaped(child))
                continue
            kind, value, inside = child
            if kind == "br":
                out.append(_BREAK)
            elif kind == "link":
                out.append(self.link(value, self.pieces(inside)))
            elif kind in _OPEN:
                nested = kind in self.inside or (kind == "strike" and bool(self.inside))
                self.inside.add(kind)
                text = self.pieces(inside)
                if not nested:
                    self.inside.discard(kind)
                core = text.strip(" " + _BREAK)
                if not core or nested or not self.emphasis:
                    out.append(text)
                    continue
                self.is_marked = True
                at = text.index(core)
                out.append(f"{text[:at]}{_OPEN[kind]}{core}{_CLOSE[kind]}{text[at + len(core) :]}")
            elif kind == "code":
                out.append(_code_span(value) + _CODE_END)
            elif kind == "image":
                if self.images:
                    address, alt = value
                    out.append(f"{_EXCLAMATION}[{_escaped(alt)}]({_address(address)})")
            elif kind == "math":
                tex, display = value
                tex = " ".join(tex.split()) if not display else tex.replace("\n", " ")
                tex = tex.replace("$", "\\$") if "$" in tex and "\\$" not in tex else tex
                before = out[-1][-1:] if out else ""
                mark = "$$" if display else "$"
                out.append(f"{' ' if before.isalnum() or before == '$' else ''}{mark}{tex}{mark}")
            elif kind == "ref":
                out.append(f"[^{value}]")
            elif kind in ("sup", "sub"):
                text = self.pieces(inside)
                core = text.strip()
                if core.startswith("[^") or not core or len(core) > 60:
                    out.append(text)
                else:
                    lead, trail = " " * text[0].isspace(), " " * text[-1].isspace()
                    out.append(f"{lead}<{kind}>{core}</{kind}>{trail}")
            else:
                out.append(self.pieces(inside))
        return "".join(out)

    def link(self, address: str, text: str) -> str:
        core = text.strip(" " + _BREAK)
        if not self.links or not core or "](" in _IMAGE.sub("", core):
            return text if core else ""
        at = text.index(core)
        core = core.replace(_BREAK, " ")
        return f"{text[:at]}[{core}]({_address(address)}){text[at + len(text.strip(' ' + _BREAK)) :]}"


def _flatten(nodes: Sequence[Any], pieces: list[Any]) -> None:
    """The lines in some nodes as one line."""
    for node in nodes:
        if isinstance(node, str):
            pieces.append(node)
            continue
        kind, value, children = node
        if kind in ("p", "heading"):
            if pieces:
                pieces.append(" ")
            pieces.extend(children)
        elif kind == "code" and isinstance(value, tuple):
            pieces.append(" ")
            pieces.append(("code", " ".join(value[1].split()), []))
        else:
            _flatten(children, pieces)


def _escaped(text: str) -> str:
    if _SPECIAL.search(text) is None:
        return text
    return _SPECIAL.sub(r"\\\g<0>", _CONTROL.sub("", text))


def _escaped_start(match: re.Match[str]) -> str:
    """A line must not turn into a heading, quote, list, rule or table by how it begins."""
    return f"{match[1]}\\{match[2]}" if match[1] else f"\\{match[0]}"


def _address(address: str) -> str:
    """An address inside the parentheses of a link."""
    for character, written in (
        (" ", "%20"),
        ("<", "%3C"),
        (">", "%3E"),
        ("\\", "%5C"),
        ("`", "%60"),
        ("|", "%7C"),
    ):
        if character in address:
            address = address.replace(character, written)
    address = re.sub(r"[\x00-\x1f\x7f]|\s", "", address)
    if "(" in address or ")" in address:
        address = address.replace("(", "\\(").replace(")", "\\)")
    if "&" in address:
        address = re.sub(r"&(?=#|\w+;)", "&amp;", address)
    return address


def _code_span(text: str) -> str:
    text = _CONTROL.sub("", text).replace("![", f"{_EXCLAMATION}[")
    if not text:
        return ""
    runs = set(map(len, _BACKQUOTES.findall(text)))
    fence = "`" * next(n for n in range(1, len(runs) + 2) if n not in runs)
    space = " " if text[0] == "`" or text[-1] == "`" else ""
    return f"{fence}{space}{text}{space}{fence}"


def _prefixed(text: str, prefix: str, *, first: str | None = None) -> str:
    """The lines of a text with a prefix, empty ones without its spaces; `first` is that of the first line."""
    lines = text.split("\n")
    bare = prefix.rstrip()
    out = [(prefix + line) if line else bare for line in lines]
    if first is not None:
        out[0] = first + lines[0]
    return "\n".join(out)


def _is_punctuation(character: str) -> bool:
    return not character.isalnum() and not character.isspace()


def _resolved(text: str) -> str:
    """The text with its marks written where a parser reads them as meant, and left out elsewhere."""
    text = _SAME.sub(lambda match: match[1] or match[2] or match[3] or "", text)
    for _ in range(3):
        bad = _wrong_marks(text)
        if not bad:
            break
        text = "".join(c for i, c in enumerate(text) if i not in bad)
    else:
        text = _RUN.sub("", text)
    return _RUN.sub(lambda match: "".join(_WRITTEN[c] for c in match[0]), text)


def _wrong_marks(text: str) -> set[int]:
    """Positions of marks that would not be read as meant, with those they belong to."""
    open_: list[int] = []
    partner: dict[int, int] = {}
    wrong: set[int] = set()
    is_nested = _NESTED.search(text) is not None
    for run in _RUN.finditer(text):
        before, after = text[run.start() - 1 : run.start()], text[run.end() : run.end() + 1]
        before, after = before or " ", after or " "
        before, after = (" " if c == _BREAK else c for c in (before, after))
        opens = not after.isspace() and (
            not _is_punctuation(after) or before.isspace() or _is_punctuation(before)
        )
        closes = not before.isspace() and (
            not _is_punctuation(before) or after.isspace() or _is_punctuation(after)
        )
        marks = run[0]
        is_mixed = len({c in "\x01\x03\x05" for c in marks}) > 1
        both = opens and closes and (len(marks) > 1 or is_nested)
        for at, mark in enumerate(marks, run.start()):
            opening = mark in "\x01\x03\x05"
            if opening:
                open_.append(at)
            elif open_:
                partner[at] = open_.pop()
                partner[partner[at]] = at
            if (is_mixed and opening) or both or not (opens if opening else closes):
                wrong.add(at)
    return wrong | {partner[at] for at in wrong if at in partner}
