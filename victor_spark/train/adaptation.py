"""A trained model adapted to a few dozen new pages, with python-crfsuite.

CRFsuite can't start from given weights. But it takes attributes with values: every block gets the old
model's three state scores as such (`old[k]`), beside all its own attributes. It learns how far to trust each
old score (a 3 × 3 matrix A) and corrections δ, which L2 regularisation draws to 0: so the weights are drawn
to A·old, a Gaussian prior around the old model. State scores are sums of weights, therefore A·old + δ is
again a model of the same form, table and trees: nothing is added to what the decoder does.

Where trees revise the CRF, more trees are grown on the new pages, on top of those of the old model.
"""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from victor_spark.blocks import LABELS, Blocks, Float64
from victor_spark.model import crf
from victor_spark.model.crf import Model
from victor_spark.model.trees import TreeOptions
from victor_spark.train import check_installed, crfsuite
from victor_spark.train.crf import TrainingPage, extended, usable_pages
from victor_spark.train.crfsuite import CRFSUITE_NAME, Progress, TrainingOptions

OLD: Final = tuple(f"old[{label}]" for label in LABELS)
C2: Final = 30.0
"""Stronger than in training from scratch: few pages must not undo many."""

STRENGTH: Final = 0.25
"""The share of the adapted weights in the new ones; the rest is the old weights."""

MORE_TREES: Final = TreeOptions(n_trees=60, depth=4, learning_rate=0.05, l2=20.0)
"""Few and shallow, for a few dozen pages."""


def adapt(
    pages: Sequence[TrainingPage],
    start: Model,
    options: TrainingOptions,
    *,
    strength: float = STRENGTH,
    directory: Path | None = None,
    progress: Progress | None = None,
    about: Mapping[str, Any] | None = None,
) -> Model:
    """The model adapted to labelled pages; ModelError when none of them can be used.

    CRFsuite's own file (at full strength) stays in `directory` as model.crfsuite.
    """
    check_installed(start.table)
    usable = usable_pages(pages)
    taught = ((items(start, page.blocks), page.labels) for page in usable)
    with tempfile.TemporaryDirectory() as scratch:
        path = (directory or Path(scratch)) / CRFSUITE_NAME
        crfsuite.fit(taught, path, options, progress)
        known = {**start.about, "n_adaptation_pages": len(usable), **(about or {})}
        corrections = crfsuite.from_crfsuite(path, start.table, known, start.weights, start.first)
        adapted = _between(start, _together(start, corrections, _trust(path)), strength)
    return adapted if start.last is None else extended(usable, start, adapted, MORE_TREES, strength)


def items(start: Model, blocks: Blocks) -> list[dict[str, float]]:
    """The attributes of each block with their values: 1, and the old model's scores."""
    values = start.values(blocks)
    names = crfsuite.sequences(start.table, start.table.bins(values))
    scores = _centred(crf.scores(start, values)).tolist()
    return [
        dict.fromkeys(of_block, 1.0) | dict(zip(OLD, row, strict=True))
        for of_block, row in zip(names, scores, strict=True)
    ]


def _centred(scores: Float64) -> Float64:
    """Scores minus their mean over the labels: only differences between labels matter."""
    return np.asarray(scores - scores.mean(axis=1, keepdims=True))


def _trust(path: Path) -> Float64:
    """A[k, y]: how much a unit of the old score of label k adds to the score of label y."""
    states = crfsuite.state_weights(path)
    return np.array([states.get(name, np.zeros(len(LABELS))) for name in OLD])


_WEIGHTS: Final = ("singles", "boundary", "bias", "transitions", "conjunction_weights")


def _between(start: Model, adapted: Model, strength: float) -> Model:
    """A mean of the old and the adapted weights: most of the gain, with little loss on the old pages."""
    return replace(
        adapted,
        **{
            name: (1 - strength) * getattr(start, name) + strength * getattr(adapted, name)
            for name in _WEIGHTS
        },
    )


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
