"""Bytes → text → Lexbor parse and repair → precleaning → canonical HTML (Victor, section 3.1, steps 2, 3).

The canonical HTML is a page's single representation; every offset in the product refers to it.
"""

from dataclasses import dataclass
from typing import Final

from resiliparse.parse.html import HTMLTree

from victor_spark.html.charset import decode
from victor_spark.html.segment import title
from victor_spark.kernels import attributes, preclean

MAX_ATTRIBUTES: Final = 500
"""Attributes a tag keeps. The parser compares each with all before it: 100,000 cost 18 seconds."""


@dataclass(frozen=True, slots=True)
class Canonical:
    """Canonical HTML, the page's title, and the charset the bytes were decoded with."""

    html: str
    title: str | None
    charset: str | None


@dataclass(frozen=True, slots=True)
class Restored:
    """Canonical HTML, and what was dropped from the parsed page to get it: (offset, markup) in its order."""

    html: str
    dropped: tuple[tuple[int, str], ...]


def restored(markup: str) -> Restored:
    """The canonical HTML of a page with what it leaves out, so that labels can be put into the whole page."""
    document = HTMLTree.parse(attributes.cap(markup, MAX_ATTRIBUTES)).document
    whole = document.html if document else ""
    cuts: list[tuple[int, int, int]] = []
    html = preclean.drop_textless(whole, cuts)
    return Restored(html, tuple((offset, whole[start:end]) for offset, start, end in cuts))


def canonical(source: bytes | str, *, http_charset: str | None = None) -> Canonical:
    """The canonical HTML of a page, from its bytes (or a string, whose charset is not looked at)."""
    if isinstance(source, str):
        markup, charset = source.encode("utf-8", "surrogatepass").decode("utf-8", "replace"), None
    else:
        markup, charset = decode(source, http_charset)
    tree = HTMLTree.parse(attributes.cap(markup, MAX_ATTRIBUTES))
    document = tree.document
    html = preclean.drop_textless(document.html) if document else ""
    return Canonical(html, title(html), charset)
