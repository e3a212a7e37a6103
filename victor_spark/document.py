"""A cleaned page, and its kept blocks as plain text, CleanEval markup, Markdown and the page's own HTML.

The pipeline makes the plain text of every page; the other forms are made on demand.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from html import escape
from itertools import groupby, pairwise
from typing import Any, Final, overload

import numpy as np

from victor_spark.blocks import CODE, LABELS, LINES, PROSE, Blocks, Bool, Float64, Scores, UInt8, labels
from victor_spark.html.characters import properties
from victor_spark.kernels import assemble, views
from victor_spark.metadata.extract import Metadata, metadata

FORMS: Final = ("text", "cleaneval", "markdown", "html", "json")
_MARKDOWN_SPECIAL: Final = str.maketrans({mark: "\\" + mark for mark in "\\`*_[]<>"})

_BACKQUOTES: Final = re.compile("``+")
_EMPTY_LINES: Final = re.compile("  \n(  \n)+")
_WHITE: Final = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Block:
    """One text block as users see it; start and end are offsets into `Document.html`."""

    start: int
    end: int
    text: str
    label: str
    p_header: float
    p_text: float
    p_other: float
    template_share: float = 0.0


@dataclass(frozen=True, slots=True, repr=False)
class BlockSequence(Sequence[Block]):
    """The blocks of a document; `Block` objects are made on demand."""

    blocks: Blocks
    labels: UInt8
    probabilities: Float64

    def __repr__(self) -> str:
        return f"<{len(self)} blocks>"

    def __len__(self) -> int:
        return len(self.blocks)

    @overload
    def __getitem__(self, index: int) -> Block: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Block]: ...
    def __getitem__(self, index: int | slice) -> Block | Sequence[Block]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        row = range(len(self))[index]
        columns = self.blocks
        p_header, p_text, p_other = self.probabilities[row].tolist()
        return Block(
            start=int(columns.start[row]),
            end=int(columns.end[row]),
            text=columns.text[columns.text_start[row] : columns.text_end[row]],
            label=LABELS[self.labels[row]],
            p_header=p_header,
            p_text=p_text,
            p_other=p_other,
            template_share=float(columns.template_share[row]),
        )

    def __iter__(self) -> Iterator[Block]:
        return (self[i] for i in range(len(self)))


@dataclass(frozen=True, repr=False)
class Document:
    """A cleaned page: its text, and the label and probabilities of every block.

    `text` holds paragraphs separated by newlines, preformatted text as it is, and is "" unless `status`
    is "ok". `html` is the canonical HTML that all offsets refer to. `p_content` is the mean marginal
    probability of content over the kept text, weighted by characters. `kept` has one row per block. `cut`:
    which code points of `columns.text` were removed from kept blocks, as templates of the site. `markup`
    gives the page's source as UTF-8.
    """

    status: str
    reason: str | None
    text: str
    html: str
    title: str | None
    url: str | None
    language: str | None
    language_score: float | None
    charset: str | None
    cleaner: str
    columns: Blocks
    scores: Scores
    kept: Bool
    p_content: float | None = None
    expected_f1: float | None = None
    cut: Bool | None = None
    markup: Callable[[], bytes] | None = None

    def __repr__(self) -> str:
        text = self.text if len(self.text) <= 60 else f"{self.text[:59]}…"
        status = f"{self.status} ({self.reason})" if self.reason else self.status
        kept = f"{self.n_kept_blocks} of {self.n_blocks} blocks kept"
        return f"<Document {status}: {kept}, title={self.title!r}, text={text!r}>"

    @cached_property
    def metadata(self) -> Metadata:
        """What the page states about itself: title, authors, dates and more; read when first asked for."""
        return Metadata() if self.markup is None else metadata(self.markup(), self.url)

    @property
    def blocks(self) -> BlockSequence:
        """All blocks with their labels and probabilities; dropped ones are labelled `other`."""
        return BlockSequence(self.columns, labels(self.scores, self.kept), self.scores.probabilities)

    @property
    def n_blocks(self) -> int:
        """How many text blocks the page has."""
        return len(self.columns)

    @property
    def n_kept_blocks(self) -> int:
        """How many of them were kept."""
        return int(self.kept.sum())

    @property
    def uncut_text(self) -> str:
        """The text of all blocks, with white space in the place of what was cut out of them."""
        if self.cut is None:
            return self.columns.text
        points = np.where(self.cut, np.uint32(ord(" ")), self.columns.points)
        return points.tobytes().decode("utf-32-le", "surrogatepass")

    def to_dict(self) -> dict[str, Any]:
        """The document as values that JSON has: facts about the page, metadata, text, and all blocks."""
        facts = ("url", "status", "reason", "language", "language_score", "charset", "cleaner", "title")
        return {
            **{name: getattr(self, name) for name in facts},
            "p_content": self.p_content,
            "expected_f1": self.expected_f1,
            "metadata": asdict(self.metadata),
            "text": self.text,
            "blocks": [asdict(block) for block in self.blocks],
        }

    def render(self, form: str = "text") -> str:
        """The kept text in one of FORMS; raises ValueError for any other form."""
        if form == "text":
            return self.text
        if form == "html":
            return _html(self)
        if form == "cleaneval":
            return "".join(f"<{_CLEANEVAL[p.kind]}>{escape(p.text, quote=False)}\n" for p in paragraphs(self))
        if form == "markdown":
            return "\n\n".join(_join_lists([_markdown(p) for p in paragraphs(self)]))
        if form == "json":
            return json.dumps(self.to_dict(), ensure_ascii=False, indent=1)
        raise ValueError(f"unknown format {form!r}: choose from {', '.join(FORMS)}")


def plain_text(blocks: Blocks, kept: Bool) -> str:
    """The kept blocks' text, paragraphs separated by newlines, preformatted text as it is."""
    out = np.empty(len(blocks.points) + len(blocks.gaps) + 1, dtype=np.uint32)
    if not len(blocks):
        return ""
    n = assemble.assemble(
        *views(blocks.points, blocks.text_start, blocks.text_end, blocks.paragraph, blocks.space_before),
        *views(blocks.white_space, blocks.listing, blocks.line_number.view(np.uint8), blocks.gaps),
        *views(blocks.gap_ends, kept.view(np.uint8), properties(), out),
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


def paragraphs(document: Document) -> Iterator[Paragraph]:
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


def _html(document: Document) -> str:
    """The canonical HTML with the text of dropped blocks deleted: the paper's own output form."""
    dropped = (~document.kept).nonzero()[0]
    starts, ends = document.columns.start[dropped].tolist(), document.columns.end[dropped].tolist()
    cuts = zip([0, *ends], [*starts, len(document.html)], strict=True)
    return "".join(document.html[start:end] for start, end in cuts)
