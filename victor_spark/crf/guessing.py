"""Trains the trees of a model: those before the CRF, whose score it sees, and those that revise it.

What a later stage learns from must look like what it will see, so no page teaches it with a guess of trees
that knew its site: they are grown again for each of a few folds of sites (stacking; Wolpert 1992).
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from victor_spark.crf import decode, revision, trees
from victor_spark.crf.decision import n_words
from victor_spark.crf.model import Model
from victor_spark.crf.table import FeatureTable
from victor_spark.crf.trees import TreeOptions, Trees
from victor_spark.page import OTHER, Blocks, Float32, UInt8


@dataclass(frozen=True, slots=True)
class TrainingPage:
    """A page's blocks, an index into LABELS per block, and the site that it is of."""

    blocks: Blocks
    labels: UInt8
    site: str = ""


def first(pages: Sequence[TrainingPage], table: FeatureTable) -> tuple[Trees | None, list[Float32]]:
    """The trees before the CRF, where the table needs some, and all its features of each page."""
    values = [table.values(page.blocks) for page in pages]
    if not table.needs_trees:
        return None, values
    unseen = _unseen(pages, values, table.trees.first, table.trees.n_folds)
    grown = _grow(pages, values, table.trees.first)
    return grown, [np.vstack([of_page, guess]) for of_page, guess in zip(values, unseen, strict=True)]


def last(pages: Sequence[TrainingPage], values: Sequence[Float32], model: Model) -> Model:
    """The model with trees that revise its CRF; `values` as `first` gave them.

    The CRF has too few weights to know its pages by heart: what it says of them here is what it would
    say of others.
    """
    rows = [
        revision.features(page.blocks, of_page, decode.chain_marginals(model, of_page))
        for page, of_page in zip(pages, values, strict=True)
    ]
    return replace(model, last=_grow(pages, rows, model.table.trees.last))


def grown_on(
    pages: Sequence[TrainingPage], start: Model, adapted: Model, options: TreeOptions, strength: float
) -> Model:
    """The adapted model with the last trees of `start`, and more that learnt on these pages what they miss.

    `strength` scales what the new trees say, from 0 to 1.
    """
    assert start.last is not None
    rows = []
    for page in pages:
        values = adapted.table.values(page.blocks, adapted.first)
        rows.append(revision.features(page.blocks, values, decode.chain_marginals(adapted, values)))
    said = [start.last(of_page) for of_page in rows]
    more = _grow(pages, rows, replace(options, depth=start.last.features.shape[1]), said)
    scaled = replace(more, leaves=more.leaves * np.float32(strength))
    return replace(adapted, last=trees.joined(start.last, scaled))


def _unseen(
    pages: Sequence[TrainingPage], values: Sequence[Float32], options: TreeOptions, n_folds: int
) -> list[Float32]:
    """The guess for each page by trees grown without its site."""
    fold_of = np.array(
        [zlib.crc32((page.site or str(row)).encode()) % n_folds for row, page in enumerate(pages)]
    )
    guesses = [np.zeros(0, dtype=np.float32)] * len(pages)
    for fold in np.unique(fold_of).tolist():
        others = np.flatnonzero(fold_of != fold).tolist() or range(len(pages))  # one fold alone: a tiny set
        guess = _grow([pages[row] for row in others], [values[row] for row in others], options)
        for row in np.flatnonzero(fold_of == fold).tolist():
            guesses[row] = guess(values[row])
    return guesses


def _grow(
    pages: Sequence[TrainingPage],
    values: Sequence[Float32],
    options: TreeOptions,
    said: Sequence[Float32] = (),
) -> Trees:
    kept = [page.labels != OTHER for page in pages]
    return trees.grow(values, kept, [n_words(page.blocks) for page in pages], options, said)
