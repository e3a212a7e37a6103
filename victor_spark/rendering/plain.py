"""The kept blocks as plain text, as CleanEval markup, and as the page's own HTML."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from html import escape
from itertools import groupby
from typing import Final

import numpy as np

from victor_spark.blocks import CODE, Blocks, Bool
from victor_spark.html.characters import properties
from victor_spark.kernels import assemble, views
from victor_spark.rendering.links import Links
from victor_spark.rendering.structure import KIND, Cleaned, Structure


def plain_text(blocks: Blocks, kept: Bool, html: str | None = None) -> str:
    """The kept blocks' text, paragraphs separated by newlines, preformatted text as it is.

    With the page's canonical `html`, a row of a data table is a line, its cells separated by tabs.
    """
    if html is not None and (kept & (blocks.td_group > 0)).any():
        blocks = _in_rows(blocks, kept, html)
    return assembled(blocks, kept, 0, len(blocks))


def _in_rows(blocks: Blocks, kept: Bool, html: str) -> Blocks:
    """The blocks, those of a row of a data table as one paragraph; `space_before` is 1 + the tabs before."""
    page = Structure(html, blocks, kept, blocks.points, Links(None, None, blocks.source_elements))
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


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A run of kept blocks with no paragraph break inside, and how it is marked."""

    kind: str  # "header", "list" or "text"
    level: int  # heading level, 0 for none
    verbatim: bool
    text: str


_CLEANEVAL: Final = {"header": "h", "text": "p", "list": "l"}


def paragraphs(document: Cleaned) -> Iterator[Paragraph]:
    """The kept paragraphs in document order (blocks joined over inline splits); a listing of code is one."""
    columns = document.columns
    points = document.uncut_points
    columns = columns if points is columns.points else replace(columns, points=points)
    rows = document.kept.nonzero()[0].tolist()
    code = (columns.listing * (columns.white_space == CODE)).tolist()
    paragraph_of, level_of = columns.paragraph.tolist(), columns.heading_level.tolist()
    listing_of: dict[int, int] = {}  # of a paragraph that is all code
    for row in rows:
        if listing_of.setdefault(paragraph_of[row], code[row]) != code[row]:
            listing_of[paragraph_of[row]] = 0

    def place(row: int) -> tuple[int, int]:
        listing = listing_of[paragraph_of[row]]
        return listing, level_of[row] if listing else paragraph_of[row]

    for (listing, _), group in groupby(rows, key=place):
        first, *others = group
        text = assembled(columns, document.kept, first, [first, *others][-1] + 1)
        level = level_of[first]
        kind = "header" if level else "list" if columns.in_list_item[first] else "text"
        yield Paragraph(kind, level, listing > 0, text)


def cleaneval(document: Cleaned) -> str:
    """The kept paragraphs as CleanEval writes them."""
    return "".join(f"<{_CLEANEVAL[p.kind]}>{escape(p.text, quote=False)}\n" for p in paragraphs(document))


def html(document: Cleaned) -> str:
    """The canonical HTML with the text of dropped blocks deleted: the paper's own output form."""
    dropped = (~document.kept).nonzero()[0]
    starts, ends = document.columns.start[dropped].tolist(), document.columns.end[dropped].tolist()
    cuts = zip([0, *ends], [*starts, len(document.html)], strict=True)
    return "".join(document.html[start:end] for start, end in cuts)
