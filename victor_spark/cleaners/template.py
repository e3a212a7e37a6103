"""`template`: all of a page's text minus the templates of its site (Foschini, section 3.4)."""

from collections.abc import Callable
from typing import Final

import numpy as np

from victor_spark.archive.opening import one_line, open_file
from victor_spark.cleaners import cascade
from victor_spark.errors import InputError, UsageError
from victor_spark.page import HEADER, LABELS, OTHER, TEXT, Bool, Page, Scores
from victor_spark.templates import trimming

NAME: Final = "template"
AFTER, BEFORE, EVIDENCE = "after", "before", "evidence"
USES: Final = (AFTER, BEFORE, EVIDENCE)
"""Take templates out of what the cleaner kept; don't show it what they cover; only tell it their share."""


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
    """Keeps what still says something without the templates; P(other) is the share that they cover."""

    def clean(page: Page) -> Scores:
        kept = keeps(page)
        probabilities = np.zeros((len(page.blocks), len(LABELS)))
        probabilities[:, OTHER] = np.where(kept, page.blocks.template_share, 1.0)
        content = np.where(page.blocks.heading_level > 0, HEADER, TEXT)
        probabilities[np.arange(len(content)), content] = 1.0 - probabilities[:, OTHER]
        return Scores(probabilities, kept)

    return clean


def taken_out(page: Page, kept: Bool) -> tuple[Bool, Bool | None]:
    """What is left of the kept blocks, and which code points of the text are cut out of these."""
    if page.in_template is None:
        return kept, None
    return kept & keeps(page), page.in_template


def keeps(page: Page) -> Bool:
    """Which blocks templates leave something of; all, where none are known."""
    if page.in_template is None:
        return np.ones(len(page.blocks), dtype=bool)
    return trimming.left(page.blocks, page.in_template)
