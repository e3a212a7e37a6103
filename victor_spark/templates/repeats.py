"""Every maximal repeat of a corpus with its occurrences and document frequency (Yamamoto and Church)."""

from dataclasses import dataclass

import numpy as np

from victor_spark.blocks import Float64, Int32, UInt8
from victor_spark.kernels import repeats as kernel
from victor_spark.kernels import views
from victor_spark.templates.suffixes import Corpus, lcp_array, suffix_array


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
    """The maximal repeats of at least so many tokens in at least so many documents.

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
