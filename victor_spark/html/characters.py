"""The properties of every Unicode character as one table: class, case, script family, sentence end.

The character classes are those of Victor, section 3.2 (letters, digits, punctuation, white space,
other), by Unicode category: L and M are letters, N digits, P punctuation. White space is defined as by
`str.isspace`, so that blocks are trimmed exactly as `str.strip` trims.
"""

import unicodedata
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

from victor_spark import scripts
from victor_spark.kernels import num

_SENTENCE_ENDS: Final = ".!?…。！？．｡؟۔।॥։።፧။។༎‼⁇⁈⁉"
_CLOSING_EXTRA: Final = "\"'”’»“‹›«」』）】〉》"
_ASSIGNED: Final = 0x33480
"""Code points from here on are OTHER, except the variation selectors, which are marks."""
_VARIATION_SELECTORS: Final = slice(0xE0100, 0xE01F0)


@cache
def properties() -> npt.NDArray[np.uint8]:
    """A byte for each code point: the class in the low three bits, the flags of kernels.num above them."""
    table = np.zeros(0x110000, dtype=np.uint8)
    categories = [unicodedata.category(chr(point)) for point in range(_ASSIGNED)]
    by_category = {name: _of_category(name) for name in set(categories)}
    table[:_ASSIGNED] = [by_category[name] for name in categories]
    table[_VARIATION_SELECTORS] = num.LETTER
    for start, end in scripts.UNSPACED:
        part = table[start : end + 1]
        part[(part & num.CLASS_MASK) == num.LETTER] |= num.UNSPACED
    for start, end in ((0x0370, 0x03FF), (0x1F00, 0x1FFF)):
        part = table[start : end + 1]
        part[(part & num.CLASS_MASK) == num.LETTER] |= num.GREEK
    white = [point for point in range(0x3001) if chr(point).isspace()]
    table[white] = num.WHITE
    table[[ord(mark) for mark in _SENTENCE_ENDS]] |= num.SENTENCE_END
    table[[ord(mark) for mark in _CLOSING_EXTRA]] |= num.CLOSING
    return table


def _of_category(category: str) -> int:
    if category in ("Lu", "Lt", "Lo"):
        return num.LETTER | num.UPPER
    if category in ("Pe", "Pf"):
        return num.PUNCTUATION | num.CLOSING
    classes = {"L": num.LETTER, "M": num.LETTER, "N": num.DIGIT, "P": num.PUNCTUATION}
    return classes.get(category[0], num.OTHER)
