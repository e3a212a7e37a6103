"""What templates are looked for in: a page's text, its html, or the text that a cleaner kept of it.

`text`: the text of all blocks. `html`: the canonical HTML. `cleaned`: the text of the kept blocks. In the
texts every block ends in a newline. What a template covers in a view is told of the blocks' own text.
"""

from dataclasses import replace
from typing import Final

import numpy as np

from victor_spark.blocks import Blocks, Bool, Float32, Int32, Page
from victor_spark.errors import UsageError
from victor_spark.html.characters import CLASS_MASK, WHITE, properties

TEXT: Final = "text"
HTML: Final = "html"
CLEANED: Final = "cleaned"
VIEWS: Final = (TEXT, HTML, CLEANED)


def view(name: str, page: Page, kept: Bool | None = None) -> str:
    """The page in a view; `kept`, one a block, is what `cleaned` needs."""
    if name == HTML:
        return page.html
    if name == TEXT:
        return page.blocks.text
    if name != CLEANED or kept is None:
        raise UsageError(f"no view {name!r}: one of {', '.join(VIEWS)}")
    return page.blocks.points[_of_blocks(page.blocks, kept)].tobytes().decode("utf-32-le", "surrogatepass")


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
    solid = ~_white(blocks)
    n_all, n_covered = _sums(blocks, solid), _sums(blocks, solid & in_template)
    return np.asarray(n_covered / np.maximum(n_all, 1), dtype=np.float32)


def marked(page: Page, in_template: Bool) -> Page:
    """The page that knows what of it is in templates."""
    blocks = replace(page.blocks, template_share=shares(page.blocks, in_template))
    return replace(page, blocks=blocks, in_template=in_template)


def _mask(length: int, intervals: Int32) -> Bool:
    steps = np.zeros(length + 1, dtype=np.int32)
    np.add.at(steps, intervals[:, 0], 1)
    np.add.at(steps, intervals[:, 1], -1)
    return np.asarray(np.cumsum(steps[:-1]) > 0)


def _white(blocks: Blocks) -> Bool:
    known = np.minimum(blocks.points, len(properties()) - 1)
    return np.asarray((properties()[known] & CLASS_MASK) == WHITE)


def _sums(blocks: Blocks, counted: Bool) -> Int32:
    total = np.concatenate([[0], np.cumsum(counted, dtype=np.int32)])
    return np.asarray(total[blocks.text_end] - total[blocks.text_start], dtype=np.int32)


def _of_blocks(blocks: Blocks, kept: Bool) -> Int32:
    """The places in `blocks.text` of the kept blocks, each with the newline that follows it."""
    steps = np.zeros(len(blocks.points) + 1, dtype=np.int32)
    np.add.at(steps, blocks.text_start[kept], 1)
    np.add.at(steps, np.minimum(blocks.text_end[kept] + 1, len(blocks.points)), -1)
    return np.asarray(np.flatnonzero(np.cumsum(steps[:-1])), dtype=np.int32)


def _from_html(page: Page, mask: Bool) -> Bool:
    """The same for the text; a block with character references is covered if most of its html is."""
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
