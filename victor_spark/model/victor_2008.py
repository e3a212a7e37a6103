"""Features of `victor-2008`, those of the paper, as a table: one entry, one feature (Victor, section 3.2).

A feature is a function of a page's block columns that gives one number per block. Its bin edges and offsets
stand in conf/features/victor-2008.toml and travel inside the model.

regexp.url, regexp.date and regexp.time are lists of regular expressions: the value of a block is the number
of the first expression that matches, 0 for none. Expressions run over the joined text of the few blocks that
could match, never block by block.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from victor_spark.blocks import Blocks, Float32
from victor_spark.errors import ConfigurationError
from victor_spark.html.tags import BIT
from victor_spark.model.surroundings import Fill

Column: TypeAlias = npt.NDArray[Any]

Patterns: TypeAlias = Mapping[str, re.Pattern[str]]
"""Family → one expression that gives, at every place, the number of the first alternative that matches."""

FAMILIES: Final[Mapping[str, str]] = {"url": r"[:.@]", "date": r"\d", "time": r"\d"}
"""Family → what each of its expressions begins with: one character, found fast; the rest is tried at each."""


@dataclass(frozen=True)
class BlockView:
    """The columns of one page, and what several features derive from them, computed once."""

    blocks: Blocks
    patterns: Patterns

    @cached_property
    def n_chars(self) -> Column:
        """Characters per block, white space inside included."""
        return self.blocks.text_end - self.blocks.text_start

    @cached_property
    def n_words(self) -> Column:
        """Tokens with a letter or a digit."""
        return self.blocks.n_words

    @cached_property
    def n_tokens(self) -> Column:
        """All white-space separated tokens."""
        return self.n_words + self.blocks.n_other_tokens

    @cached_property
    def duplicates(self) -> tuple[Column, Column]:
        """How many blocks have the same letters, this one included; which are the first of several."""
        _, first, inverse, counts = np.unique(
            self.blocks.letters_hash, return_index=True, return_inverse=True, return_counts=True
        )
        n_same = counts[inverse]
        is_first = np.zeros(len(n_same), dtype=bool)
        is_first[first] = True
        return n_same, is_first & (n_same > 1)

    @cached_property
    def div_word_ratio(self) -> Column:
        """The share of the page's unlinked words that stand in the block's div group."""
        return self._word_ratio(self.blocks.div_group)

    @cached_property
    def td_word_ratio(self) -> Column:
        """The same for table cells."""
        return self._word_ratio(self.blocks.td_group)

    def _word_ratio(self, group: Column) -> Column:
        """Words outside links in the block's group / such words in all groups; 0 outside groups."""
        words = np.where(container(self.blocks, "a"), 0, self.n_words)
        totals = np.bincount(group, weights=words)
        totals[:1] = 0
        return np.asarray((totals / max(totals.sum(), 1.0))[group])

    @cached_property
    def matches(self) -> Mapping[str, Column]:
        """Per family of patterns, the number of the first that matches."""
        return first_matches(self.blocks, self.patterns)


def container(blocks: Blocks, name: str) -> npt.NDArray[np.bool_]:
    """Which blocks have an ancestor in the class html.tags.CONTAINERS[name]."""
    return np.asarray((blocks.containers & np.uint64(BIT[name])) != 0)


def _container(name: str) -> Callable[[BlockView], Column]:
    return lambda view: container(view.blocks, name)


def _column(name: str) -> Callable[[BlockView], Column]:
    return lambda view: np.asarray(getattr(view.blocks, name))


def _per_char(name: str) -> Callable[[BlockView], Column]:
    return lambda view: getattr(view.blocks, name) / view.n_chars


def _per_token(name: str) -> Callable[[BlockView], Column]:
    return lambda view: getattr(view.blocks, name) / np.maximum(view.n_tokens, 1)


def _matches(family: str) -> Callable[[BlockView], Column]:
    return lambda view: view.matches[family]


def _whole(value: Callable[[BlockView], float]) -> Callable[[BlockView], Column]:
    """One number for the page, the same for every block."""
    return lambda view: np.full(len(view.blocks), value(view))


def _max(column: Column) -> float:
    return float(column.max()) if len(column) else 0.0


_CHARACTERS: Final = {
    "alpha": "n_letters", "num": "n_digits", "punct": "n_punctuation", "white": "n_white", "other": "n_other"
}  # fmt: skip
_TOKENS: Final = {kind: f"n_{kind}_tokens" for kind in ("alpha", "num", "mix", "other")}
_IN: Final = (
    "p",
    "a",
    "u",
    "img",
    *(f"class-{kind}" for kind in ("header", "bold", "italic", "list", "form")),
)
_SPLITS: Final = {"p": "p", "br": "br", "hr": "hr", "class-inline": "inline", "class-block": "block"}

VICTOR_2008: Final[Mapping[str, Callable[[BlockView], Column]]] = {
    # Markup: all ancestors, and the tags since the previous block.
    **{f"container.{name}": _container(name) for name in _IN},
    **{f"split.{name}": _column(f"n_split_{column}") for name, column in _SPLITS.items()},
    # Content: characters, tokens, sentences, twins, patterns, layout groups.
    **{f"char.{kind}-abs": _column(column) for kind, column in _CHARACTERS.items()},
    **{f"char.{kind}-rel": _per_char(column) for kind, column in _CHARACTERS.items()},
    **{f"token.{kind}-abs": _column(column) for kind, column in _TOKENS.items()},
    **{f"token.{kind}-rel": _per_token(column) for kind, column in _TOKENS.items()},
    "sentence.count": _column("n_sentences"),
    "sentence.avg-length": lambda view: view.n_words / np.maximum(view.blocks.n_sentences, 1),
    "sentence-begin": _column("sentence_begin"),
    "sentence-end": _column("sentence_end"),
    "first-duplicate": lambda view: view.duplicates[1],
    "duplicate-count": lambda view: view.duplicates[0],
    **{f"regexp.{family}": _matches(family) for family in FAMILIES},
    "div-group.word-ratio": lambda view: view.div_word_ratio,
    "td-group.word-ratio": lambda view: view.td_word_ratio,
    "langid1": _column("langid1"),
    "langid2": _column("langid2"),
    # Document.
    "position": lambda view: np.arange(len(view.blocks)) / max(len(view.blocks) - 1, 1),
    "document.word-count": _whole(lambda view: float(view.n_words.sum())),
    "document.sentence-count": _whole(lambda view: float(view.blocks.n_sentences.sum())),
    "document.block-count": _whole(lambda view: float(len(view.blocks))),
    "document.max-div-group": _whole(lambda view: _max(view.div_word_ratio)),
    "document.max-td-group": _whole(lambda view: _max(view.td_word_ratio)),
}


def rows_of(blocks: Blocks, patterns: Patterns) -> Fill:
    """What fills `rows` (len(VICTOR_2008), any number of blocks) of a page."""
    view = BlockView(blocks, patterns)
    columns = [feature(view) for feature in VICTOR_2008.values()]

    def fill(first: int, rows: Float32) -> None:
        for row, column in enumerate(columns):
            rows[row] = column[first : first + rows.shape[1]]

    return fill


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
