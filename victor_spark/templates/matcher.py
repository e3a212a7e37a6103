"""Which parts of a text are templates: all of a site's templates as one automaton over tokens."""

from collections.abc import Iterable, Sequence
from typing import Final

from victor_spark.page import Int32

NEAR: Final = 10
"""Intervals at most so many characters apart are one."""


class Matcher:
    """The templates of one site (Template.tokens of each), ready to be applied to texts of `view`."""

    def __init__(self, templates: Iterable[Sequence[str]], view: str = "text", *, near: int = NEAR) -> None:
        raise NotImplementedError

    def intervals(self, text: str) -> Int32:
        """Shape (n, 2): ordered, disjoint code point intervals that templates cover, near ones merged."""
        raise NotImplementedError


def remove(text: str, intervals: Int32) -> str:
    """`text` without the intervals."""
    kept, position = [], 0
    for start, end in intervals.tolist():
        kept.append(text[position:start])
        position = end
    return "".join(kept) + text[position:]
