"""k-fold cross-validation by site: every page judged by a cleaner that never saw its site."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from typing import TypeAlias

import numpy as np

from victor_spark.evaluation import folds, labelling, measures, words
from victor_spark.evaluation.labelling import LabelledPage
from victor_spark.evaluation.measures import BlockCounts, Overlap
from victor_spark.evaluation.progress import track
from victor_spark.page import OTHER, Bool, Int32, Page, Scores, UInt8

Cleaner: TypeAlias = Callable[[Page], Scores]
Train: TypeAlias = Callable[[Sequence[LabelledPage]], Cleaner]
"""Answers one question: what cleaner do these pages make?"""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one decision over a page's blocks is worth; `blocks` is None where labels aren't reliable."""

    words: Overlap
    shingles: Overlap
    blocks: BlockCounts | None


@dataclass(frozen=True, slots=True)
class PageResult:
    """A page's scores from a cleaner and what they are worth.

    `decided` judges the cleaner's own decision, `at_half` the paper's rule, P(other) < 0.5.
    """

    id: str
    set: str
    site: str
    fold: int
    scores: Scores
    annotated: UInt8
    decided: Judgement
    at_half: Judgement


def cross_validate(
    pages: Sequence[LabelledPage], train: Train, *, n_folds: int = 10, n_jobs: int = 1
) -> list[PageResult]:
    """The result of every page, out of fold, in the order of `pages`; progress on stderr.

    `n_jobs` > 1 trains as many folds at a time in forked processes, each with its own memory.
    """
    fold_of = folds.by_site([page.site for page in pages], [page.gold.set for page in pages], n_folds)
    run = partial(_run_fold, pages, train, fold_of)
    results: dict[int, PageResult] = {}
    for of_fold in track(_each(run, n_folds, n_jobs), f"{n_folds} folds", n_folds):
        results |= of_fold
    return [results[row] for row in range(len(pages))]


def _run_fold(
    pages: Sequence[LabelledPage], train: Train, fold_of: Int32, fold: int
) -> dict[int, PageResult]:
    """The results of the pages of one fold, by their row."""
    seen = [page for page, own in zip(pages, fold_of, strict=True) if own != fold]
    cleaner = train([page for page in seen if labelling.trainable(page)])
    return {
        row: result(pages[row], cleaner(pages[row].page), fold)
        for row in np.flatnonzero(fold_of == fold).tolist()
    }


FoldRun: TypeAlias = Callable[[int], dict[int, PageResult]]

_forked: FoldRun | None = None
"""What forked children run: they inherit it, since neither pages nor functions need pickling then."""


def _each(run: FoldRun, n_folds: int, n_jobs: int) -> Iterator[dict[int, PageResult]]:
    global _forked  # noqa: PLW0603 - inherited by the children, see above
    if n_jobs <= 1:
        yield from map(run, range(n_folds))
        return
    _forked = run
    with get_context("fork").Pool(min(n_jobs, n_folds)) as pool:
        yield from pool.imap_unordered(_run_forked, range(n_folds), chunksize=1)


def _run_forked(fold: int) -> dict[int, PageResult]:
    assert _forked is not None
    return _forked(fold)


def score(pages: Sequence[LabelledPage], cleaner: Cleaner) -> Iterator[PageResult]:
    """The result of every page from one cleaner (fold -1), with nothing held out."""
    return (result(page, cleaner(page.page), -1) for page in pages)


def result(page: LabelledPage, scores: Scores, fold: int) -> PageResult:
    """Judges the scores that a cleaner gave to a page."""
    return PageResult(
        id=page.gold.id,
        set=page.gold.set,
        site=page.site,
        fold=fold,
        scores=scores,
        annotated=page.labels,
        decided=judge(page, labels(scores, scores.kept)),
        at_half=judge(page, labels(scores, scores.probabilities[:, OTHER] < 0.5)),
    )


def labels(scores: Scores, kept: Bool) -> UInt8:
    """A label per block: header or text, whichever is likelier, for those kept."""
    return np.where(kept, np.argmax(scores.probabilities[:, :OTHER], axis=1), OTHER).astype(np.uint8)


def judge(page: LabelledPage, block_labels: UInt8) -> Judgement:
    """Compares a decision over a page's blocks with its gold text and its block labels."""
    page_words, rows = words.block_words(page.page.blocks)
    kept = (block_labels != OTHER)[rows].tolist()
    found = [word for word, keep in zip(page_words, kept, strict=True) if keep]
    wanted = words.words(page.gold.gold or "")
    return Judgement(
        words=measures.overlap(found, wanted),
        shingles=measures.overlap(measures.shingles(found), measures.shingles(wanted)),
        blocks=measures.block_counts(block_labels, page.labels) if labelling.trainable(page) else None,
    )
