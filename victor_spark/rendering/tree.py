"""The kept content of a document as a tree of nodes: what Markdown and TEI are written from.

A node is (kind, value, children); children are nodes and strings. Blocks of a page: heading, p, list, item,
quote, callout, code, table, row, cell, figure, caption, details, summary, dl, dt, dd, hr, footnote. Inside
paragraphs: strings, strong, em, strike, sup, sub, code, link, image, math, ref, br.
"""

import re
from html import unescape
from types import SimpleNamespace
from typing import Any, Final

import numpy as np

from victor_spark.blocks import CODE, LINES, PROSE, Bool, Int32
from victor_spark.rendering import formulas, images
from victor_spark.rendering.footnotes import Footnotes, footnotes
from victor_spark.rendering.links import Links, attributes
from victor_spark.rendering.structure import (
    ANCHOR,
    BLOCK,
    CALLOUT,
    COPY,
    HIDDEN,
    KIND,
    MATH,
    PICTURE,
    TITLE,
    Cleaned,
    Structure,
    structure,
)
from victor_spark.rendering.structure import CODE as CODE_MARK

Node = tuple[str, Any, list[Any]]

_MAX_DEPTH: Final = 24
"""Nested structures beyond this many are left out; their content is not."""
_ZERO: Final = np.zeros(1, dtype=np.int64)
_LINE_BREAK: Final = 10
_LONGEST_ITEM: Final = 2_000
"""Characters of a list item that is shown whole."""
_LONGEST_MARKUP: Final = 20_000
_CLIMB: Final = 12
_MAX_NOTICES: Final = 20
"""Elements around an image that are looked at."""
_HOLDS_BLOCKS: Final = re.compile(r"<(?!/?(?:span|a|b|i|em|strong|br|code|mark)[ >])")
_LONGEST_CAPTION: Final = 300
_LONGEST_NOTICE: Final = 1_500
"""Characters of a notice that is shown because it stands between kept text."""

_NAMES: Final = [""] * (max(KIND.values()) + 1)
for _name, _kind in KIND.items():
    _NAMES[_kind] = _name
_IS_STRUCTURE: Final = np.array(
    [name not in ("", "p", "block", "void", "br", "input", "thead", "picture", "noscript") for name in _NAMES]
)
_BLOCK_COLUMNS: Final = (
    "paragraph", "white_space", "listing", "n_split_br", "space_before", "text_start", "text_end", "end"
)  # fmt: skip
_CONTAINERS: Final = {
    "quote": "quote", "figure": "figure", "figcaption": "caption", "caption": "caption", "dl": "dl",
    "dt": "dt", "dd": "dd", "details": "details", "summary": "summary",
}  # fmt: skip
_INLINE: Final = {name: name for name in ("strong", "em", "strike", "sup", "sub")}
_HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}
_H1, _H6 = KIND["h1"], KIND["h6"]
_LEAST_PARTS: Final = np.zeros(len(_NAMES), dtype=np.int64)
"""One part in so many must be kept of a structure that is shown whole, by kind; of a listing, anything."""
_LEAST_PARTS[[KIND["li"], KIND["table"], KIND["pre"]]] = 2, 3, 1 << 30
_MAY_BE_TORN: Final = _LEAST_PARTS > 0
_MAY_BE_TORN[_H1 : _H6 + 1] = True
_CELL_KINDS: Final = (KIND["td"], KIND["th"])


def tree(document: Cleaned) -> Node:
    """The kept content of a document, as the children of one node."""
    if not document.kept.any():
        return ("root", None, [])
    return _Builder(document).build()


class _Builder:
    """One walk over the elements and the kept blocks of a page."""

    def __init__(self, document: Cleaned) -> None:
        self.document = document
        self.html = document.html
        blocks = self.blocks = document.columns
        self.s = structure(self.html, blocks)
        self.m: Any = Structure(*(memoryview(column) for column in self.s))  # type: ignore[arg-type]  # for single numbers, which numpy is slow at
        self.b = SimpleNamespace(**{name: memoryview(getattr(blocks, name)) for name in _BLOCK_COLUMNS})
        self.text = document.uncut_text
        self.text_start, self.text_end = self.b.text_start, self.b.text_end
        self.links = Links(document)
        self.tables: dict[int, bool] = {}
        self.shown_images: dict[str, int] = {}  # addresses and the rows of their images
        self.kept = self.whole(document.kept)
        self.n_kept = np.concatenate([[0], np.cumsum(self.kept)])
        self.root: Node = ("root", None, [])
        self.block = self.root  # the innermost container
        self.line: Node | None = None  # the paragraph or heading being filled
        self.number = -1  # its paragraph
        self.inline = self.root  # the innermost node inside it
        self.last = -2  # the last block shown
        self.skip = -1
        self.link: Node | None = None  # a link around whole paragraphs
        self.stack: list[tuple[int, Node, Node | None, Node, Node | None]] = []
        self.not_math = self.n_not_math = 0
        self.heading = 0  # the row of the last heading
        self.footnotes: Footnotes = Footnotes({}, {})

    # --- what is shown ---------------------------------------------------------------------------------

    def whole(self, kept: Bool) -> Bool:
        """The kept blocks, with those of structures of which enough is kept, and what stands between such.

        These are listings, data tables and list items that most is kept of, notices and headings between kept
        text. Numbers of lines are left out.
        """
        s, blocks = self.s, self.blocks
        size = blocks.text_end - blocks.text_start
        total = self.n_size = np.concatenate([_ZERO, np.cumsum(size)])
        n_kept = np.concatenate([_ZERO, np.cumsum(size * kept)])
        rows = np.flatnonzero(_MAY_BE_TORN[s.kind] | (s.marks & CALLOUT != 0))
        first, last = s.first[rows], s.last[rows]
        shown, all_ = n_kept[last] - n_kept[first], total[last] - total[first]
        torn = (shown < all_) & (shown * _LEAST_PARTS[s.kind[rows]] >= all_ * (shown > 0))
        out = kept.copy()
        later = []
        for i in np.flatnonzero(torn).tolist():
            row, kind = int(rows[i]), int(s.kind[rows[i]])
            if s.marks[row] & CALLOUT or _H1 <= kind <= _H6:
                later.append(i)
            elif (
                shown[i]
                and (kind != KIND["table"] or self.is_data(row))
                and (kind != KIND["li"] or all_[i] <= _LONGEST_ITEM)
            ):
                out[first[i] : last[i]] = True
        for i in later:
            a, b = int(first[i]), int(last[i])
            begins = b < len(out) and (a == 0 or out[a - 1])
            if s.marks[rows[i]] & CALLOUT:
                if all_[i] < _LONGEST_NOTICE and (shown[i] or (a and begins and self.next_kept(out, b))):
                    out[a:b] = True
            elif not shown[i] and b < len(out) and out[b] and (s.kind[rows[i]] == _H1 or begins):
                out[a:b] = True  # a heading between kept text heads what follows
        return out & ~blocks.line_number if blocks.line_number.any() else out

    def next_kept(self, kept: Bool, b: int) -> bool:
        """Whether the block after a notice is kept, notices in between left out."""
        s = self.s
        for _ in range(_MAX_NOTICES):
            if b >= len(kept) or kept[b]:
                break
            rows = np.flatnonzero((s.first == b) & (s.marks & CALLOUT != 0) & (s.last > b))
            if not len(rows):
                return False
            b = int(s.last[rows[0]])
        return b < len(kept) and bool(kept[b])

    def is_data(self, table: int) -> bool:
        """Whether a table holds data, not the layout of the page."""
        if table not in self.tables:
            self.tables[table] = len(self.tables) < 3000 and _is_data(self, table)
        return self.tables[table]

    def images(self) -> Bool:
        """Which elements are images that belong to the kept text."""
        s = self.s
        rows = np.flatnonzero(s.kind == KIND["img"])
        shown = np.zeros(len(s.kind), dtype=bool)
        if not len(rows):
            return shown
        around = self.with_text(s.parent[rows])
        size = self.n_size[s.last] - self.n_size[s.first]
        kept = np.concatenate([[0], np.cumsum((self.blocks.text_end - self.blocks.text_start) * self.kept)])
        kept = kept[s.last] - kept[s.first]
        caption = (kept[around] == 0) & (size[around] < _LONGEST_CAPTION)
        caption &= (s.kind[around] == KIND["figure"]) | (s.marks[around] & PICTURE != 0)
        outer = around
        for _ in range(_CLIMB):
            same = caption & (outer > 0) & (size[outer] == size[around])
            if not same.any():
                break
            outer = np.where(same, s.parent[outer], outer)
        padded = np.concatenate([[False], self.kept, [False]])
        before, after = padded[s.first[around]], padded[s.last[around] + 1]
        beside = padded[s.first[rows]] | padded[s.first[rows] + 1] | (caption & (before | after))
        between = padded[s.first[rows]] & padded[s.first[rows] + 1]
        figure = s.kind[around] == KIND["figure"]
        most = (kept[outer] > 0) & (kept[outer] * 2 >= size[outer])
        shown[rows] = between | (most & (beside | figure | (kept[outer] * 10 >= size[outer] * 9)))
        for row in np.unique(around[shown[rows] & caption]).tolist():
            self.kept[s.first[row] : s.last[row]] = True
        return shown

    def with_text(self, rows: Int32) -> Int32:
        """The elements themselves, or the first around each that has text."""
        s = self.s
        for _ in range(_CLIMB):
            empty = (rows >= 0) & (s.last[rows] == s.first[rows])
            if not empty.any():
                break
            rows = np.where(empty, s.parent[rows], rows)
        return np.maximum(rows, 0)

    # --- the walk --------------------------------------------------------------------------------------

    def build(self) -> Node:
        s = self.s
        shown = self.images()
        self.n_kept = np.concatenate([[0], np.cumsum(self.kept)])
        self.footnotes = footnotes(self, self.n_kept[s.last] > self.n_kept[s.first])
        if self.footnotes.notes:
            self.n_kept = np.concatenate([[0], np.cumsum(self.kept)])
        kept = self.kept
        has = self.n_kept[s.last] > self.n_kept[s.first]
        structural = _IS_STRUCTURE[s.kind]
        marked = (s.marks & (MATH | CALLOUT | TITLE | CODE_MARK | HIDDEN | ANCHOR)) != 0
        wanted = has & (structural | marked)
        wanted |= shown
        around = s.parent[shown]
        for _ in range(4):  # links around images
            around = around[around >= 0]
            wanted[around[s.kind[around] == KIND["a"]]] = True
            around = s.parent[around]
        padded = np.concatenate([[False], kept, [False]])
        wanted |= (s.kind == KIND["hr"]) & padded[s.first] & padded[s.first + 1]
        cells = np.flatnonzero((s.kind == _CELL_KINDS[0]) | (s.kind == _CELL_KINDS[1]))
        wanted[cells] |= wanted[s.parent[cells]]  # empty ones, too
        bare = ((s.kind == KIND["math"]) | ((s.marks & MATH) != 0)) & (s.first == s.last)
        wanted |= bare & (padded[s.first] | padded[s.first + 1])
        wanted[list(self.footnotes.notes)] = True
        rows, texts = np.flatnonzero(wanted), np.flatnonzero(kept)
        n_blocks = np.arange(len(kept) + 1)
        self.next_shown = (
            texts.tolist() and np.append(texts, len(kept))[np.searchsorted(texts, n_blocks)].tolist()
        )
        self.last_shown = np.append(texts, 0)[np.searchsorted(texts, n_blocks) - 1].tolist()
        starts = np.concatenate([s.start[rows], self.blocks.start[texts]])
        order = np.argsort(starts, kind="stable")
        n = len(rows)
        places, positions = np.concatenate([rows, texts])[order].tolist(), starts[order].tolist()
        of_element = (order < n).tolist()
        kinds = s.kind.tolist() if n * 4 > len(s.kind) else s.kind
        stack, element, text = self.stack, self.element, self.add_block
        for place, position, is_element in zip(places, positions, of_element, strict=True):
            while stack and stack[-1][0] <= position:
                self.close()
            if position < self.skip:
                continue
            if is_element:
                element(place, _NAMES[kinds[place]])
            else:
                text(place)
        while stack:
            self.close()
        return self.root

    def open(self, node: Node, row: int, *, parent: Node | None = None) -> None:
        """Puts a container into the innermost one and enters it."""
        if len(self.stack) >= _MAX_DEPTH:
            return
        (parent or self.block)[2].append(node)
        self.stack.append((self.m.end[row], self.block, None, self.root, self.link))
        self.block, self.line = node, None

    def open_inline(self, node: Node, row: int) -> None:
        """Puts a node into the innermost one of the line and enters it."""
        if len(self.stack) >= 2 * _MAX_DEPTH:
            return
        self.inline[2].append(node)
        self.stack.append((self.m.end[row], self.block, self.line, self.inline, self.link))
        self.inline = node

    def close(self) -> None:
        _, block, line, inline, link = self.stack.pop()
        if block is not self.block or line is None:
            self.block, self.line = block, None
        elif line is self.line:
            self.inline = inline
        self.link = link

    def paragraph(self, number: int) -> Node:
        """The paragraph that text of this number stands in."""
        if self.line is None or (number != self.number and self.line[0] != "heading"):
            parent = self.block
            if parent[0] == "list":
                parent[2].append(("item", None, []))
                parent = parent[2][-1]
            elif parent[0] in ("table", "row"):
                parent = self.root
            self.line = self.inline = ("p", None, [])
            parent[2].append(self.line)
            self.number = number
            if self.link is not None:
                self.inline = ("link", self.link[1], [])
                self.line[2].append(self.inline)
        return self.line

    def add_block(self, b: int) -> None:
        blocks = self.b
        number = blocks.paragraph[b]
        white = blocks.white_space[b]
        outside = not self.stack or self.inline is self.line or self.line is None
        if white == CODE and blocks.listing[b] and outside and self.add_listing(b):
            return
        was = self.line
        line = self.paragraph(number)
        text = self.text[self.text_start[b] : self.text_end[b]]
        if was is line and line[2] and self.last != b:
            if (blocks.n_split_br[b] or (white and self.breaks(b))) and line[0] != "heading":
                self.inline[2].append(("br", None, []))
            elif blocks.space_before[b] or self.last != b - 1:
                self.inline[2].append(" ")
        self.last = b
        add = self.inline[2].append
        if white in (LINES, PROSE):
            for i, part in enumerate(text.split("\n")):
                if i:
                    add(("br", None, []))
                add(" ".join(part.split()))
        elif "$" in text or "\\" in text:
            for piece in formulas.in_text(text):
                if isinstance(piece, str):
                    lead, trail = " " * piece[:1].isspace(), " " * piece[-1:].isspace()
                    add(lead + " ".join(piece.split()) + trail)
                else:
                    add(("math", piece, []))
        else:
            add(" ".join(text.split()))

    def breaks(self, b: int) -> bool:
        """Whether preformatted text has a line break before block `b`."""
        blocks = self.blocks
        between = blocks.gaps[blocks.gap_ends[b - 1] : blocks.gap_ends[b]]
        return bool(blocks.listing[b] == blocks.listing[b - 1] and (between == _LINE_BREAK).any())

    def add_listing(self, b: int) -> bool:
        """A listing that no element stands for, from block `b` on."""
        blocks = self.blocks
        other = np.flatnonzero(blocks.listing[b:] != blocks.listing[b])
        stop = b + int(other[0]) if len(other) else len(blocks)
        paragraph = blocks.paragraph
        if b and paragraph[b - 1] == paragraph[b] and self.kept[b - 1]:
            return False
        if stop < len(blocks) and paragraph[stop - 1] == paragraph[stop] and self.kept[stop]:
            return False
        self.add_code(b, stop, "")
        self.skip = int(blocks.end[stop - 1])
        return True

    def add_code(self, first: int, last: int, language: str) -> None:
        self.add_text(language, self.code(first, last))

    def add_text(self, language: str, text: str) -> None:
        if text:
            parent = self.block
            if parent[0] == "list":
                parent[2].append(("item", None, []))
                parent = parent[2][-1]
            parent[2].append(("code", (language, text), []))
        self.line = None

    def code(self, first: int, last: int) -> str:
        """The text of some blocks of code with its white space."""
        from victor_spark.rendering.plain import assembled

        return assembled(self.blocks, self.kept, first, last).strip("\n")

    # --- elements --------------------------------------------------------------------------------------

    def element(self, row: int, kind: str) -> None:
        s = self.m
        marks = s.marks[row]
        if self.block[0] in ("table", "row") and kind in ("tr", "td", "th"):
            self.cell(row, kind)
            return
        if row in self.footnotes.notes:
            while row in self.footnotes.ends and self.block[0] == "footnote":
                self.close()
            self.open(("footnote", self.footnotes.notes[row], []), self.footnotes.ends.get(row, row))
            return
        if marks & HIDDEN or (marks & ANCHOR and self.is_anchor(row)):
            self.skip = s.end[row]
            return
        if (kind == "math" or marks & MATH) and self.math(row, kind):
            return
        if kind in _HEADINGS:
            self.open_line("heading", _HEADINGS[kind], row)
        elif kind in _INLINE or kind == "a":
            self.inline_element(row, kind)
        elif kind == "img":
            self.image(row)
        elif kind == "pre" or marks & CODE_MARK or (kind == "code" and marks & BLOCK):
            self.listing(row, kind)
        elif kind == "code":
            self.inline_code(row)
        elif kind in ("ul", "ol"):
            self.open_list(row, kind)
        elif kind == "li":
            self.item(row)
        elif kind == "table":
            self.table(row)
        elif kind in _CONTAINERS:
            self.open((_CONTAINERS[kind], None, []), row)
        elif kind == "hr":
            if self.block is self.root or self.block[0] in ("quote", "callout"):
                self.block[2].append(("hr", None, []))
            self.line = None
        elif marks & CALLOUT:
            if self.block[0] != "callout":
                self.open(("callout", _callout(self.html[s.start[row] : s.inner[row]]), []), row)
        elif marks & TITLE and self.block[0] == "callout" and not self.block[2]:
            self.open(("title", None, []), row)

    def open_line(self, kind: str, value: object, row: int) -> None:
        if len(self.stack) >= _MAX_DEPTH or self.block[0] in ("list", "table", "row"):
            return
        node: Node = (kind, value, [])
        self.heading = row
        self.block[2].append(node)
        self.stack.append((self.m.end[row], self.block, None, self.root, self.link))
        self.line, self.inline = node, node
        if self.link is not None:
            self.inline = ("link", self.link[1], [])
            node[2].append(self.inline)

    def inline_element(self, row: int, kind: str) -> None:
        s = self.m
        first, last = s.first[row], s.last[row]
        if self.starts_listing(first, last):
            return
        if row in self.footnotes.refs:
            self.start_inline(first)
            self.inline[2].append(("ref", self.footnotes.refs[row], []))
            self.skip = s.end[row]
            self.last = last - 1
            return
        if row in self.footnotes.back:
            self.skip = s.end[row]
            return
        if kind == "a":
            tag = self.html[s.start[row] : s.inner[row]]
            if self.is_anchor(row):
                self.skip = s.end[row]
                return
            address = self.links.of(tag)
            if address is None:
                return
            node: Node = ("link", address, [])
        else:
            node = (kind, None, [])
        one = self.next_shown[first]
        if one >= last:  # images alone
            self.start_inline(first)
            self.open_inline(node, row)
            return
        other = self.last_shown[last]
        many = self.b.paragraph[one] != self.b.paragraph[other]
        opens = self.line is None or (self.b.paragraph[one] != self.number and self.line[0] != "heading")
        if many or (opens and self.holds_block(row)):
            if kind == "a":
                self.stack.append((s.end[row], self.block, self.line, self.inline, self.link))
                self.link, self.line = node, None
            return
        self.space_before(one)
        self.open_inline(node, row)

    def starts_listing(self, first: int, last: int) -> bool:
        """Adds the listing that begins with an element's first block, if one does."""
        blocks = self.b
        if (
            first == last
            or blocks.white_space[first] != CODE
            or not blocks.listing[first]
            or not self.kept[first]
        ):
            return False
        return (self.line is None or blocks.paragraph[first] != self.number) and self.add_listing(first)

    def is_anchor(self, row: int) -> bool:
        """Whether an element in a heading is the sign of a link to it, or a link to edit it."""
        s = self.m
        if (self.line is None or self.line[0] != "heading") and self.block[0] != "dt":
            return False
        first, last = s.first[row], s.last[row]
        text = " ".join(self.block_text(b) for b in range(first, last)[:3])
        if not any(map(str.isalnum, text)):
            return bool(text) and (
                s.marks[row] & ANCHOR != 0 or "#" in self.html[s.start[row] : s.inner[row]]
            )
        begins = self.block[0] == "dt" or first == s.first[self.heading]
        return bool(s.marks[row] & ANCHOR) and len(text) < 16 and not begins

    def holds_block(self, row: int) -> bool:
        """Whether the next element inside `row` is a heading or paragraph, or the like."""
        s = self.m
        after = row + 1
        return (
            after < len(s.kind)
            and s.start[after] < s.end[row]
            and (_H1 <= s.kind[after] <= _H6 or s.kind[after] in (KIND["p"], KIND["block"], KIND["figure"]))
        )

    def block_text(self, b: int) -> str:
        return self.text[self.text_start[b] : self.text_end[b]] if b < len(self.blocks) else ""

    def start_inline(self, first: int) -> None:
        """Makes sure that there is a paragraph for what has no text of its own, before block `first`."""
        if self.line is not None:
            follows = first < len(self.blocks) and self.b.paragraph[first] == self.number
            if follows or self.line[0] == "heading" or (first and self.b.paragraph[first - 1] == self.number):
                if self.line[2] and (first >= len(self.blocks) or self.b.space_before[first]) and follows:
                    self.inline[2].append(" ")
                    self.last = first
                return
            self.line = None
        number = self.b.paragraph[first] if first < len(self.blocks) else -1
        self.paragraph(number)

    def space_before(self, b: int) -> None:
        """What stands between the text before and an inline element that begins with block `b`."""
        was = self.line
        line = self.paragraph(self.b.paragraph[b])
        if was is line and line[2] and self.last != b:
            if self.b.n_split_br[b] and line[0] != "heading":
                self.inline[2].append(("br", None, []))
            elif self.b.space_before[b] or self.last != b - 1:
                self.inline[2].append(" ")
        self.last = b

    def image(self, row: int) -> None:
        s = self.m
        tag = self.html[s.start[row] : s.inner[row]]
        if s.marks[row] & MATH or images.IS_FORMULA.search(tag):
            alt = attributes(tag).get("alt", "")
            if tex := formulas.tidy(alt):
                self.start_inline(s.first[row])
                self.inline[2].append(("math", (tex, "display" in tag), []))
                return
        found = images.image(self, row, tag)
        if found is None:
            return
        if self.block[0] in ("list", "table", "row"):
            return
        first = s.first[row]
        node: Node = ("image", found, [])
        if self.is_inline(row):
            self.start_inline(first)
            self.inline[2].append(node)
            if self.html[s.inner[row] : s.inner[row] + 1].isspace():
                self.inline[2].append(" ")
                self.last = first
        else:
            self.line = None
            inside: Node = ("p", None, [node])
            if self.link is not None:
                inside = ("p", None, [("link", self.link[1], [node])])
            self.block[2].append(inside)

    def is_inline(self, row: int) -> bool:
        if self.line is None:
            return False
        if self.inline is not self.line:
            return True
        first = self.m.first[row]
        if first < len(self.blocks) and self.last >= 0 and self.b.paragraph[first] == self.number:
            return True  # between words of one paragraph
        parent = self.m.parent[row]
        return (
            parent >= 0 and self.m.last[parent] > self.m.first[parent] and self.m.kind[parent] in _TEXT_KINDS
        )

    def math(self, row: int, kind: str) -> bool:
        s = self.m
        start, end = s.start[row], s.end[row]
        if start >= self.not_math:
            self.n_not_math = 0
        elif self.n_not_math > _CLIMB:  # nested elements that look like formulas and are none
            return False
        self.not_math = max(self.not_math, end)
        self.n_not_math += 1
        if kind == "img":
            return False
        if kind != "math" and np.isin(self.s.kind[row + 1 : self.s.after(row)], _NOT_IN_FORMULA).any():
            return False
        markup = self.html[start : self.html.find(">", end) + 1]
        found = formulas.latex(markup)
        if found is None and 'id="MathJax-Element-' in markup[:4000]:
            found = self.links.mathjax(markup)
        if found is None:
            return kind == "math" and s.first[row] == s.last[row]
        first, last = s.first[row], s.last[row]
        if found[1] and self.block[0] != "cell":
            self.line = None
            (self.block if self.block[0] not in ("list", "table", "row") else self.root)[2].append(
                ("p", None, [("math", found, [])])
            )
        else:
            if last > first:
                self.space_before(first) if self.line is not None else self.paragraph(self.b.paragraph[first])
            else:
                self.start_inline(first)
            self.inline[2].append(("math", (found[0], found[1]), []))
        self.skip = end
        self.last = last - 1 if last > first else self.last
        return True

    def listing(self, row: int, kind: str) -> None:
        s = self.m
        first, last = s.first[row], s.last[row]
        one = self.next_shown[first]
        white = self.b.white_space[one] if one < last else 0
        if kind != "pre" and not white:
            if s.end[row] - s.inner[row] > _LONGEST_MARKUP:
                return
            markup = self.html[s.inner[row] : s.end[row]]
            hidden = (self.s.marks[row : self.s.after(row)] & HIDDEN).any()
            if not hidden and (kind == "code" or "\n" in markup.strip()) and not _HOLDS_BLOCKS.search(markup):
                text = unescape(re.sub("<[^>]*>", "", re.sub(r"<br[^>]*>", "\n", markup)))
                self.add_text(images.language(self, row), text.strip())
                self.skip = s.end[row]
                return
            if kind != "code":
                return  # the listing is further inside, or there is none
        if kind == "pre" and not white:
            return
        if self.block[0] == "cell":
            self.inline_code(row)
            return
        others = self.not_code(row)
        language = images.language(self, row)
        for a, b in others:
            if not language and a < b and re.fullmatch(r"[A-Za-z][\w+#.-]{0,14}", name := self.block_text(a)):
                language = name.lower() if name.lower() in images.KNOWN else ""
            self.kept[a:b] = False
        self.add_code(first, last, language)
        self.skip = s.end[row]
        self.last = last - 1

    def not_code(self, row: int) -> list[tuple[int, int]]:
        """Blocks inside a listing that are copy buttons, its tool bar, or hidden."""
        s = self.s
        after = s.after(row)
        kinds, marks = s.kind[row + 1 : after], s.marks[row + 1 : after]
        found = []
        odd = (kinds == KIND["button"]) | ((marks & (COPY | HIDDEN)) != 0)
        for at in (np.flatnonzero(odd) + row + 1).tolist():
            i = at
            hidden = bool(s.marks[i] & HIDDEN)
            while not hidden:
                up = s.parent[i]
                size = self.n_size[s.last[up]] - self.n_size[s.first[up]]
                if up <= row or s.kind[up] in (KIND["code"], KIND["pre"]) or size > 30:
                    break
                if (s.kind[up : s.after(up)] == KIND["code"]).any():
                    break
                i = up
            if hidden or self.n_size[s.last[i]] - self.n_size[s.first[i]] <= 40:
                found.append((s.first[i], s.last[i]))
        return found

    def inline_code(self, row: int) -> None:
        s, blocks = self.s, self.blocks
        first, last = s.first[row], s.last[row]
        if self.starts_listing(first, last):
            return
        kept = [b for b in range(first, last) if self.kept[b]]
        pieces: list[str] = []
        for b in kept:
            if pieces and (blocks.space_before[b] or blocks.paragraph[b] != blocks.paragraph[b - 1]):
                pieces.append(" ")
            pieces.append(self.block_text(b))
        if not kept:
            return
        text = " ".join("".join(pieces).split())
        code = blocks.white_space[kept[0]] != 0 and self.block[0] != "cell"
        alone = self.line is None or blocks.paragraph[kept[0]] != self.number
        if code and alone and blocks.listing[kept[0]] and (len(kept) > 1 or "\n" in self.block_text(kept[0])):
            self.listing(row, "code")
            return
        self.space_before(kept[0])
        self.inline[2].append(("code", text, []))
        self.skip, self.last = s.end[row], last - 1

    def open_list(self, row: int, kind: str) -> None:
        s = self.m
        value = None
        if kind == "ol":
            tag = self.html[s.start[row] : s.inner[row]]
            start = re.search(r' start="(\d{1,9})"', tag)
            value = int(start[1]) if start else 1
        parent = self.block
        if parent[0] == "list":  # a list in a list belongs to the item before
            if not parent[2]:
                parent[2].append(("item", None, []))
            parent = parent[2][-1]
            if parent[0] != "item":
                parent = self.block
        elif parent[0] in ("table", "row"):
            return
        self.open(("list", value, []), row, parent=parent)

    def item(self, row: int) -> None:
        parent = self.block
        if parent[0] != "list":
            if parent[0] in ("table", "row"):
                return
            if not parent[2] or parent[2][-1][0] != "list":
                parent[2].append(("list", None, []))
            parent = parent[2][-1]
        s = self.m
        opening = self.html[s.start[row] : min(s.inner[row] + 200, s.end[row])]
        value = re.search(r'^<li[^>]* value="(\d{1,9})"', opening)
        box = re.search(r'<input[^>]*type="checkbox"[^>]*>', opening) if "checkbox" in opening else None
        state = None if box is None else " checked" in box[0]
        self.open(("item", (int(value[1]) if value else None, state), []), row, parent=parent)

    def table(self, row: int) -> None:
        if any(entry[1][0] in ("table", "cell") for entry in self.stack[-3:]) or self.block[0] == "cell":
            return
        s = self.m
        first, last = s.first[row], s.last[row]
        numbers = self.blocks.line_number[first:last]
        listing = self.blocks.listing[first:last][~numbers]
        if len(listing) and listing.all() and (numbers.any() or listing.min() == listing.max()):
            code = self.code(first, last)
            if code:
                self.add_code(first, last, images.language(self, row))
                self.skip = s.end[row]
            return
        if self.is_data(row):
            self.open(("table", None, []), row)

    def cell(self, row: int, kind: str) -> None:
        if kind == "tr":
            if self.block[0] == "table":
                self.open(("row", None, []), row)
            return
        if self.block[0] == "row":
            tag = self.html[self.m.start[row] : self.m.inner[row]]
            spans = dict(re.findall(r' (colspan|rowspan)="\s*(\d{1,6})', tag)) if "span=" in tag else {}
            value = (int(spans.get("colspan", 1)), int(spans.get("rowspan", 1)), kind == "th")
            self.open(("cell", value, []), row)


_TEXT_KINDS: Final = frozenset(
    KIND[name] for name in ("p", "li", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6", "a", "strong", "em")
)
_NOT_IN_FORMULA: Final = tuple(KIND[name] for name in ("p", "li", "h1", "h2", "h3", "h4", "h5", "h6"))
_CALLOUTS: Final = {
    "note": "NOTE", "info": "NOTE", "information": "NOTE", "abstract": "NOTE", "question": "NOTE",
    "primary": "NOTE",
    "tip": "TIP", "hint": "TIP", "success": "TIP", "check": "TIP",
    "important": "IMPORTANT",
    "warning": "WARNING", "warn": "WARNING", "attention": "WARNING",
    "caution": "CAUTION", "danger": "CAUTION", "error": "CAUTION", "failure": "CAUTION", "bug": "CAUTION",
}  # fmt: skip


def _callout(tag: str) -> str:
    """GitHub's name for the kind of notice that an element's classes say."""
    for word in re.findall(r"[a-z]+", attributes(tag).get("class", "").lower()):
        if word in _CALLOUTS:
            return _CALLOUTS[word]
    return "NOTE"


def _is_data(builder: _Builder, table: int) -> bool:
    s = builder.s
    after = s.after(table)
    kinds = s.kind[table + 1 : after]
    tag = builder.html[s.start[table] : s.inner[table]]
    if 'role="presentation"' in tag or 'role="none"' in tag or (kinds == KIND["table"]).any():
        return False
    n_rows = int((kinds == KIND["tr"]).sum())
    cells = np.flatnonzero((kinds == _CELL_KINDS[0]) | (kinds == _CELL_KINDS[1])) + table + 1
    if n_rows < 2 or len(cells) < 2:
        return False
    widest = int(np.unique(s.parent[cells], return_counts=True)[1].max())
    if widest < 2:
        return False
    n_blocks_inside = int(((kinds == KIND["p"]) | (kinds == KIND["li"])).sum())
    headings = ((kinds >= _H1) & (kinds <= _H6)).any()
    stated = (kinds == KIND["th"]).any() or (kinds == KIND["caption"]).any() or (kinds == KIND["thead"]).any()
    if stated:
        return not (headings and n_blocks_inside > len(cells))
    size = builder.n_size[s.last[table]] - builder.n_size[s.first[table]]
    return not headings and n_blocks_inside <= 1.5 * len(cells) and size <= 250 * len(cells)
