"""Scripts that are written without spaces between words, listed once; white space; codecs of browsers.

Published models count letters of `UNSPACED`, so that list never changes. `WORD_CHARACTERS` is what text
comparison splits into single characters; it has the rarer blocks of the same scripts too, which were added
after the models were trained.
"""

from functools import cache
from typing import Final, TypeAlias

Ranges: TypeAlias = tuple[tuple[int, int], ...]
"""First and last code point of each range."""

HAN: Final = (0x3400, 0x9FFF)
MORE_HAN: Final = (0x20000, 0x3FFFF)
"""Ideographs, and those of the supplementary planes."""

UNSPACED: Final[Ranges] = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x0F00, 0x0FFF),  # Tibetan
    (0x1000, 0x109F),  # Burmese
    (0x1780, 0x17FF),  # Khmer
    (0x3005, 0x3007),  # ideographic iteration mark, closing mark and zero
    (0x3040, 0x30FF),  # kana
    (0x31F0, 0x31FF),  # kana, phonetic extensions
    HAN,
    (0xF900, 0xFAFF),  # Han, compatibility ideographs
    (0xFF66, 0xFF9F),  # kana, halfwidth
    MORE_HAN,
)
"""Letters here count as unspaced in features and in cleaners."""

WORD_CHARACTERS: Final[Ranges] = (
    *UNSPACED,
    (0x3100, 0x312F),  # Bopomofo
    (0xA9E0, 0xA9FF),  # Burmese, extended
    (0xAA60, 0xAA7F),  # Burmese, extended
)
"""Every character here is a word of its own where texts are compared."""

WORD_CLASS: Final = "".join(f"{chr(first)}-{chr(last)}" for first, last in WORD_CHARACTERS)
"""The same, as it stands between [ and ] of a regular expression."""

WHITE_SPACE: Final = "".join(chr(point) for point in range(0x3001) if chr(point).isspace())
"""All characters that `str.isspace` finds."""

BROWSER_CODECS: Final = {
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
    "iso2022_jp": "iso2022_jp_ext",
}
"""Codecs that browsers read as a superset of what they say (WHATWG encoding standard, section 4.2)."""


@cache
def characters(codec: str) -> str:
    """The characters of a codec of one byte each, with C1 controls for those it lacks, as in browsers."""
    return "".join(bytes([byte]).decode(codec, "ignore") or chr(byte) for byte in range(256))
