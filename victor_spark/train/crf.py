"""Trains the CRF with python-crfsuite, and makes a dense Model of it (Victor, section 3.1, step 6)."""

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from victor_spark.errors import ModelError
from victor_spark.model.crf import Model
from victor_spark.model.table import FeatureTable
from victor_spark.train import crfsuite
from victor_spark.train import stacking as guessing
from victor_spark.train.crfsuite import CRFSUITE_NAME, Progress, TrainingOptions, from_crfsuite
from victor_spark.train.stacking import TrainingPage

MAX_BLOCKS: Final = 1500
"""Longer pages are left out of training: a few index pages would outweigh everything else."""


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
    usable = [page for page in pages if 0 < len(page.blocks) <= MAX_BLOCKS]
    if not usable:
        raise ModelError("no labelled page to learn from")
    n_pages = len(usable)
    if table.is_learnt:
        usable = guessing.with_nameless(usable)
    weights, first, values = guessing.first(usable, table)
    sequences = (
        (crfsuite.sequences(table, table.bins(of_page)), page.labels)
        for page, of_page in zip(usable, values, strict=True)
    )
    with tempfile.TemporaryDirectory() as scratch:
        path = (directory or Path(scratch)) / CRFSUITE_NAME
        crfsuite.fit(sequences, path, options, progress)
        model = from_crfsuite(path, table, {"n_training_pages": n_pages, **(about or {})}, weights, first)
    return guessing.last(usable, values, model) if table.is_learnt else model
