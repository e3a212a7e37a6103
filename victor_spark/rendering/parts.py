"""The parts of a page's html that its plain text depends on.

Block rows between the passes of `victor clean --by-site` have these instead of the whole page.
"""

from typing import Final

import numpy as np

from victor_spark.blocks import Blocks, Int32, unite
from victor_spark.html.tags import has
from victor_spark.rendering import shown
from victor_spark.rendering.num import KIND
from victor_spark.rendering.plain import has_formulas
from victor_spark.rendering.structure import MOST_TABLES, Structure, has_tables

Span = tuple[int, int]
"""Where a part begins and ends in the html."""
Parts = tuple[str, Int32, Int32]
"""Parts of the html as one text, and where blocks begin and end in it."""

_SEPARATOR: Final = "<i></i> "
"""Stands before each part and after the last one: blocks that are in no part begin and end at its space."""


def parts(blocks: Blocks, html: str) -> Parts:
    """The html that plain text needs for any choice of kept blocks. The page must have a block.

    It has data tables, hidden elements, names of those for screen readers, numbers of lines, and `cite` in
    quotes. It is the whole page if this has formulas, powers, `q`, too long hidden elements or many tables.
    """
    spans = None if has(blocks, "q") or has_formulas(blocks, html) else _spans(shown.visible(blocks), html)
    if spans is not None:
        found = _cut(blocks, html, spans)
        if len(found[0]) < len(html):
            return found
    return html, blocks.start, blocks.end


def _spans(blocks: Blocks, html: str) -> list[Span] | None:
    """The spans of the parts; None if all of the page is needed."""
    anything = np.ones(len(blocks), dtype=bool)
    hidden = [(start, end) for *_, start, end in shown.hidden_elements(blocks, anything, html)]
    has_powers = has(blocks, "sup") and any(shown.powers(blocks, anything, html))
    if has_powers or not all(end for _, end in hidden):
        return None
    spans = [(start, html.find(">", end) + 1) for start, end in hidden]
    for found in (shown.unselectable, shown.names_of_readers, shown.players):
        spans += found(blocks, html)
    spans += ((start, end + 1) for start, end in shown.cites(blocks, html))
    if has_tables(blocks, anything):
        page = Structure(html, blocks, anything)
        images, tables = (np.flatnonzero(page.s.kind == KIND[name]).tolist() for name in ("img", "table"))
        if len(tables) > MOST_TABLES or any(map(page.formula_of_image, images)):
            return None
        s, after = page.s, 0  # of data tables inside each other, the outer one
        for table in tables:
            if table >= after and s.last[table] - s.first[table] > 1 and page.is_data(table):
                after, start = page.after(table), int(s.start[table])
                spans.append((start, start + len(page.markup(table))))
    return spans


def _cut(blocks: Blocks, html: str, spans: list[Span]) -> Parts:
    """The html of the spans, those that overlap as one."""
    if not spans:
        at = np.full(len(blocks), len(_SEPARATOR) - 1, dtype=np.int32)
        return _SEPARATOR, at, at
    begins, ends = unite(*np.array(sorted(spans), dtype=np.int32).T).T
    places = np.cumsum([len(_SEPARATOR), *(ends - begins + len(_SEPARATOR))], dtype=np.int32)

    def moved(points: Int32) -> Int32:
        part = np.searchsorted(begins, points, side="right") - 1
        is_inside = (part >= 0) & (points < ends[part])
        return np.where(is_inside, points - begins[part] + places[part], places[part + 1] - 1)

    texts = (html[begin:end] + _SEPARATOR for begin, end in zip(begins, ends, strict=True))
    return "".join([_SEPARATOR, *texts]), moved(blocks.start), moved(blocks.end)
