"""Site templates in cleaning: the cleaner `template`, and their removal after any other cleaner.

`template` keeps all of a page's text minus the templates of its site (Foschini, section 3.4). In a cascade,
`template+b`, it removes them before the cleaner b.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from victor_spark.blocks import OTHER, Bool, Cleaner, Page, Scores, by_rule
from victor_spark.errors import UsageError
from victor_spark.extractors import cascade
from victor_spark.model.decision import n_words
from victor_spark.templates import coverage

NAME: Final = "template"


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


def check(cleaner: str, templates: str | None) -> None:
    """Raises UsageError if the cleaner needs a table of templates and none is given."""
    if NAME in cascade.parts(cleaner) and not templates:
        raise UsageError(f"the cleaner {cleaner} needs a table of templates: --templates FILE")


def load() -> Cleaner:
    """The cleaner that keeps blocks with text outside of templates; `taken_out` cuts the templates out."""
    return lambda page: by_rule(keeps(page), page.blocks.heading_level > 0)


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
    if not scores.graded:
        return kept & keeps(page), cut
    spared = (scores.probabilities[:, OTHER] < guard.sure) | (blocks.heading_level > 0)
    left = kept & (spared | coverage.left(blocks, cut))
    words = n_words(blocks)
    if n_pages < guard.min_pages or words[left].sum() < (1 - guard.most) * words[kept].sum():
        return kept, None
    return left, coverage.outside(blocks, cut, spared)


def keeps(page: Page) -> Bool:
    """Which blocks have text outside of templates; all blocks if there are no templates."""
    if page.in_template is None:
        return np.ones(len(page.blocks), dtype=bool)
    return coverage.left(page.blocks, page.in_template)
