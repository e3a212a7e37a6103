"""Block labels from gold text: the blocks that hold the gold's words are content, those in h1–h6 headers."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from victor_spark import alignment
from victor_spark.blocks import HEADER, OTHER, TEXT, Blocks, UInt8

FOUND_RATIO: Final = 0.7
"""Pages whose gold is found to a smaller share are no use for training."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """A label per block (columns of page.LABELS), and the share of the gold's words found in the page."""

    labels: UInt8
    found: float


def label(blocks: Blocks, gold: str) -> Alignment:
    """Labels the blocks by their alignment with the gold text (paragraphs by newline)."""
    located = alignment.locate(blocks, gold)
    content = np.where(blocks.heading_level > 0, HEADER, TEXT)
    return Alignment(np.where(located.kept, content, OTHER).astype(np.uint8), located.found)
