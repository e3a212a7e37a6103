"""A page's paragraphs as one sequence of symbols: what character n-gram models read.

A segment is a paragraph as the text dump of a page would show it: blocks joined over inline splits,
white space collapsed. Every segment stands between edges, two before it, so that its first character
has a full context and its end is an event too.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from victor_spark.blocks import Blocks, Bool, UInt32
from victor_spark.html.characters import (
    CLASS_MASK,
    DIGIT,
    LETTER,
    OTHER,
    PUNCTUATION,
    UNSPACED,
    WHITE,
    properties,
)

Int64 = npt.NDArray[np.int64]
UInt16 = npt.NDArray[np.uint16]

EDGE, SPACE, RARE_OTHER, RARE_LETTER, RARE_DIGIT, RARE_PUNCTUATION, RARE_UNSPACED = range(7)
N_RESERVED: Final = 7
"""Symbols that stand for no character in particular: edges, white space, and rare characters by class."""
MAX_CHARACTERS: Final = 0xFFFF - N_RESERVED

_RARE: Final = {
    OTHER: RARE_OTHER,
    LETTER: RARE_LETTER,
    DIGIT: RARE_DIGIT,
    PUNCTUATION: RARE_PUNCTUATION,
}
_NO_CHARACTER: Final = 0x10FFFF


@dataclass(frozen=True, slots=True)
class Segments:
    """`symbols` of all segments; `rows` are the positions that are predicted, `of_row` their segments.

    Position i is predicted from i - 2 and i - 1. `of_block` is the segment of each block.
    """

    symbols: Int64
    rows: Int64
    of_row: Int64
    of_block: Int64
    n: int


def symbol_table(characters: UInt32, *, lexical: bool) -> UInt16:
    """Code point → symbol, shape (0x110000,); `characters` are those with a symbol of their own.

    Non-lexical (Lejeune and Zhu 2018, section 3.4): every letter is the letter `a`, every digit `0`.
    """
    classes = properties() & CLASS_MASK
    table = np.full(len(classes), RARE_OTHER, dtype=np.uint16)
    for kind, symbol in _RARE.items():
        table[classes == kind] = symbol
    table[(classes == LETTER) & ((properties() & UNSPACED) != 0)] = RARE_UNSPACED
    table[characters] = np.arange(len(characters), dtype=np.uint16) + N_RESERVED
    if not lexical:
        table[classes == LETTER] = table[ord("a")]
        table[classes == DIGIT] = table[ord("0")]
    table[classes == WHITE] = SPACE
    return table


def segments(blocks: Blocks, table: UInt16) -> Segments:
    """The paragraphs of a page in document order."""
    begins = np.diff(blocks.paragraph, prepend=-1) != 0
    of_block = np.cumsum(begins) - 1
    symbols, starts = _joined(blocks, table, begins)
    # The first of two edges ends a segment, the second one begins the next.
    second = np.zeros(len(symbols), dtype=bool)
    second[starts[begins] - 1] = True
    white = symbols == SPACE
    stays = ~(white[1:] & white[:-1])
    symbols, second = symbols[np.append(True, stays)], second[np.append(True, stays)]
    rows = np.flatnonzero(~second)[1:]
    return Segments(
        symbols=symbols,
        rows=rows,
        of_row=(np.cumsum(second) - 1)[rows],
        of_block=of_block,
        n=int(begins.sum()),
    )


def _joined(blocks: Blocks, table: UInt16, begins: Bool) -> tuple[Int64, Int64]:
    """All text as symbols, and where each block's text begins there."""
    lengths = (blocks.text_end - blocks.text_start).astype(np.int64)
    before = np.where(begins, 2, blocks.space_before > 0)
    ends = np.cumsum(lengths + before)
    starts = ends - lengths
    symbols = np.full(int(ends[-1]) + 1 if len(ends) else 1, EDGE, dtype=np.int64)
    within = _ranges(lengths)
    points = blocks.points[np.repeat(blocks.text_start, lengths) + within]
    symbols[np.repeat(starts, lengths) + within] = table[np.minimum(points, _NO_CHARACTER)]
    symbols[starts[before == 1] - 1] = SPACE
    return symbols, starts


def _ranges(lengths: Int64) -> Int64:
    """0, 1, … for every length, one after the other."""
    return np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
