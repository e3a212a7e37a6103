"""Results of pages → figures per set and over all: plain dicts, ready for metrics.json and tables."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from victor_spark.evaluation import measures
from victor_spark.evaluation.cross_validation import Judgement, PageResult
from victor_spark.evaluation.measures import ThresholdCurve
from victor_spark.page import OTHER

ALL = "all"
"""Name of the row over all pages, beside those of the sets."""


def by_set(results: Sequence[PageResult]) -> dict[str, dict[str, Any]]:
    """Set name → figures; the last row, `all`, is over all pages."""
    names = sorted({result.set for result in results})
    rows = {name: figures([result for result in results if result.set == name]) for name in names}
    return rows | {ALL: figures(results)}


def figures(results: Sequence[PageResult]) -> dict[str, Any]:
    """What some pages come to: by the cleaner's own decision, and by P(other) < 0.5."""
    return {
        "n_pages": len(results),
        "n_sites": len({result.site for result in results}),
        **_judged(results, [result.decided for result in results]),
        "at_half": _judged(results, [result.at_half for result in results]),
    }


def curve(results: Sequence[PageResult]) -> ThresholdCurve:
    """Block precision and recall by threshold over the pages whose labels are reliable."""
    reliable = [result for result in results if result.decided.blocks]
    p_other = np.concatenate([np.empty(0), *(result.scores.probabilities[:, OTHER] for result in reliable)])
    annotated = np.concatenate([np.empty(0, np.uint8), *(result.annotated for result in reliable)])
    return measures.threshold_curve(p_other, annotated)


def _judged(results: Sequence[PageResult], judgements: Sequence[Judgement]) -> dict[str, Any]:
    sites = [result.site for result in results]
    f1 = [measures.quality(each.words).f1 for each in judgements]
    counts = [each.blocks for each in judgements if each.blocks]
    with_content = [each for each in counts if each.n_content_annotated]
    return {
        "word_f1": asdict(measures.bootstrap(f1, sites)),
        "words_macro": asdict(measures.macro(each.words for each in judgements)),
        "words_micro": asdict(measures.micro(each.words for each in judgements)),
        "shingle_f1": asdict(measures.macro(each.shingles for each in judgements))["f1"],
        "empty_ratio": float(np.mean([each.words.n_found == 0 for each in judgements])),
        "blocks": asdict(measures.block_measures(measures.total(counts))),
        "blocks_of_pages_with_content": asdict(measures.block_measures(measures.total(with_content))),
    }


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
