"""Finds the characters of a page that templates of its site cover, and cuts them out of its blocks.

Templates are sought in a view of the page: `text`, the text of all blocks; `html`, the canonical HTML; or
`cleaned`, the text of the kept blocks. In the texts every block ends in a newline. Characters that are
covered in a view are mapped onto the text of the blocks.
"""

from dataclasses import replace
from functools import lru_cache
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from victor_spark import hosts
from victor_spark.blocks import Blocks, Bool, Float32, Int32, Page, UInt8
from victor_spark.errors import InputError, UsageError
from victor_spark.html.characters import properties
from victor_spark.kernels import text_of
from victor_spark.kernels.num import CLASS_MASK, DIGIT, LETTER, WHITE
from victor_spark.site_files import N_CACHED, SiteFiles, by_site
from victor_spark.templates import table
from victor_spark.templates.matcher import Matcher
from victor_spark.templates.tokens import CLEANED, HTML, TEXT, VIEWS

N_MATCHERS: Final = 256
"""The most sites of which a process keeps the matchers."""


class SiteTemplates:
    """The templates in a table, read at the first page of a site; arguments are those of `SiteFiles`."""

    def __init__(self, path: str, listed: bytes | None = None) -> None:
        self.files = SiteFiles(path, table.KIND, listed)
        names = {name for low, high, *_ in self.files.bounds("view") for name in (low, high)} or {TEXT}
        if len(names) > 1:
            raise InputError(
                f"the table has templates of several views ({', '.join(names)}): mine one at a time"
            )
        self.view = names.pop()
        self._near, self._of_site = lru_cache(N_CACHED)(self._read), lru_cache(N_MATCHERS)(self._made)

    def n_pages(self, page: Page) -> int:
        """The number of pages that the templates of this page's site were mined from."""
        return self._of(page)[1]

    def marked(self, page: Page, kept: Bool | None = None) -> Page:
        """The page with the characters marked that templates of its site cover.

        The view `cleaned` is marked with `kept`, after the decision; other views without it, before.
        """
        if (self.view == CLEANED) is (kept is None):
            return page
        matcher, _ = self._of(page)
        if matcher is None or not len(page.blocks):
            return page
        found = matcher.intervals(view(self.view, page, kept))
        return marked(page, covered(self.view, page, found, kept)) if len(found) else page

    def _of(self, page: Page) -> tuple[Matcher | None, int]:
        """The matcher of a page's site, and the number of pages; None without templates."""
        site = hosts.site(page.url, self.files.grouping) or ""
        return self._of_site(site) if site in self._near(*self.files.span(site))[1] else (None, 0)

    def _read(self, first: int, end: int) -> tuple[pa.Table, dict[str, slice]]:
        rows = self.files.read(first, end, table.MATCHED)
        return rows, by_site(rows)

    def _made(self, site: str) -> tuple[Matcher, int]:
        near, places = self._near(*self.files.span(site))
        rows = near[places[site]].filter(pc.equal(near["view"][places[site]], self.view))
        table.refuse_faults(rows, self.files.location)
        pairs = zip(rows["tokens"].to_pylist(), rows["regex"].to_pylist(), strict=True)
        return Matcher(pairs, self.view), pc.max(rows["n_pages"]).as_py()


def view(name: str, page: Page, kept: Bool | None = None) -> str:
    """The page in a view; the view `cleaned` needs `kept`, a value for each block."""
    if name == HTML:
        return page.html
    if name == TEXT:
        return page.blocks.text
    if name != CLEANED or kept is None:
        raise UsageError(f"no view {name!r}: use one of {', '.join(VIEWS)}")
    return text_of(page.blocks.points[_of_blocks(page.blocks, kept)])


def covered(name: str, page: Page, intervals: Int32, kept: Bool | None = None) -> Bool:
    """Which code points of `page.blocks.text` lie in the intervals, shape (n, 2), of the view."""
    if name == HTML:
        return _from_html(page, _mask(len(page.html), intervals))
    if name == TEXT:
        return _mask(len(page.blocks.points), intervals)
    rows = _of_blocks(page.blocks, kept if kept is not None else np.ones(len(page.blocks), dtype=bool))
    result = np.zeros(len(page.blocks.points), dtype=bool)
    result[rows] = _mask(len(rows), intervals)
    return result


def shares(blocks: Blocks, in_template: Bool) -> Float32:
    """The share of each block's characters, white space apart, that are in templates."""
    solid = _classes(blocks) != WHITE
    n_all, n_covered = _sums(blocks, solid), _sums(blocks, solid & in_template)
    return np.asarray(n_covered / np.maximum(n_all, 1), dtype=np.float32)


def marked(page: Page, in_template: Bool) -> Page:
    """The page with `in_template`, and with the blocks' `template_share`."""
    blocks = replace(page.blocks, template_share=shares(page.blocks, in_template))
    return replace(page, blocks=blocks, in_template=in_template)


def _mask(length: int, intervals: Int32) -> Bool:
    steps = np.zeros(length + 1, dtype=np.int32)
    np.add.at(steps, intervals[:, 0], 1)
    np.add.at(steps, intervals[:, 1], -1)
    return np.asarray(np.cumsum(steps[:-1]) > 0)


def _classes(blocks: Blocks) -> UInt8:
    """The character class of each code point of the text."""
    known = np.minimum(blocks.points, len(properties()) - 1)
    classes: UInt8 = properties()[known] & np.uint8(CLASS_MASK)
    return classes


def _sums(blocks: Blocks, counted: Bool) -> Int32:
    total = np.concatenate([[0], np.cumsum(counted, dtype=np.int32)])
    return np.asarray(total[blocks.text_end] - total[blocks.text_start], dtype=np.int32)


def _of_blocks(blocks: Blocks, kept: Bool) -> Int32:
    """The places in `blocks.text` of the kept blocks, each with the newline that follows it."""
    n = len(blocks.points)
    spans = np.stack([blocks.text_start[kept], np.minimum(blocks.text_end[kept] + 1, n)], axis=1)
    return np.flatnonzero(_mask(n, spans)).astype(np.int32)


def _from_html(page: Page, mask: Bool) -> Bool:
    """The same for the blocks' text; a block with character references is covered if most of its html is."""
    blocks = page.blocks
    result = np.zeros(len(blocks.points), dtype=bool)
    total = np.concatenate([[0], np.cumsum(mask, dtype=np.int32)])
    n_covered = total[blocks.end] - total[blocks.start]
    for row in np.flatnonzero(n_covered).tolist():
        place = slice(int(blocks.text_start[row]), int(blocks.text_end[row]))
        source = mask[blocks.start[row] : blocks.end[row]]
        if len(source) == place.stop - place.start:
            result[place] = source
        else:
            result[place] = 2 * n_covered[row] > len(source)
    return result


_SPACE: Final = ord(" ")


def left(blocks: Blocks, in_template: Bool) -> Bool:
    """Which blocks have a letter or digit outside of templates, or no templates at all."""
    classes = _classes(blocks)
    outside_templates = ((classes == LETTER) | (classes == DIGIT)) & ~in_template
    return np.asarray((_sums(blocks, outside_templates) > 0) | (blocks.template_share == 0), dtype=bool)


def outside(blocks: Blocks, in_template: Bool, spared: Bool) -> Bool:
    """The covered code points, except those in the `spared` blocks."""
    result = in_template.copy()
    for row in np.flatnonzero(spared & (blocks.template_share > 0)).tolist():
        result[blocks.text_start[row] : blocks.text_end[row]] = False
    return result


def trimmed(blocks: Blocks, in_template: Bool | None) -> Blocks:
    """The blocks without the covered code points: replaced by white space inside a block, cut at its ends."""
    if in_template is None:
        return blocks
    points = np.where(in_template, np.uint32(_SPACE), blocks.points)
    text = text_of(points)
    starts, ends = blocks.text_start.copy(), blocks.text_end.copy()
    for row in np.flatnonzero(blocks.template_share).tolist():
        own = text[starts[row] : ends[row]]
        starts[row] += len(own) - len(own.lstrip())
        ends[row] = starts[row] + len(own.strip())
    return replace(blocks, points=points, text=text, text_start=starts, text_end=ends)
