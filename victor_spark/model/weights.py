"""Features by trained weights: of the words around a block, and of the elements of its page's source.

conf/words.toml sorts common words of class, id, role and itemprop into groups; sites use thousands more. A
logistic regression over the words of all ancestors gives each word a weight (`Names`), and sums of weights
along the way to the root are features. Words are identified by the hashes that the scan stores. A hidden
element has one word more, which says so.

Pages of one kind and time are written with the same elements, and those who label a collection of pages agree
on what is content: titles, captions, comments. So the elements of a page's source predict what counts as its
content, also on pages of no collection (docs/method.md). A multinomial logistic regression over which
elements begin anywhere in the source gives a page's log-probability of each collection (`Origins`).
"""

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Final

import numpy as np

from victor_html.elements import ELEMENTS, open_table
from victor_spark.blocks import Blocks, Float32, Int32, UInt8, UInt32
from victor_spark.errors import ModelError
from victor_spark.kernels import blocks as kernel
from victor_spark.kernels import views
from victor_spark.kernels.num import MAX_ORIGINS
from victor_spark.model.surroundings import Fill

NAME_FEATURES: Final = ("names.sum", "names.most", "names.least", "names.near", "names.own")
"""The rows of `Names.features`: see kernels.blocks.weigh."""

ORIGIN_FEATURES: Final = tuple(f"origin.{number}" for number in range(MAX_ORIGINS))
"""The rows of `Origins.features`; those of no collection hold 0."""

FEATURES: Final = (*NAME_FEATURES, *ORIGIN_FEATURES)
"""The rows of `Weights.rows_of`."""

_LEAST_PROBABILITY: Final = 1e-3
_MAX_WEIGHT: Final = 1e6


@dataclass(frozen=True)
class Names:
    """Hashes of words, ascending, and the log-odds of content that each adds."""

    words: UInt32
    weights: Float32

    def features(self, blocks: Blocks, rows: Float32) -> None:
        """Fills `rows` (len(NAME_FEATURES), n_blocks) of a page with at least one block."""
        slots, slot_weights = self._slots
        of_elements = np.empty((len(NAME_FEATURES), blocks.named_elements.shape[1]), dtype=np.float32)
        columns = (blocks.named_elements, blocks.name_words, slots, slot_weights, blocks.named)
        kernel.weigh(*views(*columns, of_elements, rows))

    @cached_property
    def _slots(self) -> tuple[UInt32, Float32]:
        slots, places = open_table(self.words.tolist(), 1 << (2 * len(self.words)).bit_length())
        return slots, np.append(self.weights, np.float32(0.0))[places]


@dataclass(frozen=True, slots=True, eq=False)
class Origins:
    """The weights of the source's elements in the log-odds of each collection: (n, len(elements) + 1).

    The last column is added on every page. `elements` is the model's own vocabulary: the columns' names.
    """

    weights: Float32
    elements: tuple[str, ...]

    def features(self, blocks: Blocks, rows: Float32) -> None:
        """Fills `rows` (len(ORIGIN_FEATURES), n_blocks) of a page with at least one block."""
        rows[len(self.weights) :] = 0.0
        columns = (blocks.source_elements, _parser_numbers(self.elements), self.weights)
        kernel.origins(*views(*columns), _LEAST_PROBABILITY, *views(rows))


def used_elements(blocks: Blocks, elements: tuple[str, ...]) -> UInt8:
    """Which elements of a model's vocabulary the source of a page has, 1 or 0: (len(elements),)."""
    return np.concatenate((blocks.source_elements, _UNKNOWN)).take(_parser_numbers(elements))


_UNKNOWN: Final = np.zeros(1, dtype=np.uint8)


@cache
def _parser_numbers(elements: tuple[str, ...]) -> Int32:
    """The parser's number of each element; an element without a number there is on no page."""
    numbers = {name: number for number, name in enumerate(ELEMENTS)}
    return np.array([numbers.get(name, len(ELEMENTS)) for name in elements], dtype=np.int32)


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of names and of origins."""

    names: Names
    origins: Origins

    def rows_of(self, blocks: Blocks) -> Fill:
        """A function that fills `rows` (len(FEATURES), n blocks) of a page with at least one block."""
        named = np.empty((len(NAME_FEATURES), len(blocks)), dtype=np.float32)
        self.names.features(blocks, named)

        def fill(first: int, rows: Float32) -> None:
            rows[: len(named)] = named[:, first : first + rows.shape[1]]
            self.origins.features(blocks, rows[len(named) :])

        return fill

    def __call__(self, blocks: Blocks) -> Float32:
        """The rows of a page: shape (len(FEATURES), n_blocks)."""
        rows = np.empty((len(FEATURES), len(blocks)), dtype=np.float32)
        if len(blocks):
            self.rows_of(blocks)(0, rows)
        return rows


def check(weights: Weights) -> None:
    """Raises ModelError for arrays that are no such weights, because the kernels do not check them."""
    words, of_words = weights.names.words, weights.names.weights
    if (
        words.dtype != np.uint32
        or of_words.dtype != np.float32
        or words.ndim != 1
        or words.shape != of_words.shape
        or (len(words) and (words[0] == 0 or (words[1:] <= words[:-1]).any()))
        or not np.isfinite(of_words).all()
    ):
        raise ModelError("the weights of names are damaged")
    of_elements = weights.origins.weights
    if (
        of_elements.dtype != np.float32
        or of_elements.ndim != 2
        or len(of_elements) > MAX_ORIGINS
        or of_elements.shape[1] != len(weights.origins.elements) + 1
        or not (np.abs(of_elements) <= _MAX_WEIGHT).all()
    ):
        raise ModelError("the weights of origins are damaged")
