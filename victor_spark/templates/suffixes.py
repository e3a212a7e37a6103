"""The suffix array and LCP array of a corpus of symbols."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pydivsufsort

from victor_spark.blocks import Int32
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
        raise UsageError(f"{n} tokens are more than fit one suffix array ({MOST_TOKENS}): mine fewer pages")
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
    sorted_places = pydivsufsort.divsufsort(np.ascontiguousarray(source).reshape(-1))
    places = np.frombuffer(sorted_places, dtype=np.int32)  # the same memory, as an array of its own kind
    n = kernel.whole_symbols(memoryview(places), width)
    return np.array(places[:n], dtype=np.int32)


def lcp_array(symbols: Int32, suffixes: Int32) -> Int32:
    """How many symbols each suffix shares with the one before it (0 for the first)."""
    work, lcp = np.empty_like(suffixes), np.empty_like(suffixes)
    kernel.common_prefixes(*views(symbols, suffixes, work, lcp))
    return lcp
