"""`template`: all of a page's text minus the templates of its site (Foschini, section 3.4)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from victor_spark.blocks import HEADER, LABELS, OTHER, TEXT, Bool, Page, Scores
from victor_spark.errors import InputError, UsageError
from victor_spark.extractors import cascade
from victor_spark.model.decision import n_words
from victor_spark.templates import trimming
from victor_spark.warc.opening import one_line, open_file

NAME: Final = "template"
AFTER, BEFORE, EVIDENCE = "after", "before", "evidence"
USES: Final = (AFTER, BEFORE, EVIDENCE)
"""Take templates out of what the cleaner kept; don't show it what they cover; only tell it their share."""


@dataclass(frozen=True, slots=True)
class Guard:
    """When templates may not take from a page what a trained cleaner kept of it.

    `sure`: blocks with a smaller P(other) stay. `most`: a page that would lose a larger part of its kept
    words stays as it is. `min_pages`: so do pages of sites whose templates come from fewer pages.
    Chosen on half of the sites with gold, measured on the other half: docs/templates.md.
    """

    sure: float = 0.6
    most: float = 0.5
    min_pages: int = 10


GUARD: Final = Guard()


def check(cleaner: str, templates: str | None, use: str) -> None:
    """UsageError for a use that there isn't, and for a cleaner that needs a table and has none."""
    if use not in USES:
        raise UsageError(f"no use of templates {use!r}; there are: {', '.join(USES)}")
    if NAME in cascade.parts(cleaner) and not templates:
        raise UsageError(f"the cleaner {cleaner} needs a templates table: --templates FILE")


def table_bytes(path: str) -> bytes:
    """A templates table as it lies in a file, here or elsewhere."""
    try:
        with open_file(path) as file:
            return file.read()
    except OSError as error:
        raise InputError(f"{path}: {one_line(error)}") from error


def load() -> Callable[[Page], Scores]:
    """Keeps what still says something without the templates, which the pipeline then cuts out."""

    def clean(page: Page) -> Scores:
        kept = keeps(page)
        labels = np.where(kept, np.where(page.blocks.heading_level > 0, HEADER, TEXT), OTHER)
        return Scores(np.eye(len(LABELS))[labels], kept)

    return clean


def taken_out(
    page: Page, kept: Bool, scores: Scores, n_pages: int, guard: Guard = GUARD
) -> tuple[Bool, Bool | None]:
    """What is left of the kept blocks, and which code points of the text are cut out of these.

    `n_pages`: how many pages of the site the templates come from. Where a trained cleaner judged, templates
    only settle what it doubts (Guard). Headings are spared, too: a site's lists hold its articles' titles.
    """
    blocks, cut = page.blocks, page.in_template
    if cut is None or not (kept & (blocks.template_share > 0)).any():
        return kept, None
    if not scores.graded:
        return kept & keeps(page), cut
    spared = (scores.probabilities[:, OTHER] < guard.sure) | (blocks.heading_level > 0)
    left = kept & (spared | trimming.left(blocks, cut))
    words = n_words(blocks)
    if n_pages < guard.min_pages or words[left].sum() < (1 - guard.most) * words[kept].sum():
        return kept, None
    return left, trimming.outside(blocks, cut, spared)


def keeps(page: Page) -> Bool:
    """Which blocks templates leave something of; all, where none are known."""
    if page.in_template is None:
        return np.ones(len(page.blocks), dtype=bool)
    return trimming.left(page.blocks, page.in_template)
