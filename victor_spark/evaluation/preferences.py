"""How precision and recall trade by `beta`, the one number behind `--prefer`: words, out of fold."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from victor_spark import words
from victor_spark.crf import decision
from victor_spark.evaluation import measures
from victor_spark.evaluation.cross_validation import PageResult
from victor_spark.evaluation.labelling import LabelledPage
from victor_spark.evaluation.measures import Overlap, Quality

BETAS: Final = (0.125, 0.25, 0.354, 0.5, 0.707, 1.0, 1.414, 2.0, 2.828, 4.0, 8.0)
"""Steps by the square root of two around 1, then by two."""

MEASURED: Final = (0.5, 1.0, 2.0)
"""The betas of the F that is measured: what `--prefer precision`, no preference and `recall` are to raise."""


def curve(pages: Sequence[LabelledPage], results: Sequence[PageResult]) -> list[dict[str, Any]]:
    """For each of BETAS: precision, recall and each F of MEASURED by words, as means over the pages."""
    overlaps = [_of_page(page, result) for page, result in zip(pages, results, strict=True)]
    return [{"beta": beta, **_means([row[n] for row in overlaps])} for n, beta in enumerate(BETAS)]


def f_measure(quality: Quality, beta: float) -> float:
    """van Rijsbergen's F of precision and recall: above 1 recall counts for more."""
    below = beta**2 * quality.precision + quality.recall
    return (1 + beta**2) * quality.precision * quality.recall / below if below else 0.0


def _of_page(page: LabelledPage, result: PageResult) -> list[Overlap]:
    """The overlap with the gold of what each of BETAS keeps."""
    page_words, rows = words.block_words(page.page.blocks)
    wanted = words.words(page.gold.gold or "")
    weights = decision.n_words(page.page.blocks)
    found: dict[bytes, Overlap] = {}
    overlaps = []
    for beta in BETAS:
        kept = decision.by_expected_f1(result.scores.probabilities, weights, beta)
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
