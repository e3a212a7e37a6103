r"""The words of a text, for all measures and comparisons; and the location of a text in a page.

A word is a run of `\w` characters after NFC, casefolded. In scripts written without spaces between words
(scripts.WORD_CHARACTERS) every `\w` character is a word.
Combining marks that NFC does not compose are not `\w`: they end a word, in both texts of a comparison.

A text is located in a page by aligning its words, in order, with the words of the blocks. A match scores 1
and opening a run of matches costs 2, so that a single matching word in a menu lowers the score. A block holds
the text if at least half of its words are matched; blocks without words follow if the blocks around them do.
"""

import re
import unicodedata
from collections.abc import Hashable, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from victor_spark.blocks import Blocks, Bool, Int32
from victor_spark.kernels import matching as kernel
from victor_spark.kernels import num, views
from victor_spark.scripts import WORD_CLASS

INVISIBLE: Final = "\u00ad\u180e\u200b\u2060\u2061\u2062\u2063\u2064\ufeff\ufffc"
"""Characters without a glyph; the joiners U+200C and U+200D change the letters beside them, and stay."""
_WORD: Final = re.compile(rf"(?=\w)[{WORD_CLASS}]|[^\W{WORD_CLASS}]+")


def words(text: str) -> list[str]:
    """The words of `text` in order."""
    return [word.casefold() for word in _WORD.findall(unicodedata.normalize("NFC", text))]


def block_words(blocks: Blocks) -> tuple[list[str], Int32]:
    """The words of a page in order, and for each the row of the block where it starts.

    Words are found in the joined paragraph, so that `un<b>believ</b>able` is one word, of the
    first block; a new paragraph, a `br` and white space between blocks separate.
    """
    texts = [unicodedata.normalize("NFC", text) for text in blocks.texts()]
    separate = (blocks.space_before > 0) | (blocks.n_split_br > 0)
    separate[1:] |= blocks.paragraph[1:] != blocks.paragraph[:-1]
    joined = "".join([f"\n{text}" if apart else text for text, apart in zip(texts, separate, strict=True)])
    lengths = np.fromiter(map(len, texts), np.int64, len(texts)) + separate
    found = list(_WORD.finditer(joined))
    places = np.fromiter((match.start() for match in found), np.int64, len(found))
    rows = np.searchsorted(np.cumsum(lengths), places, side="right").astype(np.int32)
    return [match.group().casefold() for match in found], rows


def subsequence(a: Sequence[Hashable], b: Sequence[Hashable]) -> int:
    """The length of the longest common subsequence (bit-parallel, after Hyyrö 2004): ROUGE-L's count."""
    places: dict[Hashable, int] = {}
    for row, token in enumerate(a):
        places[token] = places.get(token, 0) | 1 << row
    everywhere = (1 << len(a)) - 1
    unmatched = everywhere
    for token in b:
        if here := unmatched & places.get(token, 0):
            unmatched = (unmatched + here) & everywhere | unmatched - here
    return len(a) - unmatched.bit_count()


OPEN_COST: Final = 2
KEPT_RATIO: Final = 0.5
_MAX_PAIRS: Final = 1 << 25
"""The most pairs of equal words (300 MB); if there are more, the most frequent words are not matched."""


def locate(blocks: Blocks, text: str) -> tuple[Bool, float]:
    """Which blocks hold a text (gold, or the output of another tool), and the share of its words found.

    The share is 1 for a text without words.
    """
    page_words, rows = block_words(blocks)
    text_words = words(text)
    hit = match(page_words, text_words) >= 0
    found = int(hit.sum()) / len(text_words) if text_words else 1.0
    n_words, n_hits = (np.bincount(some, minlength=len(blocks)) for some in (rows, rows[hit]))
    kept = (n_words > 0) & (n_hits >= KEPT_RATIO * n_words)
    with_words, without = np.flatnonzero(n_words > 0), np.flatnonzero(n_words == 0)
    after = np.searchsorted(with_words, without)
    inside = (after > 0) & (after < len(with_words))
    kept[without[inside]] = kept[with_words[after[inside] - 1]] & kept[with_words[after[inside]]]
    return kept, found


def match(page: Sequence[str], gold: Sequence[str]) -> Int32:
    """For every page word the position of its gold word, or -1; positions ascend."""
    ids = {word: row for row, word in enumerate(dict.fromkeys(gold))}
    gold_ids = np.fromiter((ids[word] for word in gold), np.int32, len(gold))
    page_ids = np.fromiter((ids.get(word, -1) for word in page), np.int32, len(page))
    counts = np.bincount(gold_ids, minlength=len(ids))
    page_ids = _without_too_frequent(page_ids, counts)
    n_pairs = int(counts[page_ids[page_ids >= 0]].sum())
    matched = np.empty(len(page), np.int32)
    arrays = views(
        page_ids,
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        np.argsort(gold_ids, kind="stable").astype(np.int32),
        np.empty(n_pairs, np.int32),
        np.empty(n_pairs, np.int32),
        np.empty((len(num.THRESHOLD), len(gold) + 2), np.int32),
        np.empty((len(num.ALIGNED), len(gold)), np.int32),
        matched,
    )
    kernel.align(*arrays, OPEN_COST)
    return matched


def _without_too_frequent(page_ids: Int32, counts: npt.NDArray[np.int64]) -> Int32:
    """The page's word ids, those with the most pairs set to -1 until _MAX_PAIRS are left."""
    known = page_ids[page_ids >= 0]
    pairs = np.bincount(known, minlength=len(counts)) * counts
    if pairs.sum() <= _MAX_PAIRS:
        return page_ids
    order = np.argsort(pairs, kind="stable")
    dropped = order[np.cumsum(pairs[order]) > _MAX_PAIRS]
    return np.where(np.isin(page_ids, dropped), -1, page_ids).astype(np.int32)
