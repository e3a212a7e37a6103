"""The lines of a page's HTML source and the line-blocks they make (Pan Ei San, section 2.1), by offsets only.

Lines are stretches of the canonical HTML, so every text block of the segmentation lies on one.
"""

import re
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from victor_spark.blocks import Int32, Page
from victor_spark.extractors.appearance import tags_with

_TAG_OR_NEWLINE: Final = re.compile(r'<(/?)(?!!)([^\s/>]++)(?:[^>=]|=(?:"[^"]*+")?)*+>|\n')
"""Tags as the segmentation reads them: a quote opens a value only right after `=`."""


@dataclass(frozen=True, slots=True)
class Lines:
    """`of_block`: the line that each text block stands on; `n_tags`: tags on each line."""

    of_block: Int32
    n_tags: Int32


@dataclass(frozen=True, slots=True)
class LineBlocks:
    """`of_block`: the line-block of each text block; `n_tags`: tags on the lines of each line-block."""

    of_block: Int32
    n_tags: Int32


@dataclass(slots=True)
class _Scan:
    """State of the scan: the number of tags on each line so far, and how the current line ends."""

    n_tags: list[int] = field(default_factory=lambda: [0])
    is_empty: bool = True
    ends_inline: bool = False
    newline: bool = False

    def write(self, html: str, start: int, end: int) -> None:
        """The tags and newlines between two texts."""
        for match in _TAG_OR_NEWLINE.finditer(html, start, end):
            if match[2] is None:
                self.newline = self.ends_inline
            else:
                self.tag(closing=bool(match[1]), name=match[2])

    def end_line(self) -> None:
        """The next thing begins a line; nothing happens on an empty one."""
        if not self.is_empty:
            self.n_tags.append(0)
        self.is_empty, self.ends_inline, self.newline = True, False, False

    def inline(self) -> None:
        """Text or an inline tag: a newline before it counts only after another of the kind."""
        if self.newline:
            self.end_line()
        self.is_empty, self.ends_inline = False, True

    def tag(self, *, closing: bool, name: str) -> None:
        """A tag; before a block-level start tag and after a block-level end tag a line ends."""
        block_level = name in tags_with("block_level")
        if not block_level:
            self.inline()
        elif not closing:
            self.end_line()
        self.is_empty = False
        self.n_tags[-1] += 1
        if block_level:
            self.ends_inline = self.newline = False
            if closing or name in tags_with("void"):
                self.end_line()


def lines(page: Page) -> Lines:
    """Cuts the source into lines: at newlines, before block-level start tags, after block-level end tags.

    This is the paper's `break_original_lines`; so a page on a single line has the lines it would
    have if it were written out. White space that HTML drops makes no line: newlines beside
    block-level tags, and all but the first of several. A run of text stays on one line, even with
    newlines inside: these are neighbours, and would be of one line-block anyway.
    """
    scan = _Scan()
    of_block: list[int] = []
    after = 0
    for start, end in zip(page.blocks.start.tolist(), page.blocks.end.tolist(), strict=True):
        scan.write(page.html, after, start)
        scan.inline()
        of_block.append(len(scan.n_tags) - 1)
        after = end
    scan.write(page.html, after, len(page.html))
    return Lines(np.array(of_block, dtype=np.int32), np.array(scan.n_tags, dtype=np.int32))


def line_blocks(of_page: Lines, near: int) -> LineBlocks:
    """Joins neighbouring lines with text no more than `near` lines apart, with the lines between."""
    begins = np.diff(of_page.of_block, prepend=-near - 1) > near
    number = np.cumsum(begins).astype(np.int32) - 1
    firsts = of_page.of_block[begins]
    lasts = of_page.of_block[np.append(begins[1:], True)] if len(begins) else firsts
    total = np.concatenate([[0], np.cumsum(of_page.n_tags)])
    return LineBlocks(number.astype(np.int32), (total[lasts + 1] - total[firsts]).astype(np.int32))
