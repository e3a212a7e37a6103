"""NCleaner: paragraphs whose characters are likelier in clean text than in boilerplate (Evert 2008).

As Lejeune and Zhu (2018, section 3.4) describe it: character n-gram models (n up to 3) of clean and of dirty
text score each segment by itself; no markup is looked at. Ours weighs the mean ratio of a segment's
characters against its length, as calibrated in training, so that its probabilities can be thresholded. The
settings are models: default, non-lexical, and those trained on a number of pairs.

A segment is a paragraph as a text dump of the page shows it: blocks joined over inline splits, white space
collapsed. Every segment stands between edges, two before it, so that its first character has a full context
and its end is an event too.

The two models are one table of log-likelihood ratios. Both interpolate orders 1 to 3 after Witten and Bell:
P(c | h) = (n(hc) + T(h)·P(c | h')) / (n(h) + T(h)), T(h) being the number of different characters seen after
h, h' the shorter context, and P(c) = (n(c) + 1) / (N + V). For an n-gram that neither text has, the ratio is
that of the shorter n-gram plus the ratio of the weights T(h) / (n(h) + T(h)): so one number an n-gram, and
one a context, are all there is to store.
"""

import io
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from victor_spark.blocks import Blocks, Bool, Cleaner, Float32, Float64, Int64, Page, Scores, UInt16, UInt32
from victor_spark.errors import ModelError
from victor_spark.html.characters import properties
from victor_spark.kernels.num import CLASS_MASK, DIGIT, LETTER, UNSPACED, WHITE
from victor_spark.model.decision import by_threshold

FORMAT: Final = 1
_MAX_LOG_ODDS: Final = 30.0

EDGE, SPACE, RARE_OTHER, RARE_LETTER, RARE_DIGIT, RARE_PUNCTUATION, RARE_UNSPACED = range(7)
N_RESERVED: Final = 7
"""Symbols that stand for no character in particular: edges, white space, and rare characters by class."""
MAX_CHARACTERS: Final = 0xFFFF - N_RESERVED

_RARE: Final = np.array([RARE_OTHER, RARE_LETTER, RARE_DIGIT, RARE_PUNCTUATION, SPACE], dtype=np.uint16)
"""Class of a character (html.characters) → symbol."""


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
    """Code point → symbol, shape (N_CODE_POINTS,); `characters` are those with a symbol of their own.

    Non-lexical (Lejeune and Zhu 2018, section 3.4): every letter is the letter `a`, every digit `0`.
    """
    classes = properties() & CLASS_MASK
    table: UInt16 = _RARE[classes]
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
    ends = np.diff(blocks.paragraph, append=-1) != 0
    symbols = table[blocks.points].astype(np.int64)
    # The newline after a block becomes two edges, a space where the page has one, or nothing.
    symbols[blocks.text_end] = np.where(ends, EDGE, SPACE)
    times = np.ones(len(symbols), dtype=np.int64)
    times[blocks.text_end] = np.where(ends, 2, np.append(blocks.space_before[1:] > 0, False))
    symbols = np.concatenate([[EDGE, EDGE], np.repeat(symbols, times)])[:-1]
    white = symbols == SPACE
    symbols = symbols[np.append(True, ~(white[1:] & white[:-1]))]
    # The first of two edges ends a segment, the second one begins the next.
    second = np.append(False, (symbols[1:] == EDGE) & (symbols[:-1] == EDGE))
    rows = np.flatnonzero(~second)[1:]
    of_row = (np.cumsum(second) - 1)[rows]
    return Segments(symbols, rows, of_row, np.cumsum(begins) - 1, int(begins.sum()))


@dataclass(frozen=True, slots=True)
class Ratios:
    """log P(c | h; clean) - log P(c | h; dirty) for the n-grams that were seen, keys ascending.

    Keys are symbols as digits of a number in base V. `unigrams` and `unigram_weights` have a row a
    symbol; the weights of a context are used where no longer n-gram with it was seen.
    """

    unigrams: Float32
    unigram_weights: Float32
    bigram_keys: Int64
    bigrams: Float32
    bigram_weights: Float32
    trigram_keys: Int64
    trigrams: Float32


@dataclass(frozen=True, slots=True)
class Model:
    """Ratios over an alphabet, and the calibration that turns them into probabilities.

    `calibration` weighs 1, the mean ratio of a segment's characters, and the logarithm of their
    number; the sum is the log-odds of being clean.
    """

    lexical: bool
    characters: UInt32
    ratios: Ratios
    calibration: Float64
    about: Mapping[str, Any] = field(default_factory=dict)


def logistic(log_odds: Float64) -> Float64:
    """Probabilities from log-odds, which are clipped before they overflow."""
    return np.asarray(1 / (1 + np.exp(-np.clip(log_odds, -_MAX_LOG_ODDS, _MAX_LOG_ODDS))))


def load(stored: bytes) -> Cleaner:
    """`ncleaner` and its settings; ModelError for a bad model."""
    model = from_bytes(stored)
    table = symbol_table(model.characters, lexical=model.lexical)

    def clean(page: Page) -> Scores:
        found = segments(page.blocks, table)
        log_odds = features(found, model.ratios) @ model.calibration
        p_clean = logistic(log_odds)[found.of_block]
        is_heading = page.blocks.heading_level > 0
        probabilities = np.stack([p_clean * is_heading, p_clean * ~is_heading, 1 - p_clean], axis=1)
        return Scores(probabilities, by_threshold(probabilities, 0.5))

    return clean


def features(found: Segments, ratios: Ratios) -> Float64:
    """The features of the calibration, shape (n segments, 3)."""
    n = np.bincount(found.of_row, minlength=found.n)
    mean = np.bincount(found.of_row, weights=row_ratios(found, ratios), minlength=found.n) / np.maximum(n, 1)
    length = np.log(np.maximum(n, 1))
    return np.stack([np.ones(found.n), mean, length], axis=1)


def row_ratios(found: Segments, ratios: Ratios) -> Float32:
    """The log-likelihood ratio of every predicted character."""
    base, symbols, rows = len(ratios.unigrams), found.symbols, found.rows
    first, context, symbol = symbols[rows - 2], symbols[rows - 1], symbols[rows]
    row, known = _lookup(ratios.bigram_keys, context * base + symbol)
    shorter = ratios.unigram_weights[context] + ratios.unigrams[symbol]
    two = np.where(known, ratios.bigrams[row], shorter)
    before, seen = _lookup(ratios.bigram_keys, first * base + context)
    shorter = two + np.where(seen, ratios.bigram_weights[before], 0)
    row, known = _lookup(ratios.trigram_keys, (first * base + context) * base + symbol)
    return np.where(known, ratios.trigrams[row], shorter).astype(np.float32)


def _lookup(keys: Int64, wanted: Int64) -> tuple[Int64, Bool]:
    """A row of `keys` for each wanted key, and whether the key is in that row."""
    rows = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return rows, keys[rows] == wanted


_COLUMNS: Final = ("unigrams", "unigram_weights", "bigrams", "bigram_weights", "trigrams")
_KEYS: Final = ("bigram_keys", "trigram_keys")


def to_bytes(model: Model) -> bytes:
    """The model as one .npz; ratios rounded to 16 bits, keys as differences."""
    stored = {"format": FORMAT, "lexical": model.lexical, "about": dict(model.about)}
    arrays: dict[str, npt.NDArray[Any]] = {
        "description": np.frombuffer(json.dumps(stored, ensure_ascii=False).encode(), dtype=np.uint8),
        "characters": model.characters,
        "calibration": model.calibration,
    }
    arrays |= {name: getattr(model.ratios, name).astype(np.float16) for name in _COLUMNS}
    arrays |= {name: np.diff(getattr(model.ratios, name), prepend=0) for name in _KEYS}
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def from_bytes(stored: bytes, name: str = "model") -> Model:
    """The model in `stored`; ModelError when it is damaged or another kind of model."""
    try:
        with np.load(io.BytesIO(stored), allow_pickle=False) as arrays:
            description = json.loads(arrays["description"].tobytes())
            stated = description["format"], bool(description["lexical"])
            columns = {key: arrays[key].astype(np.float32) for key in _COLUMNS}
            keys = {key: np.cumsum(arrays[key].astype(np.int64)) for key in _KEYS}
            characters, calibration = arrays["characters"], arrays["calibration"]
    except Exception as error:  # numpy and zipfile raise many types for damaged files
        raise ModelError(f"{name}: not a model of ncleaner ({' '.join(str(error).split())})") from error
    if stated[0] != FORMAT:
        raise ModelError(f"{name}: model format {stated[0]!r}, this code reads {FORMAT}: train it again")
    model = Model(stated[1], characters, Ratios(**columns, **keys), calibration, description.get("about", {}))
    if not _is_sound(model):
        raise ModelError(f"{name}: not a model of ncleaner (its tables do not belong together)")
    return model


def _is_sound(model: Model) -> bool:
    """Whether the arrays of a model fit together; scoring does not check them again."""
    ratios, characters, n = model.ratios, model.characters, N_RESERVED + len(model.characters)
    sizes = (
        (ratios.unigrams, n),
        (ratios.unigram_weights, n),
        (ratios.bigrams, len(ratios.bigram_keys)),
        (ratios.bigram_weights, len(ratios.bigram_keys)),
        (ratios.trigrams, len(ratios.trigram_keys)),
        (model.calibration, 3),
    )
    return (
        characters.dtype == np.uint32
        and len(characters) <= MAX_CHARACTERS
        and bool((characters <= sys.maxunicode).all())
        and all(array.shape == (size,) and np.isfinite(array).all() for array, size in sizes)
        and all(len(keys) and (np.diff(keys) > 0).all() for keys in (ratios.bigram_keys, ratios.trigram_keys))
    )
