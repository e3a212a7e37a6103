"""Bytes → text: the charset of a page, in the order BOM, HTTP header, meta, detection."""

import codecs
import re
from functools import cache
from typing import Final

from resiliparse.parse.encoding import detect_encoding

from victor_spark.kernels import source as kernel

_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_META: Final = re.compile(
    rb"""<(?:meta\b[^>]{0,200}?\bcharset\s*=\s*["']?\s*([-\w.:]{2,40})"""
    rb"""|\?xml\b[^>]{0,100}?\bencoding\s*=\s*["']([-\w.:]{2,40}))"""
)
"""Looked for in lower case: a pattern that begins with one certain letter is found ten times faster."""
_META_WINDOW: Final = 4096

_LABELS: Final = {
    "latin-1": "latin1",
    "windows-874": "cp874",
    "x-gbk": "gbk",
    "shift-jis": "shift_jis",
    "x-sjis": "shift_jis",
    "sjis": "shift_jis",
    "windows-31j": "cp932",
    "ks_c_5601-1987": "euc_kr",
    "ksc5601": "euc_kr",
    "x-mac-roman": "mac_roman",
    "x-mac-cyrillic": "mac_cyrillic",
    "unicode": "utf-16-le",
    "utf-16": "utf-16-le",
}
"""Labels found on pages that Python doesn't know, or reads otherwise than browsers do."""

_SUPERSETS: Final = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
}
"""Codecs that browsers read as a superset of what they say (WHATWG encoding standard, section 4.2)."""

_NAMES: Final = {
    "cp866": "ibm866",
    "cp874": "windows-874",
    "cp932": "shift_jis",
    "cp949": "euc-kr",
    "big5hkscs": "big5",
    "mac-roman": "macintosh",
    "mac-cyrillic": "x-mac-cyrillic",
}
"""Python's codec names as the web spells them, where no rule gives the spelling."""

_NOT_FOR_PAGES: Final = frozenset(
    {"idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined", "utf-7", "mbcs", "oem"}
)
_SEVEN_BIT: Final = frozenset({"iso2022_jp", "hz"})


def decode(source: bytes, http_charset: str | None) -> tuple[str, str]:
    """The text of a page and its charset, see `as_utf8`."""
    markup, charset = as_utf8(source, http_charset)
    return markup.decode(), charset


def as_utf8(source: bytes, http_charset: str | None) -> tuple[bytes, str]:
    """The markup of a page in UTF-8, and its charset: BOM, then HTTP header, then meta, then detection.

    A declared charset is believed when the bytes decode under it (a few bad bytes are forgiven);
    otherwise the next one is asked. What is UTF-8 already is not copied.
    """
    for mark, of_mark in _BOMS:
        if source.startswith(mark):
            return source[len(mark) :].decode(of_mark, "replace").encode(), name(of_mark)
    is_utf8 = _is_utf8(source)
    for label in (http_charset, _meta_charset(source)):
        charset = _codec(label) if label else None
        if charset and (markup := _as_declared(source, charset, is_utf8)) is not None:
            return markup, name(charset)
    if is_utf8:
        return source, "utf-8"
    detected = _codec(detect_encoding(source, html5_compatible=False) or "") or "utf-8"
    return source.decode(detected, "replace").encode(), name(detected)


def _as_declared(source: bytes, charset: str, is_utf8: bool) -> bytes | None:
    """The markup under a declared charset, or None where the declaration is a lie."""
    if is_utf8 and (charset == "utf-8" or (source.isascii() and _contains_ascii(charset))):
        return source
    if is_utf8 and charset not in _SEVEN_BIT and not source.isascii():
        return None  # bytes that are valid multi-byte UTF-8 hardly ever are anything else
    if charset.startswith(("utf-16", "utf-32")) and b"\0" not in source:
        return None  # markup alone has many in these
    return _forgiven(source.decode(charset, "replace"))


def _forgiven(text: str) -> bytes | None:
    """The text in UTF-8, or None when more than one in fifty foreign characters could not be decoded."""
    n_bad = text.count("\ufffd")
    n_foreign = len(text) - len(text.encode("ascii", "ignore")) if n_bad > 3 else 0
    return text.encode() if n_bad <= 3 or n_bad * 50 <= n_foreign else None


def _is_utf8(source: bytes) -> bool:
    return source.isascii() or kernel.is_utf8(memoryview(source))


@cache
def _contains_ascii(codec: str) -> bool:
    """Whether ASCII bytes mean the same in a codec: in most, but not in UTF-16, EBCDIC or ISO-2022."""
    every = bytes(range(128))
    seven_bit = codec == "hz" or codec.startswith("iso2022")
    return not seven_bit and every.decode(codec, "replace") == every.decode("ascii")


def _meta_charset(source: bytes) -> str | None:
    match = _META.search(source[:_META_WINDOW].lower())
    if match is None:
        return None
    label = (match[1] or match[2]).decode("ascii", "replace")
    return "utf-8" if label.startswith(("utf-16", "utf16", "ucs-2")) else label


def _codec(label: str) -> str | None:
    """The Python codec behind a charset label, None for one that doesn't exist or is no text."""
    spelling = label.strip().strip("\"'").lower()
    try:
        info = codecs.lookup(_LABELS.get(spelling, spelling))
    except (LookupError, ValueError, TypeError):
        return None
    if not getattr(info, "_is_text_encoding", True) or info.name in _NOT_FOR_PAGES:
        return None
    return _SUPERSETS.get(info.name, info.name)


def name(codec: str) -> str:
    """A codec as the web spells it: windows-1250, iso-8859-2, euc-jp."""
    if codec in _NAMES:
        return _NAMES[codec]
    if codec.startswith("cp125"):
        return "windows-" + codec.removeprefix("cp")
    return codec.replace("iso8859", "iso-8859").replace("iso2022", "iso-2022").replace("_", "-")
