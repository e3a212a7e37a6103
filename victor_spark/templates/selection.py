"""Which repeated strings are templates: cut-off, place in the line, guards, none that others cover."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from victor_spark.blocks import Bool, Float64, Int32, UInt8
from victor_spark.templates.matcher import trie
from victor_spark.templates.repeats import Corpus, Repeats
from victor_spark.templates.tokens import BEGINS_LINE, ENDS_LINE

N_BINS: Final = 100


def bins(document_frequencies: Int32, n_documents: int) -> Int32:
    """The bin of each string: bin i holds shares of the documents above i % and up to i + 1 %."""
    shares = -(-document_frequencies.astype(np.int64) * N_BINS // n_documents)
    return np.clip(shares - 1, 0, N_BINS - 1).astype(np.int32)


def histogram(document_frequencies: Int32, n_documents: int) -> npt.NDArray[np.int64]:
    """How many strings each of the 100 bins holds."""
    return np.bincount(bins(document_frequencies, n_documents), minlength=N_BINS).astype(np.int64)


def cut_off_bin(heights: npt.NDArray[np.int64]) -> int:
    """The bin b that minimises equation 3.1 with b = (x + y) / 2; of equal minima that in the middle.

    E(b) sums (i - x)² h over the bins i below b and (i - y)² h over the others. With y = 2b - x it is a
    parabola in x, so its least value for each b is known in closed form.
    """
    least = energies(heights)
    equal = np.flatnonzero(least <= least.min() * (1 + 1e-12) + 1e-9)
    return 1 + int(equal[len(equal) // 2])


def energies(heights: npt.NDArray[np.int64]) -> Float64:
    """The least E(b) over x for b = 1 ... 99."""
    places, total = np.arange(N_BINS, dtype=np.float64), max(float(heights.sum()), 1.0)
    least = np.empty(N_BINS - 1)
    for b in range(1, N_BINS):
        low, high = slice(None, b), slice(b, None)
        # With y = 2b - x, (i - y)² is ((2b - i) - x)²: the variance of i below b and of 2b - i above.
        mirrored = np.concatenate([places[low], 2 * b - places[high]])
        x = (heights * mirrored).sum() / total
        least[b - 1] = (heights * (mirrored - x) ** 2).sum()
    return least


def cut_off(document_frequencies: Int32, n_documents: int) -> int:
    """The least document frequency of a template, by the histogram alone."""
    b = cut_off_bin(histogram(document_frequencies, n_documents))
    return int(b * n_documents // N_BINS) + 1


@dataclass(frozen=True, slots=True)
class Standing:
    """How each repeat may be matched: `anchors` as in patterns.glue, -1 where it is no template at all.

    `document_frequency` counts the documents that hold it so.
    """

    anchors: Int32
    document_frequency: Int32


def standing(found: Repeats, *, n_free_tokens: int, line_ratio: float) -> Standing:
    """Long strings match anywhere, short ones only at the edges of lines, where they mostly stand.

    "of the" stands on every page, but in the middle of its lines; "read more" fills a line. A string
    shorter than `n_free_tokens` counts only where it fills lines, if half its pages have it so; else
    only where it begins or ends one, if `line_ratio` of its occurrences do.
    """
    frequency, occurrences = found.document_frequency, found.n_occurrences
    kind = np.full(len(found), -1, dtype=np.int32)
    kind[occurrences[:, ENDS_LINE] >= line_ratio * occurrences[:, 0]] = ENDS_LINE
    kind[occurrences[:, BEGINS_LINE] >= line_ratio * occurrences[:, 0]] = BEGINS_LINE
    kind[2 * frequency[:, BEGINS_LINE | ENDS_LINE] >= frequency[:, 0]] = BEGINS_LINE | ENDS_LINE
    kind[found.length >= n_free_tokens] = 0
    chosen = np.take_along_axis(frequency, np.maximum(kind, 0)[:, None].astype(np.intp), axis=1)[:, 0]
    return Standing(kind, np.where(kind < 0, 0, chosen).astype(np.int32))


def republished(found: Repeats, n_documents: int, *, most: float) -> Bool:
    """Which repeats are too long for templates: the same article on several pages.

    They take more than the share `most` of their pages' tokens; what is on four pages in five of a
    site with ten or more is a template however long it is.
    """
    frequent = (n_documents >= 10) & (5 * found.document_frequency[:, 0] >= 4 * n_documents)
    result: Bool = (found.page_share > most) & ~frequent
    return result


_SHORT_LINE: Final = 10


def of_sections(edges: UInt8, found: Repeats, anchors: Int32) -> Bool:
    """Which repeats may be templates of only some of the pages: no more than ten tokens a line, as menus have
    and articles don't, and whole lines (on half of their pages or more).
    """
    begun = np.cumsum(np.append(0, edges & BEGINS_LINE), dtype=np.int32)
    n_lines = begun[found.position + found.length] - begun[found.position]
    is_short = found.length <= _SHORT_LINE * np.maximum(n_lines, 1)
    # A string without anchors may hold a menu and the first words of the text after it.
    is_whole = 2 * found.document_frequency[:, BEGINS_LINE | ENDS_LINE] >= found.document_frequency[:, 0]
    result: Bool = is_short & ((anchors == BEGINS_LINE | ENDS_LINE) | ((anchors == 0) & is_whole))
    return result


def hanging(corpus: Corpus, found: Repeats, rows: Int32, anchors: Int32, least_documents: int) -> Bool:
    """The repeats that only begin or only end lines and are outside of other repeats on too few pages.

    "About the" begins a line wherever a menu says "About the editors": it is a template only if
    `least_documents` pages have it outside of the other repeats.
    """
    is_hanging: Bool = (anchors == BEGINS_LINE) | (anchors == ENDS_LINE)
    change = np.zeros(len(corpus.symbols) + 1, dtype=np.int32)
    for row in rows[~is_hanging].tolist():
        places = found.suffixes[found.begin[row] : found.end[row] + 1]
        change[places] += 1
        change[places + found.length[row]] -= 1
    free = np.cumsum(np.append(0, np.cumsum(change[:-1]) == 0), dtype=np.int32)
    for i in np.flatnonzero(is_hanging).tolist():
        row = int(rows[i])
        places = found.suffixes[found.begin[row] : found.end[row] + 1]
        alone = places[free[places + found.length[row]] > free[places]]
        is_hanging[i] = len(np.unique(corpus.documents[alone])) < least_documents
    return is_hanging


def strings(corpus: Corpus, found: Repeats, rows: Int32) -> list[tuple[int, ...]]:
    """The symbols of some repeats."""
    places = zip(found.position[rows].tolist(), found.length[rows].tolist(), strict=True)
    return [tuple(corpus.symbols[begin : begin + length].tolist()) for begin, length in places]


def needed(corpus: Corpus, edges: UInt8, found: Repeats, rows: Int32, anchors: Int32) -> Int32:
    """The repeats that shorter ones do not cover from end to end, the shortest first."""
    order = np.lexsort((found.position[rows], found.length[rows]))
    rows, anchors = rows[order], anchors[order]
    texts = strings(corpus, found, rows)
    members, flat = np.unique(
        np.concatenate([np.array(t, dtype=np.int32) for t in texts]), return_inverse=True
    )
    ends = np.cumsum(found.length[rows])
    local = [
        flat[end - len(text) : end].astype(np.int32) for end, text in zip(ends.tolist(), texts, strict=True)
    ]
    tree = trie([tuple(text.tolist()) for text in local], anchors.tolist())
    heads, symbols = np.arange(len(members) + 1, dtype=np.int32), np.arange(len(members), dtype=np.int32)
    shorter = np.searchsorted(found.length[rows], found.length[rows], side="left").tolist()
    kept = [
        not _is_covered(tree.covered(text, _common_edges(edges, found, int(row)), heads, symbols, limit))
        for row, text, limit in zip(rows, local, shorter, strict=True)
    ]
    chosen: Int32 = rows[np.array(kept)]
    return chosen


def _is_covered(covered: Int32) -> bool:
    reached = np.maximum.accumulate(covered)
    return bool((reached > np.arange(len(covered))).all())


_N_OCCURRENCES_LOOKED_AT = 32


def _common_edges(edges: UInt8, found: Repeats, row: int) -> UInt8:
    """Which of a repeat's tokens begin and end lines in all its occurrences (of many, a sample)."""
    begin, end = int(found.begin[row]), int(found.end[row]) + 1
    places = found.suffixes[begin : end : max(1, (end - begin) // _N_OCCURRENCES_LOOKED_AT)]
    of_tokens = edges[places[:, None] + np.arange(found.length[row])]
    common: UInt8 = np.bitwise_and.reduce(of_tokens, axis=0)
    return common
