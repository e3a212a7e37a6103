"""Bytes → UTF-8 → parse and repair → precleaning → canonical HTML (Victor, section 3.1, steps 2, 3).

Two ways lead to the same string: the kernels (`html.parse`), and for what they leave the parser library.

The canonical HTML is a page's single representation; every offset in the product refers to it.
"""

from dataclasses import dataclass
from string import ascii_letters
from typing import Final

import numpy as np
from resiliparse.parse.html import HTMLTree

from victor_spark.html.charset import as_utf8
from victor_spark.html.parse import parse
from victor_spark.kernels import attributes, preclean
from victor_spark.kernels import source as kernel
from victor_spark.page import UInt8

MAX_ATTRIBUTES: Final = 500
"""Attributes a tag keeps. The parser compares each with all before it: 100,000 cost 18 seconds."""


@dataclass(frozen=True, slots=True)
class Canonical:
    """Canonical HTML, the charset the bytes were decoded with, and which elements the source has.

    `elements`: see `html.parse.Parsed`; what the canonical HTML has no more tells about a page, too.
    """

    html: str
    charset: str | None
    elements: UInt8


@dataclass(frozen=True, slots=True)
class Restored:
    """Canonical HTML, and what was dropped from the parsed page to get it: (offset, markup) in its order."""

    html: str
    dropped: tuple[tuple[int, str], ...]


def restored(markup: str) -> Restored:
    """The canonical HTML of a page with what it leaves out, so that labels can be put into the whole page."""
    encoded = markup.encode("utf-8", "surrogatepass")
    document = HTMLTree.parse(capped(with_iframes_ended(encoded).decode("utf-8", "surrogatepass"))).document
    whole = document.html if document else ""
    cuts: list[tuple[int, int, int]] = []
    html = preclean.drop_textless(whole, cuts)
    return Restored(html, tuple((offset, whole[start:end]) for offset, start, end in cuts))


def canonical(source: bytes | str, *, http_charset: str | None = None) -> Canonical:
    """The canonical HTML of a page, from its bytes (or a string, whose charset is not looked at)."""
    if isinstance(source, str):
        markup, charset = source.encode("utf-8", "surrogatepass").decode("utf-8", "replace").encode(), None
    else:
        markup, charset = as_utf8(source, http_charset)
    markup = with_iframes_ended(markup)
    html, elements = parse(markup)
    if html is None:
        html = by_library(markup.decode())
    return Canonical(html, charset, elements)


def with_iframes_ended(markup: bytes) -> bytes:
    """The markup with every `iframe` that nothing ends made an `embed`: it needs no end, and is dropped, too.

    To the standard all that follows would be its raw text; browsers show it, as scripts hide the `noscript`
    that such tags stand in. Nothing has ended an iframe when the next one begins, or its `noscript` ends.
    """
    source = memoryview(markup)
    endless = []
    at = kernel.iframe_from(source, 0)
    while at >= 0:
        following = kernel.iframe_from(source, at + len(_IFRAME))
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


_IFRAME: Final = b"<iframe"


def by_library(markup: str) -> str:
    """The canonical HTML of a page, by the parser library and `preclean`."""
    document = HTMLTree.parse(capped(markup)).document
    return preclean.drop_textless(document.html) if document else ""


def capped(markup: str) -> str:
    """The markup with no more than MAX_ATTRIBUTES in any tag.

    A tag with more is long: only from a `<` that is far from the next tag the markup is looked at closely.
    """
    encoded = markup.encode("utf-8", "surrogatepass")
    content = np.frombuffer(encoded, dtype=np.uint8)
    places = np.flatnonzero(content[:-1] == ord("<"))
    places = places[_OPENS[content[places + 1]]]
    long = places[np.diff(places, append=len(content)) > 2 * MAX_ATTRIBUTES]
    if not attributes.any_exceeds(encoded, long.tolist(), MAX_ATTRIBUTES):
        return markup
    return attributes.cap(markup, MAX_ATTRIBUTES)


_OPENS: Final = np.isin(np.arange(256), np.frombuffer(b"/!?" + ascii_letters.encode(), dtype=np.uint8))
"""What follows the `<` of a tag or a comment."""
