"""Training learns the features that determine the labels, and writes a model that fits the decoder."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pycrfsuite
import pytest

from tests.html.pages import blocks_of
from tests.model.conftest import kept_in, some_pages
from victor_spark.blocks import HEADER, OTHER, TEXT
from victor_spark.errors import ModelError
from victor_spark.model import crf
from victor_spark.model.features import FeatureTable
from victor_spark.train import crfsuite
from victor_spark.train.crf import MAX_BLOCKS, TrainingPage, train
from victor_spark.train.crfsuite import ALGORITHMS, TrainingOptions

SHAPES = ("<h2>Heading {}</h2><p>A whole sentence, number {}, of many words.</p><p><a>More</a></p>",)


def taught(n_pages: int = 10) -> Iterator[TrainingPage]:
    """Pages whose labels follow the markup."""
    for number in range(n_pages):
        blocks = blocks_of("".join(shape.format(number, number) for shape in SHAPES) * (number + 1))
        yield TrainingPage(blocks, np.array([HEADER, TEXT, OTHER] * (number + 1), dtype=np.uint8))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_markup_that_tells_the_label_is_learnt(table: FeatureTable, algorithm: str) -> None:
    model = train(taught(), table, TrainingOptions(algorithm, 30))
    page = blocks_of(
        "<h1>Other words</h1><p>Nothing seen before, but a sentence of some length.</p><p><a>Here</a>"
    )
    assert crf.marginals(model, page).argmax(axis=1).tolist() == [HEADER, TEXT, OTHER]


def test_a_label_that_was_never_seen_is_never_given(table: FeatureTable, tmp_path: Path) -> None:
    pages = [
        replace(page, labels=np.where(page.labels == HEADER, TEXT, page.labels).astype(np.uint8))
        for page in taught()
    ]
    with kept_in(tmp_path) as path:
        model = train(pages, table, TrainingOptions(max_iterations=10))
    blocks = blocks_of("<h1>Heading</h1><p>Some sentence of words.</p><a>x</a>")
    marginals = crf.marginals(model, blocks)
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    tagger.set(crfsuite.sequences(table, table.bins(table.values(blocks))))
    assert marginals[:, HEADER].max() < 1e-12
    assert marginals[:, TEXT].tolist() == pytest.approx(
        [tagger.marginal("text", row) for row in range(3)], abs=1e-5
    )


def test_progress_is_reported_after_each_iteration(table: FeatureTable) -> None:
    report: list[tuple[int, float]] = []
    train(taught(), table, TrainingOptions(max_iterations=5), progress=lambda *step: report.append(step))
    assert [number for number, _ in report] == [1, 2, 3, 4, 5]
    assert report[0][1] > report[-1][1] > 0


def test_very_long_and_empty_pages_teach_nothing(table: FeatureTable) -> None:
    long = blocks_of("<p>a" * (MAX_BLOCKS + 1))
    pages = [TrainingPage(blocks, np.zeros(len(blocks), dtype=np.uint8)) for blocks in (long, blocks_of(""))]
    with pytest.raises(ModelError, match="no labelled page"):
        train(pages, table)
    model = train([*pages, *some_pages(3, 4)], table, TrainingOptions(max_iterations=2), about={"by": "test"})
    assert model.about == {"n_training_pages": 4, "by": "test"}


def test_an_unknown_algorithm_is_refused(table: FeatureTable) -> None:
    with pytest.raises(ModelError, match="lbfgs"):
        train(taught(), table, TrainingOptions(algorithm="magic"))
