"""The repeated texts of a site: every maximal repeat of a corpus of symbols, and which of them are templates.

The suffix array and the LCP array give the classes of Yamamoto and Church (2001): one maximal repeat each.
A template is a repeat with a document frequency above the cut-off that no shorter template covers. Short
repeats count only at the beginning or end of a line (`anchored`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from victor_spark.blocks import Bool, Float64, Int32, UInt8
from victor_spark.errors import UsageError
from victor_spark.kernels import num, views
from victor_spark.kernels import repeats as kernel
from victor_spark.kernels.num import ANYWHERE, BEGINS_LINE, ENDS_LINE, FILLS_LINES
from victor_spark.templates.matcher import trie

MOST_TOKENS: Final = (2**31 - 1) // 4
_PART: Final = 1 << 20
"""Suffixes are filtered in parts of this length, which saves a second array of all of them."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """Documents one after the other, each followed by a sentinel that occurs nowhere else.

    `documents`: the document each position belongs to; `first`: where each document begins.
    """

    symbols: Int32
    documents: Int32
    first: Int32


def corpus(documents: Sequence[Int32], n_symbols: int) -> Corpus:
    """The corpus of documents with symbols 0 ... n_symbols - 1; sentinels are the numbers after that."""
    lengths = np.array([len(document) + 1 for document in documents], dtype=np.int64)
    n = int(lengths.sum())
    if n > MOST_TOKENS:
        raise UsageError(f"{n} tokens do not fit one suffix array (at most {MOST_TOKENS}): mine fewer pages")
    ended = [np.append(document, np.int32(n_symbols + number)) for number, document in enumerate(documents)]
    owners = np.repeat(np.arange(len(documents), dtype=np.int32), lengths)
    first = (np.cumsum(lengths) - lengths).astype(np.int32)
    return Corpus(np.concatenate(ended), owners, first)


def suffix_array(symbols: Int32) -> Int32:
    """The positions of all suffixes in their lexicographic order.

    The library sorts the suffixes of byte strings. So each symbol is written with its highest byte first (in
    three bytes if all symbols fit), and of the sorted suffixes those that begin at a symbol are kept.
    """
    if not len(symbols):
        return np.empty(0, dtype=np.int32)
    width = 3 if int(symbols.max()) < 1 << 24 else 4
    source = symbols.astype(">u4").view(np.uint8).reshape(-1, 4)[:, 4 - width :]
    import pydivsufsort  # an extra: cleaning does without it

    sorted_places = pydivsufsort.divsufsort(np.ascontiguousarray(source).reshape(-1))
    places = np.frombuffer(sorted_places, dtype=np.int32)  # the same memory as a plain int32 array
    parts = (places[start : start + _PART] for start in range(0, len(places), _PART))
    return np.concatenate([part[part % width == 0] // width for part in parts])


@dataclass(frozen=True, slots=True)
class Repeats:
    """Maximal repeats as columns: strings that can't grow without losing occurrences.

    `begin` and `end` delimit their places in `suffixes` (both inclusive), `length` is in tokens.
    `n_occurrences` and `document_frequency` have four columns: all occurrences; those that begin
    a line; those that end a line; those that do both. `position`: the first occurrence. `page_share`: the
    mean share of an occurrence in the tokens of its page.
    """

    begin: Int32
    end: Int32
    length: Int32
    n_occurrences: Int32
    document_frequency: Int32
    position: Int32
    page_share: Float64
    suffixes: Int32

    def __len__(self) -> int:
        return len(self.begin)


def repeats(corpus: Corpus, edges: UInt8, *, least_length: int, least_documents: int) -> Repeats:
    """The maximal repeats of at least `least_length` tokens in at least `least_documents` documents.

    `edges`: for each position of the corpus, whether its token begins or ends a line (bits).
    """
    suffixes = suffix_array(corpus.symbols)
    found = _classes(corpus, suffixes, least_length, least_documents)
    n_documents = len(corpus.first)
    lengths = np.diff(np.append(corpus.first, len(corpus.symbols))).astype(np.int32) - 1
    counts, shares = np.empty((len(found), num.N_STANDING), dtype=np.int32), np.empty(len(found))
    in_edges = counts[:, num.STANDING_IN_BEGIN : num.STANDING_IN_BOTH + 1]
    stamps = np.full((in_edges.shape[1], n_documents), -1, dtype=np.int32)
    columns = (found, suffixes, corpus.documents, edges, lengths, stamps, counts, shares)
    kernel.standing(*views(*columns))
    return Repeats(
        begin=found[:, num.REPEAT_FIRST],
        end=found[:, num.REPEAT_LAST],
        length=found[:, num.REPEAT_LENGTH],
        n_occurrences=counts[:, num.STANDING_ALL : num.STANDING_BOTH + 1],
        document_frequency=np.column_stack([found[:, num.REPEAT_DOCUMENTS], in_edges]),
        position=counts[:, num.STANDING_FIRST],
        page_share=shares,
        suffixes=suffixes,
    )


def _classes(corpus: Corpus, suffixes: Int32, least_length: int, least_documents: int) -> Int32:
    """The columns num.REPEAT of the maximal repeats."""
    import pydivsufsort

    lcp = pydivsufsort.kasai(corpus.symbols, suffixes)  # with the next suffix; 0 for the last
    deepest = int(lcp.max()) + 2 if len(lcp) else 2
    room = len(suffixes) // 16 + 1024
    while True:
        last = np.full(len(corpus.first), -1, dtype=np.int32)
        stack = np.empty((len(num.OPEN), deepest + 1), dtype=np.int32)
        found = np.empty((room, len(num.REPEAT)), dtype=np.int32)
        columns = (corpus.symbols, suffixes, lcp, corpus.documents)
        n = kernel.classes(*views(*columns), least_length, least_documents, *views(last, stack, found))
        if n <= room:
            return np.array(found[:n])
        room = n


N_BINS: Final = 100


def bins(document_frequencies: Int32, n_documents: int) -> Int32:
    """The bin of each string: bin i holds shares of the documents above i % and up to i + 1 %."""
    shares = -(-document_frequencies.astype(np.int64) * N_BINS // n_documents)
    return np.clip(shares - 1, 0, N_BINS - 1).astype(np.int32)


def cut_off_bin(heights: npt.NDArray[np.int64]) -> int:
    """The bin b that minimises E(b), equation 3.1 with b = (x + y) / 2; of equal minima the middle one.

    `heights`: how many strings each bin holds.
    """
    least = energies(heights)
    equal = np.flatnonzero(least <= least.min() * (1 + 1e-12) + 1e-9)
    return 1 + int(equal[len(equal) // 2])


def energies(heights: npt.NDArray[np.int64]) -> Float64:
    """The least E(b) over x for b = 1 ... 99.

    E(b) sums (i - x)² h over the bins i below b and (i - y)² h over the others, with y = 2b - x.
    """
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
    """The least document frequency of a template that the histogram gives."""
    b = cut_off_bin(np.bincount(bins(document_frequencies, n_documents), minlength=N_BINS))
    return int(b * n_documents // N_BINS) + 1


_N_FREE_TOKENS: Final = 8
_LINE_RATIO: Final = 0.9
_MOST_OF_A_PAGE: Final = 0.5


def anchored(found: Repeats) -> tuple[Int32, Int32]:
    """The anchors of each repeat (as in patterns.glue; -1: none), and its document frequency with them.

    A repeat of eight tokens or more counts anywhere. Short ones count at the edges of lines only: "of the" is
    on every page, but inside lines; "read more" fills a line. A short repeat counts where it fills lines, if
    that is so on half of its pages; else where it begins (or ends) a line, if nine in ten occurrences do.
    """
    frequency, occurrences = found.document_frequency, found.n_occurrences
    kind = np.full(len(found), -1, dtype=np.int32)
    least = _LINE_RATIO * occurrences[:, ANYWHERE]
    kind[occurrences[:, ENDS_LINE] >= least] = ENDS_LINE
    kind[occurrences[:, BEGINS_LINE] >= least] = BEGINS_LINE
    kind[2 * frequency[:, FILLS_LINES] >= frequency[:, ANYWHERE]] = FILLS_LINES
    kind[found.length >= _N_FREE_TOKENS] = ANYWHERE
    chosen = np.take_along_axis(frequency, np.maximum(kind, 0)[:, None].astype(np.intp), axis=1)[:, 0]
    return kind, np.where(kind < 0, 0, chosen).astype(np.int32)


def republished(found: Repeats, n_documents: int) -> Bool:
    """Which repeats are too long for templates: the same article on several pages.

    They have more than half of the tokens of their pages. A repeat on four in five pages of a site, if these
    are ten or more, is a template of any length.
    """
    frequent = (n_documents >= 10) & (5 * found.document_frequency[:, ANYWHERE] >= 4 * n_documents)
    return np.asarray((found.page_share > _MOST_OF_A_PAGE) & ~frequent)


_SHORT_LINE: Final = 10
_N_OCCURRENCES_LOOKED_AT: Final = 32


def of_sections(edges: UInt8, found: Repeats, anchors: Int32) -> Bool:
    """Which repeats may be templates below the cut-off: their lines have at most ten tokens on average, as
    those of menus (and not those of articles), and are whole on half of their pages or more.
    """
    begun = np.cumsum(np.append(0, edges & BEGINS_LINE), dtype=np.int32)
    n_lines = begun[found.position + found.length] - begun[found.position]
    is_short = found.length <= _SHORT_LINE * np.maximum(n_lines, 1)
    # A string without anchors may hold a menu and the first words of the text after it.
    frequency = found.document_frequency
    is_whole = 2 * frequency[:, FILLS_LINES] >= frequency[:, ANYWHERE]
    return np.asarray(is_short & ((anchors == FILLS_LINES) | ((anchors == ANYWHERE) & is_whole)))


def inside_others(corpus: Corpus, found: Repeats, rows: Int32, anchors: Int32, least_documents: int) -> Bool:
    """The repeats that only begin or only end lines and are outside of other repeats on too few pages.

    "About the" begins a line wherever a menu says "About the editors": it is a template only if
    `least_documents` pages have it outside of the other repeats.
    """
    dropped: Bool = (anchors == BEGINS_LINE) | (anchors == ENDS_LINE)
    change = np.zeros(len(corpus.symbols) + 1, dtype=np.int32)
    for row in rows[~dropped].tolist():
        places = found.suffixes[found.begin[row] : found.end[row] + 1]
        change[places] += 1
        change[places + found.length[row]] -= 1
    free = np.cumsum(np.append(0, np.cumsum(change[:-1]) == 0), dtype=np.int32)
    for i in np.flatnonzero(dropped).tolist():
        row = int(rows[i])
        places = found.suffixes[found.begin[row] : found.end[row] + 1]
        alone = places[free[places + found.length[row]] > free[places]]
        dropped[i] = len(np.unique(corpus.documents[alone])) < least_documents
    return dropped


def uncovered(corpus: Corpus, edges: UInt8, found: Repeats, rows: Int32, anchors: Int32) -> Int32:
    """The repeats that shorter ones do not cover from end to end, the shortest first."""
    order = np.lexsort((found.position[rows], found.length[rows]))
    rows, anchors = rows[order], anchors[order]
    places = zip(found.position[rows].tolist(), found.length[rows].tolist(), strict=True)
    texts = [corpus.symbols[begin : begin + length] for begin, length in places]
    members, flat = np.unique(np.concatenate(texts), return_inverse=True)
    local = np.split(flat.astype(np.int32), np.cumsum(found.length[rows])[:-1])
    tree = trie([tuple(text.tolist()) for text in local], anchors.tolist())
    heads = np.arange(len(members) + 1, dtype=np.int32)
    shorter = np.searchsorted(found.length[rows], found.length[rows], side="left").tolist()
    kept = []
    for row, text, limit in zip(rows, local, shorter, strict=True):
        # The tokens that begin or end a line in all occurrences; if these are many, in a sample of them.
        begin, end = int(found.begin[row]), int(found.end[row]) + 1
        occurrences = found.suffixes[begin : end : max(1, (end - begin) // _N_OCCURRENCES_LOOKED_AT)]
        of_tokens = edges[occurrences[:, None] + np.arange(found.length[row])]
        common = np.bitwise_and.reduce(of_tokens, axis=0)
        covered = tree.covered(text, common, heads, heads[:-1], limit)
        kept.append(not (np.maximum.accumulate(covered) > np.arange(len(covered))).all())
    return np.asarray(rows[np.array(kept)])
