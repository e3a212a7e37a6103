"""Kept blocks → what people and tools read: CleanEval markup, Markdown, and the page's own HTML.

Plain text is made in the pipeline by the `assemble` kernel; these forms are made when asked for.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from victor_spark.page import Blocks, Document

LINES, PROSE, CODE = 1, 2, 3
"""How white space counts in preformatted text: its line breaks alone, or all of it, in prose and in code.
Elsewhere (0) it counts as one space."""

FORMS: Final = ("text", "cleaneval", "markdown", "html")
_MARKDOWN_SPECIAL: Final = str.maketrans({mark: "\\" + mark for mark in "\\`*_[]<>"})

_BACKQUOTES: Final = re.compile("``+")
_EMPTY_LINES: Final = re.compile("  \n(  \n)+")
_WHITE: Final = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A run of kept blocks with no paragraph break inside, and how it is marked."""

    kind: str  # "header", "list" or "text"
    level: int  # heading level, 0 for none
    verbatim: bool
    text: str


def render(document: "Document", form: str = "text") -> str:
    """The kept text in one of FORMS; raises ValueError for any other form."""
    if form == "text":
        return document.text
    if form == "html":
        return _html(document)
    if form == "cleaneval":
        return "".join(f"<{_CLEANEVAL[p.kind]}>{escape(p.text, quote=False)}\n" for p in paragraphs(document))
    if form == "markdown":
        return "\n\n".join(_join_lists([_markdown(p) for p in paragraphs(document)]))
    raise ValueError(f"unknown form {form!r}: one of {', '.join(FORMS)}")


_CLEANEVAL: Final = {"header": "h", "text": "p", "list": "l"}


def paragraphs(document: "Document") -> Iterator[Paragraph]:
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


def _paragraph(columns: "Blocks", rows: Sequence[int], text: str, gaps: str, *, verbatim: bool) -> Paragraph:
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


def _separator(columns: "Blocks", gaps: str, last: int, row: int) -> str:
    """What stands between two kept blocks of a paragraph, as the `assemble` kernel has it."""
    if 0 < columns.listing[row] == columns.listing[last]:
        between = gaps[columns.gap_ends[last] : columns.gap_ends[row]]
        if columns.line_number[last + 1 : row].all():
            return between
        _, line_break, indentation = between.rpartition("\n")
        return line_break + indentation if line_break else " "
    return " " if columns.space_before[row] or row != last + 1 else ""


def _markdown(paragraph: Paragraph) -> str:
    if paragraph.verbatim:
        longest = max(map(len, _BACKQUOTES.findall(paragraph.text)), default=2)
        fence = "`" * (longest + 1)
        return f"{fence}\n{paragraph.text}\n{fence}"
    text = paragraph.text.translate(_MARKDOWN_SPECIAL)
    if paragraph.kind == "header":
        return "#" * paragraph.level + " " + " ".join(text.split())
    lines = [" ".join(line.split()) for line in text.split("\n")]
    if paragraph.kind == "list":
        return "- " + "  \n  ".join(filter(None, lines))
    # A line must not turn into a heading, quote or list by how it begins.
    lines = ["\\" + line if line[:1] in ("#", "+", "-", ">") else line for line in lines]
    return _EMPTY_LINES.sub("\n\n", "  \n".join(lines))


def _join_lists(parts: Sequence[str]) -> Iterator[str]:
    """Neighbouring list items as one tight list."""
    for is_list, group in groupby(parts, key=lambda part: part.startswith("- ")):
        if is_list:
            yield "\n".join(group)
        else:
            yield from group


def _html(document: "Document") -> str:
    """The canonical HTML with the text of dropped blocks deleted: the paper's own output form."""
    dropped = (~document.kept).nonzero()[0]
    starts, ends = document.columns.start[dropped].tolist(), document.columns.end[dropped].tolist()
    cuts = zip([0, *ends], [*starts, len(document.html)], strict=True)
    return "".join(document.html[start:end] for start, end in cuts)
