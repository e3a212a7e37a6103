"""What a first guess says of a block's surroundings: features of the last trees of `victor-2`.

Stacked sequential learning (Cohen and Carvalho, IJCAI 2005): a model sees another one's guesses of the
neighbours, here also those inside the same elements and of the same kin.
"""

from typing import Final

import numpy as np

from victor_spark.crf.surroundings import N_AROUND, Fill, Layout, n_words
from victor_spark.kernels import context as kernel
from victor_spark.kernels import surroundings, views
from victor_spark.page import Blocks, Float32, Int32

_OF_BLOCKS: Final = tuple(f"guess[{by}]" for by in range(-2, 3))
_OF_PARAGRAPHS: Final = (
    "guess.paragraph",
    *(f"guess.paragraph[{by}]" for by in (-4, -3, -2, -1, 1, 2, 3, 4)),
    *(f"guess.window[{reach}]" for reach in (3, 8, 25)),
    "guess.before",
    "guess.after",
    "guess.run",
    "guess.since",
    "guess.until",
    *(f"guess.around{kind}[{n}]" for n in range(N_AROUND) for kind in ("", "-share")),
    *(f"guess.rest[{n}]" for n in range(1, N_AROUND)),
    *(f"guess.{kin}{kind}" for kin in ("path", "class") for kind in ("", "-share", "-others")),
)
_OF_PAGE: Final = tuple(
    f"guess.page-{name}" for name in ("words", "share", "paragraphs", "most", "run", "doubt")
)

NAMES: Final = (*_OF_BLOCKS, *_OF_PARAGRAPHS, *_OF_PAGE)
"""The rows of `features`."""


def rows_of(blocks: Blocks, page: Layout, logits: Float32) -> Fill:
    """What fills `rows` (len(NAMES), any number of blocks), from the log-odds of content (n_blocks) that were
    guessed.
    """
    own = np.empty((len(_OF_BLOCKS), len(blocks)), dtype=np.float32)
    words = n_words(blocks)
    bounded = np.minimum(np.maximum(logits, np.float32(-9.0)), np.float32(9.0))
    guesses = np.asarray(1.0 / (1.0 + np.exp(-bounded)), dtype=np.float32)
    n = page.places.shape[1]
    masses = np.empty((kernel.N_MASSES, n))
    table = np.empty((len(_OF_PARAGRAPHS), n), dtype=np.float32)
    numbers = np.empty(len(_OF_PAGE), dtype=np.float32)
    kernel.of_blocks(
        memoryview(guesses),
        memoryview(logits),
        memoryview(words),
        memoryview(page.of_block),
        memoryview(masses),
        memoryview(own),
    )
    kernel.of_paragraphs(
        memoryview(masses),
        memoryview(page.places),
        memoryview(page.last_inside),
        memoryview(np.empty((4, n))),
        memoryview(np.empty((4, len(page.last_inside)))),
        memoryview(table),
        memoryview(numbers),
    )
    numbers[-1] = _doubt(guesses, words)

    def fill(first: int, rows: Float32) -> None:
        these = slice(first, first + rows.shape[1])
        rows[: len(own)] = own[:, these]
        surroundings.spread(*views(table, page.of_block[these], numbers), len(own), memoryview(rows))

    return fill


def features(blocks: Blocks, page: Layout, logits: Float32, rows: Float32) -> None:
    """Fills `rows` (len(NAMES), n_blocks)."""
    rows_of(blocks, page, logits)(0, rows)


def _doubt(guesses: Float32, words: Int32) -> float:
    """Mean entropy of the guesses, in nats, by words."""
    others = 1.0 - guesses
    return float(kernel.doubt(*views(guesses, others, np.log(guesses), np.log(others), words)))
