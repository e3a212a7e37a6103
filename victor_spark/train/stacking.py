"""Trains the trees of a model: those before the CRF, whose score it sees, and those that revise it.

What a later stage learns from must look like what it will see, so no page teaches it with a guess of trees
that knew its site: they are grown again for each of a few folds of sites (stacking; Wolpert 1992).
"""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

import numpy as np

from victor_spark.blocks import OTHER, Blocks, Float32, Int32, UInt8
from victor_spark.model import crf, revision
from victor_spark.model.crf import Model
from victor_spark.model.decision import n_words
from victor_spark.model.table import FeatureTable
from victor_spark.model.trees import TreeOptions, Trees
from victor_spark.model.weights import Weights
from victor_spark.train import trees, weights


@dataclass(frozen=True, slots=True)
class TrainingPage:
    """A page's blocks, an index into LABELS per block, its site, and the collection that it came with."""

    blocks: Blocks
    labels: UInt8
    site: str = ""
    collection: str = ""


NAMELESS: Final = 5
"""Of so many pages, one is also learnt from without its names: many pages of the web have none."""


def with_nameless(pages: Sequence[TrainingPage]) -> list[TrainingPage]:
    """The pages, and every fifth of them again without the names of its elements: see weights.erased."""
    return [*pages, *(replace(page, blocks=weights.erased(page.blocks)) for page in pages[::NAMELESS])]


def first(
    pages: Sequence[TrainingPage], table: FeatureTable
) -> tuple[Weights | None, Trees | None, list[Float32]]:
    """What comes before the CRF, where the table is learnt, and all its features of each page."""
    values = [table.values(page.blocks) for page in pages]
    if not table.is_learnt:
        return None, None, values
    folds = _folds(pages, table.trees.n_folds)
    collections = weights.origin_numbers([page.collection for page in pages], _sites(pages))
    weighed = _unseen(
        folds,
        lambda rows: _weights(pages, collections, rows, table.elements),
        lambda learnt, row: learnt(pages[row].blocks),
    )
    values = [table.silenced(np.vstack(of_page)) for of_page in zip(values, weighed, strict=True)]
    options = table.trees.first
    guessed = _unseen(
        folds,
        lambda rows: _grow([pages[row] for row in rows], [values[row] for row in rows], options),
        lambda grown, row: grown(values[row]),
    )
    everything = range(len(pages))
    return (
        _weights(pages, collections, everything, table.elements),
        _grow(pages, values, options),
        [np.vstack(of_page) for of_page in zip(values, guessed, strict=True)],
    )


def last(pages: Sequence[TrainingPage], values: Sequence[Float32], model: Model) -> Model:
    """The model with trees that revise its CRF; `values` as `first` gave them.

    The CRF has too few weights to know its pages by heart: what it says of them here is what it would
    say of others.
    """
    rows = [
        revision.features(page.blocks, of_page, crf.chain_marginals(model, of_page))
        for page, of_page in zip(pages, values, strict=True)
    ]
    options = model.table.trees
    grown = [_grow(pages, rows, each) for each in (options.last, options.serving_f1) if each.n_trees]
    return replace(model, last=trees.scaled(trees.joined(*grown), _SURE / len(grown)))


_SURE: Final = 0.9
"""Last trees know some of the pages that they learn from by heart: of others they are too sure."""


def grown_on(
    pages: Sequence[TrainingPage], start: Model, adapted: Model, options: TreeOptions, strength: float
) -> Model:
    """The adapted model with the last trees of `start`, and more that learnt on these pages what they miss.

    `strength` scales what the new trees say, from 0 to 1.
    """
    assert start.last is not None
    rows = []
    for page in pages:
        values = adapted.values(page.blocks)
        rows.append(revision.features(page.blocks, values, crf.chain_marginals(adapted, values)))
    said = [start.last(of_page) for of_page in rows]
    more = _grow(pages, rows, replace(options, depth=start.last.features.shape[1]), said)
    return replace(adapted, last=trees.joined(start.last, trees.scaled(more, strength)))


def _folds(pages: Sequence[TrainingPage], n_folds: int) -> Int32:
    """A fold for each page: that of its site."""
    return np.array(
        [zlib.crc32(site.encode()) % n_folds for site in _sites(pages)],
        dtype=np.int32,
    )


Learnt = TypeVar("Learnt")


def _unseen(
    folds: Int32, learn: Callable[[Sequence[int]], Learnt], apply: Callable[[Learnt, int], Float32]
) -> list[Float32]:
    """What is said of each page by what was learnt from the pages (rows) of other folds."""
    said = [np.zeros(0, dtype=np.float32)] * len(folds)
    for fold in np.unique(folds).tolist():
        others = np.flatnonzero(folds != fold).tolist() or range(len(folds))  # one fold alone: a tiny set
        learnt = learn(others)
        for row in np.flatnonzero(folds == fold).tolist():
            said[row] = apply(learnt, row)
    return said


def _weights(
    pages: Sequence[TrainingPage], collections: Int32, rows: Sequence[int], elements: tuple[str, ...]
) -> Weights:
    """What the pages in `rows` teach; `collections`: the number of each page's."""
    sites = _sites(pages)
    blocks = [pages[row].blocks for row in rows]
    return Weights(
        weights.learn_names(
            blocks,
            [pages[row].labels != OTHER for row in rows],
            [trees.page_weights(n_words(of_page)) for of_page in blocks],
            [sites[row] for row in rows],
        ),
        weights.learn_origins(blocks, collections[list(rows)], int(collections.max()) + 1, elements),
    )


def _sites(pages: Sequence[TrainingPage]) -> list[str]:
    """The site of each page; one whose site nobody knows is alone on it."""
    return [page.site or str(row) for row, page in enumerate(pages)]


def _grow(
    pages: Sequence[TrainingPage],
    values: Sequence[Float32],
    options: TreeOptions,
    said: Sequence[Float32] = (),
) -> Trees:
    kept = [page.labels != OTHER for page in pages]
    return trees.grow(values, kept, [n_words(page.blocks) for page in pages], options, said)
