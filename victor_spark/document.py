"""A cleaned page, and its kept blocks as plain text, CleanEval markup, Markdown and the page's own HTML.

The pipeline makes the plain text of every page; the other forms are made on demand.
"""

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, lru_cache, partial
from hashlib import blake2b
from typing import Any, Final, overload

import numpy as np

from victor_spark.blocks import LABELS, Blocks, Bool, Float64, Scores, UInt8, labels, no_blocks, uniform
from victor_spark.html.characters import properties
from victor_spark.kernels import code_points, num, text_of
from victor_spark.metadata.extract import Metadata, metadata
from victor_spark.rendering import markdown, markup, plain
from victor_spark.rendering.shown import blanked, shown
from victor_spark.rendering.structure import Structure
from victor_spark.roles import ROLES, roles

FORMS: Final = ("text", "cleaneval", "markdown", "html", "json", "tei")


@dataclass(frozen=True, slots=True)
class Block:
    """A text block of a `Document`: `start` and `end` are offsets into its `html`, `role` is one of ROLES."""

    start: int
    end: int
    text: str
    label: str
    p_header: float
    p_text: float
    p_other: float
    role: str
    template_share: float = 0.0


@dataclass(frozen=True, repr=False, eq=False)
class BlockSequence(Sequence[Block]):
    """The blocks of a document; `Block` objects are made on demand."""

    blocks: Blocks
    labels: UInt8
    probabilities: Float64
    title: str | None

    @cached_property
    def roles(self) -> UInt8:
        """The role of each block as a row of ROLES."""
        return roles(self.blocks, self.title)

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
            role=ROLES[self.roles[row]],
            template_share=float(columns.template_share[row]),
        )


@dataclass(frozen=True, repr=False, eq=False)
class Document:
    """A cleaned page: its text, and the label and probabilities of every block.

    `text` holds paragraphs separated by newlines, preformatted text as it is, and is "" unless `status`
    is "ok". `html` is the canonical HTML that all offsets refer to. `p_content` is the mean marginal
    probability of content over the kept text, weighted by characters. `kept` has one row per block. `cut`:
    which code points of `columns.text` were removed from kept blocks, as templates of the site. `markup`
    gives the page's source as UTF-8. `repairs` names the problems of its character set.
    """

    status: str
    reason: str | None = None
    text: str = ""
    html: str = ""
    title: str | None = None
    url: str | None = None
    language: str | None = None
    language_score: float | None = None
    charset: str | None = None
    cleaner: str = ""
    columns: Blocks = field(default_factory=no_blocks)
    scores: Scores = field(default_factory=partial(uniform, n_blocks=0, label=0))
    kept: Bool = field(default_factory=lambda: np.zeros(0, dtype=bool))
    p_content: float | None = None
    expected_f1: float | None = None
    cut: Bool | None = None
    markup: Callable[[], bytes] | None = None
    repairs: str | None = None

    def __repr__(self) -> str:
        text = self.text if len(self.text) <= 60 else f"{self.text[:59]}…"
        status = f"{self.status} ({self.reason})" if self.reason else self.status
        kept = f"{self.n_kept_blocks} of {self.n_blocks} blocks kept"
        return f"<Document {status}: {kept}, title={self.title!r}, text={text!r}>"

    @cached_property
    def metadata(self) -> Metadata:
        """The metadata that the page states: title, authors, dates and more; read on first use."""
        return Metadata() if self.markup is None else metadata(self.markup(), self.url)

    def some_metadata(self, fields: Iterable[str]) -> Metadata:
        """Only these fields of the metadata: reading all of them takes twice as long."""
        return Metadata() if self.markup is None else metadata(self.markup(), self.url, fields)

    @cached_property
    def text_hash(self) -> str | None:
        """A hash of the text's letters, marks and digits, after NFKD and case folding: equal for equal words.

        32 hexadecimal digits; None where there are no such characters.
        """
        if len(self.text.encode("utf-8", "replace")) < _FEW * len(self.text):
            text = _NOT_ASCII.sub(lambda run: _letters(run[0]), self.text)
        else:
            text = _letters.__wrapped__(self.text)
        letters = text.encode("utf-8", "replace").lower().translate(None, _ASCII_BETWEEN)
        return blake2b(letters, digest_size=16).hexdigest() if letters else None

    @cached_property
    def blocks(self) -> BlockSequence:
        """All blocks with their labels and probabilities; dropped ones are labelled `other`."""
        own_labels = labels(self.scores, self.kept)
        return BlockSequence(self.columns, own_labels, self.scores.probabilities, self.title)

    @property
    def n_blocks(self) -> int:
        """How many text blocks the page has."""
        return len(self.columns)

    @property
    def n_kept_blocks(self) -> int:
        """How many of them were kept."""
        return int(self.kept.sum())

    def to_dict(self) -> dict[str, Any]:
        """The document in types of JSON: facts about the page, metadata, text, and all blocks."""
        facts = ("url", "status", "reason", "language", "language_score", "charset", "cleaner", "title")
        return {
            **{name: getattr(self, name) for name in facts},
            "p_content": self.p_content,
            "expected_f1": self.expected_f1,
            "metadata": asdict(self.metadata),
            "text": self.text,
            "blocks": [asdict(block) for block in self.blocks],
        }

    def render(
        self,
        form: str = "text",
        *,
        links: bool = True,
        images: bool = True,
        emphasis: bool = True,
        title: bool = False,
    ) -> str:
        """The kept text in one of FORMS; raises ValueError for any other form.

        Markdown, HTML and TEI can leave out `links` (not their text), `images` and `emphasis`. Markdown
        omits the kept heading that repeats the page's title, unless `title` is true.
        """
        if form not in FORMS:
            raise ValueError(f"unknown format {form!r}: choose from {', '.join(FORMS)}")
        if form == "text":
            return self.text
        if form == "json":
            return json.dumps(self.to_dict(), ensure_ascii=False, indent=1)
        columns = self.columns if self.cut is None else blanked(self.columns, self.cut)
        if form == "cleaneval":
            return plain.cleaneval(columns, self.kept, self.html)
        url = None if (self.url or "").startswith("file:") else self.url
        page = Structure(self.html, *shown(columns, self.kept, self.html), url=url, markup=self.markup)
        page.leave_out(links=links, images=images, emphasis=emphasis)
        if form == "markdown":
            return markdown.markdown(page, None if title else self.title)
        if form == "html":
            return markup.html(page, self.title, self.language)
        return markup.tei(page, self.metadata, title=self.title, url=url, language=self.language)


@lru_cache(maxsize=1 << 14)
def _letters(run: str) -> str:
    """A text after NFKD and case folding: all ASCII characters, and other letters, marks and digits."""
    points = code_points(unicodedata.normalize("NFKD", run).casefold())
    kinds = properties()[points] & num.CLASS_MASK
    return text_of(points[(kinds == num.LETTER) | (kinds == num.DIGIT) | (points < _ASCII)])


_ASCII: Final = 0x80
_ASCII_BETWEEN: Final = bytes(byte for byte in range(_ASCII) if not chr(byte).isalnum())
_NOT_ASCII: Final = re.compile("[^\0-\x7f]+")
_FEW: Final = 1.1
"""Below this ratio of bytes to characters, most are ASCII: the others are then looked up run by run."""
