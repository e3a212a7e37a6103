"""The CleanEval measures, on text marked up with <h>, <p> and <l> (Lejeune and Zhu 2018, section 4).

Both texts become sequences of tokens; tokens in their Ratcliff–Obershelp matching blocks count as correct. As
in CleanEval's own script, words are separated by white space and compared unchanged. The character measures
are for scripts without spaces.
"""

import html
import re
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from typing import Final

import numpy as np

from victor_spark.blocks import Int32
from victor_spark.evaluation.measures import Overlap
from victor_spark.kernels import matching as kernel
from victor_spark.kernels import num, views

_MARKER: Final = re.compile(r"<(/?)([phl])\s*>", re.IGNORECASE)
_WRAPPER: Final = re.compile(r"\s*<text\b[^>]*>|</text\s*>\s*$", re.IGNORECASE)
_URL_LINE: Final = re.compile(r"\A\s*URL\b[^\n]*(?:\n|\Z)")
_DOM: Final = re.compile(r"<(?:!doctype|html|head|body|div|table|span)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of text and the marker before it: "h", "p", "l", or "" where there is none."""

    kind: str
    words: tuple[str, ...]


def is_marked(markup: str) -> bool:
    """Whether this is CleanEval markup, and not a labelled DOM or plain text."""
    return bool(_MARKER.search(markup)) and not _DOM.search(markup)


def from_text(text: str) -> str:
    """Plain text as marked text: each line is a paragraph."""
    return "\n".join(f"<p>{html.escape(line, quote=False)}" for line in text.splitlines() if line.strip())


def to_text(marked: str) -> str:
    """The text of marked text: one line per segment."""
    return "\n".join(" ".join(segment.words) for segment in segments(marked) if segment.words)


@lru_cache(maxsize=4)
def segments(marked: str) -> tuple[Segment, ...]:
    """The segments in order, without the wrapper `<text …>` and the URL line of CleanEval's files."""
    pieces = _MARKER.split(_URL_LINE.sub("", _WRAPPER.sub("", marked)))
    found = [Segment("", _words(pieces[0]))]
    for closing, kind, text in zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True):
        found.append(Segment("" if closing else kind.lower(), _words(text)))
    return tuple(segment for segment in found if segment.kind or segment.words)


def _words(text: str) -> tuple[str, ...]:
    return tuple(html.unescape(text).split())


def tokens(marked: str, *, labelled: bool) -> list[str]:
    """The words, each segment begun by its marker: <h>, <p> or <l>, or <p> for all of them."""
    found = []
    for segment in segments(marked):
        if segment.kind:
            found.append(f"<{segment.kind}>" if labelled else "<p>")
        found += segment.words
    return found


def text_only(marked: str) -> list[str]:
    """The words without markers."""
    return [word for segment in segments(marked) for word in segment.words]


def text_overlap(ours: str, gold: str) -> dict[str, Overlap]:
    """TO: the words that match."""
    return {"TO": overlap(text_only(ours), text_only(gold))}


def markup_overlap(ours: str, gold: str, *, labelled: bool) -> dict[str, Overlap]:
    """TM or IU: words and markers that match; and of these the markers alone."""
    name = "TM" if labelled else "IU"
    found, wanted = tokens(ours, labelled=labelled), tokens(gold, labelled=labelled)
    blocks = matching_blocks(found, wanted).tolist()
    common = [token for start, _, length in blocks for token in found[start : start + length]]
    return {
        name: Overlap(len(common), len(found), len(wanted)),
        f"{name}-tags": Overlap(_n_markers(common), _n_markers(found), _n_markers(wanted)),
    }


def character_overlap(ours: str, gold: str) -> dict[str, Overlap]:
    """CHA: the characters that match, white space being single spaces; CHA-4: the same for runs of four."""
    found, wanted = " ".join(text_only(ours)), " ".join(text_only(gold))
    fours = ([text[start : start + 4] for start in range(len(text) - 3)] for text in (found, wanted))
    return {"CHA": overlap(found, wanted), "CHA-4": overlap(*fours)}


def overlap(found: Sequence[Hashable], wanted: Sequence[Hashable]) -> Overlap:
    """The tokens in the matching blocks."""
    return Overlap(int(matching_blocks(found, wanted)[:, num.FOUND_LENGTH].sum()), len(found), len(wanted))


def _n_markers(tokens: Sequence[str]) -> int:
    return sum(token in {"<h>", "<p>", "<l>"} for token in tokens)


def matching_blocks(a: Sequence[Hashable], b: Sequence[Hashable]) -> Int32:
    """The Ratcliff–Obershelp matching blocks in any order, shape (n, 3): start in a, start in b, length.

    They match the same tokens as those of `difflib.SequenceMatcher(None, a, b, autojunk=False)`; neighbours
    are not joined. The time is nearly linear, so whole pages compare by character.
    """
    ids = defaultdict[Hashable, int](count().__next__)  # a token gets its number where it is looked up first
    left, right = (np.fromiter(map(ids.__getitem__, each), np.int32, len(each)) for each in (a, b))
    few, many = sorted((len(a), len(b)))
    found = np.empty((len(num.FOUND), few), np.int32)
    sizes = ((num.STATE, 2 * few + 2), (num.EDGE, 3 * few + 4), (num.ENDS, many + 1), (num.PENDING, few + 2))
    work = (np.empty((len(rows), size), np.int32) for rows, size in sizes)
    n = kernel.match(*views(left, right, np.full(len(ids), -1, np.int32), *work, found)) if few else 0
    return found[:, :n].T
