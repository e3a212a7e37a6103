"""Features of `victor-2008`, those of the paper (Victor, section 3.2).

A feature is one number per block. Its bin edges and offsets are in conf/features/victor-2008.toml and
are stored with the model. Most are features of `victor-2`, too, and are computed with these. The others are
those of language and of regular expressions:

regexp.url, regexp.date and regexp.time are lists of regular expressions: the value of a block is the number
of the first expression that matches, 0 for none. Expressions run over the joined text of the few blocks that
could match, never block by block.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from victor_spark.blocks import Blocks, Float32
from victor_spark.errors import ConfigurationError
from victor_spark.kernels import num
from victor_spark.model import surroundings
from victor_spark.model.surroundings import CHARACTERS, CONTAINERS, SPLITS, TOKENS, Fill

Column: TypeAlias = npt.NDArray[Any]

Patterns: TypeAlias = Mapping[str, re.Pattern[str]]
"""Family → one expression that gives, at every place, the number of the first alternative that matches."""

FAMILIES: Final[Mapping[str, str]] = {"url": r"[:.@]", "date": r"\d", "time": r"\d"}
"""Family → the beginning of each of its expressions: one character, which is found fast."""

NAMES: Final = (
    # Markup: all ancestors, and the tags since the previous block.
    *(f"container.{name}" for name in CONTAINERS[:9]),  # those of the paper
    *(f"split.{name}" for name in SPLITS),
    # Content: characters, tokens, sentences, duplicates, patterns, layout groups.
    *(f"char.{kind}-{measure}" for measure in ("abs", "rel") for kind in CHARACTERS),
    *(f"token.{kind}-{measure}" for measure in ("abs", "rel") for kind in TOKENS),
    *("sentence.count", "sentence.avg-length", "sentence-begin", "sentence-end"),
    *("first-duplicate", "duplicate-count"),
    *(f"regexp.{family}" for family in FAMILIES),
    *("div-group.word-ratio", "td-group.word-ratio", "langid1", "langid2"),
    # Document.
    *("position", *(f"document.{name}" for name in num.DOCUMENT)),
)
"""The features in the order of their rows."""

_SHARED: Final = [name for name in NAMES if name in surroundings.NAMES]
_SHARED_ROWS: Final = [NAMES.index(name) for name in _SHARED]
_ROWS_THERE: Final = [surroundings.NAMES.index(name) for name in _SHARED]


def rows_of(blocks: Blocks, patterns: Patterns) -> Fill:
    """A function that fills `rows` (len(NAMES), n blocks) of a page with at least one block."""
    own = {f"regexp.{family}": column for family, column in first_matches(blocks, patterns).items()}
    own |= {"langid1": blocks.langid1, "langid2": blocks.langid2}
    fill_shared = surroundings.rows_of(blocks)
    surroundings.layout_of.cache_clear()  # it holds the page

    def fill(first: int, rows: Float32) -> None:
        of_victor_2 = np.empty((len(surroundings.NAMES), rows.shape[1]), dtype=np.float32)
        fill_shared(first, of_victor_2)
        rows[_SHARED_ROWS] = of_victor_2[_ROWS_THERE]
        for name, column in own.items():
            rows[NAMES.index(name)] = column[first : first + rows.shape[1]]

    return fill


def compile_patterns(expressions: Mapping[str, Sequence[str]]) -> Patterns:
    """The compiled expressions of conf/patterns.toml; ConfigurationError for an invalid one."""
    if set(expressions) != set(FAMILIES):
        raise ConfigurationError(f"patterns: the families are {', '.join(FAMILIES)}")
    return {family: _compiled(family, expressions[family]) for family in FAMILIES}


def _compiled(family: str, expressions: Sequence[str]) -> re.Pattern[str]:
    prefix = FAMILIES[family]
    for expression in expressions:
        where = f"patterns: {family}: {expression}"
        try:
            groups = re.compile(expression).groups
        except re.error as error:
            raise ConfigurationError(f"{where}: {error}") from error
        if groups or not expression.startswith(prefix):
            raise ConfigurationError(f"{where}: begin with {prefix!r}, and capture nothing")
    # Look-ahead groups: a match consumes only the prefix, so that matches of others may overlap it.
    alternatives = "|".join(f"(?=({expression[len(prefix) :]}))" for expression in expressions) or "(?!)"
    return re.compile(f"{prefix}(?:{alternatives})", re.IGNORECASE)


def first_matches(blocks: Blocks, patterns: Patterns) -> Mapping[str, Column]:
    """Per family, the 1-based number of the first expression that matches each block."""
    digits = _lines(blocks, np.flatnonzero(blocks.n_digits))
    urls = _lines(blocks, np.flatnonzero(blocks.has_url_mark))
    values = {}
    for family, pattern in patterns.items():
        rows, lines, starts = urls if family == "url" else digits
        value = np.full(len(blocks), _NONE, dtype=np.int32)
        if hits := [(match.start(), match.lastindex) for match in pattern.finditer(lines)]:
            places, numbers = np.array(hits).T
            np.minimum.at(value, rows[np.searchsorted(starts, places, side="right") - 1], numbers)
        values[family] = np.where(value == _NONE, 0, value)
    return values


_NONE: Final = np.iinfo(np.int32).max
_BETWEEN: Final = "\n\0\n"
"""Stands between two texts: neither white space alone nor a word, so that nothing matches across it."""


def _lines(blocks: Blocks, rows: Column) -> tuple[Column, str, Column]:
    """`rows`, their texts joined, and where each text starts in the joined string."""
    lengths = blocks.text_end[rows] - blocks.text_start[rows] + len(_BETWEEN)
    return rows, _BETWEEN.join(blocks.texts(rows)), np.cumsum(lengths) - lengths
