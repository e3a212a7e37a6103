"""Bytes → UTF-8 → parse and repair → precleaning → canonical HTML (Victor, section 3.1, steps 2, 3).

The kernels of `victor_html` parse most pages; the parser library parses the others, with the same result.

The canonical HTML is a page's single representation; every offset in the product refers to it.
"""

import re
from dataclasses import dataclass
from typing import Final

from resiliparse.parse.html import HTMLParserException, HTMLTree

from victor_html.elements import ELEMENTS
from victor_html.parse import beyond_budget, parse
from victor_spark.blocks import UInt8
from victor_spark.html.charset import as_utf8
from victor_spark.html.streaming import with_parts_placed
from victor_spark.kernels import source as kernel


@dataclass(frozen=True, slots=True)
class Canonical:
    """Canonical HTML, the charset the bytes were decoded with, and which elements the source has.

    `elements`: see `victor_html.parse.Parsed`; elements that the canonical HTML lacks are features, too.
    `mixed_with`: the charset of parts that are in another one. `markup`: the source in UTF-8.
    """

    html: str
    charset: str | None
    elements: UInt8
    mixed_with: str | None
    markup: bytes


def restored(markup: str) -> tuple[str, list[tuple[int, str]]]:
    """The canonical HTML of a page, and the markup that was dropped to get it: (offset, markup) in its order.

    With both, labels can be put into the whole page.
    """
    encoded = with_formulas_shown(with_parts_placed(markup.encode("utf-8", "surrogatepass")))
    encoded = with_plaintext_read(with_iframes_ended(encoded))
    if (html := beyond_budget(encoded)) is not None:
        return html, []
    document = HTMLTree.parse(encoded.decode("utf-8", "surrogatepass")).document
    whole = document.html if document else ""
    cuts: list[tuple[int, int, int]] = []
    html = kernel.drop_textless(whole, cuts)
    return html, [(offset, whole[start:end]) for offset, start, end in cuts]


def canonical(source: bytes | str, *, http_charset: str | None = None) -> Canonical:
    """The canonical HTML of a page, from its bytes (or a string, whose charset is not looked at)."""
    if isinstance(source, str):
        markup = source.encode("utf-8", "surrogatepass").decode("utf-8", "replace").encode()
        charset = mixed_with = None
    else:
        markup, charset, mixed_with = as_utf8(source, http_charset)
    stated, markup = markup, with_iframes_ended(with_formulas_shown(with_parts_placed(markup)))
    html, elements = parse(markup)
    if html is None and (tagged := with_plaintext_read(markup)) is not markup:
        markup, html = tagged, parse(tagged).html
    if html is None and (html := beyond_budget(markup)) is None:
        html = by_library(markup.decode())
    return Canonical(html, charset, elements, mixed_with, stated)


def with_iframes_ended(markup: bytes) -> bytes:
    """The markup with every `iframe` without an end tag replaced by `embed`, which needs none.

    By the standard, the rest of the page would be raw text of the iframe. Browsers show the rest: such tags
    are in a `noscript`, which scripts hide. An iframe has no end tag if the next iframe begins, or its
    `noscript` ends, before one.
    """
    source = memoryview(markup)
    endless = []
    at = kernel.find(source, _IFRAME, 2, 0)
    while at >= 0:
        following = kernel.find(source, _IFRAME, 2, at + len(_IFRAME))
        end = markup.find(b"</iframe", at, following if following >= 0 else len(markup))
        inside = markup[at : end if end >= 0 else at]
        if end < 0 or (b"</noscript" in inside and b"<noscript" not in inside):
            endless.append(at)
        at = following
    if not endless:
        return markup
    ended = bytearray(markup)
    for at in endless:
        ended[at : at + len(_IFRAME)] = b"<embed "
    return bytes(ended)


_IFRAME: Final = memoryview(b"<iframe")
_MATH_TEX: Final = memoryview(b"math/tex")


def with_formulas_shown(markup: bytes) -> bytes:
    """The markup with the LaTeX in scripts of MathJax 2 as text.

    A script with an id is beside a formula that MathJax has drawn: it becomes an empty span with the LaTeX.
    """
    is_there = kernel.find(memoryview(markup), _MATH_TEX, 4, 0) >= 0
    return _FORMULA.sub(_as_text, markup) if is_there else markup


def _as_text(script: re.Match[bytes]) -> bytes:
    if script[2] is None:  # another script, which may name such formulas
        return script[0]
    attributes, tex = script[1], _CDATA.sub(rb"\1", script[2]).strip()
    if not tex:
        return script[0]
    mark = b"\\[%s\\]" if b"display" in attributes else b"\\(%s\\)"
    tex = mark % tex.replace(b"&", b"&amp;").replace(b"<", b"&lt;").replace(b">", b"&gt;")
    drawn = b"MathJax-Element" in attributes
    return b'<span data-tex="%s"></span>' % tex.replace(b'"', b"&quot;") if drawn else tex


_FORMULA: Final = re.compile(
    rb"<script\b(?![^<>]*\stype=[\"']?math/tex\b)[^<>]*>.*?(?:</script\s*>|\Z)|"
    rb"(?:<span class=[\"']?MathJax_Preview[^<>]*>[^<>]*</span>\s*)?"
    rb"<script\b(?=[^<>]*\stype=[\"']?math/tex\b)([^<>]*)>((?:(?!</?script\b).)*)</script\s*>",
    re.DOTALL | re.IGNORECASE,
)
_CDATA: Final = re.compile(rb"^\s*%?\s*<!\[CDATA\[(.*?)%?\s*\]\]>\s*$", re.DOTALL)


def with_plaintext_read(markup: bytes) -> bytes:
    """The markup with every `plaintext` replaced by `pre`, if tags of HTML follow it.

    By the standard, these tags would be text up to the end of the page.
    """
    found = _PLAINTEXT.search(markup)
    if found is None or not _TAG.search(markup, found.end()):
        return markup
    return _PLAINTEXT.sub(rb"<\1pre", markup)


_PLAINTEXT: Final = re.compile(rb"<(/?)plaintext(?=[\s/>])", re.IGNORECASE)
_TAG: Final = re.compile(rb"<(?:%s)(?:[\s/][^<>]*)?>" % "|".join(ELEMENTS[1:]).encode(), re.IGNORECASE)


def by_library(markup: str) -> str:
    """The canonical HTML of a page, by the parser library and `drop_textless`.

    The library reads any markup and fails only without memory: then MemoryError is raised. It raises an
    exception of its own, or panics if Python has no memory for the string.
    """
    try:
        document = HTMLTree.parse(markup).document
        html = document.html if document else None
    except BaseException as error:
        if isinstance(error, HTMLParserException) or _NO_ROOM in str(error):
            raise MemoryError(f"the parser library: {error}") from error
        raise
    if html is None:
        raise MemoryError("the parser library gives no document")
    return kernel.drop_textless(html)


_NO_ROOM: Final = "PyObject pointer is null"
"""The message of a panic of the library."""


def style_sheets(markup: str) -> list[str]:
    """The texts of the page's `style` elements, in document order, except those for print only.

    Empty for a page beyond the tree's budget, because the parser library has no budget.
    """
    if beyond_budget(markup.encode("utf-8", "replace")) is not None:
        return []
    document = HTMLTree.parse(markup).document
    found = document.query_selector_all("style") if document else []
    return [element.text or "" for element in found if (element.getattr("media") or "").strip() != "print"]
