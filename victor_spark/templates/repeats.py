"""Every maximal repeat of a corpus of symbols, with its occurrences and document frequency.

The suffix array and the LCP array give the classes of Yamamoto and Church (2001): one maximal repeat each.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from victor_spark.blocks import Float64, Int32, UInt8
from victor_spark.errors import UsageError
from victor_spark.kernels import repeats as kernel
from victor_spark.kernels import views

MOST_TOKENS: Final = (2**31 - 1) // 4


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
    first = (np.cumsum(lengths) - lengths).astype(np.int32)
    symbols = np.empty(n, dtype=np.int32)
    for number, (begin, document) in enumerate(zip(first.tolist(), documents, strict=True)):
        symbols[begin : begin + len(document)] = document
        symbols[begin + len(document)] = n_symbols + number
    owners = np.repeat(np.arange(len(documents), dtype=np.int32), lengths)
    return Corpus(symbols, owners, first)


def suffix_array(symbols: Int32) -> Int32:
    """The positions of all suffixes in their order.

    The library sorts bytes: each symbol is written with its highest byte first, in three bytes where that
    is enough, and of the suffixes of that string those are kept that begin a symbol.
    """
    if not len(symbols):
        return np.empty(0, dtype=np.int32)
    width = 3 if int(symbols.max()) < 1 << 24 else 4
    source = symbols.astype(">u4").view(np.uint8).reshape(-1, 4)[:, 4 - width :]
    import pydivsufsort  # an extra: cleaning does without it

    sorted_places = pydivsufsort.divsufsort(np.ascontiguousarray(source).reshape(-1))
    places = np.frombuffer(sorted_places, dtype=np.int32)  # the same memory as a plain int32 array
    n = kernel.whole_symbols(memoryview(places), width)
    return np.array(places[:n], dtype=np.int32)


def lcp_array(symbols: Int32, suffixes: Int32) -> Int32:
    """How many symbols each suffix shares with the one before it (0 for the first)."""
    work, lcp = np.empty_like(suffixes), np.empty_like(suffixes)
    kernel.common_prefixes(*views(symbols, suffixes, work, lcp))
    return lcp


@dataclass(frozen=True, slots=True)
class Repeats:
    """Maximal repeats as columns: strings that can't grow without losing occurrences.

    `begin` and `end` delimit their places in `suffixes` (both inclusive), `length` is in tokens.
    `n_occurrences` and `document_frequency` have four columns: all occurrences; those that begin
    a line; that end one; that do both. `position`: the first occurrence. `page_share`: the share of its
    page's tokens that an occurrence is, on average.
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

    `edges`: of each position of the corpus, whether its token begins or ends a line.
    """
    suffixes = suffix_array(corpus.symbols)
    found = _classes(corpus, suffixes, least_length, least_documents)
    n_documents = len(corpus.first)
    lengths = np.diff(np.append(corpus.first, len(corpus.symbols))).astype(np.int32) - 1
    counts, shares = np.empty((len(found), 8), dtype=np.int32), np.empty(len(found))
    stamps = np.full((3, n_documents), -1, dtype=np.int32)
    columns = (found, suffixes, corpus.documents, edges, lengths, stamps, counts, shares)
    kernel.standing(*views(*columns))
    return Repeats(
        begin=found[:, 0],
        end=found[:, 1],
        length=found[:, 2],
        n_occurrences=counts[:, :4],
        document_frequency=np.concatenate([found[:, 3:], counts[:, 4:7]], axis=1),
        position=counts[:, 7],
        page_share=shares,
        suffixes=suffixes,
    )


def _classes(corpus: Corpus, suffixes: Int32, least_length: int, least_documents: int) -> Int32:
    """Rows (first place, last place, length, document frequency)."""
    lcp = lcp_array(corpus.symbols, suffixes)
    deepest = int(lcp.max()) + 2 if len(lcp) else 2
    room = len(suffixes) // 16 + 1024
    while True:
        last = np.full(len(corpus.first), -1, dtype=np.int32)
        stack = np.empty((4, deepest + 1), dtype=np.int32)
        found = np.empty((room, 4), dtype=np.int32)
        columns = (corpus.symbols, suffixes, lcp, corpus.documents)
        n = kernel.classes(*views(*columns), least_length, least_documents, *views(last, stack, found))
        if n <= room:
            return np.array(found[:n])
        room = n
