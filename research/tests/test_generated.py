"""Generated pages hold their gold, a seed always gives the same pages, and marginals stay probabilities."""

import numpy as np

from research import generated, recipes
from tests.html.pages import blocks_of
from victor_spark.blocks import OTHER
from victor_spark.evaluation.gold import GoldPage
from victor_spark.evaluation.labelling import label

TEXTS = [
    [f"The {place} has opened its {n} doors again, and people came early." for n in range(30)]
    for place in ("harbour", "old mill", "museum")
]


def test_gold_of_generated_pages_is_on_the_page_beside_other_text() -> None:
    for row in generated.generate(TEXTS, 24):
        page = label(GoldPage(id=str(row["id"]), set="x", html=str(row["html"]), gold=str(row["gold"])))
        assert page.found > 0.95
        assert 0 < (page.labels != OTHER).mean() < 1


def test_the_same_seed_gives_the_same_pages_and_another_seed_others() -> None:
    first, again, other = (list(generated.generate(TEXTS, 3, seed)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_smoothing_keeps_the_sum_of_marginals_and_brings_blocks_of_a_group_nearer() -> None:
    blocks = blocks_of("<div class=a><p>One two.<p>Three four.</div><p class=b>Five six.")
    before = np.array([[0.1, 0.8, 0.1], [0.0, 0.2, 0.8], [0.0, 1.0, 0.0]])
    after = recipes.smoothed(before, blocks, 0.5)
    np.testing.assert_allclose(after.sum(axis=1), 1.0)
    assert (after >= 0).all()
    assert before[0, OTHER] < after[0, OTHER] < after[1, OTHER] < before[1, OTHER]
    np.testing.assert_allclose(after[2], before[2], atol=2e-4)
