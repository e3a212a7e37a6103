"""What is learnt before the trees, as weights: of names around a block, and of the elements of its page."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from victor_spark.crf import names as of_names
from victor_spark.crf import origins as of_origins
from victor_spark.crf.names import Names
from victor_spark.crf.origins import Origins
from victor_spark.crf.surroundings import Fill
from victor_spark.page import Blocks, Float32

NAMES: Final = (*of_names.NAMES, *of_origins.NAMES)
"""The rows that `Weights` give."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Of names, and of origins."""

    names: Names
    origins: Origins

    def rows_of(self, blocks: Blocks) -> Fill:
        """What fills `rows` (len(NAMES), any number of blocks) of a page with at least one block."""
        named = np.empty((len(of_names.NAMES), len(blocks)), dtype=np.float32)
        self.names.features(blocks, named)

        def fill(first: int, rows: Float32) -> None:
            rows[: len(named)] = named[:, first : first + rows.shape[1]]
            self.origins.features(blocks, rows[len(named) :])

        return fill

    def __call__(self, blocks: Blocks) -> Float32:
        """The rows of a page: shape (len(NAMES), n_blocks)."""
        rows = np.empty((len(NAMES), len(blocks)), dtype=np.float32)
        if len(blocks):
            self.rows_of(blocks)(0, rows)
        return rows


def none() -> Weights:
    """Nothing weighs anything."""
    return Weights(of_names.none(), of_origins.none())


def check(weights: Weights) -> None:
    """Raises ModelError for arrays that are no such weights."""
    of_names.check(weights.names)
    of_origins.check(weights.origins)
