"""Trains the CRF with python-crfsuite, and makes a dense Model of it (Victor, section 3.1, step 6)."""

import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pycrfsuite

from victor_spark.crf import attributes, guessing
from victor_spark.crf.guessing import TrainingPage
from victor_spark.crf.model import CRFSUITE_NAME, Model, from_crfsuite
from victor_spark.crf.table import FeatureTable
from victor_spark.errors import ModelError
from victor_spark.page import LABELS

ALGORITHMS: Final = {"lbfgs": {"c1": 0.0, "c2": 1.0}, "ap": {}}
"""L-BFGS with L1 (c1) and L2 (c2) regularisation; averaged perceptron."""

MAX_BLOCKS: Final = 1500
"""Longer pages are left out of training: a few index pages would outweigh everything else."""

Progress = Callable[[int, float], None]
"""Called after each iteration with its number and the loss."""


@dataclass(frozen=True)
class TrainingOptions:
    """How to train; `parameters` go to CRFsuite and override the algorithm's defaults."""

    algorithm: str = "lbfgs"
    max_iterations: int = 100
    parameters: Mapping[str, float] = field(default_factory=dict)


class _Trainer(pycrfsuite.Trainer):  # type: ignore[misc]
    """Tells the progress of each iteration; python-crfsuite itself prints everything or says nothing."""

    progress: Progress | None = None

    def message(self, message: str) -> None:
        """Called with each line of CRFsuite's log."""
        if self.logparser.feed(message) == "iteration" and self.progress:
            info = self.logparser.last_iteration
            self.progress(int(info.get("num", 0)), float(info.get("loss", 0.0)))


def train(
    pages: Iterable[TrainingPage],
    table: FeatureTable,
    options: TrainingOptions = TrainingOptions(),
    *,
    directory: Path | None = None,
    progress: Progress | None = None,
    about: Mapping[str, Any] | None = None,
) -> Model:
    """A model of labelled pages.

    CRFsuite's own file stays in `directory` as model.crfsuite; without one it is thrown away.
    Raises ModelError when no page is left to learn from.
    """
    learner = trainer(options, progress)
    usable = [page for page in pages if 0 < len(page.blocks) <= MAX_BLOCKS]
    if not usable:
        raise ModelError("no labelled page to learn from")
    n_pages = len(usable)
    if table.is_learnt:
        usable = guessing.with_nameless(usable)
    weights, first, values = guessing.first(usable, table)
    for page, of_page in zip(usable, values, strict=True):
        items = attributes.sequences(table, table.bins(of_page))
        learner.append(pycrfsuite.ItemSequence(items), [LABELS[label] for label in page.labels.tolist()])
    with tempfile.TemporaryDirectory() as scratch:
        path = (directory or Path(scratch)) / CRFSUITE_NAME
        learner.train(str(path))
        model = from_crfsuite(path, table, {"n_training_pages": n_pages, **(about or {})}, weights, first)
    return guessing.last(usable, values, model) if table.is_learnt else model


def trainer(options: TrainingOptions, progress: Progress | None = None) -> _Trainer:
    """python-crfsuite's trainer, set up; ModelError for an unknown algorithm."""
    if options.algorithm not in ALGORITHMS:
        raise ModelError(f"unknown algorithm {options.algorithm!r}: one of {', '.join(ALGORITHMS)}")
    made = _Trainer(verbose=False, algorithm=options.algorithm)
    made.progress = progress
    made.set_params(
        {**ALGORITHMS[options.algorithm], "max_iterations": options.max_iterations, **options.parameters}
    )
    return made
