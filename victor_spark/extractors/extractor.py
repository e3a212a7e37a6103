"""Tools that answer html → text, as cleaners: the blocks that hold their text are the ones they kept."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from victor_spark import alignment
from victor_spark.blocks import HEADER, LABELS, OTHER, TEXT, Page, Scores

Extractor: TypeAlias = Callable[[Page], str]
"""Answers one question: what is this page's text? Paragraphs are separated by newlines."""


def cleaner(extract: Extractor) -> Callable[[Page], Scores]:
    """The extractor as a cleaner: 0/1 probabilities by aligning its words with the blocks' words.

    The alignment is monotone: what a tool moves elsewhere, or adds, is in no block. Its own text, with
    lines trimmed and empty ones left out, stays what the page's text is (`Scores.text`).
    """

    def clean(page: Page) -> Scores:
        lines = (" ".join(line.split()) for line in extract(page).splitlines())
        text = "\n".join(line for line in lines if line)
        kept = alignment.locate(page.blocks, text).kept
        labels = np.where(kept, np.where(page.blocks.heading_level > 0, HEADER, TEXT), OTHER)
        return Scores(np.eye(len(LABELS))[labels], kept, text=text)

    return clean
