r"""What a word is when texts are compared: the one tokeniser of alignment and of every measure.

A word is a run of `\w` characters after NFC, casefolded. In scripts written without spaces between words
(scripts.WORD_CHARACTERS) every `\w` character is a word.
Combining marks that NFC leaves apart are no `\w`: they end a word, on both sides alike.
"""

import re
import unicodedata
from collections.abc import Hashable, Sequence
from typing import Final

import numpy as np

from victor_spark import scripts
from victor_spark.blocks import Blocks, Int32

_UNSPACED: Final = scripts.character_class(scripts.WORD_CHARACTERS)
_WORD: Final = re.compile(rf"(?=\w)[{_UNSPACED}]|[^\W{_UNSPACED}]+")


def words(text: str) -> list[str]:
    """The words of `text` in order."""
    return [word.casefold() for word in _WORD.findall(unicodedata.normalize("NFC", text))]


def block_words(blocks: Blocks) -> tuple[list[str], Int32]:
    """The words of a page in order, and for each the row of the block where it starts.

    Words are found in the joined paragraph, so that `un<b>believ</b>able` is one word, of the
    first block; a new paragraph, a `br` and white space between blocks separate.
    """
    starts, ends = blocks.text_start.tolist(), blocks.text_end.tolist()
    texts = [unicodedata.normalize("NFC", blocks.text[a:b]) for a, b in zip(starts, ends, strict=True)]
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
