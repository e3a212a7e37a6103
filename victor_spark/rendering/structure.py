"""The structure of a page's kept content: nodes as columns, and the values that some of them have."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, cached_property
from html import unescape
from typing import Any, Final
from weakref import proxy

import numpy as np
import numpy.typing as npt

from victor_html.elements import fnv1a, hashed
from victor_spark.blocks import Blocks, Bool, Int32, UInt32
from victor_spark.html.tags import VOID
from victor_spark.kernels import code_points, views
from victor_spark.kernels.assemble import is_wide
from victor_spark.kernels.num import FIRST_WIDE
from victor_spark.rendering import footnotes, formulas, links, num
from victor_spark.rendering.names import names
from victor_spark.rendering.num import KIND, N_END, N_OP, Elements
from victor_spark.rendering.shown import NAMES_OF_READERS, assembled, not_seen
from victor_spark.rendering.walk import Walk, has_word

OP: Final = {name: place for place, name in enumerate(num.OPS)}
MARK: Final = {name: 1 << bit for bit, name in enumerate(num.MARKS)}
_TAGS: Final = {name: name for name in num.KINDS if name not in ("other", "void", "block")} | {
    "void": " ".join(sorted(VOID.difference(num.KINDS))),
    "block": "div section article main header footer nav aside address form center hgroup body html search",
    "img": "img amp-img",
    "ul": "ul menu dir",
    "quote": "blockquote",
    "pre": "pre listing",
    "code": "code tt samp kbd",
    "strong": "b strong",
    "em": "i em var",
    "strike": "s strike del",
    "math": "math mjx-container mml:math",
}
"""Tags by their kind; all other tags have kind 0."""

_ROLES: Final = {
    "row": "tr", "cell": "td", "gridcell": "td", "columnheader": "th", "rowheader": "th", "table": "table",
    "grid": "table", "heading": "h2", "listitem": "li", "checkbox": "input",
}  # fmt: skip
"""The kinds of elements without a tag of their own by ARIA's role."""
_WORD: Final = ' class="MsoListParagraph'
_WITHOUT_KIND: Final = ("<div ", "<span ", "<section ", "<p ")
_NAMES_OF_ROLES, _NAMES_OF_ASIDES, _NAMES_OF_HOVERS = (
    np.array([fnv1a(word) for word in words.split()], dtype=np.uint32)
    for words in (
        "columnheader rowgroup gridcell heading listitem checkbox",
        "footnote sidenote marginnote",
        "hover",
    )
)
"""Hashes of words of class and role, of which a page with such elements has one."""
_NAMES_OF_TABLES: Final = _NAMES_OF_ROLES[:3]
NAMES_OF_TEXT: Final = np.concatenate([_NAMES_OF_ROLES[:-1], NAMES_OF_READERS])
"""Those that plain text depends on."""
_NOTE_MARK: Final = re.compile(r"(?:[*†‡§¶]+|[\[(]?(\w+)[.)\]]+)(?!\w)\s*")
_NOT_IN_ITEMS: Final = np.isin(num.KINDS, "h1 h2 h3 h4 h5 h6 img table".split())
"""By kind: elements that a list item by its role does not hold."""
_MOST_OF_TOOL_BAR: Final = 40
"""The most elements of a listing before those of its code."""
_NUMBER_OF_ITEM: Final = re.compile(r"\(?(?:(\d{1,3})|[a-zA-Z]|[ivxIVX]{1,4})[.)]")
_LONGEST_MARKUP: Final = 20_000
_DIV_OF_LINE: Final = re.compile(r'<div class="line">([^<]*(?:<(?!/?div)[^<]*)*)</div>\s*')
"""A line of code of Doxygen."""
_HOLDS_BLOCKS: Final = re.compile(r"<(?!/?(?:span|a|b|i|em|strong|br|code|mark)[ >])")
MOST_TABLES: Final = 3_000


def has_tables(blocks: Blocks, kept: Bool) -> bool:
    """Whether the kept text may be in tables, those that ARIA's roles state included."""
    return bool((kept & (blocks.td_group > 0)).any() or has_word(*views(blocks.name_words, _NAMES_OF_TABLES)))


class Structure:
    """The nodes of a page's kept content (num.NODE, a column a node), and their values.

    While the nodes are made, the walk calls it for elements that few pages have.
    """

    def __init__(
        self,
        html: str,
        blocks: Blocks,
        kept: Bool,
        *,
        url: str | None = None,
        markup: Callable[[], bytes] | None = None,
    ) -> None:
        self.html: str = html
        self.blocks, self.links = blocks, links.Links(url, markup, blocks)
        self.points, self.text = blocks.points, blocks.text
        self.values: list[Any] = []
        self.shown_images: dict[str, int] = {}  # addresses and the rows of their images
        self.last_image = -9  # the row of the last one
        self.footnotes = footnotes.NONE
        self._tables: dict[int, bool] = {}
        self._rows: dict[int, npt.NDArray[np.signedinteger]] = {}  # of groups of rows
        n = len(blocks)
        padded = np.zeros(n + 2, dtype=np.uint8)
        self.kept = padded[1:-1]
        self.kept[:] = kept
        self.sums = np.empty((len(num.UP_TO), n + 1), dtype=np.int32)
        self._walk = Walk(
            proxy(self),  # no cycle: the arrays are freed with the page
            np.empty((len(num.ELEMENT), 256 + len(html) // 64), dtype=np.int32),
            np.empty((len(num.NODE), 256 + 4 * n), dtype=np.int32),
            *views(code_points(html), self.points, *_tables(), blocks.start, blocks.end),
            *views(blocks.text_start, blocks.text_end, blocks.paragraph, blocks.white_space, blocks.listing),
            *views(blocks.n_split_br, blocks.space_before, blocks.gaps, blocks.gap_ends),
            *views(blocks.left_out.view(np.uint8), padded, self.sums),
            *views(np.empty((len(num.FRAME), 64), np.int32), np.empty(64, np.int32)),
        )
        # Of an element, by its row: its marks as bits, its start tag, an attribute, its text, how many
        # characters that has, the row after those inside, the cells of a table; and what shows all of it.
        walk = self._walk
        self.marks, self.tag, self.text_of, self.size = walk.marks, walk.tag, walk.text_of, walk.size
        self.after, self.cells, self.keep, self.attribute = walk.after, walk.cells, walk.keep, walk.attribute
        self.block_text = walk.block_text
        elements, rows = walk.scan()
        self.s = Elements(*elements)
        if rows:
            self._find_roles(rows)
        self._walk.count()

    def _find_roles(self, rows: list[int]) -> None:
        """Gives elements the kinds that their roles state; a list item holds no headings, images, tables."""
        s = self.s
        barred = np.flatnonzero(_NOT_IN_ITEMS[s.kind])
        has_roles = has_word(*views(self.blocks.name_words, _NAMES_OF_ROLES))
        for row in rows:
            tag = self.tag(row)
            name = self.attribute(row, "role") if has_roles else ""
            kind = KIND[_ROLES.get(name, "li" if _WORD in tag else "other")]
            if kind and tag.startswith(_WITHOUT_KIND):
                if name == "heading":
                    kind += min(max(self.number(row, "aria-level", 2), 1), 6) - 2
                first, last = barred.searchsorted((row + 1, self.after(row)))
                if kind != KIND["li"] or first == last:
                    s.kind[row] = kind

    @cached_property
    def pictures(self) -> npt.NDArray[np.intp]:
        """The rows of `picture` elements."""
        return np.flatnonzero(self.s.kind == KIND["picture"])

    @cached_property
    def nodes(self) -> Int32:
        """The nodes: num.NODE."""
        before = self.kept.view(bool).copy()
        labels = self._walk.choose()
        if (added := self.kept.view(bool) & ~before).any():
            self.kept[not_seen(self.blocks, added, self.html)] = 0
            self._walk.count()
        if labels:
            self.footnotes = footnotes.footnotes(self, np.array(labels))
        if has_word(*views(self.blocks.name_words, _NAMES_OF_ASIDES)):
            self.footnotes = footnotes.with_asides(self, self.footnotes)
        if has_word(*views(self.blocks.name_words, _NAMES_OF_HOVERS)):
            for row in np.flatnonzero(self.s.first < self.s.last).tolist():
                if self.marks(row) & MARK["hidden"]:  # inside code, too
                    self.keep(row, 0)
            self._walk.count()
        if (found := self.footnotes) is not footnotes.NONE:
            for name in ("notes", "refs", "back", "asides"):
                self.s.flags[list(getattr(found, name))] |= 1 << num.FLAGS.index(name)
            self._walk.count()
        nodes: Int32 = self._walk.run()
        return nodes

    def keep_rows(self) -> None:
        """Completes the rows of data tables of which enough is kept."""
        self._walk.count()
        self._walk.choose_tables(False)
        self._walk.count()

    def markup(self, row: int) -> str:
        """The markup of an element, its tags included."""
        return self.html[self.s.start[row] : self.html.find(">", self.s.end[row]) + 1]

    # --- for writers -----------------------------------------------------------------------------------

    def children(self, node: int) -> Iterator[int]:
        """The nodes in a node (-1: the page)."""
        child, end = node + 1, self.nodes.shape[1] if node < 0 else self.nodes.item(N_END, node)
        while child < end:
            yield child
            child = self.nodes.item(N_END, child) + 1

    def leave_out(self, *, links: bool, images: bool, emphasis: bool) -> None:
        """Leaves out links (not their text), images or emphasis, as requested."""
        for ops_of, wanted in (("link", links), ("image", images), ("strong em strike", emphasis)):
            if not wanted:
                ops = self.nodes[N_OP]
                ops[np.isin(ops, [OP[name] for name in ops_of.split()])] = OP["root"]

    def words(self, node: int) -> str:
        """The text of a node, white space as one space."""
        op, a, b, _ = self.nodes[:, node : int(self.nodes[N_END, node]) + 1].tolist()
        text = (
            self.text[i:j] if kind == OP["text"] else " " * (kind > OP["text"])
            for kind, i, j in zip(op, a, b, strict=True)
        )
        return " ".join("".join(text).split())

    def _add(self, value: Any) -> int:
        self.values.append(value)
        return len(self.values) - 1

    # --- for the walk ----------------------------------------------------------------------------------

    def is_data(self, table: int) -> bool:
        """Whether a table holds data, not the layout of the page."""
        if table not in self._tables:
            self._tables[table] = len(self._tables) < MOST_TABLES and self._walk.is_data(table)
        return self._tables[table]

    def link(self, row: int) -> int:
        """The address of a link; -1: it leads nowhere."""
        address = self.links.address(self.attribute(row, "href"))
        return -1 if address is None else self._add(address)

    def leads_to_image(self, row: int) -> bool:
        """Whether a link leads to an image: the words in it, such as "Enlarge", lie over its smaller copy."""
        return links.IMAGE_ADDRESS.match(self.attribute(row, "href")) is not None

    def image(self, row: int) -> tuple[int, int, bool] | None:
        """An image, or the formula that it shows; None: it shows nothing."""
        if (formula := self.formula_of_image(row)) is not None:
            return OP["math"], self._add(formula[0]), formula[1]
        found = links.image(self, row)
        return None if found is None else (OP["image"], self._add(found), False)

    def formula_of_image(self, row: int) -> tuple[str, bool] | None:
        """The LaTeX of the formula that an image shows, and whether it stands by itself."""
        tag = self.tag(row)
        may_be = any(part in tag for part in links.MAY_BE_FORMULA)
        is_formula = may_be and links.FORMULA.search(tag) is not None
        if not self.marks(row) & MARK["math"] and not is_formula:
            return None
        tex = formulas.tidy(self.attribute(row, "alt") or formulas.of_address(self.attribute(row, "src")))
        return (tex, "display" in tag) if tex else None

    def formula(self, row: int) -> tuple[int, bool] | None:
        """The LaTeX of a formula, and whether it stands by itself."""
        after = min(self.after(row), len(self.s.kind) - 1)
        found = formulas.drawn(self.tag(after)) or formulas.latex(self.markup(row))
        return None if found is None else (self._add(found[0]), found[1])

    def formulas(self, start: int, end: int) -> Iterator[tuple[int, int, int, bool]]:
        """The text from code point `start` to `end` cut at formulas: from, to, the formula's value or -1."""
        for a, b, tex, display in formulas.in_text(self.text[start:end]):
            yield start + a, start + b, -1 if tex is None else self._add(tex), display

    def callout(self, row: int) -> int:
        """GitHub's name for the kind of a notice; -1: only a class says that it is one, and no title."""
        stated = f"{self.attribute(row, 'data-callout')} {self.attribute(row, 'class')}"
        words = re.findall(r"[a-z]+", stated.lower())
        known = [word for word in words if word in _callout_of()]
        is_sure = self.marks(row) & MARK["callout"] or self.s.kind.item(row) == KIND["details"]
        if not is_sure and self.block_text(self.s.first.item(row)).strip(" :").lower() not in known:
            return -1
        vague = "hint" in words or "information" in words  # names of all notices, on some sites
        return self._add(_callout_of()[known[-vague]] if known else "NOTE")

    def is_anchor(self, row: int, begins: bool) -> bool:
        """Whether an element in a heading is a sign, or a link or button that doesn't begin the heading."""
        text = " ".join(self.block_text(b) for b in range(self.s.first[row], self.s.last[row])[:3])
        if is_button := bool(self.s.kind[row] == KIND["button"]):  # not behind a number, as in `Question 1:`
            before = self.block_text(int(self.s.first[row]) - 1).strip()[-1:]
            is_button = before.isalpha() or before in ("?", "!", ")")
        is_named = self.marks(row) & MARK["anchor"] != 0 or is_button
        if not any(map(str.isalnum, text)):
            return bool(text) and (is_named or "#" in self.tag(row))
        return is_named and len(text) < 16 and not begins

    def number(self, row: int, name: str, otherwise: int) -> int:
        """The number that an attribute of an element begins with."""
        found = re.match(r"\d{1,9}", self.attribute(row, name))
        return int(found[0]) if found else otherwise

    def numbering(self, row: int) -> tuple[int, bool]:
        """The number of the first item of an ordered list, and whether its numbers count down."""
        rows = slice(row, self.after(row) if ' reversed="' in self.tag(row) else row)
        n = int(np.count_nonzero((self.s.kind[rows] == KIND["li"]) & (self.s.parent[rows] == row)))
        return self.number(row, "start", n or 1), n > 0

    def number_of_item(self, b: int, row: int) -> int:
        """The number of an item that a block is, 0: a bullet of Word's, -1: it is text.

        `row`: the item, if its list has no element; Word must then say that it wrote the number.
        """
        text = self.block_text(b)
        if row >= 0:
            if "mso-list" not in self.html[self.s.start[row] : self.blocks.start[b]]:
                return -1
            if text in ("o", "§"):
                return 0
        found = _NUMBER_OF_ITEM.fullmatch(text)
        return -1 if found is None else int(found[1] or 1)

    def spans(self, row: int) -> tuple[int, int]:
        """How many columns and rows a cell has."""
        if "span=" not in self.tag(row):
            return 1, 1
        across, down = max(self.number(row, "colspan", 1), 1), self.number(row, "rowspan", 1)
        own = int(self.s.parent[row])
        group = int(self.s.parent[own])  # a cell ends with its row group; 0 means there
        if group not in self._rows:
            inside = slice(group, self.after(group))
            is_row = (self.s.kind[inside] == KIND["tr"]) & (self.s.parent[inside] == group)
            self._rows[group] = np.flatnonzero(is_row) + group
        rows = self._rows[group]
        left = max(len(rows) - int(np.searchsorted(rows, own)), 1)
        return across, min(down or left, left)

    def note(self, row: int) -> tuple[int, int, int]:
        """The label of a footnote, the element whose end is its own, and where its text begins."""
        label = self.footnotes.notes.get(row) or self.footnotes.asides[row]
        first = int(self.s.first[row])
        mark = _NOTE_MARK.match(self.block_text(first))
        is_own = mark is not None and mark[1] in (None, label)
        begin = int(self.blocks.text_start[first]) + (mark.end() if mark and is_own else 0)
        return self._add(label), self.footnotes.ends.get(row, row), begin

    def reference(self, row: int) -> int:
        """The label of the footnote that a link leads to, or that stands in the line."""
        return self._add(self.footnotes.refs.get(row) or self.footnotes.asides[row])

    # --- listings --------------------------------------------------------------------------------------

    def code(self, first: int, last: int, language: str) -> int:
        """The code in some blocks with its white space; -1: there is none."""
        text = assembled(self.blocks, self.kept.view(bool), first, last).strip("\n").replace("\xa0", " ")
        before = first  # the language may stand in the tool bar above
        while not language and before and self.blocks.left_out[before - 1]:
            before -= 1
        stated = [
            name for b in range(before, first) if (name := self.block_text(b).lower()) in names().languages
        ]
        language = stated[0] if len(stated) == 1 else language  # several are those of tabs
        return self._add((language, text)) if text else -1

    def table_of_code(self, row: int) -> int | None:
        """The listing that a table shows, without its line numbers; None if it shows none."""
        rows = slice(self.s.first[row], self.s.last[row])
        numbers = self.blocks.left_out[rows]
        listing = self.blocks.listing[rows][~numbers]
        if not listing.all() or not (numbers.any() or listing.min() == listing.max()):
            return None
        return self.code(rows.start, rows.stop, self._language(row))

    def _language(self, row: int) -> str:
        """The language that a listing states, or one of two `pre` in it: those of numbers and of code."""
        inside = np.flatnonzero(self.s.kind[row : self.after(row)] == KIND["pre"])[:2] + row
        return next(filter(None, (links.language(self, at) for at in (*inside.tolist(), row))), "")

    def listing(self, row: int, one: int, in_cell: bool) -> int | None:
        """The listing of an element (-1: an empty one); None if it is none, -2 if it is code inside a line.

        `one` is its first kept block.
        """
        s = self.s
        first, last = int(s.first[row]), int(s.last[row])
        white = self.blocks.white_space[one] if one < last else 0
        kind = s.kind[row]
        if not white:
            if kind == KIND["pre"] or s.end[row] - s.inner[row] > _LONGEST_MARKUP:
                return None
            code = self.html[s.inner[row] : s.end[row]].split('<div class="ttc"', 1)[0]  # tooltips follow it
            markup, n_lines = _DIV_OF_LINE.subn(r"\1\n", code)
            is_hidden = any(self.marks(i) & MARK["hidden"] for i in range(row, self.after(row)))
            has_lines = "\n" in markup.strip() and (n_lines or "fragment" not in self.tag(row))
            if (kind == KIND["code"] or has_lines) and not is_hidden and not _HOLDS_BLOCKS.search(markup):
                text = unescape(re.sub("<[^>]*>", "", re.sub(r"<br[^>]*>", "\n", markup))).strip()
                return self._add((links.language(self, row), text.replace("\xa0", " "))) if text else -1
            if kind != KIND["code"]:
                return None  # the listing is further inside, or there is none
        if in_cell:
            return -2
        language = self._language(row)
        inside = range(row + 1, min(self.after(row), row + _MOST_OF_TOOL_BAR) if kind == KIND["pre"] else row)
        is_code = (i for i in inside if s.kind[i] == KIND["code"] or self.marks(i) & MARK["code"])
        begin = int(s.first[next(is_code, row)])
        is_above = first < begin < last and self.blocks.paragraph[begin - 1] != self.blocks.paragraph[begin]
        above = (self.block_text(b) for b in range(first, min(begin, first + 3)) if self.kept[b])
        if is_above and (name := " ".join(above).lower()) in names().languages:
            first, language = begin, language or name  # a tool bar in the same element names the language
        return self.code(first, last, language)


def in_one_line(text: str) -> str:
    """A text with its white space as one space; breaks between Chinese or Japanese characters are removed."""
    if "\n" in text and not text.isascii() and ord(max(text)) >= FIRST_WIDE:
        text = _BETWEEN_LINES.sub(lambda ends: " " * (not all(is_wide(ord(c)) for c in ends.groups())), text)
    return f"{' ' * text[:1].isspace()}{' '.join(text.split())}{' ' * text[-1:].isspace()}" if text else ""


_BETWEEN_LINES: Final = re.compile(r"(?<=(\S))[ \t\r]*\n\s*(?=(\S))")


def columns_of(cells: Iterable[tuple[int, int, int]]) -> list[int]:
    """The column of each cell of a table, from its row and how many columns and rows it spans.

    However far the cells reach, the columns are at most about three times as many as the cells.
    """
    found: list[int] = []
    taken: dict[int, int] = {}  # columns that a cell above reaches into, and how many rows more
    below: dict[int, int] = {}
    room, row, column = _ROOM, -1, 0
    for own, wanted, down in cells:
        if own != row:
            for above, more in taken.items():
                if more > 1 and room > 0:
                    below.setdefault(above, more - 1)
                    room -= 1
            taken, below, row, column = below, {}, own, 0
        while column in taken:
            column += 1
            room -= 1
        found.append(column)
        across = max(1, min(wanted, _MOST_COLUMNS, room))
        if down > 1 and room > 0:
            below.update(dict.fromkeys(range(column, column + across), down - 1))
        column += across
        room += 2 - across
    return found


_ROOM: Final = 1_000
"""Columns that cells may reach into, beside two for each cell."""
_MOST_COLUMNS: Final = 100
"""The most columns of one cell."""


@cache
def _callout_of() -> dict[str, str]:
    """GitHub's name for a notice by the words for it."""
    return {word: name for name, words in names().callouts.items() for word in words}


@cache
def _tables() -> tuple[UInt32, Int32, UInt32, Int32]:
    """Hashes of tags with their kinds, and hashes of words with their marks."""
    kinds = {tag: KIND[name] for name, tags in _TAGS.items() for tag in tags.split()}
    marks: dict[str, int] = {}
    for mark, words in names().marks.items():
        for name in words:
            marks[name] = marks.get(name, 0) | MARK[mark]
    return *hashed(kinds, 512), *hashed(marks, 1024)
