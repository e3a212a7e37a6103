"""The kept blocks as plain text, and as CleanEval markup."""

from collections.abc import Iterator
from dataclasses import replace
from html import escape
from itertools import groupby
from typing import Final

import numpy as np

from victor_spark.blocks import CODE, Blocks, Bool
from victor_spark.html.characters import properties
from victor_spark.kernels import assemble, views
from victor_spark.parser.elements import ELEMENTS
from victor_spark.rendering.structure import KIND, MARK, Structure


def plain_text(blocks: Blocks, kept: Bool, html: str | None = None) -> str:
    """The kept blocks' text, paragraphs separated by newlines, preformatted text as it is.

    With the page's canonical `html`, a row of a data table is a line, its cells separated by tabs, and a
    formula stands there once.
    """
    if html is not None and kept.any() and needs_html(blocks, kept):
        page = Structure(html, blocks, kept)
        blocks, kept = _in_rows(_once(blocks, page), page), page.kept.view(bool)
    return assembled(blocks, kept, 0, len(blocks))


def needs_html(blocks: Blocks, kept: Bool | None = None) -> bool:
    """Whether plain text follows the structure of the page: it has tables, with `kept` text, or formulas."""
    in_cells = blocks.td_group > 0
    return bool((in_cells if kept is None else in_cells & kept).any()) or has_formulas(blocks)


def has_formulas(blocks: Blocks) -> bool:
    """Whether the source of the page has MathML."""
    return bool(blocks.source_elements[_MATH : _MATH + 1].any())


_CLIMB: Final = 4
"""Elements around MathML that may hold what is seen of it."""
_MATH: Final = ELEMENTS.index("math")


def _once(blocks: Blocks, page: Structure) -> Blocks:
    """The blocks; of a formula's MathML, LaTeX and what is seen, only the LaTeX has text, or the MathML.

    All of them become kept where any is.
    """
    s = page.s
    text_end, space_before, paragraph = (
        column.copy() for column in (blocks.text_end, blocks.space_before, blocks.paragraph)
    )
    maths = [row for row in np.flatnonzero(s.kind == KIND["math"]).tolist() if page.tag(row)[5] in " >"]
    rows_of_maths = np.array(maths)
    done = 0
    for row in maths:
        around = up = row
        for _ in range(_CLIMB):
            up = int(s.parent[up])
            inside = np.searchsorted(rows_of_maths, [up, s.after(up)]) if up >= done else (0, 2)
            if inside[1] - inside[0] > 1 or page.size(up) > 2 * page.size(row):
                break
            if s.kind[up] == KIND["math"] or page.marks(up) & MARK["math"]:
                around = up
        rows = slice(s.first[around], s.last[around])
        if row < done or not page.kept[rows].any():
            continue
        done = s.after(around)
        latex = (at for at in range(row, done) if page.tag(at).startswith("<annotation "))
        chosen = next((at for at in latex if s.last[at] > s.first[at]), row)
        page.kept[rows] = True
        first_space = space_before[rows.start]
        text_end[rows], space_before[rows] = blocks.text_start[rows], 0
        paragraph[rows] = paragraph[s.first[chosen]]
        space_before[rows.start] = first_space
        rows = slice(s.first[chosen], s.last[chosen])
        text_end[rows] = blocks.text_end[rows]
        space_before[rows.start + 1 : rows.stop] = blocks.space_before[rows.start + 1 : rows.stop]
    return replace(blocks, text_end=text_end, space_before=space_before, paragraph=paragraph)


def _in_rows(blocks: Blocks, page: Structure) -> Blocks:
    """The blocks, those of a row of a data table as one paragraph; `space_before` is 1 + the tabs before."""
    kept = page.kept
    s, n_kept = page.s, np.concatenate([[0], np.cumsum(kept)])
    paragraph, space_before = blocks.paragraph.copy(), blocks.space_before.copy()
    for table in np.flatnonzero((s.kind == KIND["table"]) & (n_kept[s.last] - n_kept[s.first] > 1)).tolist():
        first, last = s.first[table], s.last[table]
        if blocks.listing[first:last].any() or not page.is_data(table):
            continue
        inside = slice(table, s.after(table))
        is_cell = (s.kind[inside] == KIND["td"]) | (s.kind[inside] == KIND["th"])
        cells = np.flatnonzero(is_cell) + table
        number, row, before = 0, -1, -1  # of the cell with the last kept block, its row, and that block
        for place, cell in enumerate(cells.tolist()):
            for block in range(s.first[cell], s.last[cell]):
                if not kept[block]:
                    continue
                if s.parent[cell] == row:
                    begins = blocks.paragraph[block] != blocks.paragraph[before]
                    paragraph[block] = paragraph[before]
                    space_before[block] = (
                        1 + place - number if place > number else max(begins, space_before[block])
                    )
                number, row, before = place, s.parent[cell], block
    return replace(blocks, paragraph=paragraph, space_before=space_before)


def assembled(blocks: Blocks, kept: Bool, first: int, last: int) -> str:
    """The kept blocks' text from block `first` up to block `last`; linear in what is between them."""
    if first >= last:
        return ""
    before = first - (first > 0)  # the white space before a block begins where that of the one before ends
    rows = slice(before, last)
    chosen = kept[rows].copy() if before == first else np.concatenate([[False], kept[first:last]])
    n_points = int(blocks.text_end[last - 1] - blocks.text_start[before])
    n_gaps = int(blocks.gap_ends[last - 1] - (blocks.gap_ends[before] if before < first else 0))
    n_tabs = int(blocks.space_before[rows].sum())
    out = np.empty(n_points + n_gaps + n_tabs + 1, dtype=np.uint32)
    n = assemble.assemble(
        *views(blocks.points, blocks.text_start[rows], blocks.text_end[rows], blocks.paragraph[rows]),
        *views(blocks.space_before[rows], blocks.white_space[rows], blocks.listing[rows]),
        *views(blocks.line_number[rows].view(np.uint8), blocks.gaps, blocks.gap_ends[rows]),
        *views(chosen.view(np.uint8), properties(), out),
    )
    return out[:n].tobytes().decode("utf-32-le", "replace")


def paragraphs(blocks: Blocks, kept: Bool, html: str) -> Iterator[tuple[str, str]]:
    """The kept paragraphs in document order: their CleanEval tags (h, l, p), and their texts.

    Blocks are joined over inline splits; a listing of code is one paragraph.
    """
    if has_formulas(blocks):
        page = Structure(html, blocks, kept)
        blocks, kept = _once(blocks, page), page.kept.view(bool)
    rows = kept.nonzero()[0].tolist()
    code = (blocks.listing * (blocks.white_space == CODE)).tolist()
    paragraph_of, level_of = blocks.paragraph.tolist(), blocks.heading_level.tolist()
    listing_of: dict[int, int] = {}  # of a paragraph that is all code
    for row in rows:
        if listing_of.setdefault(paragraph_of[row], code[row]) != code[row]:
            listing_of[paragraph_of[row]] = 0

    def place(row: int) -> tuple[int, int]:
        listing = listing_of[paragraph_of[row]]
        return listing, level_of[row] if listing else paragraph_of[row]

    for _, group in groupby(rows, key=place):
        first, *others = group
        tag = "h" if level_of[first] else "l" if blocks.in_list_item[first] else "p"
        yield tag, assembled(blocks, kept, first, [first, *others][-1] + 1)


def cleaneval(blocks: Blocks, kept: Bool, html: str) -> str:
    """The kept paragraphs as CleanEval writes them."""
    found = paragraphs(blocks, kept, html)
    return "".join(f"<{tag}>{escape(text, quote=False)}\n" for tag, text in found)
