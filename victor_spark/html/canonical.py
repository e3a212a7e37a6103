"""Bytes → charset → Lexbor parse and repair → precleaning → canonical HTML (Victor, section 3.1, steps 2 and 3).

The canonical HTML is a page's single representation; every offset in the product refers to it.
"""

import codecs
import re
from dataclasses import dataclass
from html import unescape
from typing import Final

from resiliparse.parse.encoding import detect_encoding
from resiliparse.parse.html import HTMLTree

from victor_spark.kernels import attributes, preclean

MAX_ATTRIBUTES: Final = 500
"""Attributes a tag keeps. The parser compares each with all before it: 100,000 cost 18 seconds."""

_BOMS: Final = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_META: Final = re.compile(
    rb"""<meta\b[^>]{0,200}?\bcharset\s*=\s*["']?\s*([-\w.:]{2,40})|<\?xml\b[^>]{0,100}?\bencoding\s*=\s*["']([-\w.:]{2,40})""",
    re.IGNORECASE,
)
_META_WINDOW: Final = 4096
_WHATWG: Final = {
    "iso-8859-1": "cp1252",
    "iso8859-1": "cp1252",
    "latin1": "cp1252",
    "latin-1": "cp1252",
    "us-ascii": "cp1252",
    "ascii": "cp1252",
    "iso-8859-9": "cp1254",
    "iso-8859-11": "cp874",
    "tis-620": "cp874",
    "windows-874": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "x-gbk": "gb18030",
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "x-sjis": "cp932",
    "sjis": "cp932",
    "windows-31j": "cp932",
    "euc-kr": "cp949",
    "ks_c_5601-1987": "cp949",
    "ksc5601": "cp949",
    "big5": "big5hkscs",
    "x-mac-roman": "mac_roman",
    "macintosh": "mac_roman",
    "x-mac-cyrillic": "mac_cyrillic",
    "unicode": "utf-16-le",
    "utf-16": "utf-16-le",
}
"""Labels that browsers read as a superset of what they say (WHATWG encoding standard, section 4.2)."""


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
    html = preclean.drop_textless(tree.document.html)
    return Canonical(html, _title(html), charset)


def decode(source: bytes, http_charset: str | None) -> tuple[str, str]:
    """The text of a page and its charset: BOM, then HTTP header, then meta, then detection.

    A declared charset is believed when the bytes decode under it (a few bad bytes are forgiven);
    otherwise the next one is asked.
    """
    for mark, charset in _BOMS:
        if source.startswith(mark):
            return source[len(mark) :].decode(charset, "replace"), charset
    utf8 = _strict_utf8(source)
    for label in (http_charset, _meta_charset(source)):
        charset = _codec(label) if label else None
        if charset and (text := _as_declared(source, charset, utf8)) is not None:
            return text, charset
    if utf8 is not None:
        return utf8, "utf-8"
    detected = _codec(detect_encoding(source, html5_compatible=False) or "") or "utf-8"
    return source.decode(detected, "replace"), detected


def _as_declared(source: bytes, charset: str, utf8: str | None) -> str | None:
    """The text under a declared charset, or None where the declaration is a lie."""
    if charset == "utf-8":
        return utf8 if utf8 is not None else _forgiven(source.decode("utf-8", "replace"))
    if utf8 is not None and charset not in _SEVEN_BIT and not source.isascii():
        return None  # bytes that are valid multi-byte UTF-8 hardly ever are anything else
    return _forgiven(source.decode(charset, "replace"))


_SEVEN_BIT: Final = frozenset({"iso2022_jp", "hz"})


def _forgiven(text: str) -> str | None:
    """The text, or None when more than one in fifty foreign characters could not be decoded."""
    n_bad = text.count("\ufffd")
    if n_bad <= 3:
        return text
    n_foreign = len(text) - len(text.encode("ascii", "ignore"))
    return text if n_bad * 50 <= n_foreign else None


def _strict_utf8(source: bytes) -> str | None:
    try:
        return source.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _meta_charset(source: bytes) -> str | None:
    match = _META.search(source, 0, _META_WINDOW)
    if match is None:
        return None
    label = (match[1] or match[2]).decode("ascii", "replace").lower()
    return "utf-8" if label.startswith(("utf-16", "utf16", "ucs-2")) else label


def _codec(label: str) -> str | None:
    """The Python codec behind a charset label, None for one that doesn't exist or is no text."""
    name = label.strip().strip("\"'").lower()
    try:
        info = codecs.lookup(_WHATWG.get(name, name))
    except (LookupError, ValueError, TypeError):
        return None
    if not getattr(info, "_is_text_encoding", True) or info.name in _NOT_FOR_PAGES:
        return None
    return _WHATWG.get(info.name, info.name)


_NOT_FOR_PAGES: Final = frozenset(
    {"idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined", "utf-7", "mbcs", "oem"}
)


def _title(html: str) -> str | None:
    """The text of the first `title` element, white space collapsed."""
    start = html.find("<title")
    if start < 0:
        return None
    start = html.find(">", start) + 1
    end = html.find("</title>", start)
    return " ".join(unescape(html[start:end]).split()) or None
