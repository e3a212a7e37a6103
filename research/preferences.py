"""Precision and recall by beta: what `--prefer` trades, out of fold.

python -m research.preferences --data PAGES

Trains and decides as `victor train crf` does with the same --features, --folds and --iterations.
The curve goes to preferences.json in --results.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

import research
from research import trials
from victor_spark.blocks import OTHER, Bool, Float64
from victor_spark.errors import EXIT_DONE, VictorError
from victor_spark.evaluation import crf, cross_validation, measures
from victor_spark.evaluation.cross_validation import PageResult
from victor_spark.evaluation.labelling import LabelledPage
from victor_spark.evaluation.measures import Overlap, Quality
from victor_spark.model import decision
from victor_spark.model.features import from_conf
from victor_spark.train.crfsuite import TrainingOptions

FILE_NAME: Final = "preferences.json"

BETAS: Final = (0.125, 0.25, 0.354, 0.5, 0.707, 1.0, 1.414, 2.0, 2.828, 4.0, 8.0)
"""Steps by the square root of two around 1, then by two."""

MEASURED: Final = (0.5, 1.0, 2.0)
"""The betas of the measured F: those of `--prefer precision`, no preference and `--prefer recall`."""

BY_THEMSELVES: Final = "by themselves"
"""The key of the last row: true where each block was decided independently."""


def curve(pages: Sequence[LabelledPage], results: Sequence[PageResult]) -> list[dict[str, Any]]:
    """For each of BETAS: precision, recall and each F of MEASURED by words, as means over pages with results.

    The last row has beta 1 again, decided as if blocks were content independently of each other.
    """
    page_of = {(page.gold.set, page.gold.id): page for page in pages}
    overlaps = [_of_page(page_of[result.set, result.id], result) for result in results]
    means = [_means(column) for column in zip(*overlaps, strict=True)]
    rows = [{"beta": beta, **of_beta} for beta, of_beta in zip(BETAS, means, strict=False)]
    return [*rows, {"beta": 1.0, BY_THEMSELVES: True, **means[-1]}]


def by_themselves(marginals: Float64, weights: Float64) -> Bool:
    """The blocks with the highest expected F1 if blocks were content independently of each other.

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
    """The overlap with the gold for each of BETAS, and for the independent decision."""
    weights = decision.n_words(page.page.blocks)
    marginals = result.scores.probabilities
    found: dict[bytes, Overlap] = {}
    overlaps = []
    by_page = [decision.by_expected_f1(marginals, weights, beta) for beta in BETAS]
    for kept in (*by_page, by_themselves(marginals, weights)):
        if (key := np.packbits(kept).tobytes()) not in found:
            found[key] = cross_validation.word_overlap(page, kept)
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


def main(arguments: Sequence[str] | None = None) -> int:
    """Trains on all folds and writes the curve."""
    parser = argparse.ArgumentParser(
        prog="python -m research.preferences",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", metavar="DIR", type=Path, required=True, help="the annotated pages")
    parser.add_argument(
        "--results", metavar="DIR", type=Path, default=research.RESULTS, help="default: %(default)s"
    )
    parser.add_argument("--features", metavar="NAME", default=trials.FEATURE_SET, help="default: %(default)s")
    for name, default in (("folds", 5), ("iterations", 60), ("jobs", 1)):
        parser.add_argument(f"--{name}", metavar="N", type=int, default=default, help="default: %(default)s")
    options = parser.parse_args(arguments)
    try:
        pages = trials.labelled(options.data)
        train = crf.recipe(from_conf(options.features), TrainingOptions(max_iterations=options.iterations))
        results = cross_validation.cross_validate(pages, train, n_folds=options.folds, n_jobs=options.jobs)
    except VictorError as error:
        print(f"preferences: error: {error}", file=sys.stderr)
        return error.exit_code
    found = json.dumps(curve(pages, next(iter(results.values()))), indent=1)
    (options.results / FILE_NAME).write_text(found + "\n", encoding="utf-8")
    return EXIT_DONE


if __name__ == "__main__":
    sys.exit(main())
