"""Labelled pages → an NCleaner model: counts, interpolation, and a calibration on pages left out."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from victor_spark.blocks import OTHER, Bool, Float32, Float64, Int64, UInt32
from victor_spark.extractors import ncleaner
from victor_spark.extractors.ncleaner import N_RESERVED, Model, Ratios, Segments
from victor_spark.html.characters import properties
from victor_spark.kernels.num import CLASS_MASK, DIGIT, LETTER, WHITE
from victor_spark.train.crf import TrainingPage

N_FOLDS: Final = 2
LEAST_COUNT: Final = 2
"""Rarer characters have no symbol of their own, rarer trigrams no entry."""
_MAX_STEPS: Final = 50
LIKELIHOOD: Final = np.array([0.0, 1.0, 0.0])
"""The calibration of a model that has none: the mean ratio alone decides."""
RIDGE: Final = 1.0
"""The penalty of the calibration; it has an effect only if there are few pages."""


@dataclass(frozen=True, slots=True)
class _Read:
    """The segments of a page, and which of them are clean text."""

    found: Segments
    clean: Bool


def train(
    examples: Sequence[TrainingPage],
    *,
    lexical: bool = True,
    calibrated: bool = True,
    about: Mapping[str, Any] | None = None,
) -> Model:
    """The model of some pages. ValueError where they have no clean, or no dirty text.

    The calibration is fitted on ratios by models of the other fold's pages, since models are overconfident
    about their own pages. Folds are by site; the pages of a single site are distributed one by one. If not
    `calibrated`, a segment is clean when its characters are likelier in clean text.
    """
    characters = alphabet(examples, lexical=lexical)
    table = ncleaner.symbol_table(characters, lexical=lexical)
    pages = [_read(example, table) for example in examples]
    if not _both_kinds(pages):
        raise ValueError("the pages need both text that is kept and text that is not")
    n_symbols = N_RESERVED + len(characters)
    sites, numbers = np.unique([example.site for example in examples], return_inverse=True)
    folds = (numbers if len(sites) >= N_FOLDS else np.arange(len(examples))) % N_FOLDS
    calibration = _calibration(pages, folds, n_symbols) if calibrated else LIKELIHOOD
    ratios = estimate(_counts(pages, n_symbols), n_symbols)
    return Model(lexical, characters, ratios, calibration, about or {})


def alphabet(examples: Iterable[TrainingPage], *, lexical: bool) -> UInt32:
    """The characters with a symbol of their own: those seen LEAST_COUNT times, ascending."""
    counts: Counter[int] = Counter({ord("a"): LEAST_COUNT, ord("0"): LEAST_COUNT})
    for example in examples:
        points, n = np.unique(example.blocks.points, return_counts=True)
        counts.update(dict(zip(points.tolist(), n.tolist(), strict=True)))
    common = counts.most_common(ncleaner.MAX_CHARACTERS)
    often = [point for point, n in common if n >= LEAST_COUNT]
    found = np.array(sorted(often), dtype=np.uint32)
    classes = properties()[found] & CLASS_MASK
    own = classes != WHITE
    if not lexical:
        own &= ~np.isin(classes, (LETTER, DIGIT)) | np.isin(found, (ord("a"), ord("0")))
    return np.asarray(found[own], dtype=np.uint32)


def _read(example: TrainingPage, table: npt.NDArray[np.uint16]) -> _Read:
    """The segments of a page; clean are those with most of their characters in content."""
    found = ncleaner.segments(example.blocks, table)
    length = example.blocks.text_end - example.blocks.text_start
    every, clean = (
        np.bincount(found.of_block, weights=weights, minlength=found.n)
        for weights in (length, length * (example.labels != OTHER))
    )
    return _Read(found, 2 * clean > every)


def _both_kinds(pages: Sequence[_Read]) -> bool:
    return any(page.clean.any() for page in pages) and any((~page.clean).any() for page in pages)


Counts = tuple[Int64, Float64]
"""Keys of n-grams (symbols as digits in base V), and their counts in clean and dirty text, shape (2, n)."""


def _counts(pages: Iterable[_Read], n_symbols: int) -> Counts:
    """The trigrams of all predicted characters."""
    keys, times = [], []
    for page in pages:
        symbols, ends = page.found.symbols, page.found.rows
        trigrams = (symbols[ends - 2] * n_symbols + symbols[ends - 1]) * n_symbols + symbols[ends]
        distinct, n = np.unique(2 * trigrams + ~page.clean[page.found.of_row], return_counts=True)
        keys.append(distinct)
        times.append(n)
    kinds, n_times = np.concatenate(keys), np.concatenate(times)
    return _summed(kinds // 2, n_times * np.stack([kinds % 2 == 0, kinds % 2 == 1]))


def estimate(counted: Counts, n_symbols: int) -> Ratios:
    """The ratios of both models, interpolated as documented in extractors.ncleaner."""
    keys, counts = counted
    symbols = keys % n_symbols
    n_unigrams = np.stack([np.bincount(symbols, weights=n, minlength=n_symbols) for n in counts])
    one = (n_unigrams + 1) / (n_unigrams.sum(axis=1, keepdims=True) + n_symbols)

    bigram_keys, n_bigrams = _often(*_summed(keys % n_symbols**2, counts))
    context, symbol = np.divmod(bigram_keys, n_symbols)
    weight, share = _interpolation(context, n_bigrams, n_symbols)
    two = share + weight[:, context] * one[:, symbol]

    trigram_keys, n_trigrams = _often(keys, counts)
    contexts, of_context = np.unique(trigram_keys // n_symbols, return_inverse=True)
    context_weight, share = _interpolation(of_context, n_trigrams, len(contexts))
    shorter = np.searchsorted(bigram_keys, trigram_keys % n_symbols**2)
    three = share + context_weight[:, of_context] * two[:, shorter]

    # Every context was predicted once, as a bigram, except two edges.
    keys = np.union1d(bigram_keys, contexts)
    bigrams = _ratio(weight)[keys // n_symbols] + _ratio(one)[keys % n_symbols]
    bigrams[np.searchsorted(keys, bigram_keys)] = _ratio(two)
    bigram_weights = np.zeros(len(keys), dtype=np.float32)
    bigram_weights[np.searchsorted(keys, contexts)] = _ratio(context_weight)
    return Ratios(
        unigrams=_ratio(one),
        unigram_weights=_ratio(weight),
        bigram_keys=keys,
        bigrams=bigrams,
        bigram_weights=bigram_weights,
        trigram_keys=trigram_keys,
        trigrams=_ratio(three),
    )


def _often(keys: Int64, counts: Float64) -> Counts:
    """Those seen LEAST_COUNT times in both texts together."""
    often = counts.sum(axis=0) >= LEAST_COUNT
    return keys[often], counts[:, often]


def _summed(keys: Int64, counts: npt.NDArray[Any]) -> Counts:
    """Distinct keys, ascending, and the sum of their counts in both texts."""
    distinct, rows = np.unique(keys, return_inverse=True)
    return distinct, np.stack([np.bincount(rows, weights=n, minlength=len(distinct)) for n in counts])


def _interpolation(contexts: Int64, counts: npt.NDArray[Any], n: int) -> tuple[Float64, Float64]:
    """T(h) / (n(h) + T(h)) of every context, 1 for one not seen; n(hc) / (n(h) + T(h)) of every n-gram."""
    total = np.stack([np.bincount(contexts, weights=row, minlength=n) for row in counts])
    kinds = np.stack([np.bincount(contexts, weights=row > 0, minlength=n) for row in counts])
    both = total + kinds
    weight = np.divide(kinds, both, out=np.ones_like(both), where=both > 0)
    return weight, counts / np.maximum(both, 1)[:, contexts]


def _ratio(both: Float64) -> Float32:
    return np.asarray(np.log(both[0]) - np.log(both[1]), dtype=np.float32)


def _calibration(pages: Sequence[_Read], folds: Int64, n_symbols: int) -> Float64:
    """Logistic regression of being clean on `ncleaner.features`, one row per segment.

    Segments are weighted by characters, as in precision and recall of a text.
    """
    rows, wanted, weights = [], [], []
    for fold in range(N_FOLDS):
        own = [page for page, number in zip(pages, folds, strict=True) if number == fold]
        others = [page for page, number in zip(pages, folds, strict=True) if number != fold]
        seen = others if _both_kinds(others) else pages
        ratios = estimate(_counts(seen, n_symbols), n_symbols)
        for page in own:
            rows.append(ncleaner.features(page.found, ratios))
            wanted.append(page.clean.astype(np.float64))
            weights.append(np.bincount(page.found.of_row, minlength=page.found.n))
    return _logistic(np.concatenate(rows), np.concatenate(wanted), np.concatenate(weights))


def _logistic(rows: Float64, wanted: Float64, n_characters: Int64) -> Float64:
    """A logistic regression by Newton's method; all but the constant are penalised."""
    found = np.zeros(rows.shape[1])
    penalty = RIDGE * np.diag([1e-3, *np.ones(len(found) - 1)])
    row_weights = n_characters / n_characters.mean()
    for _ in range(_MAX_STEPS):
        p = ncleaner.logistic(rows @ found)
        gradient = rows.T @ (row_weights * (p - wanted)) + penalty @ found
        curvature = (rows * (row_weights * p * (1 - p))[:, None]).T @ rows + penalty
        step = np.linalg.solve(curvature, gradient)
        found -= step
        if np.abs(step).max() < 1e-8:
            break
    return found
