"""regexp.url, regexp.date, regexp.time: arrays of regular expressions (Victor, section 3.2).

The value of a block is the number of the first expression that matches, 0 for none. Expressions
run over the joined text of the few blocks that could match, never block by block.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from victor_spark.blocks import Blocks
from victor_spark.errors import ConfigurationError

Patterns: TypeAlias = Mapping[str, re.Pattern[str]]
"""Family → one expression that gives, at every place, the number of the first alternative that matches."""

FAMILIES: Final[Mapping[str, str]] = {"url": r"[:.@]", "date": r"\d", "time": r"\d"}
"""Family → what each of its expressions begins with: one character, found fast; the rest is tried at each."""


def compile_patterns(expressions: Mapping[str, Sequence[str]]) -> Patterns:
    """The expressions of conf/patterns.toml, compiled; ConfigurationError for one that can't be."""
    if set(expressions) != set(FAMILIES):
        raise ConfigurationError(f"patterns: the families are {', '.join(FAMILIES)}")
    return {family: _compiled(family, expressions[family]) for family in FAMILIES}


def _compiled(family: str, expressions: Sequence[str]) -> re.Pattern[str]:
    prefix = FAMILIES[family]
    for expression in expressions:
        try:
            groups = re.compile(expression).groups
        except re.error as error:
            raise ConfigurationError(f"patterns: {family}: {expression}: {error}") from error
        if groups or not expression.startswith(prefix):
            raise ConfigurationError(
                f"patterns: {family}: {expression}: begin with {prefix!r}, and capture nothing"
            )
    # Look-ahead groups: a match consumes nothing but the prefix, so none hides another.
    alternatives = "|".join(f"(?=({expression[len(prefix) :]}))" for expression in expressions) or "(?!)"
    return re.compile(f"{prefix}(?:{alternatives})", re.IGNORECASE)


def first_matches(blocks: Blocks, patterns: Patterns) -> Mapping[str, npt.NDArray[Any]]:
    """Per family, the 1-based number of the first expression that matches each block."""
    digits = _lines(blocks, np.flatnonzero(blocks.n_digits))
    urls = _lines(blocks, np.flatnonzero(blocks.has_url_mark))
    values = {}
    for family, pattern in patterns.items():
        rows, lines, starts = urls if family == "url" else digits
        value = np.full(len(blocks), _NONE, dtype=np.int32)
        hits = [(match.start(), match.lastindex) for match in pattern.finditer(lines)]
        if hits:
            places, numbers = np.array(hits).T
            np.minimum.at(value, rows[np.searchsorted(starts, places, side="right") - 1], numbers)
        values[family] = np.where(value == _NONE, 0, value)
    return values


_NONE: Final = np.iinfo(np.int32).max
_BETWEEN: Final = "\n\0\n"
"""Stands between two texts: neither white space alone nor a word, so that nothing matches across it."""

_Lines: TypeAlias = tuple[npt.NDArray[np.intp], str, npt.NDArray[np.int64]]


def _lines(blocks: Blocks, rows: npt.NDArray[np.intp]) -> _Lines:
    """`rows`, their texts joined, and where each text starts in the joined string."""
    text = blocks.text
    spans = zip(blocks.text_start[rows].tolist(), blocks.text_end[rows].tolist(), strict=True)
    lengths = blocks.text_end[rows] - blocks.text_start[rows] + len(_BETWEEN)
    return rows, _BETWEEN.join([text[start:end] for start, end in spans]), np.cumsum(lengths) - lengths
