"""Gold pages → labelled pages: canonical HTML, blocks, and a label per block from the gold text.

Blocks that hold words of the gold text are content, and headers if they are in h1–h6.
"""

from dataclasses import dataclass, replace
from functools import cache
from typing import Final

import numpy as np

from victor_spark import pipeline, preparation, words
from victor_spark.blocks import HEADER, OTHER, TEXT, Blocks, Page, UInt8
from victor_spark.evaluation import gold
from victor_spark.evaluation.gold import GoldPage
from victor_spark.langid.pages import PageIdentifier, page_identifier

FOUND_RATIO: Final = 0.7
"""Pages whose gold is found to a smaller share are not used for training."""


@dataclass(frozen=True, slots=True)
class LabelledPage:
    """A page as cleaners see it, with the labels of its annotation.

    `gold` is the annotation without its html (the page has the canonical one), `labels` the label
    of each block, `found` the share of the gold's words that the blocks hold.
    """

    gold: GoldPage
    site: str
    page: Page
    labels: UInt8
    found: float


def label(page: GoldPage) -> LabelledPage:
    """Segments a page into blocks and labels them: as annotators did, else from its gold text."""
    prepared, _ = preparation.prepare(page.html, _page_identifier(), page.url)
    given, n_blocks = page.meta.get("block_labels"), len(prepared.blocks)  # a digit of LABELS a block
    if isinstance(given, str) and len(given) == n_blocks and set(given) <= set("012"):
        labels, found = np.array([int(digit) for digit in given], dtype=np.uint8), 1.0
    else:
        labels, found = aligned_labels(prepared.blocks, page.gold or "")
    return LabelledPage(replace(page, html=""), gold.site(page), prepared, labels, found)


def aligned_labels(blocks: Blocks, gold_text: str) -> tuple[UInt8, float]:
    """A label per block from the gold text (paragraphs by newline), and the share of its words found."""
    kept, found = words.locate(blocks, gold_text)
    content = np.where(blocks.heading_level > 0, HEADER, TEXT)
    return np.where(kept, content, OTHER).astype(np.uint8), found


@cache
def _page_identifier() -> PageIdentifier:
    return page_identifier(pipeline.language_models()[pipeline.PROFILES])


def trainable(page: LabelledPage) -> bool:
    """Whether the labels are reliable enough for training and for measures over blocks."""
    return page.found >= FOUND_RATIO and len(page.page.blocks) > 0
