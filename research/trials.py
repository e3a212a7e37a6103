"""Trials of training: without a group of features, a language, a set, or most sites.

A trial is a table of features, the pages to train on and those to test; its result is the word F1 of each
page that was tested.
"""

import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from research import sample
from victor_spark.blocks import Blocks, Float64
from victor_spark.evaluation import crf, cross_validation, gold, labelling, measures
from victor_spark.evaluation.labelling import LabelledPage
from victor_spark.logs import track
from victor_spark.model import decision
from victor_spark.model.crf import Model, chain_marginals, marginals
from victor_spark.model.features import FeatureTable
from victor_spark.train.crf import without
from victor_spark.train.crfsuite import TrainingOptions

FEATURE_SET: Final = "victor-3"

ORIGINS: Final = "elements of the source"

GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "tags around a block": ("container.", "split.", "heading.", "depth"),
    "words of class and id": ("hint.", "names."),
    "the block's own text": (
        "char.",
        "token.",
        "sentence",
        "block.words",
        "block.chars",
        "block.word-length",
    ),
    "neighbouring paragraphs": ("paragraph.", "window.", "since.", "until."),
    "elements around, densest spans": ("around.", "best.", "span"),
    "related blocks: same path, same class, duplicates": (
        "path.",
        "class.",
        "first-duplicate",
        "duplicate-count",
    ),
    "page, place and title": (
        "page.",
        "document.",
        "position",
        "block.place",
        "block.title",
        "div-group.",
        "td-group.",
    ),
    ORIGINS: ("origin.",),
}
"""Group of features → how their names begin."""

SHARES: Final = (0.1, 0.25, 0.5, 1.0)
"""Shares of the training sites, for the learning curve; a larger share contains the smaller ones."""

FIRST_TREES, WITH_CRF, ALL_STAGES = "first trees alone", "trees, then CRF", "trees, CRF, trees"

Marginals = Callable[[Model, Blocks], Float64]


@dataclass(frozen=True, slots=True)
class Trial:
    """The table of features, the rows of the pages to train on, and the rows of those to test."""

    name: str
    table: FeatureTable
    trained: Sequence[int]
    tested: Sequence[int]


def labelled(directory: Path) -> list[LabelledPage]:
    """All usable pages in the order of `victor train crf`: the same folds."""
    pages: list[LabelledPage] = []
    for name, path in sample.files(directory).items():
        usable = [page for page in gold.read(path) if gold.usable(page)]
        pages += map(labelling.label, track(usable, f"labelling {name}", len(usable)))
    return pages


def train(trial: Trial, pages: Sequence[LabelledPage], options: TrainingOptions) -> Model:
    """The model of the trial's pages; those whose labels are not reliable are left out."""
    return crf.train(
        [pages[row] for row in trial.trained if labelling.trainable(pages[row])], trial.table, options
    )


def word_f1(trial: Trial, pages: Sequence[LabelledPage], model: Model, marginals: Marginals) -> list[float]:
    """Word F1 of each page tested, decided as `victor` decides."""
    found = []
    for row in trial.tested:
        page = pages[row]
        kept = decision.by_expected_f1(marginals(model, page.page.blocks), decision.n_words(page.page.blocks))
        found.append(measures.quality(cross_validation.word_overlap(page, kept)).f1)
    return found


def _first_alone(model: Model, blocks: Blocks) -> Float64:
    content = 1.0 / (1.0 + np.exp(-model.values(blocks)[-1].astype(np.float64)))
    return np.column_stack([np.zeros_like(content), content, 1.0 - content])


def _with_crf(model: Model, blocks: Blocks) -> Float64:
    return chain_marginals(model, model.values(blocks))


STAGES: Final[Mapping[str, Marginals]] = {
    FIRST_TREES: _first_alone,
    WITH_CRF: _with_crf,
    ALL_STAGES: marginals,
}
"""The last stage that is used → the function that gives P(header), P(text), P(other)."""


def of_group(table: FeatureTable, group: str) -> list[str]:
    """The features of a group."""
    return [name for name in table.names if name.startswith(GROUPS[group])]


def without_groups(table: FeatureTable, fold_of: Sequence[int]) -> list[Trial]:
    """Everything, and everything but each of GROUPS; all tested on the first fold."""
    trained, tested = _halves(fold_of)
    tables = {f"without {group}": without(table, of_group(table, group)) for group in GROUPS}
    return [Trial(name, each, trained, tested) for name, each in ({ALL_STAGES: table} | tables).items()]


def of_shares(
    pages: Sequence[LabelledPage], table: FeatureTable, fold_of: Sequence[int]
) -> list[list[Trial]]:
    """Growing shares of the sites: for each, and for each fold, those outside of the fold, tested on it."""
    place = [zlib.crc32(page.site.encode("utf-8", "replace")) / 2**32 for page in pages]
    halves = [_halves(fold_of, fold) for fold in sorted(set(fold_of))]
    return [
        [
            Trial(f"{share:.0%} of the sites", table, [row for row in trained if place[row] < share], tested)
            for trained, tested in halves
        ]
        for share in SHARES
    ]


def without_language(
    pages: Sequence[LabelledPage], table: FeatureTable, languages: Collection[str]
) -> list[Trial]:
    """Each language tested with a model of pages in the others, from other sites."""
    apart = ((language, *_apart(pages, language_of, language)) for language in languages)
    return [Trial(language, table, others, tested) for language, others, tested in apart]


def without_set(
    pages: Sequence[LabelledPage], table: FeatureTable, sets: Collection[str]
) -> list[tuple[Trial, Trial]]:
    """Each set tested with a model of the others' pages, from other sites; and the same without origins."""
    bare = without(table, of_group(table, ORIGINS))
    apart = ((name, *_apart(pages, lambda page: page.gold.set, name)) for name in sets)
    return [
        (Trial(name, table, others, tested), Trial(name, bare, others, tested))
        for name, others, tested in apart
    ]


def _apart(
    pages: Sequence[LabelledPage], kind_of: Callable[[LabelledPage], str | None], kind: str
) -> tuple[list[int], list[int]]:
    """The rows of other kinds and other sites, and those of the kind."""
    tested = [row for row, page in enumerate(pages) if kind_of(page) == kind]
    sites = {pages[row].site for row in tested}
    return [row for row, page in enumerate(pages) if kind_of(page) != kind and page.site not in sites], tested


def language_of(page: LabelledPage) -> str | None:
    """The annotated language, or else the one that was found."""
    return page.gold.language or page.page.language


def fold_of(pages: Sequence[LabelledPage], n_folds: int) -> list[int]:
    """The folds that `victor train crf` makes of the same pages."""
    made = cross_validation.folds_by_site(
        [page.site for page in pages], [page.gold.set for page in pages], n_folds
    )
    return [int(fold) for fold in made.tolist()]


def _halves(fold_of: Sequence[int], fold: int = 0) -> tuple[list[int], list[int]]:
    """The rows outside of a fold, and those in it."""
    rows = range(len(fold_of))
    return [row for row in rows if fold_of[row] != fold], [row for row in rows if fold_of[row] == fold]
