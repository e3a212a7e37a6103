"""Results of pages → figures per set and over all: plain dicts, ready for metrics.json and tables."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from victor_spark.blocks import OTHER, Float64, UInt8
from victor_spark.evaluation import measures
from victor_spark.evaluation.cross_validation import PageResult
from victor_spark.evaluation.measures import Interval, Reliability, ThresholdCurve

ALL = "all"
"""Name of the row over all pages, beside those of the sets."""


def by_set(results: Sequence[PageResult]) -> dict[str, dict[str, Any]]:
    """Set name → figures; the last row, `all`, is over all pages."""
    names = sorted({result.set for result in results})
    rows = {name: figures([result for result in results if result.set == name]) for name in names}
    return rows | {ALL: figures(results)}


def figures(results: Sequence[PageResult]) -> dict[str, Any]:
    """What some pages come to. Blocks are counted over the pages whose labels are reliable.

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
    return measures.bootstrap(f1, [result.site for result in results])


def curve(results: Sequence[PageResult]) -> ThresholdCurve:
    """Block precision and recall by threshold over the pages whose labels are reliable."""
    return measures.threshold_curve(*_blocks(results))


def reliability(results: Sequence[PageResult]) -> Reliability:
    """How far stated probabilities hold, over the pages whose labels are reliable."""
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
    words, blocks = row["word_f1"], row["blocks"]
    interval = f"{words['low']:.3f} – {words['high']:.3f}"
    line = f"{name:<18}{row['n_pages']:>6}  {words['mean']:>7.3f} {interval:>15} {words['median']:>7.3f}"
    return line + "".join(
        f" {blocks[key]:>7.4f}" for key in ("accuracy", "unlabelled_accuracy", "precision", "recall")
    )
