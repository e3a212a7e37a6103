"""Kept blocks → what people and tools read: CleanEval markup, Markdown, and the page's own HTML.

Plain text is made in the pipeline by the `assemble` kernel; these forms are made when asked for.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from victor_spark.page import Document

FORMS: Final = ("text", "cleaneval", "markdown", "html")
_MARKDOWN_SPECIAL: Final = str.maketrans({mark: "\\" + mark for mark in "\\`*_[]<>"})

_BACKQUOTES: Final = re.compile("``+")


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
    """The kept paragraphs in document order (blocks joined over inline splits)."""
    text = document.uncut_text
    rows = document.kept.nonzero()[0].tolist()
    paragraph_of = document.columns.paragraph.tolist()
    for _, group in groupby(rows, key=paragraph_of.__getitem__):
        yield _paragraph(document, list(group), text)


def _paragraph(document: "Document", rows: Sequence[int], text: str) -> Paragraph:
    columns = document.columns
    first = rows[0]
    verbatim = bool(columns.in_pre[first])
    pieces: list[str] = []
    last = None
    for row in rows:
        if last is not None and (columns.space_before[row] or row != last + 1):
            pieces.append(" ")
        piece = text[columns.text_start[row] : columns.text_end[row]]
        pieces.append(piece if verbatim else " ".join(piece.split()))
        last = row
    level = int(columns.heading_level[first])
    kind = "header" if level else "list" if columns.in_list_item[first] else "text"
    return Paragraph(kind, level, verbatim, "".join(pieces))


def _markdown(paragraph: Paragraph) -> str:
    if paragraph.verbatim:
        longest = max(map(len, _BACKQUOTES.findall(paragraph.text)), default=2)
        fence = "`" * (longest + 1)
        return f"{fence}\n{paragraph.text}\n{fence}"
    text = paragraph.text.translate(_MARKDOWN_SPECIAL)
    if paragraph.kind == "header":
        return "#" * paragraph.level + " " + text
    if paragraph.kind == "list":
        return "- " + text
    # A line must not turn into a heading, quote or list by how it begins.
    return "\\" + text if text[:1] in ("#", "+", "-", ">") else text


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
