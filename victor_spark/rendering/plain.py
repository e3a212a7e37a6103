"""The kept blocks as plain text, as CleanEval markup, and as the page's own HTML."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby, pairwise
from typing import Final

import numpy as np

from victor_spark.blocks import CODE, LINES, PROSE, Blocks, Bool
from victor_spark.html.characters import properties
from victor_spark.kernels import assemble, views
from victor_spark.rendering.structure import Cleaned

_WHITE: Final = re.compile(r"\s+")


def plain_text(blocks: Blocks, kept: Bool) -> str:
    """The kept blocks' text, paragraphs separated by newlines, preformatted text as it is."""
    return assembled(blocks, kept, 0, len(blocks))


def assembled(blocks: Blocks, kept: Bool, first: int, last: int) -> str:
    """The kept blocks' text from block `first` up to block `last`; linear in what is between them."""
    if first >= last:
        return ""
    before = first - (first > 0)  # the white space before a block begins where that of the one before ends
    rows = slice(before, last)
    chosen = kept[rows].copy() if before == first else np.concatenate([[False], kept[first:last]])
    n_points = int(blocks.text_end[last - 1] - blocks.text_start[before])
    n_gaps = int(blocks.gap_ends[last - 1] - (blocks.gap_ends[before] if before < first else 0))
    out = np.empty(n_points + n_gaps + 1, dtype=np.uint32)
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
    columns, text = document.columns, document.uncut_text
    gaps = columns.gaps.tobytes().decode("utf-32-le", "surrogatepass")
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
        yield _paragraph(columns, list(group), text, gaps, verbatim=listing > 0)


def _paragraph(columns: Blocks, rows: Sequence[int], text: str, gaps: str, *, verbatim: bool) -> Paragraph:
    first = rows[0]
    before = gaps[columns.gap_ends[first - 1] if first else 0 : columns.gap_ends[first]]
    pieces = [before.rpartition("\n")[2] if columns.white_space[first] == CODE else ""]
    for last, row in pairwise([first, *rows]):
        if row != first:
            pieces.append(_separator(columns, gaps, last, row))
        piece = text[columns.text_start[row] : columns.text_end[row]]
        if columns.white_space[row] >= PROSE:
            pieces.append(piece.replace("\r", ""))
        elif columns.white_space[row] == LINES:
            pieces.append(_WHITE.sub(lambda white: "\n" * white[0].count("\n") or " ", piece))
        else:
            pieces.append(" ".join(piece.split()))
    level = int(columns.heading_level[first])
    kind = "header" if level else "list" if columns.in_list_item[first] else "text"
    return Paragraph(kind, level, verbatim, "".join(pieces))


def _separator(columns: Blocks, gaps: str, last: int, row: int) -> str:
    """What stands between two kept blocks of a paragraph, as the `assemble` kernel has it."""
    if 0 < columns.listing[row] == columns.listing[last]:
        between = gaps[columns.gap_ends[last] : columns.gap_ends[row]]
        if columns.line_number[last + 1 : row].all():
            return between
        _, line_break, indentation = between.rpartition("\n")
        return line_break + indentation if line_break else " "
    return " " if columns.space_before[row] or row != last + 1 else ""


def cleaneval(document: Cleaned) -> str:
    """The kept paragraphs as CleanEval writes them."""
    return "".join(f"<{_CLEANEVAL[p.kind]}>{escape(p.text, quote=False)}\n" for p in paragraphs(document))


def html(document: Cleaned) -> str:
    """The canonical HTML with the text of dropped blocks deleted: the paper's own output form."""
    dropped = (~document.kept).nonzero()[0]
    starts, ends = document.columns.start[dropped].tolist(), document.columns.end[dropped].tolist()
    cuts = zip([0, *ends], [*starts, len(document.html)], strict=True)
    return "".join(document.html[start:end] for start, end in cuts)
