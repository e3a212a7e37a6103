"""The parts of a page's html that its plain text depends on.

Block rows between the passes of `victor clean --by-site` have these instead of the whole page.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np

from victor_spark.blocks import Blocks, Int32
from victor_spark.html.tags import has
from victor_spark.rendering.num import KIND
from victor_spark.rendering.plain import has_formulas
from victor_spark.rendering.shown import GLUED_CITE, hidden_elements, powers
from victor_spark.rendering.structure import Structure

Span = tuple[int, int]
"""Where a part begins and ends in the html."""
Parts = tuple[str, Int32, Int32]
"""Parts of the html as one text, and where blocks begin and end in it."""

_APART: Final = "<i></i> "
"""Stands before each part and after the last one: blocks that are in no part begin and end at its space."""


def parts(blocks: Blocks, html: str) -> Parts:
    """The html that plain text needs, whatever blocks are kept; there is at least one block.

    It has the data tables, the elements that their style hides, and the `cite` elements; it is all of the
    page if this has formulas, powers or `q`.
    """
    anything = np.ones(len(blocks), dtype=bool)
    is_whole = has(blocks, "q") or has_formulas(blocks, html)
    if is_whole or (has(blocks, "sup") and any(powers(blocks, anything, html))):
        return html, blocks.start, blocks.end
    spans = [(start, end) for *_, start, end in hidden_elements(blocks, anything, html)]
    if has(blocks, "cite"):
        ends = (match.span() for match in GLUED_CITE.finditer(html))
        spans += ((html.rfind("<cite", 0, end), after + 1) for end, after in ends)
    if (blocks.td_group > 0).any():
        page = Structure(html, blocks, anything)
        if any(map(page.formula_of_image, np.flatnonzero(page.s.kind == KIND["img"]).tolist())):
            return html, blocks.start, blocks.end
        spans += _data_tables(page)
    return _cut(blocks, html, _apart(spans))


def _data_tables(page: Structure) -> Iterator[Span]:
    """The tables of several blocks that hold data; of those inside each other the outer one."""
    s, after = page.s, 0
    for table in np.flatnonzero((s.kind == KIND["table"]) & (s.last - s.first > 1)).tolist():
        if table >= after and page.is_data(table):
            after, start = s.after(table), int(s.start[table])
            yield start, start + len(page.markup(table))


def _apart(spans: list[Span]) -> list[Span]:
    """The spans in order, those that overlap as one."""
    spans.sort()
    found = spans[:1]
    for begin, end in spans[1:]:
        last, until = found[-1]
        if begin <= until:
            found[-1] = last, max(end, until)
        else:
            found.append((begin, end))
    return found


def _cut(blocks: Blocks, html: str, spans: list[Span]) -> Parts:
    """The html of the spans."""
    if not spans:
        at = np.full(len(blocks), len(_APART) - 1, dtype=np.int32)
        return _APART, at, at
    begins, ends = np.array(spans, dtype=np.int32).T
    places = np.cumsum([len(_APART), *(ends - begins + len(_APART))], dtype=np.int32)

    def moved(points: Int32) -> Int32:
        part = np.searchsorted(begins, points, side="right") - 1
        is_inside = (part >= 0) & (points < ends[part])
        return np.where(is_inside, points - begins[part] + places[part], places[part + 1] - 1)

    texts = (html[begin:end] + _APART for begin, end in spans)
    return "".join([_APART, *texts]), moved(blocks.start), moved(blocks.end)
