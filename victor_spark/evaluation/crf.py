"""Training of the CRF cleaners on labelled pages: for cross-validation, the gate and `victor train crf`."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from victor_spark import configuration, resources
from victor_spark.blocks import Cleaner, Page, Scores
from victor_spark.evaluation.cross_validation import Train
from victor_spark.evaluation.labelling import LabelledPage
from victor_spark.extractors import CLEANERS, CRF_CLEANERS, MODELS, victor
from victor_spark.model import files
from victor_spark.model.crf import Model
from victor_spark.model.features import FeatureTable
from victor_spark.settings import PREFERENCES
from victor_spark.train import crf as training
from victor_spark.train.crf import TrainingPage
from victor_spark.train.crfsuite import Progress, TrainingOptions


def train(
    pages: Sequence[LabelledPage],
    table: FeatureTable,
    options: TrainingOptions,
    progress: Progress | None = None,
) -> Model:
    """The model of labelled pages."""
    return training.train(training_pages(pages), table, options, progress=progress)


def training_pages(pages: Sequence[LabelledPage]) -> list[TrainingPage]:
    """Labelled pages as training takes them; sets of one origin (conf/gold_sets.toml) are one collection."""
    about = configuration.toml(resources.directory("conf") / "gold_sets.toml")
    origins = {name: known["origin"] for name, known in about.items() if "origin" in known}
    return [
        TrainingPage(page.page.blocks, page.labels, page.site, origins.get(page.gold.set, page.gold.set))
        for page in pages
    ]


def cleaners(trained: Model) -> dict[str, Cleaner]:
    """The CRF cleaners that use this model's feature set, with this model."""
    stored = files.to_bytes(trained)
    names = [name for name in CRF_CLEANERS if MODELS[name] == f"crf/{trained.table.feature_set}"]
    if not names:  # no cleaner of ours has this feature set: decisions are as those of `victor`
        return {trained.table.feature_set: victor.load(stored)}
    return {name: CLEANERS[name](stored) for name in names}


def recipe(table: FeatureTable, options: TrainingOptions) -> Train:
    """Trains the cleaners on the pages of a fold; `victor` also with `--prefer` precision and recall."""

    def preferring(clean: Cleaner, beta: float, page: Page) -> Scores:
        scores = clean(page)
        return replace(scores, kept=victor.decide(scores.probabilities, page.blocks, beta)[0])

    def trained(pages: Sequence[LabelledPage]) -> dict[str, Cleaner]:
        made = cleaners(train(pages, table, options))
        if clean := made.get(victor.NAME):
            for preference, beta in PREFERENCES.items():
                made[f"{victor.NAME} --prefer {preference}"] = partial(preferring, clean, beta)
        return made

    return trained
