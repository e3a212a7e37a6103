"""Gold pages → labelled pages: canonical HTML, blocks, and a label per block from the gold text."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from victor_spark import pipeline, preparation
from victor_spark.blocks import Page, UInt8
from victor_spark.evaluation import alignment, gold
from victor_spark.evaluation.alignment import Alignment
from victor_spark.evaluation.gold import GoldPage
from victor_spark.langid.pages import Linguist, linguist
from victor_spark.model.files import read_bytes
from victor_spark.resources import directory


@dataclass(frozen=True, slots=True)
class LabelledPage:
    """A page as cleaners see it, with what a person would keep of it.

    `gold` is the annotation without its html (the page has the canonical one), `labels` the label
    of each block, `found` the share of the gold's words that the blocks hold.
    """

    gold: GoldPage
    site: str
    page: Page
    labels: UInt8
    found: float


def label(page: GoldPage) -> LabelledPage:
    """Cuts a page with gold text into blocks and labels them."""
    prepared, _ = preparation.prepare(page.html, _linguist(), page.url)
    aligned = _given(page, len(prepared.blocks)) or alignment.label(prepared.blocks, page.gold or "")
    return LabelledPage(
        gold=replace(page, html=""),
        site=gold.site(page),
        page=prepared,
        labels=aligned.labels,
        found=aligned.found,
    )


def _given(page: GoldPage, n_blocks: int) -> Alignment | None:
    """The labels that annotators gave the blocks themselves (meta.block_labels, a digit of LABELS a
    block).
    """
    given = page.meta.get("block_labels")
    if not isinstance(given, str) or len(given) != n_blocks or not set(given) <= set("012"):
        return None
    return Alignment(np.array([int(digit) for digit in given], dtype=np.uint8), 1.0)


@cache
def _linguist() -> Linguist:
    return linguist(read_bytes(directory("models") / pipeline.PROFILES))


def label_all(pages: Iterable[GoldPage]) -> Iterator[LabelledPage]:
    """Labels those of the pages that have gold in their html."""
    return (label(page) for page in pages if gold.usable(page))


def trainable(page: LabelledPage) -> bool:
    """Whether the labels are good enough to learn from, or to score blocks against."""
    return page.found >= alignment.FOUND_RATIO and len(page.page.blocks) > 0
