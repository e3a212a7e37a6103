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

_GREEK: Final = ((0x0370, 0x03FF), (0x1F00, 0x1FFF))
_VARIATION_SELECTORS: Final = slice(0xE0100, 0xE01F0)
_SENTENCE_ENDS: Final = ".!?…。！？．｡؟۔।॥։።፧။។༎‼⁇⁈⁉"
_CLOSING_EXTRA: Final = "\"'”’»“‹›«」』）】〉》"


@cache
def properties() -> npt.NDArray[np.uint8]:
    """A byte for each code point: the class in the low three bits, the flags of kernels.num above them."""
    table = np.zeros(num.N_CODE_POINTS, dtype=np.uint8)
    categories = [unicodedata.category(chr(point)) for point in range(num.ASSIGNED)]
    known = _OF_CATEGORY
    by_category = {name: known.get(name, known.get(name[0], num.OTHER)) for name in set(categories)}
    table[: num.ASSIGNED] = [by_category[name] for name in categories]
    table[_VARIATION_SELECTORS] = num.LETTER
    for ranges, flag in ((scripts.UNSPACED, num.UNSPACED), (_GREEK, num.GREEK)):
        for start, end in ranges:
            part = table[start : end + 1]
            part[(part & num.CLASS_MASK) == num.LETTER] |= flag
    table[[ord(white) for white in scripts.WHITE_SPACE]] = num.WHITE
    table[[ord(mark) for mark in _SENTENCE_ENDS]] |= num.SENTENCE_END
    table[[ord(mark) for mark in _CLOSING_EXTRA]] |= num.CLOSING
    return table


_OF_CATEGORY: Final = (
    {"L": num.LETTER, "M": num.LETTER, "N": num.DIGIT, "P": num.PUNCTUATION}
    | dict.fromkeys(("Lu", "Lt", "Lo"), num.LETTER | num.UPPER)
    | dict.fromkeys(("Pe", "Pf"), num.PUNCTUATION | num.CLOSING)
)
"""Class and flags by Unicode category, or by its first letter; else a character is OTHER."""
