"""Features of `victor-2008`, those of the paper, as a table: one entry, one feature (Victor, section 3.2).

A feature is one number per block, computed from a page's block columns. Its bin edges and offsets
stand in conf/features/victor-2008.toml and travel inside the model.

regexp.url, regexp.date and regexp.time are lists of regular expressions: the value of a block is the number
of the first expression that matches, 0 for none. Expressions run over the joined text of the few blocks that
could match, never block by block.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from victor_spark.blocks import Blocks, Float32, no_blocks
from victor_spark.errors import ConfigurationError
from victor_spark.html.tags import inside
from victor_spark.model.surroundings import CHARACTERS, CONTAINERS, SPLITS, TOKENS, Fill

Column: TypeAlias = npt.NDArray[Any]

Patterns: TypeAlias = Mapping[str, re.Pattern[str]]
"""Family → one expression that gives, at every place, the number of the first alternative that matches."""

FAMILIES: Final[Mapping[str, str]] = {"url": r"[:.@]", "date": r"\d", "time": r"\d"}
"""Family → the beginning of each of its expressions: one character, which is found fast."""

_IN: Final = CONTAINERS[:9]  # those of the paper


def columns(blocks: Blocks, patterns: Patterns) -> dict[str, Column]:
    """Feature → its number for every block of a page."""
    n, n_words = len(blocks), blocks.n_words
    n_characters = blocks.text_end - blocks.text_start  # white space inside the block included
    n_tokens = np.maximum(n_words + blocks.n_other_tokens, 1)  # all that white space separates
    _, first, inverse, counts = np.unique(
        blocks.letters_hash, return_index=True, return_inverse=True, return_counts=True
    )
    n_same = counts[inverse]
    div_ratio, td_ratio = (_word_ratio(blocks, group) for group in (blocks.div_group, blocks.td_group))
    of_page = {
        "word-count": n_words.sum(),
        "sentence-count": blocks.n_sentences.sum(),
        "block-count": n,
        "max-div-group": div_ratio.max(initial=0.0),
        "max-td-group": td_ratio.max(initial=0.0),
    }
    return {
        # Markup: all ancestors, and the tags since the previous block.
        **{f"container.{name}": inside(blocks, name) for name in _IN},
        **{f"split.{name}": getattr(blocks, f"n_split_{column}") for name, column in SPLITS.items()},
        # Content: characters, tokens, sentences, duplicates, patterns, layout groups.
        **{f"char.{kind}-abs": getattr(blocks, column) for kind, column in CHARACTERS.items()},
        **{f"char.{kind}-rel": getattr(blocks, column) / n_characters for kind, column in CHARACTERS.items()},
        **{f"token.{kind}-abs": getattr(blocks, column) for kind, column in TOKENS.items()},
        **{f"token.{kind}-rel": getattr(blocks, column) / n_tokens for kind, column in TOKENS.items()},
        "sentence.count": blocks.n_sentences,
        "sentence.avg-length": n_words / np.maximum(blocks.n_sentences, 1),
        "sentence-begin": blocks.sentence_begin,
        "sentence-end": blocks.sentence_end,
        "first-duplicate": np.isin(np.arange(n), first) & (n_same > 1),
        "duplicate-count": n_same,
        **{f"regexp.{family}": column for family, column in first_matches(blocks, patterns).items()},
        "div-group.word-ratio": div_ratio,
        "td-group.word-ratio": td_ratio,
        "langid1": blocks.langid1,
        "langid2": blocks.langid2,
        # Document.
        "position": np.arange(n) / max(n - 1, 1),
        **{f"document.{name}": np.full(n, value) for name, value in of_page.items()},
    }


def _word_ratio(blocks: Blocks, group: Column) -> Column:
    """The share of the page's unlinked words in groups that stand in the block's; 0 outside groups."""
    totals = np.bincount(group, weights=np.where(inside(blocks, "a"), 0, blocks.n_words))
    totals[:1] = 0
    return np.asarray((totals / max(totals.sum(), 1.0))[group])


def rows_of(blocks: Blocks, patterns: Patterns) -> Fill:
    """A function that fills `rows` (len(NAMES), n blocks) of a page."""
    found = list(columns(blocks, patterns).values())

    def fill(first: int, rows: Float32) -> None:
        for row, column in enumerate(found):
            rows[row] = column[first : first + rows.shape[1]]

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


NAMES: Final = tuple(columns(no_blocks(), compile_patterns(dict.fromkeys(FAMILIES, ()))))
"""The features in the order of their rows."""
