"""The text that language models read: NFC, lower case, letters and marks; all else is a space.

Marks stay: without them the scripts of India and Thailand break into consonants. Case is folded
character by character (so final sigma is not treated), which keeps every offset.
"""

import unicodedata
from collections.abc import Sequence
from functools import cache

import numpy as np

from victor_spark.blocks import Int32, UInt32
from victor_spark.kernels import code_points, ngrams, text_of, views
from victor_spark.kernels.num import ASSIGNED, NOT_COMPOSED


@cache
def folding_table() -> UInt32:
    """Code point → its lower case, or a space; with a flag where NFC may have something to do."""
    table = np.full(ASSIGNED, ord(" "), dtype=np.uint32)
    for point in range(ASSIGNED):
        character = chr(point)
        if unicodedata.category(character)[0] in "LM":
            table[point] = ord(character.lower()[0])
    # NFC changes some characters, and composes others, such as vowels of Korean, with one before them.
    flagged = [*range(0x1161, 0x1176), *range(0x11A8, 0x11C3)]
    for point in range(0xC0, ASSIGNED):
        parts = unicodedata.decomposition(chr(point)).split()
        if len(parts) > 1 and not parts[0].startswith("<"):
            flagged.append(int(parts[1], 16))
        flagged += [] if unicodedata.is_normalized("NFC", chr(point)) else [point]
    table[flagged] |= NOT_COMPOSED
    return table


def joined(texts: Sequence[str]) -> tuple[UInt32, Int32, Int32]:
    """Many texts as one array of code points, with the start and the end of each."""
    ends = np.cumsum([len(text) + 1 for text in texts], dtype=np.int32) - 1
    starts = np.concatenate([np.zeros(1, dtype=np.int32), ends[:-1] + 1])[: len(texts)]
    return code_points("\n".join(texts)), starts.astype(np.int32), ends.astype(np.int32)


def folded(text: UInt32, starts: Int32, ends: Int32) -> tuple[UInt32, Int32, Int32]:
    """The text normalised, with the segments' starts and ends in it.

    The offsets stay what they were, unless something had to be composed.
    """
    output = np.empty(len(text), dtype=np.uint32)
    if not ngrams.fold(*views(text, folding_table(), output)):
        return output, starts, ends
    decoded = text_of(text)
    if unicodedata.is_normalized("NFC", decoded):
        return output, starts, ends
    segments = zip(starts.tolist(), ends.tolist(), strict=True)
    composed = joined([unicodedata.normalize("NFC", decoded[start:end]) for start, end in segments])
    return folded(*composed)


def normalised(text: str) -> str:
    """The text as our fastText model reads it: words of letters and marks, single spaces."""
    points = code_points(unicodedata.normalize("NFC", text))
    output = np.empty(len(points), dtype=np.uint32)
    ngrams.fold(*views(points, folding_table(), output))
    return " ".join(text_of(output).split())
