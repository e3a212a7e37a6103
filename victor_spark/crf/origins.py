"""Where a page may be from: how likely each collection of training pages is, by the elements of its source.

Pages of one kind and time are written with the same elements, and those who label a collection agree on what
is content: titles, captions, comments. So what a page is written with tells what is wanted of it, also on
pages of no collection at all (docs/method.md). A multinomial logistic regression over which elements begin
anywhere in the source gives the log-probabilities, the same for all blocks of a page.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from victor_spark.crf.regression import fitting
from victor_spark.errors import ModelError
from victor_spark.page import Blocks, Float32, Int32
from victor_spark.parser.elements import ELEMENTS

MOST: Final = 8
"""Of so many collections, those with most pages, something is learnt."""

LEAST_SITES: Final = 10
"""What a collection of fewer sites is written with says more of these sites."""

NAMES: Final = tuple(f"origin.{number}" for number in range(MOST))
"""The rows of `Origins.features`; those that no collection has hold 0."""

NONE: Final = -1
"""The number of a page of no collection that anything is learnt of."""

_LEAST: Final = np.float32(1e-3)
_NEVER: Final = np.float32(-50.0)
_HEAVIEST: Final = 1e6
_C: Final = 0.3
_ITERATIONS: Final = 300


@dataclass(frozen=True, slots=True, eq=False)
class Origins:
    """What each element of the source adds to the log-odds of each collection: (n, n_elements + 1).

    The last column is there on every page.
    """

    weights: Float32

    def features(self, blocks: Blocks, rows: Float32) -> None:
        """Fills `rows` (len(NAMES), n_blocks) of a page with at least one block."""
        rows[:] = 0.0
        if len(self.weights):
            logits = self.weights[:, :-1] @ blocks.source_elements + self.weights[:, -1]
            likely = np.exp(logits - logits.max())
            rows[: len(likely)] = np.log(likely / likely.sum() + _LEAST)[:, None]


def none() -> Origins:
    """No collections."""
    return Origins(np.zeros((0, len(ELEMENTS) + 1), dtype=np.float32))


def check(origins: Origins) -> None:
    """Raises ModelError for an array that can't be weights of elements."""
    weights = origins.weights
    if (
        weights.dtype != np.float32
        or weights.ndim != 2
        or len(weights) > MOST
        or weights.shape[1] != len(ELEMENTS) + 1
        or not (np.abs(weights) <= _HEAVIEST).all()
    ):
        raise ModelError("the weights of origins are damaged")


def numbers(collections: Sequence[str], sites: Sequence[str]) -> Int32:
    """The number of each page's collection (n_pages), by how many pages it has, or NONE; "" is none."""
    n_sites = Counter(collection for collection, _ in set(zip(collections, sites, strict=True)))
    by_size = Counter(name for name in collections if name and n_sites[name] >= LEAST_SITES)
    order = sorted(by_size, key=lambda name: (-by_size[name], name))[:MOST]
    of_names = {name: number for number, name in enumerate(order)}
    return np.array([of_names.get(name, NONE) for name in collections], dtype=np.int32)


def learn(pages: Sequence[Blocks], collections: Int32, n: int) -> Origins:
    """Weights that tell `n` collections apart (`collections`: the number of each page's, or NONE).

    One without pages here is never likely; nothing is said where only one has any. Raises UsageError where
    scikit-learn is not installed.
    """
    fit = fitting("origins", C=_C, max_iter=_ITERATIONS)
    known = np.flatnonzero(collections != NONE)
    there = np.unique(collections[known])
    if len(there) < 2:
        return none()
    used = np.array([pages[row].source_elements for row in known.tolist()], dtype=np.float64)
    found = fit(used, collections[known])
    learnt = np.column_stack([found.coef_, found.intercept_]).astype(np.float32)
    weights = np.zeros((n, len(ELEMENTS) + 1), dtype=np.float32)
    weights[:, -1] = _NEVER
    weights[there] = np.concatenate([-learnt / 2, learnt / 2]) if len(there) == 2 else learnt
    return Origins(weights)
