"""Results of pages → figures per set and over all: plain dicts for metrics.json and tables."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

import numpy as np

from victor_spark import words
from victor_spark.blocks import OTHER, Bool, Float64, UInt8
from victor_spark.evaluation import measures, resampling
from victor_spark.evaluation.cross_validation import PageResult
from victor_spark.evaluation.labelling import LabelledPage
from victor_spark.evaluation.measures import Overlap, Quality, Reliability, ThresholdCurve
from victor_spark.evaluation.resampling import Interval
from victor_spark.model import decision

ALL = "all"
"""Name of the row over all pages, beside those of the sets."""


def by_set(results: Sequence[PageResult]) -> dict[str, dict[str, Any]]:
    """Set name → figures; the last row, `all`, is over all pages."""
    names = sorted({result.set for result in results})
    rows = {name: figures([result for result in results if result.set == name]) for name in names}
    return rows | {ALL: figures(results)}


def figures(results: Sequence[PageResult]) -> dict[str, Any]:
    """The figures of some pages. Blocks are counted over the pages whose labels are reliable.

    `blocks` are Victor's measures over all such pages, `blocks_of_pages_with_content` over those
    with at least one header or text block: the two columns of the paper's Table 3.
    """
    counts = [result.blocks for result in results if result.blocks]
    with_content = [each for each in counts if each.n_content_annotated]
    return {
        "n_pages": len(results),
        "n_sites": len({result.site for result in results}),
        "word_f1": asdict(word_f1(results)),
        "words_macro": asdict(measures.macro(result.words for result in results)),
        "words_micro": asdict(measures.micro(result.words for result in results)),
        "shingle_f1": measures.macro(result.shingles for result in results).f1,
        "empty_ratio": float(np.mean([result.words.n_found == 0 for result in results])),
        "blocks": asdict(measures.block_measures(measures.total(counts))),
        "blocks_of_pages_with_content": asdict(measures.block_measures(measures.total(with_content))),
    }


def word_f1(results: Sequence[PageResult]) -> Interval:
    """Word F1 over pages, with an interval over sites."""
    f1 = [measures.quality(result.words).f1 for result in results]
    return resampling.interval(f1, [result.site for result in results])


def curve(results: Sequence[PageResult]) -> ThresholdCurve:
    """Block precision and recall by threshold over the pages whose labels are reliable."""
    return measures.threshold_curve(*_blocks(results))


def reliability(results: Sequence[PageResult]) -> Reliability:
    """The reliability of the probabilities, over the pages whose labels are reliable."""
    return measures.reliability(*_blocks(results))


def _blocks(results: Sequence[PageResult]) -> tuple[Float64, UInt8]:
    """P(other) and the label of every block of the pages whose labels are reliable."""
    reliable = [result for result in results if result.blocks]
    p_other = np.concatenate([np.empty(0), *(result.scores.probabilities[:, OTHER] for result in reliable)])
    annotated = np.concatenate([np.empty(0, np.uint8), *(result.annotated for result in reliable)])
    return p_other, annotated


def table(rows: dict[str, dict[str, Any]]) -> str:
    """The figures as lines of text: word F1 with its interval, then the paper's block measures."""
    head = f"{'set':<18}{'pages':>6}  {'word F1':>7} {'95 % interval':>15} {'median':>7}"
    head += f" {'acc':>7} {'unlab':>7} {'prec':>7} {'recall':>7}"
    return "\n".join([head, *(_row(name, row) for name, row in rows.items())])


def _row(name: str, row: dict[str, Any]) -> str:
    f1, blocks = row["word_f1"], row["blocks"]
    interval = f"{f1['low']:.3f} – {f1['high']:.3f}"
    line = f"{name:<18}{row['n_pages']:>6}  {f1['mean']:>7.3f} {interval:>15} {f1['median']:>7.3f}"
    return line + "".join(
        f" {blocks[key]:>7.4f}" for key in ("accuracy", "unlabelled_accuracy", "precision", "recall")
    )


BETAS: Final = (0.125, 0.25, 0.354, 0.5, 0.707, 1.0, 1.414, 2.0, 2.828, 4.0, 8.0)
"""Steps by the square root of two around 1, then by two."""

MEASURED: Final = (0.5, 1.0, 2.0)
"""The betas of the measured F: those of `--prefer precision`, no preference and `--prefer recall`."""

BY_THEMSELVES: Final = "by themselves"
"""The key of the last row: true where each block was decided independently."""


def preference_curve(pages: Sequence[LabelledPage], results: Sequence[PageResult]) -> list[dict[str, Any]]:
    """For each of BETAS: precision, recall and each F of MEASURED by words, as means over the pages.

    The last row has beta 1 again, decided as if blocks were content independently of each other.
    """
    overlaps = [_of_page(page, result) for page, result in zip(pages, results, strict=True)]
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
