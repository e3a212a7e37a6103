"""Marks the characters of a page that templates of its site cover, and removes them from the kept blocks.

Templates are sought in a view of the page: `text`, the text of all blocks; `html`, the canonical HTML; or
`cleaned`, the text of the kept blocks. In the texts every block ends in a newline. Characters that are
covered in a view are mapped onto the text of the blocks. Removal: Foschini, section 3.4.
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from victor_spark.blocks import OTHER, Blocks, Bool, Int32, Page, Scores, UInt8
from victor_spark.errors import UsageError
from victor_spark.html.characters import properties
from victor_spark.kernels import text_of
from victor_spark.kernels.num import CLASS_MASK, DIGIT, LETTER, WHITE
from victor_spark.templates.tokens import CLEANED, HTML, TEXT, VIEWS


def view(name: str, page: Page, kept: Bool | None = None) -> str:
    """The page in a view; the view `cleaned` needs `kept`, a value for each block."""
    if name == HTML:
        return page.html
    if name == TEXT:
        return page.blocks.text
    if name != CLEANED or kept is None:
        raise UsageError(f"no view {name!r}: use one of {', '.join(VIEWS)}")
    return text_of(page.blocks.points[of_blocks(page.blocks, kept)])


def covered(name: str, page: Page, intervals: Int32, kept: Bool | None = None) -> Bool:
    """Which code points of `page.blocks.text` lie in the intervals, shape (n, 2), of the view."""
    if name == HTML:
        return _from_html(page, _mask(len(page.html), intervals))
    if name == TEXT or kept is None:
        return _mask(len(page.blocks.points), intervals)
    places = of_blocks(page.blocks, kept)
    result = np.zeros_like(places)
    result[places] = _mask(int(places.sum()), intervals)
    return result


def marked(page: Page, in_template: Bool) -> Page:
    """The page with `in_template` and, per block, `template_share`: of its characters without white space."""
    solid = classes(page.blocks) != WHITE
    n_all, n_covered = sums(page.blocks, solid), sums(page.blocks, solid & in_template)
    share = (n_covered / np.maximum(n_all, 1)).astype(np.float32)
    return replace(page, blocks=replace(page.blocks, template_share=share), in_template=in_template)


def _mask(length: int, intervals: Int32) -> Bool:
    steps = np.zeros(length + 1, dtype=np.int32)
    np.add.at(steps, intervals[:, 0], 1)
    np.add.at(steps, intervals[:, 1], -1)
    return np.asarray(np.cumsum(steps[:-1]) > 0)


def classes(blocks: Blocks) -> UInt8:
    """The character class of each code point of the text."""
    return np.asarray(properties()[blocks.points] & np.uint8(CLASS_MASK))


def sums(blocks: Blocks, counted: Bool) -> Int32:
    """How many of the counted code points each block has."""
    total = np.concatenate([[0], np.cumsum(counted, dtype=np.int32)])
    return np.asarray(total[blocks.text_end] - total[blocks.text_start], dtype=np.int32)


def of_blocks(blocks: Blocks, kept: Bool) -> Bool:
    """Which code points of the text are of the kept blocks, or newlines after them."""
    return np.repeat(kept, blocks.text_end + 1 - blocks.text_start)


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


@dataclass(frozen=True, slots=True)
class Guard:
    """Limits for the removal of templates from the blocks that a trained cleaner kept.

    `sure`: blocks with a smaller P(other) stay. Pages stay unchanged where more than `most` of their kept
    words would be removed, or where the site's templates come from fewer than `min_pages` pages.
    Chosen on half of the sites with gold, measured on the other half: docs/templates.md.
    """

    sure: float = 0.6
    most: float = 0.5
    min_pages: int = 10


GUARD: Final = Guard()


def taken_out(
    page: Page, kept: Bool, scores: Scores, n_pages: int, guard: Guard = GUARD
) -> tuple[Bool, Bool | None]:
    """The kept blocks that stay, and which code points of the text are cut out of these.

    `n_pages`: how many pages of the site the templates come from. After a trained cleaner, templates remove
    only blocks with a high P(other) (`Guard`), and no headings: the lists of a site hold the titles of its
    articles, so that these are templates, too.
    """
    blocks, cut = page.blocks, page.in_template
    if cut is None or not (kept & (blocks.template_share > 0)).any():
        return kept, None
    if not ((scores.probabilities > 0) & (scores.probabilities < 1)).any():  # of a rule
        return kept & keeps(page), cut
    spared = (scores.probabilities[:, OTHER] < guard.sure) | (blocks.heading_level > 0)
    left = kept & (spared | keeps(page))
    words = blocks.n_words
    if n_pages < guard.min_pages or words[left].sum() < (1 - guard.most) * words[kept].sum():
        return kept, None
    cut = cut.copy()
    for row in np.flatnonzero(spared & (blocks.template_share > 0)).tolist():
        cut[blocks.text_start[row] : blocks.text_end[row]] = False
    return left, cut


def keeps(page: Page) -> Bool:
    """Which blocks have a letter or digit outside of templates; all blocks without templates have."""
    if page.in_template is None:
        return np.ones(len(page.blocks), dtype=bool)
    blocks, kinds = page.blocks, classes(page.blocks)
    left = ((kinds == LETTER) | (kinds == DIGIT)) & ~page.in_template
    return np.asarray((sums(blocks, left) > 0) | (blocks.template_share == 0), dtype=bool)
