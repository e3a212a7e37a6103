"""Words that texts share: function blocks such as "posted by X", and quotes (Kimatu, section 3.4)."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from victor_spark.blocks import Bool
from victor_spark.extractors.kimatu_blocks import MAX_WORDS, KimatuBlocks

MAX_PAIRS: Final = 5000
"""Pairs of texts that are compared in a page; with MAX_WORDS it bounds what a page can cost."""
MIN_ELEMENTS: Final = 3
"""Fewer elements of one look can't show what they have in common."""


@dataclass(frozen=True, slots=True)
class RepetitionConstants:
    """When elements are short, share a high percentage of words, and when a text is a quote."""

    short_element: float
    function_share: float
    quote_words: int
    quote_share: float


def function_blocks(blocks: KimatuBlocks, constants: RepetitionConstants) -> Bool:
    """Step 3: which blocks have short elements that share a high percentage of words with their like.

    Looked at are all short elements of one look together: a line such as "posted by X" stands
    apart from the next one, each a block of its own. A word is shared when at least half of the
    elements have it.
    """
    short = blocks.average_words <= constants.short_element
    rejected = np.zeros(len(blocks), dtype=bool)
    for rows in _alike(blocks, short):
        if _shared([blocks.elements.words[row] for row in rows]) >= constants.function_share:
            rejected[blocks.of_element[rows]] = True
    return rejected


def _alike(blocks: KimatuBlocks, short: Bool) -> Iterator[list[int]]:
    """The elements of short blocks, by look, where there are enough of them."""
    by_look: dict[int, list[int]] = defaultdict(list)
    for row in np.flatnonzero(short[blocks.of_element]).tolist():
        by_look[int(blocks.elements.look[row])].append(row)
    return (rows for rows in by_look.values() if len(rows) >= MIN_ELEMENTS)


def _shared(bags: Sequence[Sequence[str]]) -> float:
    """The share of all words that at least half of the bags have."""
    frequency = Counter(word for bag in bags for word in set(bag))
    n_shared = sum(2 * frequency[word] >= len(bags) for bag in bags for word in bag)
    return n_shared / max(sum(map(len, bags)), 1)


def quotes(blocks: KimatuBlocks, sure: Bool, constants: RepetitionConstants) -> Bool:
    """Step 4: which blocks quote a sure block before them: all of a look most of whose blocks do.

    A block quotes when the longest common subsequence of words with an earlier sure block of
    another look covers a high share of its own words.
    """
    joined = _words_of_blocks(blocks)
    looks = blocks.look.tolist()
    n_compared: Counter[int] = Counter()
    n_quoting: Counter[int] = Counter()
    for row, earlier in _earlier(np.flatnonzero(sure).tolist(), joined, constants.quote_words):
        others = [joined[other] for other in earlier if looks[other] != looks[row]]
        n_compared[looks[row]] += bool(others)
        n_quoting[looks[row]] += _quotes_any(joined[row], others, constants.quote_share)
    quoting = [look for look in n_quoting if 2 * n_quoting[look] > n_compared[look]]
    return np.isin(blocks.look, np.array(quoting, dtype=np.int32))


def _earlier(
    sure: Sequence[int], joined: Sequence[Sequence[str]], min_words: int
) -> Iterator[tuple[int, Sequence[int]]]:
    """Long enough blocks and the sure ones before each, the nearest of them when MAX_PAIRS runs out."""
    budget = MAX_PAIRS
    for row, own in enumerate(joined):
        n_earlier = bisect_left(sure, row)
        if n_earlier and len(own) >= min_words:
            yield row, sure[max(0, n_earlier - budget) : n_earlier]
            budget -= min(n_earlier, budget)
        if not budget:
            return


def _words_of_blocks(blocks: KimatuBlocks) -> list[list[str]]:
    """The first MAX_WORDS words of every block."""
    joined: list[list[str]] = [[] for _ in range(len(blocks))]
    for block, of_element in zip(blocks.of_element.tolist(), blocks.elements.words, strict=True):
        if len(joined[block]) < MAX_WORDS:
            joined[block] += of_element[: MAX_WORDS - len(joined[block])]
    return joined


def _quotes_any(own: Sequence[str], others: Sequence[Sequence[str]], share: float) -> bool:
    needed = share * len(own)
    bag = Counter(own)
    return any(
        # The common subsequence is no longer than the common bag.
        (bag & Counter(other)).total() >= needed and lcs_length(own, other) >= needed
        for other in others
    )


def lcs_length(first: Sequence[str], second: Sequence[str]) -> int:
    """Length of the longest common subsequence, by bits of one integer (Hyyrö 2004)."""
    places: dict[str, int] = defaultdict(int)
    for row, word in enumerate(first):
        places[word] |= 1 << row
    every = (1 << len(first)) - 1
    rest = every
    for word in second:
        common = rest & places.get(word, 0)
        rest = ((rest + common) | (rest - common)) & every
    return len(first) - rest.bit_count()
