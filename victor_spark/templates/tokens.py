r"""Texts as symbols: tokens and a vocabulary of distinct tokens.

A token is a run of characters that are not white space (the expression `\S+`); in markup a tag's < and >
divide too. A symbol is a mutable pattern's number, or n_patterns + the token's number in the vocabulary.
"""

from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

from victor_spark.blocks import Int32, UInt8
from victor_spark.kernels import KEY, code_points, views
from victor_spark.kernels import tokens as kernel
from victor_spark.kernels.num import N_CODE_POINTS
from victor_spark.scripts import WHITE_SPACE

_WHITE, _NEWLINE, _WORD, _LESS, _GREATER = range(5)


@dataclass(frozen=True, slots=True)
class Tokeniser:
    """Where tokens end, for the scan and, equivalently, as parts of regular expressions.

    `between` stands between two tokens, `edge` before the first and after the last; `line_begin` and
    `line_end` are true where a token begins or ends a line. `divided`: see kernels.tokens.
    """

    between: str
    edge: str
    line_begin: str
    line_end: str
    is_markup: bool
    divided: UInt8


@dataclass(frozen=True, slots=True)
class Spans:
    """The tokens of a text: code point spans, and whether each begins or ends a line."""

    starts: Int32
    ends: Int32
    edges: UInt8
    points: npt.NDArray[np.uint32]


@cache
def _kinds(is_markup: bool) -> UInt8:
    kinds = np.full(N_CODE_POINTS, _WORD, dtype=np.uint8)
    kinds[[ord(white) for white in WHITE_SPACE]] = _WHITE
    kinds[ord("\n")] = _NEWLINE
    if is_markup:
        kinds[ord("<")], kinds[ord(">")] = _LESS, _GREATER
    return kinds


def _divided(*rules: tuple[int, int, int]) -> UInt8:
    table = np.zeros((5, 5), dtype=np.uint8)
    for before, after, rule in rules:
        table[before, after] = rule
    return table


_WORDS: Final = Tokeniser(r"\s+", "", r"(?<![^\n])", r"(?![^\n])", False, _divided())
_MARKUP: Final = Tokeniser(
    between=r"(?:\s+|(?=[<>])|(?<=>))",
    edge=r"|(?=[<>])|(?<=>)",
    line_begin=r"(?:(?<![^\n>])|(?=<))",
    line_end=r"(?:(?![^\n<])|(?<=>))",
    is_markup=True,
    # In markup, a line is the text between two tags; each tag is a line too.
    divided=_divided(
        *((kind, _LESS, 3) for kind in (_WORD, _LESS)),
        *((_GREATER, kind, 3) for kind in (_WORD, _LESS, _GREATER)),
        *((kind, _GREATER, 1) for kind in (_WORD, _LESS)),
        (_WHITE, _LESS, 2),
        (_GREATER, _WHITE, 2),
    ),
)
TEXT, HTML, CLEANED = "text", "html", "cleaned"
TOKENISERS: Final = {TEXT: _WORDS, HTML: _MARKUP, CLEANED: _WORDS}
"""View → its tokeniser."""
VIEWS: Final = tuple(TOKENISERS)
"""The texts that can be mined: the text of all blocks, the canonical HTML, or the kept text."""


def spans(text: str, tokeniser: Tokeniser) -> Spans:
    """The tokens of a text."""
    points = code_points(text)
    starts, ends = np.empty(len(points), dtype=np.int32), np.empty(len(points), dtype=np.int32)
    edges = np.empty(len(points), dtype=np.uint8)
    n = kernel.bounds(*views(points, _kinds(tokeniser.is_markup), tokeniser.divided, starts, ends, edges))
    return Spans(starts[:n], ends[:n], edges[:n], points)


class Vocabulary:
    """Numbers distinct tokens in the order in which they first appear."""

    def __init__(self) -> None:
        self.n = 0
        self._keys = np.empty((1 << 12, 2), dtype=np.uint64)
        self._slots = np.full(1 << 13, -1, dtype=np.int32)

    def number(self, found: Spans) -> tuple[Int32, Int32]:
        """The number of each token, and the index of the first occurrence of each new token."""
        n_tokens = len(found.starts)
        needed = self.n + n_tokens
        if needed > len(self._keys):
            keys = np.empty((max(needed, 2 * len(self._keys)), 2), dtype=np.uint64)
            keys[: self.n] = self._keys[: self.n]
            self._keys = keys
        if 2 * needed > len(self._slots):
            size = 1 << (4 * needed - 1).bit_length()
            self._slots = np.full(size, -1, dtype=np.int32)
            kernel.rehash(memoryview(self._keys), KEY, self.n, memoryview(self._slots))
        ids, first = np.empty(n_tokens, dtype=np.int32), np.empty(n_tokens, dtype=np.int32)
        columns = (found.points, found.starts, found.ends, self._keys, self._slots)
        before = self.n
        self.n = kernel.intern(*views(*columns), KEY, before, *views(ids, first))
        return ids, first[: self.n - before]


def words(text: str, found: Spans, places: Int32) -> list[str]:
    """The tokens at these indices, as strings."""
    starts, ends = found.starts[places].tolist(), found.ends[places].tolist()
    return [text[start:end] for start, end in zip(starts, ends, strict=True)]
