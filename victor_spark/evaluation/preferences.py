"""How precision and recall trade by `beta`, the one number behind `--prefer`: words, out of fold."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from victor_spark import words
from victor_spark.blocks import OTHER, Bool, Float64
from victor_spark.evaluation import measures
from victor_spark.evaluation.cross_validation import PageResult
from victor_spark.evaluation.labelling import LabelledPage
from victor_spark.evaluation.measures import Overlap, Quality
from victor_spark.model import decision

BETAS: Final = (0.125, 0.25, 0.354, 0.5, 0.707, 1.0, 1.414, 2.0, 2.828, 4.0, 8.0)
"""Steps by the square root of two around 1, then by two."""

MEASURED: Final = (0.5, 1.0, 2.0)
"""The betas of the F that is measured: what `--prefer precision`, no preference and `recall` are to raise."""

BY_THEMSELVES: Final = "by themselves"
"""The key of the last row: true where blocks were decided on by themselves."""


def curve(pages: Sequence[LabelledPage], results: Sequence[PageResult]) -> list[dict[str, Any]]:
    """For each of BETAS: precision, recall and each F of MEASURED by words, as means over the pages.

    The last row has beta 1 again, decided as if blocks were content independently of each other.
    """
    overlaps = [_of_page(page, result) for page, result in zip(pages, results, strict=True)]
    means = [_means(column) for column in zip(*overlaps, strict=True)]
    rows = [{"beta": beta, **of_beta} for beta, of_beta in zip(BETAS, means, strict=False)]
    return [*rows, {"beta": 1.0, BY_THEMSELVES: True, **means[-1]}]


def by_themselves(marginals: Float64, weights: Float64) -> Bool:
    """What has the highest expected F1 where each block is content or not whatever the others are.

    Of the blocks sorted by P(content) = p, weighing w, a prefix: the one with the highest
    2·Σ_kept(w·p) / (Σ_kept w + Σ_all(w·p)). Nothing where that is below MIN_EXPECTED_F1.
    """
    p = 1.0 - marginals[:, OTHER]
    order = np.argsort(-p, kind="stable")
    gained = np.cumsum((weights * p)[order])
    if not len(p) or gained[-1] == 0:
        return np.zeros(len(p), dtype=bool)
    f1 = 2 * gained / (np.cumsum(weights[order]) + gained[-1])
    return np.asarray((p >= p[order[int(f1.argmax())]]) & (f1.max() >= decision.MIN_EXPECTED_F1))


def f_measure(quality: Quality, beta: float) -> float:
    """van Rijsbergen's F of precision and recall: above 1 recall counts for more."""
    below = beta**2 * quality.precision + quality.recall
    return (1 + beta**2) * quality.precision * quality.recall / below if below else 0.0


def _of_page(page: LabelledPage, result: PageResult) -> list[Overlap]:
    """The overlap with the gold of what each of BETAS keeps, and of what is kept block by block."""
    page_words, rows = words.block_words(page.page.blocks)
    wanted = words.words(page.gold.gold or "")
    weights = decision.n_words(page.page.blocks)
    marginals = result.scores.probabilities
    found: dict[bytes, Overlap] = {}
    overlaps = []
    by_page = [decision.by_expected_f1(marginals, weights, beta) for beta in BETAS]
    for kept in (*by_page, by_themselves(marginals, weights)):
        if (key := np.packbits(kept).tobytes()) not in found:
            ours = [word for word, keep in zip(page_words, kept[rows].tolist(), strict=True) if keep]
            found[key] = measures.overlap(ours, wanted)
        overlaps.append(found[key])
    return overlaps


def _means(overlaps: Sequence[Overlap]) -> dict[str, float]:
    qualities = [measures.quality(each) for each in overlaps]
    columns = {
        "precision": [each.precision for each in qualities],
        "recall": [each.recall for each in qualities],
        **{f"f{beta:g}": [f_measure(each, beta) for each in qualities] for beta in MEASURED},
    }
    return {name: round(float(np.mean(column)), 6) for name, column in columns.items()}
