"""Scripts that are written without spaces between words: code point ranges, listed once.

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


@cache
def characters(codec: str) -> str:
    """The characters of a codec of one byte each, with C1 controls for those it lacks, as in browsers."""
    return "".join(bytes([byte]).decode(codec, "ignore") or chr(byte) for byte in range(256))
