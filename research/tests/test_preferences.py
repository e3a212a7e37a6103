"""The curve behind `--prefer`: what is kept by beta, and as if blocks were independent."""

import numpy as np
import pytest

from research import preferences
from victor_spark.blocks import Scores
from victor_spark.evaluation import cross_validation
from victor_spark.evaluation.gold import GoldPage
from victor_spark.evaluation.labelling import label
from victor_spark.evaluation.measures import Quality

STORY = "A long walk along the river bank ends where the old bridge was."
MENU = "Home and contact and everything else"


def test_a_high_beta_keeps_more_and_a_low_one_less() -> None:
    html = f"<body><div>{MENU}</div><p>{STORY}</p></body>"
    labelled = label(GoldPage("news/1", "news", html, STORY, host="www.walks.example"))
    scores = Scores(np.array([[0.0, 0.45, 0.55], [0.0, 0.9, 0.1]]), np.array([False, True]))
    result = cross_validation.result(labelled, scores)
    rows = preferences.curve([labelled], [result])
    assert [row["beta"] for row in rows] == [*preferences.BETAS, 1.0]
    assert (rows[0]["precision"], rows[0]["recall"]) == (1.0, 1.0)
    assert rows[-2]["precision"] < 1.0 == rows[-2]["recall"]
    assert [row for row in rows if preferences.BY_THEMSELVES in row] == rows[-1:]


def test_blocks_by_themselves_are_kept_while_each_gains_more_than_it_costs() -> None:
    content = np.array([1.0, 0.5, 0.0])
    marginals = np.stack([0 * content, content, 1 - content], axis=1)
    # Expected F1 by hand: 20/25 with the first block, 30/35 with the second, 30/55 with all.
    kept = preferences.by_themselves(marginals, np.array([10.0, 10.0, 20.0]))
    assert kept.tolist() == [True, True, False]
    assert not preferences.by_themselves(marginals * 0 + [0, 0, 1.0], np.ones(3)).any()


def test_f_of_a_beta_leans_to_precision_or_recall() -> None:
    quality = Quality(precision=0.5, recall=1.0, f1=2 / 3)
    assert preferences.f_measure(quality, 1.0) == pytest.approx(quality.f1)
    assert preferences.f_measure(quality, 0.5) < quality.f1 < preferences.f_measure(quality, 2.0)
    assert preferences.f_measure(Quality(0.0, 0.0, 0.0), 1.0) == 0.0
