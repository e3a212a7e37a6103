"""Canonical HTML → the elements of the page as columns: what each is, where, and which blocks it holds."""

from collections.abc import Callable
from functools import cache
from typing import Final, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from victor_spark.blocks import Blocks, Bool, Int32
from victor_spark.kernels import code_points, views
from victor_spark.kernels import structure as kernel
from victor_spark.metadata.extract import Metadata
from victor_spark.parser.hashing import hashed

_VOID: Final = ("void", "img", "br", "hr", "input")
_OWN: Final = (
    "h1 h2 h3 h4 h5 h6 p ol li table thead tr td th caption a sup sub figure figcaption dl dt dd "
    "details summary button picture noscript"
)
_KINDS: Final = {name: name for name in _OWN.split()} | {
    "block": "div section article main header footer nav aside address form center hgroup body html search",
    "ul": "ul menu dir",
    "quote": "blockquote",
    "pre": "pre listing",
    "code": "code tt samp kbd",
    "strong": "b strong",
    "em": "i em var",
    "strike": "s strike del",
    "math": "math mjx-container",
}
"""Tags by the kind that they are here; all others have kind 0."""
KIND: Final = {name: 1 + i for i, name in enumerate(_VOID)} | {
    name: kernel.FIRST_NOT_VOID + i for i, name in enumerate(_KINDS)
}

MATH, CALLOUT, TITLE, CODE, BLOCK, ANCHOR, COPY, HIDDEN, NOTES, PICTURE = (1 << i for i in range(10))
_MARKS: Final = {
    MATH: "katex,katex-display ,mathjax,mathjax_display ,mathjax_svg ,mathjax_chtml ,mwe-math-element ,math "
    ",math-inline ,math-block ,math-display ,math-tex ,math-node ,arithmatex ,ltx_math ,tex ,latex ,"
    "mjpage ,inline-math ,display-math ,math-container ,mathml ,equation ",
    CALLOUT: "admonition ,theme-admonition ,callout ,alert ,markdown-alert ,custom-block ,bs-callout ,hint ,"
    "notice ,admonitionblock ,td-alert ,docs-callout ,message-box ",
    TITLE: "admonition-title ,alert-heading ,alert-title ,callout-title ,custom-block-title ,"
    "markdown-alert-title ,admonition-heading ,admonitionheading,admonitiontitle,callout-heading ,"
    "hint-title ,notice-title ,callout-header ,message-header ",
    CODE: "highlighttable ,rouge-table ,syntaxhighlighter ,crayon-syntax ,dp-highlighter ,cm-content ,"
    "codemirror-code ,codeblock ,code-block ,code_block ,codehilitetable ,js-file-line-container ,lntable ,"
    "hljs-ln ,programlisting ,sourcecode ,source-code ,prettyprint ",
    BLOCK: "block ,code-block ,hljs ",
    ANCHOR: "headerlink ,header-anchor ,hash-link ,anchorjs-link ,heading-anchor ,"
    "heading-link ,anchor-link ,anchor ,permalink ,header-link ,zola-anchor ,section-link ",
    COPY: "copy,clipboard,toolbar,code__header ,code-header ,codeheader ,copybtn ",
    HIDDEN: "hover-info ,tooltiptext ,mw-editsection ,mw-cite-backlink ",
    PICTURE: "image,figure,wp-caption ,photo,captioned,caption,picture,imagebox,thumbinner ,thumb ",
    NOTES: "footnotes,endnotes,references ,footnote-list ,footnotes-list ",
}
"""What words of class, role and id say; one with a space after it is a whole name."""


class _Tables(NamedTuple):
    slots: npt.NDArray[np.uint32]
    slot_kinds: Int32
    word_slots: npt.NDArray[np.uint32]
    word_marks: Int32


@cache
def _tables() -> _Tables:
    kinds = {tag: KIND[name] for name, tags in _KINDS.items() for tag in tags.split()}
    kinds |= {name: KIND[name] for name in _VOID}
    void = "area base basefont bgsound col embed frame keygen link meta param source track wbr"
    kinds |= dict.fromkeys(void.split(), KIND["void"])
    marks: dict[str, int] = {}
    for mark, names in _MARKS.items():
        for name in names.split(","):
            marks[name] = marks.get(name, 0) | mark
    return _Tables(*hashed(kinds, 512), *hashed(marks, 1024))


class Cleaned(Protocol):
    """What the forms are made from: a `Document`."""

    @property
    def html(self) -> str: ...  # noqa: D102 - as those of Document
    @property
    def url(self) -> str | None: ...  # noqa: D102
    @property
    def title(self) -> str | None: ...  # noqa: D102
    @property
    def language(self) -> str | None: ...  # noqa: D102
    @property
    def columns(self) -> Blocks: ...  # noqa: D102
    @property
    def kept(self) -> Bool: ...  # noqa: D102
    @property
    def markup(self) -> Callable[[], bytes] | None: ...  # noqa: D102
    @property
    def metadata(self) -> Metadata: ...  # noqa: D102
    @property
    def uncut_text(self) -> str: ...  # noqa: D102


class Structure(NamedTuple):
    """The elements of a page in document order; the columns are those of `kernels.structure`."""

    kind: Int32
    marks: Int32
    start: Int32
    inner: Int32
    end: Int32
    parent: Int32
    first: Int32
    last: Int32

    def after(self, row: int) -> int:
        """The row after those inside element `row`."""
        return int(np.searchsorted(self.start, self.end[row]))


def structure(html: str, blocks: Blocks) -> Structure:
    """The elements of canonical HTML; linear in its length."""
    points = code_points(html)
    n_tags = html.count("<") + 1
    rows = np.empty((len(kernel.COLUMNS), n_tags), dtype=np.int32)
    stack = np.empty(n_tags, dtype=np.int32)
    n = kernel.elements(*views(points, *_tables(), blocks.start, stack, rows))
    return Structure(*rows[:, :n])
