"""Bytes → text → Lexbor parse and repair → precleaning → canonical HTML (Victor, section 3.1, steps 2, 3).

The canonical HTML is a page's single representation; every offset in the product refers to it.
"""

import re
from dataclasses import dataclass
from html import unescape
from typing import Final

from resiliparse.parse.html import HTMLTree

from victor_spark.html.charset import decode
from victor_spark.kernels import attributes, preclean

MAX_ATTRIBUTES: Final = 500
"""Attributes a tag keeps. The parser compares each with all before it: 100,000 cost 18 seconds."""


@dataclass(frozen=True, slots=True)
class Canonical:
    """Canonical HTML, the page's title, and the charset the bytes were decoded with."""

    html: str
    title: str | None
    charset: str | None


def canonical(source: bytes | str, *, http_charset: str | None = None) -> Canonical:
    """The canonical HTML of a page, from its bytes (or a string, whose charset is not looked at)."""
    if isinstance(source, str):
        markup, charset = source.encode("utf-8", "surrogatepass").decode("utf-8", "replace"), None
    else:
        markup, charset = decode(source, http_charset)
    tree = HTMLTree.parse(attributes.cap(markup, MAX_ATTRIBUTES))
    document = tree.document
    html = preclean.drop_textless(document.html) if document else ""
    return Canonical(html, _title(html), charset)


def _title(html: str) -> str | None:
    """The text of the first `title` element, white space collapsed."""
    match = _TITLE.search(html)
    return " ".join(unescape(match[1]).split()) or None if match else None


_TITLE: Final = re.compile(r"<title(?: [^>]*)?>([^<]*)</title>")
