"""The features with the largest effects on a probability; the effects are those that the model computes."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from tests.html.pages import blocks_of
from tests.model.conftest import some_pages
from tests.train.test_training import taught
from victor_spark.blocks import OTHER
from victor_spark.model import crf, explanation
from victor_spark.model.crf import Model
from victor_spark.model.explanation import MAX_EFFECTS, explain
from victor_spark.model.features import FeatureTable, from_conf
from victor_spark.model.trees import TreeOptions, TreesOptions
from victor_spark.train.crf import train
from victor_spark.train.crfsuite import TrainingOptions

FEW = TreeOptions(n_trees=20, depth=3, learning_rate=0.3, feature_fraction=1.0)


@pytest.fixture(scope="module", params=["victor-2008", "victor-2"])
def model(request: pytest.FixtureRequest, table: FeatureTable) -> Model:
    """Links are other, headings headers, sentences text; with trees and without."""
    chosen = table
    if request.param == "victor-2":
        pytest.importorskip("catboost", reason="growing trees needs CatBoost")
        chosen = replace(from_conf("victor-2"), trees=TreesOptions(FEW, FEW, n_folds=2))
    return train(list(taught()), chosen, TrainingOptions(max_iterations=30))


def test_every_block_has_its_probability_by_the_crf_and_its_effects(model: Model) -> None:
    for page in some_pages(4, 8):
        report = explain(model, page.blocks)
        by_crf = crf.chain_marginals(model, model.values(page.blocks))
        np.testing.assert_allclose(report.chain, 1 - by_crf[:, OTHER], atol=1e-9)
        assert len(report.first_effects) == len(report.last_effects) == len(page.blocks)
        assert all(len(effects) <= MAX_EFFECTS for effects in (*report.first_effects, *report.last_effects))


def test_the_features_that_set_a_link_apart_are_named_and_lower_its_probability(model: Model) -> None:
    sentence = "<p>A whole sentence, one of several, of a good many words.</p>"
    blocks = blocks_of(sentence * 4 + "<p><a>More</a></p>" + sentence * 4)
    report = explain(model, blocks).first_effects[4]
    assert report
    assert report[0].effect < 0
    assert [abs(each.effect) for each in report] == sorted(
        (abs(each.effect) for each in report), reverse=True
    )


def test_an_effect_is_what_the_score_loses_when_the_feature_has_its_median(model: Model) -> None:
    blocks = max((page.blocks for page in some_pages(9, 20)), key=len)
    values, score = model.values(blocks), partial(explanation._log_odds, model)
    if model.first is not None:
        values, score = values[:-1], model.first
    medians, n_effects = np.median(values, axis=1), 0
    for block, effects in enumerate(explain(model, blocks).first_effects[:6]):
        for each in effects:
            row, changed = model.table.names.index(each.name), values.copy()
            changed[row] = medians[row]
            assert each.value == values[row, block]
            assert abs(each.effect) >= 0.02
            assert each.effect == pytest.approx((score(values) - score(changed))[block], abs=1e-5)
            n_effects += 1
    assert n_effects


def test_effects_are_the_same_in_parts(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = max((page.blocks for page in some_pages(9, 20)), key=len)
    assert len(blocks) > 21
    whole = explain(model, blocks)
    monkeypatch.setattr(explanation, "_MAX_BLOCKS", 7)
    assert explain(model, blocks).last_effects == whole.last_effects
    assert explain(model, blocks).first_effects == whole.first_effects
