"""Trains models fold by fold, so that each site is cleaned by a model that was trained without it.

`template_figures` measures with them what templates add to a trained cleaner.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from victor_spark import pipeline
from victor_spark.evaluation import crf, cross_validation, gold, labelling
from victor_spark.evaluation.gold import GoldPage
from victor_spark.evaluation.labelling import LabelledPage
from victor_spark.evaluation.template_gain import ModelsFor
from victor_spark.extractors import MODELS
from victor_spark.logs import track
from victor_spark.model import files as model_files
from victor_spark.model.features import FeatureTable, from_conf
from victor_spark.settings import Settings
from victor_spark.train.crfsuite import TrainingOptions

CLEANER = "victor"
OPTIONS = TrainingOptions("lbfgs", 60)


@dataclass(frozen=True)
class Folds:
    """Labelled pages and the fold of each page; all pages of a site are in one fold."""

    pages: Sequence[LabelledPage]
    fold_of: Sequence[int]
    n_folds: int


def split(pages: Sequence[GoldPage], n_folds: int) -> Folds:
    """Labels the pages and puts their sites into folds."""
    usable = list(filter(gold.usable, pages))
    labelled = list(map(labelling.label, track(usable, "labelling", len(usable))))
    fold_of = cross_validation.folds_by_site(
        [page.site for page in labelled], [page.gold.set for page in labelled], n_folds
    )
    return Folds(labelled, fold_of.tolist(), n_folds)


def out_of_fold(given: Folds, feature_set: str, kept: Path | None = None) -> ModelsFor:
    """A function that gives the models for a site's pages: that of `victor` is trained on the other folds.

    Trained models are stored in the folder `kept`; a model that is there is not trained again.
    """
    features = from_conf(feature_set)
    rest = pipeline.models(Settings(CLEANER))
    trained: list[Mapping[str, bytes]] = []
    for fold in track(range(given.n_folds), f"training {feature_set}", given.n_folds):
        others = zip(given.pages, given.fold_of, strict=True)
        seen = [page for page, own in others if own != fold and labelling.trainable(page)]
        path = kept and kept / f"{feature_set}-{fold}.npz"
        trained.append({**rest, MODELS[CLEANER]: _stored(path, seen, features)})
    fold_of = {page.gold.id: fold for page, fold in zip(given.pages, given.fold_of, strict=True)}

    def models_of(pages: Sequence[GoldPage]) -> Mapping[str, bytes]:
        (fold,) = {fold_of[page.id] for page in pages}
        return trained[fold]

    return models_of


def _stored(path: Path | None, pages: Sequence[LabelledPage], features: FeatureTable) -> bytes:
    if path and path.is_file():
        return path.read_bytes()
    stored = model_files.to_bytes(crf.train(pages, features, OPTIONS))
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(stored)
    return stored
