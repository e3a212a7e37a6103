"""Pages to test with, as hypothesis strategies: random trees, tag soup, hostile strings, raw bytes."""

from collections.abc import Sequence
from html import escape

import numpy as np
from hypothesis import strategies as st

from tests.victor_html.markup import HOSTILE
from victor_spark.blocks import Blocks
from victor_spark.html.canonical import canonical
from victor_spark.html.segment import segment

INLINE = ("a", "b", "i", "u", "em", "strong", "span", "label", "font", "x-y")
BLOCK_LEVEL = (
    "p",
    "div",
    "ul",
    "li",
    "h1",
    "h3",
    "table",
    "tr",
    "td",
    "pre",
    "form",
    "blockquote",
    "article",
)
ODD = (
    "title",
    "script",
    "style",
    "template",
    "object",
    "svg",
    "math",
    "noscript",
    "textarea",
    "xmp",
    "iframe",
    "select",
    "option",
    "button",
    "canvas",
    "listing",
    "frameset",
    "noframes",
)
VOID = ("br", "hr", "img", "input", "link", "wbr", "embed")

WORDS = (
    "word",
    "Dům",
    "слово",
    "漢字",
    "ไทย",
    "12",
    "2008-05-26",
    "a1",
    "End.",
    "Why?",
    "。",
    "-",
    "www.a.cz",
)

texts = st.one_of(
    st.sampled_from(WORDS),
    st.sampled_from(HOSTILE),
    st.text(max_size=8),
    st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join),
)
names = st.sampled_from(INLINE + BLOCK_LEVEL + ODD)
values = st.sampled_from(("", "x", "a>b", "a<b", 'a"b', "a'b", "a&amp;b", "type=hidden", "--", "\n"))


def _element(name: str, value: str, children: Sequence[str]) -> str:
    return f'<{name} id="{escape(value)}">{"".join(children)}</{name}>'


trees = st.recursive(
    texts | st.sampled_from(VOID).map(lambda name: f"<{name}>"),
    lambda children: st.builds(_element, names, values, st.lists(children, max_size=5)),
    max_leaves=25,
)
"""Balanced markup."""

tokens = st.one_of(
    texts,
    names.map(lambda name: f"<{name}>"),
    names.map(lambda name: f"</{name}>"),
    st.sampled_from(VOID).map(lambda name: f"<{name}>"),
    st.builds("<{} a='{}'>".format, names, values),
)
soup = st.lists(tokens, max_size=25).map("".join)
"""Tags in any order, closed or not, and everything in between."""

forest = st.lists(trees, max_size=6).map("".join)
strings = st.one_of(forest, soup, st.text(max_size=200))
pages = st.one_of(strings, strings.map(lambda text: text.encode("utf-8", "replace")), st.binary(max_size=200))
"""Any str or bytes as a page."""


def _words(n: int) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(WORDS), min_size=1, max_size=n).map(" ".join)


paragraphs = st.builds(
    "<{0}>{1}</{0}>".format, st.sampled_from(("p", "li", "h2", "div", "td", "a")), _words(15)
)
articles = st.lists(paragraphs | trees, max_size=25).map("".join)
"""Pages with enough text that features differ from block to block."""


def blocks_of(html: str | bytes) -> Blocks:
    """The blocks of a page as the pipeline sees them."""
    document = canonical(html)
    return segment(document.html, document.elements)


def texts_of(blocks: Blocks) -> list[str]:
    """The text of each block."""
    spans = zip(blocks.text_start.tolist(), blocks.text_end.tolist(), strict=True)
    return [blocks.text[start:end] for start, end in spans]


def same(one: Blocks, other: Blocks) -> bool:
    """Whether two sets of columns are equal."""
    return one.text == other.text and all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in Blocks.__slots__
        if name != "text"
    )
