"""What is left of blocks without what templates cover of them."""

from dataclasses import replace
from typing import Final

import numpy as np

from victor_spark.blocks import Blocks, Bool
from victor_spark.html.characters import CLASS_MASK, DIGIT, LETTER, properties

_SPACE: Final = ord(" ")


def left(blocks: Blocks, in_template: Bool) -> Bool:
    """Which blocks still say something: a letter or digit outside templates, or outside none at all."""
    known = properties()[np.minimum(blocks.points, len(properties()) - 1)] & CLASS_MASK
    says = ((known == LETTER) | (known == DIGIT)) & ~in_template
    total = np.concatenate([[0], np.cumsum(says, dtype=np.int32)])
    return np.asarray(
        (total[blocks.text_end] > total[blocks.text_start]) | (blocks.template_share == 0), dtype=bool
    )


def outside(blocks: Blocks, in_template: Bool, spared: Bool) -> Bool:
    """What templates cover, but for the spared blocks."""
    result = in_template.copy()
    for row in np.flatnonzero(spared & (blocks.template_share > 0)).tolist():
        result[blocks.text_start[row] : blocks.text_end[row]] = False
    return result


def trimmed(blocks: Blocks, in_template: Bool | None) -> Blocks:
    """The blocks without what templates cover: white space inside them, nothing at their ends."""
    if in_template is None:
        return blocks
    points = np.where(in_template, np.uint32(_SPACE), blocks.points)
    text = points.tobytes().decode("utf-32-le", "surrogatepass")
    starts, ends = blocks.text_start.copy(), blocks.text_end.copy()
    for row in np.flatnonzero(blocks.template_share).tolist():
        own = text[starts[row] : ends[row]]
        starts[row] += len(own) - len(own.lstrip())
        ends[row] = starts[row] + len(own.strip())
    return replace(blocks, points=points, text=text, text_start=starts, text_end=ends)
