"""Parts of a page that React sends after the rest of it, put where a script puts them."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import Final

from victor_spark.html.tags import occurrences
from victor_spark.kernels import source as kernel

_PART: Final = re.compile(rb'<div hidden id="(S:[^"<>]*)">')
_PLACE: Final = re.compile(rb'<template id="([BP]:[^"<>]*)"></template>')
_LIMIT: Final = re.compile(rb"<!--(/?)\$[?!~]?-->")
"""Where what a part replaces begins or ends."""
_MOVE: Final = re.compile(rb'\$R[CRS]\("([BPS]:[^"]*)","([BPS]:[^"]*)"')
"""A call of the script that moves a part to a place."""
_END: Final = b"</div>"


def with_parts_placed(markup: bytes) -> bytes:
    """The markup with each `<div hidden id="S:1">` that a script moves in the place of its `<template>`.

    A part for `B:…` replaces all up to the end of `<!--$?--><template id="B:1"></template>Loading<!--/$-->`.
    """
    if kernel.find(memoryview(markup), memoryview(b'<div hidden id="S:'), 16, 0) < 0:
        return markup
    moves = list(_found(_MOVE, b"$R", markup))
    places, parts = _places(markup), _parts(markup, moves)
    starts = sorted(start for start, _, _ in parts.values())
    cuts: dict[int, tuple[int, int, int]] = {}  # of each: its end, and the markup that stands there instead
    for place, part in (sorted(move.groups()) for move in moves):
        if place in places and part in parts:
            (begin, after), (start, inner, stop) = places[place], parts[part]
            is_whole = begin < start and after <= starts[bisect_left(starts, begin)]  # no part is in it
            if is_whole and cuts.keys().isdisjoint((begin, start)):
                cuts[begin], cuts[start] = (after, inner, stop - len(_END)), (stop, stop, stop)
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


def _found(pattern: re.Pattern[bytes], begin: bytes, markup: bytes) -> Iterator[re.Match[bytes]]:
    """The matches of a pattern that all begin in one way: to search for that is faster."""
    return filter(None, (pattern.match(markup, at) for at in occurrences(markup, begin)))


def _places(markup: bytes) -> dict[bytes, tuple[int, int]]:
    """Where the places begin and end: those for `B:…` with what is shown until the part is there."""
    ends: dict[int, int] = {}  # the place after each `<!--$?-->`: where its `<!--/$-->` begins
    opened: list[int] = []
    for limit in _found(_LIMIT, b"<!--", markup):
        if not limit[1]:
            opened.append(limit.end())
        elif opened:
            ends[opened.pop()] = limit.start()
    return {
        place[1]: (begin, ends.get(begin, end) if place[1].startswith(b"B") else end)
        for place in _found(_PLACE, b"<template id=", markup)
        for begin, end in (place.span(),)
    }


def _parts(markup: bytes, moves: list[re.Match[bytes]]) -> dict[bytes, tuple[int, int, int]]:
    """Where parts begin, their content does, and they end: before the next part, or a script that moves."""
    tags = list(_found(_PART, b"<div hidden", markup))
    scripts = [*occurrences(markup, b"<script")]
    stops = {tag.start() for tag in tags}
    stops |= {scripts[row - 1] for move in moves if (row := bisect_left(scripts, move.start()))}
    in_order = [*sorted(stops), 0]
    parts: dict[bytes, tuple[int, int, int]] = {}
    for tag in tags:
        stop = in_order[bisect_right(in_order, tag.start(), 0, len(stops))]
        while (at := markup.rfind(b"<", tag.end(), stop)) >= 0:  # other scripts and links may be between
            row = bisect_left(scripts, at)
            if markup.startswith(b"</script>", at) and row:
                stop = scripts[row - 1]
            elif markup.startswith(b"<link ", at):
                stop = at
            else:
                break
        if markup.endswith(_END, tag.end(), stop):
            parts[tag[1]] = *tag.span(), stop
    return parts
