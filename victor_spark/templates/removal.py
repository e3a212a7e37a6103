"""Removes the templates of a site from the blocks that a cleaner kept (Foschini, section 3.4)."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from victor_spark.blocks import OTHER, Bool, Page, Scores
from victor_spark.kernels.num import DIGIT, LETTER
from victor_spark.templates.coverage import classes, sums


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
