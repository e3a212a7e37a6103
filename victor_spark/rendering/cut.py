"""The blocks of a page without code points that are cut out of their text, as templates of the site."""

from dataclasses import replace
from typing import Final

import numpy as np

from victor_spark.blocks import Blocks, Bool
from victor_spark.kernels import text_of

_SPACE: Final = ord(" ")


def blanked(blocks: Blocks, cut: Bool | None) -> Blocks:
    """The blocks with spaces instead of these code points."""
    if cut is None:
        return blocks
    points = np.where(cut, np.uint32(_SPACE), blocks.points)
    return replace(blocks, points=points, text=text_of(points))


def trimmed(blocks: Blocks, cut: Bool | None) -> Blocks:
    """The same, and blocks with templates begin and end with what is left of them."""
    if cut is None:
        return blocks
    blocks = blanked(blocks, cut)
    starts, ends = blocks.text_start.copy(), blocks.text_end.copy()
    for row in np.flatnonzero(blocks.template_share).tolist():
        own = blocks.text[starts[row] : ends[row]]
        starts[row] += len(own) - len(own.lstrip())
        ends[row] = starts[row] + len(own.strip())
    return replace(blocks, text_start=starts, text_end=ends)
