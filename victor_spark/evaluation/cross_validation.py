"""k-fold cross-validation by site: each page is cleaned by a model that was trained without its site."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from typing import TypeAlias

import numpy as np

from victor_spark import words
from victor_spark.blocks import OTHER, Bool, Int32, Page, Scores, UInt8
from victor_spark.errors import UsageError
from victor_spark.evaluation import labelling, measures
from victor_spark.evaluation.labelling import LabelledPage
from victor_spark.evaluation.measures import BlockCounts, Overlap
from victor_spark.evaluation.progress import track

Cleaner: TypeAlias = Callable[[Page], Scores]
Train: TypeAlias = Callable[[Sequence[LabelledPage]], Mapping[str, Cleaner]]
"""Trains on these pages: the resulting cleaners by name."""


@dataclass(frozen=True, slots=True)
class PageResult:
    """The measures of a cleaner's decision on a page; `blocks` is None where labels are not reliable."""

    id: str
    set: str
    site: str
    fold: int
    scores: Scores
    annotated: UInt8
    words: Overlap
    shingles: Overlap
    blocks: BlockCounts | None


Results: TypeAlias = dict[str, list[PageResult]]
"""Name of the cleaner → a result a page, in the order of the pages."""
FoldResults: TypeAlias = dict[int, dict[str, PageResult]]


def cross_validate(
    pages: Sequence[LabelledPage], train: Train, *, n_folds: int = 10, n_jobs: int = 1
) -> Results:
    """The results of every page, out of fold; progress on stderr.

    `n_jobs` > 1 trains as many folds at a time in forked processes, each with its own memory.
    """
    fold_of = folds_by_site([page.site for page in pages], [page.gold.set for page in pages], n_folds)
    rows: dict[int, dict[str, PageResult]] = {}
    for of_fold in track(_each(partial(_run_fold, pages, train, fold_of), n_folds, n_jobs), "folds", n_folds):
        rows |= of_fold
    return {name: [rows[row][name] for row in range(len(pages))] for name in rows[0]}


def _run_fold(pages: Sequence[LabelledPage], train: Train, fold_of: Int32, fold: int) -> FoldResults:
    """The results of the pages of one fold, by their row."""
    seen = [page for page, own in zip(pages, fold_of, strict=True) if own != fold]
    cleaners = train([page for page in seen if labelling.trainable(page)])
    return {
        row: {name: result(pages[row], cleaner(pages[row].page), fold) for name, cleaner in cleaners.items()}
        for row in np.flatnonzero(fold_of == fold).tolist()
    }


_forked: Callable[[int], FoldResults] | None = None
"""Run by forked child processes, which inherit it: pages and functions need not be pickled."""


def _each(run: Callable[[int], FoldResults], n_folds: int, n_jobs: int) -> Iterator[FoldResults]:
    global _forked  # noqa: PLW0603 - inherited by the children, see above
    if n_jobs <= 1:
        yield from map(run, range(n_folds))
        return
    _forked = run
    with get_context("fork").Pool(min(n_jobs, n_folds)) as pool:
        yield from pool.imap_unordered(_run_forked, range(n_folds), chunksize=1)
    _forked = None


def _run_forked(fold: int) -> FoldResults:
    assert _forked is not None
    return _forked(fold)


def result(page: LabelledPage, scores: Scores, fold: int = -1) -> PageResult:
    """Measures what a cleaner kept of a page against its gold text and its block labels."""
    found, wanted = _kept_words(page, scores.kept), words.words(page.gold.gold or "")
    reliable = labelling.trainable(page)
    return PageResult(
        id=page.gold.id,
        set=page.gold.set,
        site=page.site,
        fold=fold,
        scores=scores,
        annotated=page.labels,
        words=measures.overlap(found, wanted),
        shingles=measures.overlap(measures.shingles(found), measures.shingles(wanted)),
        blocks=measures.block_counts(labels(scores), page.labels) if reliable else None,
    )


def word_overlap(page: LabelledPage, kept: Bool) -> Overlap:
    """The overlap of the kept blocks' words with the page's gold text."""
    return measures.overlap(_kept_words(page, kept), words.words(page.gold.gold or ""))


def _kept_words(page: LabelledPage, kept: Bool) -> list[str]:
    page_words, rows = words.block_words(page.page.blocks)
    return [word for word, keep in zip(page_words, kept[rows].tolist(), strict=True) if keep]


def labels(scores: Scores) -> UInt8:
    """A label per block: for those kept header or text, whichever is likelier."""
    likelier = np.argmax(scores.probabilities[:, :OTHER], axis=1)
    return np.where(scores.kept, likelier, OTHER).astype(np.uint8)


def folds_by_site(sites: Sequence[str], sets: Sequence[str], n_folds: int) -> Int32:
    """The fold of every page: no site in two folds, folds of like size, and so within every set.

    Sites go, the largest first, to the fold that has fewest pages of their set, then fewest
    pages. The result is deterministic and does not depend on the order of the pages.
    """
    if n_folds < 2:
        raise UsageError(f"cross-validation needs at least 2 folds, not {n_folds}")
    if len(set(sites)) < n_folds:
        raise UsageError(f"{n_folds} folds by site need at least as many sites; there are {len(set(sites))}")
    fold_of = _assigned(_pages_of_sites(sites, sets), n_folds)
    return np.array([fold_of[site] for site in sites], dtype=np.int32)


def _pages_of_sites(sites: Sequence[str], sets: Sequence[str]) -> dict[str, Counter[str]]:
    pages: dict[str, Counter[str]] = defaultdict(Counter)
    for site, set_name in zip(sites, sets, strict=True):
        pages[site][set_name] += 1
    return pages


def _assigned(pages: dict[str, Counter[str]], n_folds: int) -> dict[str, int]:
    """Site → fold."""
    sizes = [Counter[str]() for _ in range(n_folds)]
    fold_of = {}
    for site in sorted(pages, key=lambda site: (-pages[site].total(), _shuffled(site))):
        main_set = min(pages[site], key=lambda name: (-pages[site][name], name))
        fold = min(range(n_folds), key=lambda row: (sizes[row][main_set], sizes[row].total(), row))
        sizes[fold] += pages[site]
        fold_of[site] = fold
    return fold_of


def _shuffled(site: str) -> str:
    """An order of sites that does not depend on their names."""
    return hashlib.sha256(site.encode("utf-8", "surrogatepass")).hexdigest()
