"""Trees that revise what the CRF says of a block, from all features and the first guesses around it.

A linear chain sees a block's neighbours; the last trees see the paragraph, the elements around it and its
kin, too, and what the first trees and the CRF say of these. The CRF still tells headers from text.
"""

from collections.abc import Callable
from typing import Final

import numpy as np

from victor_spark.crf import context
from victor_spark.crf.surroundings import layout_of
from victor_spark.crf.trees import Trees
from victor_spark.kernels import crf as kernel
from victor_spark.page import Blocks, Float32, Float64

CRF: Final = ("crf.content", "crf.header")
"""The CRF's log-odds of content, and its P(header)."""

N_ADDED: Final = len(context.NAMES) + len(CRF)
"""How many features the last trees have beside those of the table."""

_LEAST: Final = 1e-4


def completing(blocks: Blocks, guesses: Float32, marginals: Float64) -> Callable[[int, Float32], Float32]:
    """What puts the added features below the values (n_features, any number) of the blocks from one on.

    `guesses` (n_blocks) are the last of these features, of all blocks.
    """
    fill = context.rows_of(blocks, layout_of(blocks), guesses)

    def completed(first: int, values: Float32) -> Float32:
        n_known, n = values.shape
        rows = np.empty((n_known + N_ADDED, n), dtype=np.float32)
        rows[:n_known] = values
        fill(first, rows[n_known : -len(CRF)])
        kernel.told(memoryview(marginals[first : first + n]), _LEAST, memoryview(rows[-len(CRF) :]))
        return rows

    return completed


def features(blocks: Blocks, values: Float32, marginals: Float64) -> Float32:
    """`values` (n_features, n_blocks; the last: the first guess), and below them the added ones."""
    return completing(blocks, values[-1], marginals)(0, values)


def revised(trees: Trees, rows: Float32, marginals: Float64, words: Float64) -> Float64:
    """P(header), P(text), P(other) by the last trees, content split between the first two as by the CRF.

    Trees learn from blocks by their words, the CRF from all alike: so of blocks with hardly any words
    (`words`, n_blocks) the CRF has a part of the say, in log-odds.
    """
    result = np.empty_like(marginals)
    kernel.revise(
        memoryview(marginals),
        memoryview(rows[-2]),
        memoryview(trees(rows)),
        memoryview(words),
        MOST_OF_CRF,
        memoryview(result),
    )
    return result


MOST_OF_CRF: Final = 0.6
"""What the CRF has to say of a block without words; of one word a third of that, of three a twentieth."""
