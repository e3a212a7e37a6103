"""Bytes → text: the charset of a page, in the order BOM, HTTP header, meta, detection."""

import codecs
import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Final, NamedTuple

from resiliparse.parse.encoding import detect_encoding, map_encoding_to_html5

from victor_spark.kernels import source as kernel
from victor_spark.scripts import BROWSER_CODECS, characters

_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_META: Final = re.compile(
    rb"""<(?:meta\b[^>]{0,200}?\bcharset\s*=\s*["']?\s*([-\w.:]{2,40})"""
    rb"""|\?xml\b[^>]{0,100}?\bencoding\s*=\s*["']([-\w.:]{2,40}))"""
)
"""Searched in lower case: a pattern that begins with one fixed letter is found ten times faster."""
_META_WINDOW: Final = 4096

_NAMES: Final = {
    "cp866": "ibm866",
    "cp874": "windows-874",
    "cp932": "shift_jis",
    "cp949": "euc-kr",
    "big5hkscs": "big5",
    "iso2022_jp_ext": "iso-2022-jp",
    "mac-roman": "macintosh",
    "mac-cyrillic": "x-mac-cyrillic",
}
"""Python's codec names as the web spells them, where no rule gives the spelling."""

_NOT_FOR_PAGES: Final = frozenset(
    {"idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined", "utf-7", "mbcs", "oem"}
)
_SEVEN_BIT: Final = frozenset({"iso2022_jp_ext", "iso2022_kr", "hz"})


def decode(source: bytes, http_charset: str | None) -> tuple[str, str]:
    """The text of a page and its charset, see `as_utf8`."""
    markup, charset, _ = as_utf8(source, http_charset)
    return markup.decode(), charset


class Decoded(NamedTuple):
    """The markup of a page in UTF-8, its charset, and the one of parts that are in another."""

    markup: bytes
    charset: str
    mixed_with: str | None = None


def as_utf8(source: bytes, http_charset: str | None) -> Decoded:
    """The markup of a page in UTF-8, and its charset: BOM, then HTTP header, then meta, then detection.

    UTF-16 and charsets with escape sequences are recognised without BOM, whatever is declared. A declared
    charset is taken if the bytes decode under it, except for a few; otherwise the next one is tried. UTF-8
    is not copied. If some parts of a page are UTF-8, the others are read in a charset of their own.
    """
    if certain := _by_its_bytes(source):
        return certain
    is_utf8 = kernel.is_utf8(memoryview(source))
    is_as_declared = is_utf8 and _codec(http_charset or "") == "utf-8"
    found = None if is_as_declared else _META.search(source[:_META_WINDOW].lower())
    stated = (found[1] or found[2]).decode("ascii", "replace") if found else None
    if stated and stated.startswith(("utf-16", "utf16", "ucs-2")):
        stated = "utf-8"
    labels = [codec for label in (http_charset, stated) if label and (codec := _codec(label))]
    for charset in labels:
        if charset == "utf-8" and not is_utf8 and (mixed := _mixed(source, labels)):
            return mixed
        if (markup := _as_declared(source, charset, is_utf8)) is not None:
            return Decoded(markup, name(charset))
    if is_utf8:
        return Decoded(source, "utf-8")
    detected = _detected(source) or "utf-8"
    if mixed := _mixed(source, labels, in_most_places=detected != "utf-8"):
        return mixed
    return Decoded(source.decode(detected, "replace").encode(), name(detected))


def _by_its_bytes(source: bytes) -> Decoded | None:
    """A page whose charset is beyond doubt: a BOM, every second byte 0, or ASCII with escape sequences."""
    for mark, of_mark in _BOMS:
        if source.startswith(mark):
            return Decoded(source[len(mark) :].decode(of_mark, "replace").encode(), of_mark)
    head = source[:_META_WINDOW]
    even, odd = (head[start::2].count(0) for start in (0, 1)) if b"\0" in head else (0, 0)
    if max(even, odd) > max(_FEWEST_SIGNS, len(head) / 20, 10 * min(even, odd)):
        codec = "utf-16-le" if odd > even else "utf-16-be"
        return Decoded(source.decode(codec, "replace").encode(), codec)
    if not source.isascii():
        return None
    if b"\x1b" in source and (b"\x1b$" in source or b"\x1b(I" in source):
        codec = "iso2022_kr" if b"\x1b$)C" in source else "iso2022_jp_ext"
        markup = _as_declared(source, codec, is_utf8=True)
        return Decoded(markup, name(codec)) if markup and not markup.isascii() else None
    if kernel.find(memoryview(source), memoryview(b"~{"), 1, 0) >= 0:
        pairs = b"".join(_HZ.findall(source))[::2]
        if len(pairs) >= _FEWEST_SIGNS and len(_COMMON_HZ.findall(pairs)) >= 0.8 * len(pairs):
            return Decoded(_HZ.sub(lambda run: run[0].decode("hz", "replace").encode(), source), "hz")
    return None


_FEWEST_SIGNS: Final = 8
"""Zero bytes, or pairs of HZ: fewer of them do not show that a page is in such a charset."""
_HZ: Final = re.compile(rb"~\{((?:[!-w][!-~])+)~\}")
_COMMON_HZ: Final = re.compile(b"[!#0-W]")
"""First bytes of punctuation and of the Chinese characters in common use."""


def _detected(source: bytes) -> str | None:
    return _codec(detect_encoding(source, html5_compatible=False) or "")


def _as_declared(source: bytes, charset: str, is_utf8: bool) -> bytes | None:
    """The markup under a declared charset; None if the bytes contradict the declaration."""
    if is_utf8 and (charset == "utf-8" or (source.isascii() and _contains_ascii(charset))):
        return source
    if is_utf8 and charset not in _SEVEN_BIT and not source.isascii():
        return None  # valid multi-byte UTF-8 is hardly ever text in another charset
    if charset.startswith(("utf-16", "utf-32")) and b"\0" not in source:
        return None  # markup alone has many in these
    text = source.decode(charset, "replace")
    n_bad = text.count("\ufffd")
    if n_bad > _FORGIVEN and n_bad > _FORGIVEN_RATIO * _n_foreign(text):
        return None
    if n_bad and charset.startswith("cp125"):
        text = codecs.charmap_decode(source, "strict", characters(charset))[0]
    return text.encode()


def _n_foreign(text: str) -> int:
    return len(text) - len(text.encode("ascii", "ignore"))


def _mixed(source: bytes, labels: Sequence[str], *, in_most_places: bool = True) -> Decoded | None:
    """The markup of a page that is UTF-8 in places, or None where it isn't (or not in most).

    The other bytes are read as another charset that was declared, as what is detected where they are many, or
    as windows-1252 if no letter of the page says that it is of another part of the world. In a page that has
    few of them, characters cut off and letters that stand alone become U+FFFD.
    """
    text = source.decode("utf-8", "surrogateescape")
    n_bad = len(_BAD.findall(text))
    n_good = _n_foreign(text) - n_bad
    if not n_bad or n_good < (n_bad if in_most_places else 1):
        return None
    possible = [codec for codec in labels if codec.startswith(_SINGLE_BYTE)]
    if n_bad >= _ENOUGH_TO_DETECT:
        rest = _GOOD_OR_TAG.sub(" ", text).encode("ascii", "surrogateescape")
        possible.append(_detected(rest) or "utf-8")
    if not _NOT_WESTERN.search(text):
        possible.append("cp1252")
    codec = next(filter(lambda codec: codec.startswith(_SINGLE_BYTE), possible), None)
    own = characters(codec) if codec else "\ufffd" * 256
    if n_good >= _MOSTLY_UTF8 * n_bad:
        text = _CUT.sub("\ufffd", text)
    if n_bad <= _FORGIVEN:
        text = _ALONE.sub("\ufffd", text)
    mixed_with = name(codec) if codec and _BAD.search(text) else None
    text = text.translate({0xDC00 + byte: own[byte] for byte in range(0x80, 0x100)})
    return Decoded(text.encode(), "utf-8", mixed_with)


_SINGLE_BYTE: Final = ("cp125", "iso8859", "koi8")
_ENOUGH_TO_DETECT: Final = 20
_MOSTLY_UTF8: Final = 10
_FORGIVEN: Final = 3
_FORGIVEN_RATIO: Final = 0.02
"""The most characters that do not decode, and their ratio to those beyond ASCII; one of the two suffices."""
_BAD: Final = re.compile("[\udc80-\udcff]")
_CUT: Final = re.compile("[\udce0-\udcf4][\udc80-\udcbf]+")
_ALONE: Final = re.compile("(?<![A-Za-zÀ-ɏ\udcc0-\udcff])[\udcc0-\udcff](?![A-Za-zÀ-ɏ\udcc0-\udcff])")
_GOOD_OR_TAG: Final = re.compile("<[^<>]*>|[^\0-\x7f\udc80-\udcff]+")
_NOT_WESTERN: Final = re.compile(
    "[\u0100-\u0151\u0154-\u015f\u0162-\u0177\u0179-\u017c\u0180-\u1fff\u2c00-\ud7ff]"
)
"""A letter that windows-1252 lacks."""


@cache
def _contains_ascii(codec: str) -> bool:
    """Whether ASCII bytes mean the same in a codec: in most, but not in UTF-16, EBCDIC or ISO-2022."""
    every = bytes(range(128))
    seven_bit = codec == "hz" or codec.startswith("iso2022")
    return not seven_bit and every.decode(codec, "replace") == every.decode("ascii")


@lru_cache(maxsize=256)
def _codec(label: str) -> str | None:
    """The Python codec behind a charset label, None for one that doesn't exist or is no text."""
    spelling = label.strip().strip("\"'").lower()
    try:
        known = map_encoding_to_html5(spelling, fallback_utf8=False)  # the labels that browsers know
        info = codecs.lookup(known or spelling.removeprefix("x-"))
    except (LookupError, ValueError, TypeError):
        return None
    if not getattr(info, "_is_text_encoding", True) or info.name in _NOT_FOR_PAGES:
        return None
    return BROWSER_CODECS.get(info.name, info.name)


def name(codec: str) -> str:
    """A codec as the web spells it: windows-1250, iso-8859-2, euc-jp."""
    spelled = codec.replace("iso8859", "iso-8859").replace("iso2022", "iso-2022").replace("_", "-")
    return _NAMES.get(codec, spelled.replace("cp125", "windows-125"))
