"""`victor train crf --start-from`: a shipped or own model adapted to new pages, and measured beside the old
one.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from victor_spark.errors import UsageError
from victor_spark.evaluation import crf
from victor_spark.evaluation.cross_validation import Train
from victor_spark.evaluation.labelling import LabelledPage
from victor_spark.extractors import MODELS, Cleaner
from victor_spark.model import files as model_files
from victor_spark.model.crf import Model
from victor_spark.resources import directory
from victor_spark.train import check_installed
from victor_spark.train import crf as training
from victor_spark.train.crfsuite import Progress, TrainingOptions

C2: Final = training.C2
STRENGTH: Final = training.STRENGTH
BEFORE: Final = "{name}, before"


def start_model(name: str) -> Model:
    """The model to start from: a cleaner's own by its name, or that of a directory."""
    folder = MODELS.get(name, "")
    if not folder.startswith("crf/") and not Path(name).is_dir():
        known = ", ".join(key for key, value in MODELS.items() if value.startswith("crf/"))
        raise UsageError(f"--start-from {name}: neither a CRF cleaner ({known}) nor a model directory")
    path = directory("models") / folder if folder.startswith("crf/") else Path(name)
    start = model_files.from_bytes(model_files.read_bytes(path), str(path))
    check_installed(start.table)
    return start


def adapt(
    pages: Sequence[LabelledPage],
    start: Model,
    options: TrainingOptions,
    strength: float,
    progress: Progress | None = None,
) -> Model:
    """The start model adapted to labelled pages."""
    taught = crf.training_pages(pages)
    return training.adapt(taught, start, options, strength=strength, progress=progress)


def recipe(start: Model, options: TrainingOptions, strength: float) -> Train:
    """What cross-validation runs: the adapted model's cleaners, and beside them those of the start model."""
    old = {BEFORE.format(name=name): cleaner for name, cleaner in crf.cleaners(start).items()}

    def both(pages: Sequence[LabelledPage]) -> dict[str, Cleaner]:
        return {**crf.cleaners(adapt(pages, start, options, strength)), **old}

    return both
