"""k-fold cross-validation by site: each page is cleaned by a model that was trained without its site.

The figures of its pages, per set and over all, are plain dicts for metrics.json, model cards and tables.
"""

import gzip
import hashlib
import json
import signal
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np

from victor_spark import words
from victor_spark.blocks import OTHER, Bool, Cleaner, Float64, Int32, Scores, UInt8, labels
from victor_spark.errors import UsageError
from victor_spark.evaluation import labelling, measures
from victor_spark.evaluation.labelling import LabelledPage
from victor_spark.evaluation.measures import ALL, Counts, Interval, Overlap
from victor_spark.logs import aligned, track
from victor_spark.model import decision

Train: TypeAlias = Callable[[Sequence[LabelledPage]], Mapping[str, Cleaner]]
"""Trains on these pages: the resulting cleaners by name."""

OUT_OF_FOLD: Final = "out_of_fold.jsonl.gz"


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
    blocks: Counts | None


Results: TypeAlias = dict[str, list[PageResult]]
"""Name of the cleaner → one result per page, in the order of the pages."""
FoldResults: TypeAlias = dict[int, dict[str, PageResult]]
"""Row of a page → name of the cleaner → its result."""


def cross_validate(pages: Sequence[LabelledPage], train: Train, *, n_folds: int, n_jobs: int = 1) -> Results:
    """The results, out of fold, of each page; progress on stderr.

    `n_jobs` > 1 trains as many folds at a time in forked processes, each with its own memory.
    """
    fold_of = folds_by_site([page.site for page in pages], [page.gold.set for page in pages], n_folds)

    def run(fold: int) -> FoldResults:
        """The results of the pages of one fold, by their row."""
        others = [page for page, own in zip(pages, fold_of, strict=True) if own != fold]
        cleaners = train([page for page in others if labelling.trainable(page)])
        return {
            row: {name: result(pages[row], clean(pages[row].page), fold) for name, clean in cleaners.items()}
            for row in np.flatnonzero(fold_of == fold).tolist()
        }

    rows: FoldResults = {}
    for of_fold in track(_each(run, n_folds, n_jobs), "folds", n_folds):
        rows |= of_fold
    return {name: [rows[row][name] for row in sorted(rows)] for name in next(iter(rows.values()))}


_forked: Callable[[int], FoldResults] | None = None
"""Run by forked child processes, which inherit it: pages and functions need not be pickled."""


def _each(run: Callable[[int], FoldResults], n_folds: int, n_jobs: int) -> Iterator[FoldResults]:
    """The results of the folds, in the order in which they are done."""
    global _forked  # noqa: PLW0603 - inherited by the children, see above
    if n_jobs <= 1:
        yield from map(run, range(n_folds))
        return
    _forked = run
    plain = (signal.SIGTERM, signal.SIG_DFL)  # the pool ends its children by it
    with get_context("fork").Pool(min(n_jobs, n_folds), signal.signal, plain) as pool:
        yield from pool.imap_unordered(_run_forked, range(n_folds), chunksize=1)
        pool.close()  # children end by themselves: a signal would meet the handlers of the parent
        pool.join()
    _forked = None


def _run_forked(fold: int) -> FoldResults:
    assert _forked is not None
    return _forked(fold)


def result(page: LabelledPage, scores: Scores, fold: int = -1) -> PageResult:
    """Measures the kept blocks of a page against its gold text and its block labels."""
    found, wanted = _words(page, scores.kept)
    shingles = measures.overlap(measures.shingles(found), measures.shingles(wanted))
    blocks = None
    if labelling.trainable(page):
        blocks = measures.block_counts(labels(scores, scores.kept), page.labels)
    return PageResult(
        id=page.gold.id,
        set=page.gold.set,
        site=page.site,
        fold=fold,
        scores=scores,
        annotated=page.labels,
        words=measures.overlap(found, wanted),
        shingles=shingles,
        blocks=blocks,
    )


def word_overlap(page: LabelledPage, kept: Bool) -> Overlap:
    """The overlap of the kept blocks' words with the page's gold text."""
    return measures.overlap(*_words(page, kept))


def _words(page: LabelledPage, kept: Bool) -> tuple[list[str], list[str]]:
    """The words of the kept blocks, and those of the gold text."""
    page_words, rows = words.block_words(page.page.blocks)
    found = [word for word, keep in zip(page_words, kept[rows].tolist(), strict=True) if keep]
    return found, words.words(page.gold.gold or "")


def folds_by_site(sites: Sequence[str], sets: Sequence[str], n_folds: int) -> Int32:
    """The fold of every page: no site in two folds; folds of similar size, overall and in each set.

    Sites go, the largest first, to the fold that has fewest pages of their set, then fewest
    pages. The result is deterministic and does not depend on the order of the pages.
    """
    if n_folds < 2:
        raise UsageError(f"cross-validation needs at least 2 folds, not {n_folds}")
    if len(set(sites)) < n_folds:
        raise UsageError(f"{n_folds} folds by site need at least as many sites; there are {len(set(sites))}")
    pages: dict[str, Counter[str]] = defaultdict(Counter)
    for site, set_name in zip(sites, sets, strict=True):
        pages[site][set_name] += 1
    # Sites of equal size are ordered by hash, not alphabetically.
    hashes = {site: hashlib.sha256(site.encode("utf-8", "surrogatepass")).digest() for site in pages}
    sizes = [Counter[str]() for _ in range(n_folds)]
    fold_of = {}
    for site in sorted(pages, key=lambda site: (-pages[site].total(), hashes[site])):
        main_set = min(pages[site], key=lambda name: (-pages[site][name], name))
        fold = min(range(n_folds), key=lambda row: (sizes[row][main_set], sizes[row].total(), row))
        sizes[fold] += pages[site]
        fold_of[site] = fold
    return np.array([fold_of[site] for site in sites], dtype=np.int32)


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
    counts = [result.blocks for result in results if result.blocks is not None]
    return {
        "n_pages": len(results),
        "n_sites": len({result.site for result in results}),
        "word_f1": asdict(word_f1(results)),
        "words_macro": asdict(measures.macro(result.words for result in results)),
        "words_micro": asdict(measures.micro(result.words for result in results)),
        "shingle_f1": measures.macro(result.shingles for result in results).f1,
        "empty_ratio": float(np.mean([result.words.n_found == 0 for result in results])),
        "blocks": measures.block_measures(counts),
        "blocks_of_pages_with_content": measures.block_measures(filter(measures.has_content, counts)),
    }


def word_f1(results: Sequence[PageResult]) -> Interval:
    """Word F1 over pages, with an interval over sites."""
    f1 = [measures.quality(result.words).f1 for result in results]
    return measures.interval(f1, [result.site for result in results])


def blocks(results: Sequence[PageResult]) -> tuple[Float64, UInt8]:
    """P(other) and the label of every block of the pages whose labels are reliable."""
    reliable = [result for result in results if result.blocks is not None]
    p_other = np.concatenate([np.empty(0), *(result.scores.probabilities[:, OTHER] for result in reliable)])
    annotated = np.concatenate([np.empty(0, np.uint8), *(result.annotated for result in reliable)])
    return p_other, annotated


def table(rows: Mapping[str, Mapping[str, Any]]) -> str:
    """The figures as lines of text: word F1 with its interval, then the paper's block measures."""
    lines = [("set", "pages", "word F1", "95 % interval", "median", "acc", "unlab", "prec", "recall")]
    for name, row in rows.items():
        f1, of_blocks = row["word_f1"], (f"{row['blocks'][key]:.4f}" for key in measures.OF_BLOCKS)
        interval = f"{f1['low']:.3f} – {f1['high']:.3f}"
        lines.append((name, row["n_pages"], f"{f1['mean']:.3f}", interval, f"{f1['median']:.3f}", *of_blocks))
    return "\n".join(aligned(lines))


def write_out_of_fold(path: Path, pages: Sequence[LabelledPage], results: Sequence[PageResult]) -> None:
    """Writes one JSON object per page, gzipped: numbers and ids, no text. Equal results give equal bytes.

    With them, figures over any group of pages can be computed without training again. `decided` is the
    cleaner's output, `unrejected` the output if a low expected F1 drops no page.
    """
    lines = []
    page_of = {(page.gold.set, page.gold.id): page for page in pages}
    for each in results:
        page = page_of[each.set, each.id]
        marginals, weights = each.scores.probabilities, decision.n_words(page.page.blocks)
        expected = partial(decision.expected_f1, marginals, weights)
        decided = _counts(each.words, expected(each.scores.kept))
        unrejected = decided
        if not each.scores.kept.any():
            kept = decision.by_expected_f1(marginals, weights, least=0.0)
            if kept.any():
                unrejected = _counts(word_overlap(page, kept), expected(kept))
        row = {
            "set": each.set,
            "id": each.id,
            "site": each.site,
            "language": page.gold.language or page.page.language,
            "page_type": page.gold.meta.get("page_type"),
            "fold": each.fold,
            "n_gold": each.words.n_gold,
            "decided": decided,
            "unrejected": unrejected,
            "word_f1": round(measures.quality(each.words).f1, 6),
            "empty": each.words.n_found == 0,
        }
        lines.append(json.dumps(row, ensure_ascii=False) + "\n")
    path.write_bytes(gzip.compress("".join(lines).encode(), mtime=0))


def _counts(found: Overlap, expected_f1: float) -> dict[str, float]:
    """One output in a row: words found, words in common with the gold, and the expected F1."""
    return {"n_found": found.n_found, "n_common": found.n_common, "expected_f1": round(expected_f1, 6)}
