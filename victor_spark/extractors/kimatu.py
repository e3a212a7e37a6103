"""Kimatu: the heuristic cleaner of Saralegi & Leturia (2007), all seven steps of section 3.4.

Sure blocks are found by a ratio; then blocks are added or rejected by their place, by repetition and
by whether they look like the sure ones. Where the paper is not specific:

- A text element is a paragraph of the segmentation. Distances count text elements, 1 for
  neighbours; lengths count words (two letters of a script written without spaces are one).
- Elements look alike when they agree on the tags that shape text, on the presentational
  attributes in force and on the nearest class.
- Blocks rejected in steps 3 and 4 stay rejected: later steps do not add them.
- Step 5 divides a block's ratio by the mean ratio of the sure blocks of its look; it is near when
  it is near any sure block.
- Step 6 uses the distance of each candidate to the nearest other one; step 7's references are the
  candidates that are left then.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from victor_spark import configuration, resources
from victor_spark.blocks import Blocks, Bool, Cleaner, Float64, Page, Scores, by_rule
from victor_spark.extractors import kimatu_blocks
from victor_spark.extractors.kimatu_blocks import MAX_WORDS, Constants, Elements, KimatuBlocks, distances
from victor_spark.html.tags import inside
from victor_spark.words import subsequence

FILE: Final = "kimatu.toml"
MAX_PAIRS: Final = 5000
"""The most pairs of texts that are compared in a page; with MAX_WORDS, it bounds the time of a page."""
MIN_ELEMENTS: Final = 3
"""Fewer elements of one look are not compared."""


def load(path: Path | None = None) -> Cleaner:
    """`kimatu` with the constants of conf/kimatu.toml (or `path`); ConfigurationError for a bad file."""
    constants = configuration.read(path or resources.directory("conf") / FILE, Constants)
    return lambda page: clean(page, kimatu_blocks.elements(page), constants)


def clean(page: Page, found: Elements, constants: Constants) -> Scores:
    """0/1 probabilities of a page whose text elements are `found`; headings are labelled header."""
    blocks = kimatu_blocks.detect(found, constants.near)
    kept = candidates(blocks, constants)[blocks.of_element][found.of_block]
    heading = headings(found, page.blocks, constants.heading_words)[found.of_block]
    return by_rule(kept, heading)


def candidates(blocks: KimatuBlocks, constants: Constants) -> Bool:
    """Which blocks are content after steps 2 to 7."""
    ratio = kimatu_blocks.content_relevance(blocks, constants)
    chosen = ratio > constants.sure_ratio
    if not chosen.any():
        return chosen
    rejected = function_blocks(blocks, constants)
    chosen &= ~rejected
    rejected |= quotes(blocks, chosen, constants)
    chosen &= ~rejected
    chosen |= dispersed(blocks, ratio, chosen, constants) & ~rejected
    chosen &= ~far_away(blocks, ratio, chosen, constants)
    near = distances(blocks, chosen) <= constants.relevant_near
    return chosen | (near & (ratio > constants.relevant_ratio) & ~rejected)


def function_blocks(blocks: KimatuBlocks, constants: Constants) -> Bool:
    """Step 3: which blocks have short elements that share a high percentage of words with their like.

    All short elements of one look are compared, as each line such as "posted by X" is a block of its own. A
    word is shared when at least half of the elements have it.
    """
    short = blocks.average_words <= constants.short_element
    by_look: dict[int, list[int]] = defaultdict(list)
    for row in np.flatnonzero(short[blocks.of_element]).tolist():
        by_look[int(blocks.elements.look[row])].append(row)
    rejected = np.zeros(len(blocks), dtype=bool)
    for rows in by_look.values():
        bags = [blocks.elements.words[row] for row in rows]
        frequency = Counter(word for bag in bags for word in set(bag))
        n_shared = sum(2 * frequency[word] >= len(bags) for bag in bags for word in bag)
        share = n_shared / max(sum(map(len, bags)), 1)
        if len(rows) >= MIN_ELEMENTS and share >= constants.function_share:
            rejected[blocks.of_element[rows]] = True
    return rejected


def quotes(blocks: KimatuBlocks, sure: Bool, constants: Constants) -> Bool:
    """Step 4: which blocks quote a sure block before them; if most blocks of a look do, all of that look.

    A block quotes when the longest common subsequence of words with an earlier sure block of
    another look covers a high share of its own words.
    """
    joined: list[list[str]] = [[] for _ in range(len(blocks))]  # the first MAX_WORDS words of every block
    for block, of_element in zip(blocks.of_element.tolist(), blocks.elements.words, strict=True):
        joined[block] += of_element[: max(MAX_WORDS - len(joined[block]), 0)]
    looks = blocks.look.tolist()
    n_compared: Counter[int] = Counter()
    n_quoting: Counter[int] = Counter()
    for row, earlier in _earlier(np.flatnonzero(sure).tolist(), joined, constants.quote_words):
        others = [joined[other] for other in earlier if looks[other] != looks[row]]
        needed, bag = constants.quote_share * len(joined[row]), Counter(joined[row])
        n_compared[looks[row]] += bool(others)
        n_quoting[looks[row]] += any(
            # The common subsequence is no longer than the common bag.
            (bag & Counter(other)).total() >= needed and subsequence(joined[row], other) >= needed
            for other in others
        )
    quoting = [look for look in n_quoting if 2 * n_quoting[look] > n_compared[look]]
    return np.isin(blocks.look, np.array(quoting, dtype=np.int32))


def _earlier(
    sure: Sequence[int], joined: Sequence[Sequence[str]], min_words: int
) -> Iterator[tuple[int, Sequence[int]]]:
    """Blocks with at least `min_words` words, and the sure blocks before each.

    At most MAX_PAIRS pairs in all; at the limit, those with the nearest sure blocks.
    """
    budget = MAX_PAIRS
    for row, own in enumerate(joined):
        n_earlier = bisect_left(sure, row)
        if n_earlier and len(own) >= min_words:
            yield row, sure[max(0, n_earlier - budget) : n_earlier]
            budget -= min(n_earlier, budget)
        if not budget:
            return


def dispersed(blocks: KimatuBlocks, ratio: Float64, sure: Bool, constants: Constants) -> Bool:
    """Step 5: which blocks look like sure ones, are near one and have a share of their ratio."""
    n_looks = int(blocks.look.max()) + 1
    n_sure = np.bincount(blocks.look[sure], minlength=n_looks)
    total = np.bincount(blocks.look[sure], weights=ratio[sure], minlength=n_looks)
    reference = (total / np.maximum(n_sure, 1))[blocks.look]
    alike = (n_sure > 0)[blocks.look] & (ratio > constants.dispersed_ratio * reference)
    return np.asarray(alike & (distances(blocks, sure) <= constants.dispersed_near))


def far_away(blocks: KimatuBlocks, ratio: Float64, chosen: Bool, constants: Constants) -> Bool:
    """Step 6: which candidates are far from the others by the geometric mean, with no high ratio."""
    if chosen.sum() < 2:
        return np.zeros(len(blocks), dtype=bool)
    distance = distances(blocks, chosen)
    mean = np.exp(np.log(distance[chosen]).mean())
    return np.asarray(chosen & (distance > constants.far * mean) & (ratio <= constants.high_ratio))


def headings(found: Elements, page: Blocks, max_words: int) -> Bool:
    """Which text elements are headings: in h1–h6, or bold as a whole, short and without a sentence's end."""
    n = len(found.first)
    bold = inside(page, "class-bold")
    all_bold = np.bincount(found.of_block[~bold], minlength=n) == 0
    last = np.searchsorted(found.of_block, np.arange(n), side="right") - 1
    short = found.n_words <= max_words
    in_list = page.in_list_item[found.first] > 0
    no_sentence_end = page.sentence_end[last] == 0
    looks_so = all_bold & no_sentence_end & ~in_list
    return np.asarray(short & ((page.heading_level[found.first] > 0) | looks_so))
