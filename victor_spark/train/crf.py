"""Trains a model: weights, the trees before the CRF, the CRF, and the trees that revise it.

The CRF is python-crfsuite's (Victor, section 3.1, step 6). In training, a stage must get inputs like those in
use. So no page gets a guess by trees that were trained on its site: weights and first trees are also trained
on each of a few folds of sites, and applied to the pages left out (stacking; Wolpert 1992).

`adapt` adapts a trained model to a few dozen new pages. CRFsuite can't start from given weights. But it takes
attributes with values: every block gets the old model's three state scores as such (`old[k]`), beside all its
own attributes. It learns how far to trust each old score (a 3 × 3 matrix A) and corrections δ, which L2
regularisation draws to 0: so the weights are drawn to A·old, a Gaussian prior around the old model. State
scores are sums of weights, therefore A·old + δ is again a model of the same form, table and trees, for the
same decoder. Where trees revise the CRF, more are grown on the new pages, on top of those.
"""

import zlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

import numpy as np

from victor_spark.blocks import LABELS, OTHER, Blocks, Float32, Float64, Int32, UInt8
from victor_spark.errors import ConfigurationError, ModelError, suggestion
from victor_spark.model.crf import Model, chain_marginals
from victor_spark.model.crf import scores as model_scores
from victor_spark.model.decision import n_words
from victor_spark.model.features import FeatureTable
from victor_spark.model.revision import features
from victor_spark.model.trees import TreeOptions, Trees
from victor_spark.model.weights import Weights
from victor_spark.train import check_installed, crfsuite, trees, weights
from victor_spark.train.crfsuite import Progress, TrainingOptions

MAX_BLOCKS: Final = 1500
"""Longer pages are left out of training: a few index pages would outweigh everything else."""

NAMELESS: Final = 5
"""Every fifth page is used twice, the second time without the names of its elements: many pages have none."""

CONFIDENCE: Final = 0.9
"""The last trees' log-odds are multiplied by this: on training pages they are overconfident."""

OLD: Final = tuple(f"old[{label}]" for label in LABELS)
C2: Final = 30.0
"""Stronger than in training from scratch: few pages must not undo many."""

STRENGTH: Final = 0.25
"""The share of the adapted weights in the new ones; the rest is the old weights."""

MORE_TREES: Final = TreeOptions(n_trees=60, depth=4, learning_rate=0.05, l2=20.0)
"""Few and shallow, for a few dozen pages."""

_WEIGHTS: Final = ("singles", "boundary", "bias", "transitions", "conjunction_weights")


@dataclass(frozen=True, slots=True)
class TrainingPage:
    """A page's blocks, an index into LABELS per block, its site, and the collection that it came with."""

    blocks: Blocks
    labels: UInt8
    site: str = ""
    collection: str = ""


def train(
    pages: Iterable[TrainingPage],
    table: FeatureTable,
    options: TrainingOptions = TrainingOptions(),
    *,
    progress: Progress | None = None,
    about: Mapping[str, Any] | None = None,
) -> Model:
    """A model of labelled pages.

    Raises ModelError when no page can be used, UsageError where the extra `train` is not installed.
    """
    check_installed(table)
    usable = usable_pages(pages)
    known = {"n_training_pages": len(usable), **(about or {})}
    if table.is_learnt:
        usable += [replace(page, blocks=weights.erased(page.blocks)) for page in usable[::NAMELESS]]
    learnt, first, values = before_crf(usable, table)
    sequences = (
        (crfsuite.sequences(table, table.bins(of_page)), page.labels)
        for page, of_page in zip(usable, values, strict=True)
    )
    fitted = crfsuite.fit(sequences, options, progress)
    model = crfsuite.from_crfsuite(fitted, table, known, learnt, first)
    return revised(usable, values, model) if table.is_learnt else model


def without(table: FeatureTable, names: Collection[str]) -> FeatureTable:
    """The table with some features silenced (0 everywhere, no bins, in no conjunction), for ablations.

    A model trained with this table does not use them, so they are not stored in it.
    Raises ConfigurationError for a name that is no feature.
    """
    if unknown := set(names) - set(table.names):
        near = suggestion(min(unknown), table.names)
        raise ConfigurationError(f"no feature {', '.join(sorted(unknown))} in {table.feature_set}{near}")
    silent = [name in names for name in table.names]
    return replace(
        table,
        silent=tuple(row for row, off in enumerate(silent) if off),
        edges=tuple(() if off else edges for edges, off in zip(table.edges, silent, strict=True)),
        conjunctions=tuple(
            parts for parts in table.conjunctions if not any(silent[feature] for feature, _ in parts)
        ),
    )


def silenced(table: FeatureTable, values: Float32) -> Float32:
    """The values, or the first rows of them, with 0 for silent features."""
    values[[row for row in table.silent if row < len(values)]] = 0.0
    return values


def usable_pages(pages: Iterable[TrainingPage]) -> list[TrainingPage]:
    """The pages that are neither empty nor too long; ModelError when there is none."""
    usable = [page for page in pages if 0 < len(page.blocks) <= MAX_BLOCKS]
    if not usable:
        raise ModelError("no labelled page to learn from")
    return usable


def before_crf(
    pages: Sequence[TrainingPage], table: FeatureTable
) -> tuple[Weights | None, Trees | None, list[Float32]]:
    """The weights and trees before the CRF, where the table is learnt, and all its features of each page."""
    values = [silenced(table, table.values(page.blocks)) for page in pages]
    if not table.is_learnt:
        return None, None, values
    sites = [page.site or str(row) for row, page in enumerate(pages)]  # an unknown one: a site of its own
    folds = np.array([zlib.crc32(site.encode()) % table.trees.n_folds for site in sites], dtype=np.int32)
    collections = weights.origin_numbers([page.collection for page in pages], sites)

    def weigh(rows: Sequence[int]) -> Weights:
        blocks = [pages[row].blocks for row in rows]
        names = weights.learn_names(
            blocks,
            [pages[row].labels != OTHER for row in rows],
            [trees.page_weights(n_words(of_page)) for of_page in blocks],
            [sites[row] for row in rows],
        )
        n_collections = int(collections.max()) + 1
        of_rows = collections[list(rows)]
        return Weights(names, weights.learn_origins(blocks, of_rows, n_collections, table.elements))

    weighed = _out_of_fold(folds, weigh, lambda learnt, row: learnt(pages[row].blocks))
    values = [silenced(table, np.vstack(of_page)) for of_page in zip(values, weighed, strict=True)]

    def grow(rows: Sequence[int]) -> Trees:
        return _grow([pages[row] for row in rows], [values[row] for row in rows], table.trees.first)

    guessed = _out_of_fold(folds, grow, lambda grown, row: grown(values[row]))
    everything = range(len(pages))
    complete = [np.vstack(of_page) for of_page in zip(values, guessed, strict=True)]
    return weigh(everything), grow(everything), complete


def revised(pages: Sequence[TrainingPage], values: Sequence[Float32], model: Model) -> Model:
    """The model with trees that revise its CRF; `values` as `before_crf` gave them.

    The CRF has too few weights to overfit: its marginals on these pages are like those on other pages.
    """
    rows = [
        features(page.blocks, of_page, chain_marginals(model, of_page))
        for page, of_page in zip(pages, values, strict=True)
    ]
    options = model.table.trees
    grown = [_grow(pages, rows, each) for each in (options.last, options.serving_f1) if each.n_trees]
    return replace(model, last=trees.scaled(trees.joined(*grown), CONFIDENCE / len(grown)))


def adapt(
    pages: Sequence[TrainingPage],
    start: Model,
    options: TrainingOptions,
    *,
    strength: float = STRENGTH,
    progress: Progress | None = None,
) -> Model:
    """The model adapted to labelled pages; ModelError when none of them can be used."""
    check_installed(start.table)
    usable = usable_pages(pages)
    sequences = ((items(start, page.blocks), page.labels) for page in usable)
    fitted = crfsuite.fit(sequences, options, progress)
    known = {**start.about, "n_adaptation_pages": len(usable)}
    corrections = crfsuite.from_crfsuite(fitted, start.table, known, start.weights, start.first)
    states, _, _ = fitted
    # A[k, y]: how much a unit of the old score of label k adds to the score of label y.
    trust = np.array([states.get(name, np.zeros(len(LABELS))) for name in OLD])
    together = _together(start, corrections, trust)
    # A mean of the old and the adapted weights: most of the gain, with little loss on the old pages.
    means = {
        name: (1 - strength) * getattr(start, name) + strength * getattr(together, name) for name in _WEIGHTS
    }
    adapted = replace(together, **means)
    if start.last is None:
        return adapted
    # The last trees of `start` stay; more are grown on their errors, with log-odds multiplied by `strength`.
    of_pages = [(page.blocks, adapted.values(page.blocks)) for page in usable]
    rows = [features(blocks, values, chain_marginals(adapted, values)) for blocks, values in of_pages]
    baselines = [start.last(of_page) for of_page in rows]
    more = _grow(usable, rows, replace(MORE_TREES, depth=start.last.features.shape[1]), baselines)
    return replace(adapted, last=trees.joined(start.last, trees.scaled(more, strength)))


def items(start: Model, blocks: Blocks) -> list[dict[str, float]]:
    """The attributes of each block with their values: 1, and the old model's scores."""
    bins = start.table.bins(start.values(blocks))
    names, scores = crfsuite.sequences(start.table, bins), model_scores(start, bins)
    scores = scores - scores.mean(axis=1, keepdims=True)  # only differences between labels matter
    return [
        dict.fromkeys(of_block, 1.0) | dict(zip(OLD, row, strict=True))
        for of_block, row in zip(names, scores.tolist(), strict=True)
    ]


def _together(start: Model, corrections: Model, trust: Float64) -> Model:
    """A·old + δ; a label that no new page has keeps its old weights, in the scale of the others."""
    known = corrections.bias > crfsuite.NEVER / 2
    scale = float(np.mean(np.diag(trust)[known])) if known.any() else 1.0
    centre = np.eye(len(LABELS)) - 1.0 / len(LABELS)
    mixing = centre @ np.where(known, trust, np.eye(len(LABELS)) * scale)
    bias = np.where(known, corrections.bias, 0.0)
    both = np.outer(known, known)

    def mixed(name: str) -> Float64:
        return np.asarray(getattr(start, name) @ mixing + getattr(corrections, name))

    return replace(
        corrections,
        singles=mixed("singles"),
        boundary=mixed("boundary"),
        bias=start.bias @ mixing + bias,
        transitions=np.where(both, corrections.transitions, start.transitions * scale),
        conjunction_weights=mixed("conjunction_weights"),
    )


Learnt = TypeVar("Learnt")


def _out_of_fold(
    folds: Int32, learn: Callable[[Sequence[int]], Learnt], apply: Callable[[Learnt, int], Float32]
) -> list[Float32]:
    """For each page the output of a model learnt from the pages (rows) of other folds."""
    outputs = [np.zeros(0, dtype=np.float32)] * len(folds)
    for fold in np.unique(folds).tolist():
        others = np.flatnonzero(folds != fold).tolist() or range(len(folds))  # all pages are in one fold
        learnt = learn(others)
        for row in np.flatnonzero(folds == fold).tolist():
            outputs[row] = apply(learnt, row)
    return outputs


def _grow(
    pages: Sequence[TrainingPage],
    values: Sequence[Float32],
    options: TreeOptions,
    baselines: Sequence[Float32] = (),
) -> Trees:
    kept = [page.labels != OTHER for page in pages]
    return trees.grow(values, kept, [n_words(page.blocks) for page in pages], options, baselines)
