"""Small models trained on random labels, each beside CRFsuite's own reader of the same file."""

import random
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pycrfsuite
import pytest

from tests.html.pages import WORDS, blocks_of
from victor_spark.blocks import LABELS, Blocks, Float32
from victor_spark.model.crf import Model
from victor_spark.model.features import FeatureTable, from_conf
from victor_spark.model.weights import Names, Origins
from victor_spark.train import crfsuite
from victor_spark.train.crf import TrainingPage, train
from victor_spark.train.crfsuite import CRFSUITE_NAME, TrainingOptions


@dataclass(frozen=True)
class Trained:
    """A dense model, and the tagger that CRFsuite makes of the same weights."""

    kind: str
    model: Model
    tagger: Any
    path: Path


@contextmanager
def kept_in(folder: Path) -> Iterator[Path]:
    """Copies CRFsuite's own file of the training in this context into the folder; its path."""
    read, path = crfsuite.read_weights, folder / CRFSUITE_NAME

    def kept(original: Path) -> crfsuite.Fitted:
        shutil.copyfile(original, path)
        return read(original)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(crfsuite, "read_weights", kept)
        yield path


def rows_of(known: Names | Origins, blocks: Blocks, n_rows: int) -> Float32:
    """The features that weights give: shape (n_rows, n_blocks)."""
    rows = np.full((n_rows, len(blocks)), np.nan, dtype=np.float32)
    if len(blocks):
        known.features(blocks, rows)
    return rows


def some_pages(seed: int, n_pages: int) -> Iterator[TrainingPage]:
    """Pages of random words with random labels, short ones among them; the labels follow nothing."""
    dice = random.Random(seed)
    tags = ("p", "li", "h2", "td", "a", "b", "div", "br", "hr")
    for number in range(n_pages):
        n_texts = dice.choice((1, 2, 5, 40))
        texts = (" ".join(dice.choices(WORDS, k=dice.randint(1, 30))) for _ in range(n_texts))
        blocks = blocks_of("".join(f"<{dice.choice(tags)}>{text}" for text in texts))
        labels = np.array(dice.choices(range(3), weights=(1, 3, 4), k=len(blocks)), dtype=np.uint8)
        yield TrainingPage(blocks, labels, f"{number}.example")


@pytest.fixture(scope="session")
def table() -> FeatureTable:
    """The features of conf/."""
    return from_conf("victor-2008")


def wide(table: FeatureTable) -> FeatureTable:
    """Another template: one side only, gaps, a conjunction beyond the reach of every feature."""
    offsets = tuple(((-3, 0), (0,), (), (3, 1))[row % 4] for row in range(len(table.names)))
    return replace(table, offsets=offsets, conjunctions=(((0, -5), (14, 0), (20, 4)), ((7, 0),)))


def narrow(table: FeatureTable) -> FeatureTable:
    """A template of the block alone, without conjunctions."""
    return replace(table, offsets=tuple((0,) for _ in table.names), conjunctions=())


KINDS = {
    "L2": (lambda table: table, TrainingOptions(max_iterations=25, parameters={"c2": 0.01})),
    "L1": (lambda table: table, TrainingOptions(max_iterations=25, parameters={"c1": 0.3, "c2": 0.0})),
    "L1, nearly all pruned": (wide, TrainingOptions(max_iterations=25, parameters={"c1": 3.0, "c2": 0.0})),
    "perceptron": (wide, TrainingOptions(algorithm="ap", max_iterations=10)),
    "no neighbours": (narrow, TrainingOptions(max_iterations=25, parameters={"c2": 0.1})),
}


@pytest.fixture(scope="session", params=KINDS)
def trained(
    request: pytest.FixtureRequest, table: FeatureTable, tmp_path_factory: pytest.TempPathFactory
) -> Trained:
    """One model of each kind of training."""
    template, options = KINDS[request.param]
    with kept_in(tmp_path_factory.mktemp("model")) as path:
        model = train(some_pages(len(request.param), 30), template(table), options)
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    assert set(tagger.labels()) == set(LABELS)
    return Trained(request.param, model, tagger, path)
