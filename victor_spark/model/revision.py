"""Trees that revise the marginals of the CRF, from all features and the first guesses around a block.

A linear chain uses a block's neighbours; the last trees also use the first trees' guesses for the paragraph,
for the elements around it and for blocks of the same kin, and the CRF's marginals. This is stacked sequential
learning (Cohen and Carvalho, IJCAI 2005). The CRF still separates headers from text.
"""

from typing import Final

import numpy as np

from victor_spark.blocks import Blocks, Float32, Float64
from victor_spark.kernels import context, num, surroundings, views
from victor_spark.kernels import crf as kernel
from victor_spark.model.surroundings import Fill, Layout, layout_of
from victor_spark.model.trees import Trees

_OF_BLOCKS: Final = tuple(f"guess[{by}]" for by in range(-num.BLOCK_GUESS_REACH, num.BLOCK_GUESS_REACH + 1))
_OF_PARAGRAPHS: Final = (
    "guess.paragraph",
    *(f"guess.paragraph[{by}]" for by in range(-num.GUESS_REACH, num.GUESS_REACH + 1) if by),
    *(f"guess.window[{reach}]" for reach in num.GUESS_WINDOWS.values()),
    *(f"guess.{name}" for name in num.GUESS),
    *(f"guess.around{kind}[{n}]" for n in range(num.N_AROUND) for kind in ("", "-share")),
    *(f"guess.rest[{n}]" for n in range(1, num.N_AROUND)),
    *(f"guess.{kin}{kind}" for kin in ("path", "class") for kind in num.GUESS_KIN.values()),
)
_OF_PAGE: Final = tuple(f"guess.page-{name}" for name in num.GUESS_PAGE)

GUESSES: Final = (*_OF_BLOCKS, *_OF_PARAGRAPHS, *_OF_PAGE)
"""Features of the first trees' guesses, in the order that `guesses_of` fills."""

CRF: Final = ("crf.content", "crf.header")
"""The CRF's log-odds of content, and its P(header)."""

ADDED: Final = (*GUESSES, *CRF)
"""The features that the last trees have beside those of the table."""

MAX_CRF_SHARE: Final = 0.6
"""The CRF's weight in the log-odds of a block without words; one word leaves a third, three a twentieth."""

_MIN_PROBABILITY: Final = 1e-4


def guesses_of(blocks: Blocks, page: Layout, logits: Float32) -> Fill:
    """A function that fills `rows` (len(GUESSES), n blocks), from guessed log-odds of content (n_blocks)."""
    own = np.empty((len(_OF_BLOCKS), len(blocks)), dtype=np.float32)
    bounded = np.minimum(np.maximum(logits, np.float32(-9.0)), np.float32(9.0))
    guesses = np.asarray(1.0 / (1.0 + np.exp(-bounded)), dtype=np.float32)
    n = page.places.shape[1]
    masses = np.empty((len(num.MASSES), n))
    table = np.empty((len(_OF_PARAGRAPHS), n), dtype=np.float32)
    numbers = np.empty(len(_OF_PAGE), dtype=np.float32)
    context.of_blocks(*views(guesses, logits, page.words, page.of_block, masses, own))
    scratch = np.empty((len(num.GUESS_SCRATCH), n))
    elements = np.empty((len(num.GUESS_ELEMENTS), len(page.last_inside)))
    context.of_paragraphs(*views(masses, page.places, page.last_inside, scratch, elements, table, numbers))
    others = 1.0 - guesses
    numbers[-1] = context.doubt(*views(guesses, others, np.log(guesses), np.log(others), page.words))

    def fill(first: int, rows: Float32) -> None:
        these = slice(first, first + rows.shape[1])
        rows[: len(own)] = own[:, these]
        surroundings.spread(*views(table, page.of_block[these], numbers), len(own), memoryview(rows))

    return fill


def completing(blocks: Blocks, guesses: Float32, marginals: Float64) -> Fill:
    """A function that fills the rows of ADDED; `guesses` (n_blocks): the last feature of the table."""
    fill = guesses_of(blocks, layout_of(blocks), guesses)
    layout_of.cache_clear()  # it holds the page

    def complete(first: int, rows: Float32) -> None:
        fill(first, rows[: -len(CRF)])
        of_rows = marginals[first : first + rows.shape[1]]
        kernel.log_odds(*views(of_rows), _MIN_PROBABILITY, *views(rows[-len(CRF) :]))

    return complete


def features(blocks: Blocks, values: Float32, marginals: Float64) -> Float32:
    """`values` (n_features, n_blocks; the last: the first guess), and below them the added ones."""
    rows = np.vstack([values, np.empty((len(ADDED), len(blocks)), dtype=np.float32)])
    completing(blocks, values[-1], marginals)(0, rows[len(values) :])
    return rows


def revised(trees: Trees, rows: Float32, marginals: Float64, words: Float64) -> Float64:
    """P(header), P(text), P(other) by the last trees; the CRF splits content between the first two.

    Trees weigh training blocks by their words, the CRF weighs all blocks alike: so for blocks with hardly any
    words (`words`, n_blocks) the CRF's log-odds are mixed in.
    """
    result = np.empty_like(marginals)
    kernel.revise(*views(marginals, rows[-2], trees(rows), words), MAX_CRF_SHARE, *views(result))
    return result
