"""Parts of a page that React sends after the rest of it, put where a script puts them."""

import re
from bisect import bisect_left
from typing import Final

from victor_spark.kernels import source as kernel

_PART: Final = memoryview(b'<div hidden id="S:')
_TOKEN: Final = re.compile(
    rb'<div hidden id="(S:[^"<>]*)">|<div\b|(</div\b[^<>]*>)|<template id="([BP]:[^"<>]*)"></template>'
    rb"|<!--(/?)\$[?!~]?-->|<!--.*?(?:-->|\Z)|<script\b.*?(?:</script|\Z)",
    re.DOTALL,
)
"""A part; another `div`; the end of one; a place; where what a part replaces begins or ends; text to skip."""
_MOVE: Final = re.compile(rb'\$R[CRS]\("([BPS]:[^"]*)","([BPS]:[^"]*)"')
"""A call of the script that moves a part to a place."""


def with_parts_placed(markup: bytes) -> bytes:
    """The markup with each `<div hidden id="S:1">` that a script moves in the place of its `<template>`.

    A part for `B:…` replaces all up to the end of `<!--$?--><template id="B:1"></template>Loading<!--/$-->`.
    """
    if kernel.find(memoryview(markup), _PART, _PART.nbytes - 2, 0) < 0:
        return markup
    parts, places = _found(markup)
    cuts: dict[int, tuple[int, int, int]] = {}  # of each: its end, and the markup that stands there instead
    for move in _MOVE.findall(markup):
        place, part = sorted(move)
        if place in places and part in parts:
            (begin, after), (start, inner, end, stop) = places[place], parts[part]
            if after <= start and start not in cuts:
                cuts[begin], cuts[start] = (after, inner, end), (stop, stop, stop)
    begins, spans, pieces = sorted(cuts), [(0, len(markup))], []
    while spans:
        at, until = spans.pop()
        row = bisect_left(begins, at)
        if row < len(begins) and begins[row] < until:
            after, inner, end = cuts[begins[row]]
            spans += [(after, until), (inner, end)]
            until = begins[row]
        pieces.append(markup[at:until])
    return b"".join(pieces)


def _found(markup: bytes) -> tuple[dict[bytes, tuple[int, int, int, int]], dict[bytes, tuple[int, int]]]:
    """The parts (where each begins, its content does, that ends, it ends), and the places."""
    parts: dict[bytes, tuple[int, int, int, int]] = {}
    places: dict[bytes, tuple[int, int]] = {}
    opened: list[tuple[bytes | None, int, int]] = []
    replaced: list[bytes | None] = []  # the place after each `<!--$?-->` without an end so far
    for token in _TOKEN.finditer(markup):
        part, end, place, limit = token.groups()
        if token[0].startswith(b"<div"):
            opened.append((part, *token.span()))
        elif end and opened:
            name, start, inner = opened.pop()
            if name:
                parts[name] = start, inner, token.start(), token.end()
        elif place:
            places[place] = token.span()
            if replaced and place.startswith(b"B"):
                replaced[-1] = place
        elif limit == b"":
            replaced.append(None)
        elif limit and replaced and (name := replaced.pop()):
            places[name] = places[name][0], token.start()
    return parts, places
