"""What the words in class, id, role and itemprop of a block's ancestors say: a weight for each, learnt.

conf/words.toml sorts the words that people know into groups; sites use thousands more. A logistic regression
over the words of all ancestors weighs them, and the sums along the way to the root are features. Words are
known by their hashes, as the scan leaves them; that an element is hidden counts as a word of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from victor_spark.crf.regression import fitting
from victor_spark.errors import ModelError
from victor_spark.kernels import names as kernel
from victor_spark.page import Blocks, Bool, Float32, Float64, UInt32
from victor_spark.parser.hashing import open_table

NAMES: Final = ("names.sum", "names.most", "names.least", "names.near", "names.own")
"""The rows of `Names.features`: see kernels.names."""

LEAST_SITES: Final = 4
"""Words of fewer sites are not weighed."""

LEAST_WEIGHT: Final = 0.1
"""Words that weigh less are forgotten: most of them, and hardly anything of what they say."""

ITERATIONS: Final = 60

_FAR: Final = 255


@dataclass(frozen=True)
class Names:
    """Hashes of words, ascending, and what each adds to the log-odds of content."""

    words: UInt32
    weights: Float32

    def features(self, blocks: Blocks, rows: Float32) -> None:
        """Fills `rows` (len(NAMES), n_blocks) of a page with at least one block."""
        slots, slot_weights = self._slots
        kernel.weigh(
            memoryview(blocks.named_elements),
            memoryview(blocks.name_words),
            memoryview(slots),
            memoryview(slot_weights),
            memoryview(blocks.named),
            memoryview(np.empty((len(NAMES), blocks.named_elements.shape[1]), dtype=np.float32)),
            memoryview(rows),
        )

    @cached_property
    def _slots(self) -> tuple[UInt32, Float32]:
        slots, places = open_table(self.words.tolist(), 1 << (2 * len(self.words)).bit_length())
        return slots, np.append(self.weights, np.float32(0.0))[places]


def none() -> Names:
    """No word weighs anything."""
    return Names(np.zeros(0, dtype=np.uint32), np.zeros(0, dtype=np.float32))


def check(names: Names) -> None:
    """Raises ModelError for arrays that are no weights of words: the kernel trusts them."""
    words, weights = names.words, names.weights
    if (
        words.dtype != np.uint32
        or weights.dtype != np.float32
        or words.ndim != 1
        or words.shape != weights.shape
        or (len(words) and (words[0] == 0 or (words[1:] <= words[:-1]).any()))
        or not np.isfinite(weights).all()
    ):
        raise ModelError("the weights of names are damaged")


def erased(blocks: Blocks) -> Blocks:
    """The same blocks as if no element had any class, id, role or itemprop, or said that it is hidden."""
    return replace(
        blocks,
        hints=np.full_like(blocks.hints, _FAR),
        class_path=blocks.path,
        named=np.zeros_like(blocks.named),
        named_elements=np.zeros((2, 1), dtype=np.int32),
        name_words=np.zeros(0, dtype=np.uint32),
    )


def learn(
    pages: Sequence[Blocks], kept: Sequence[Bool], weights: Sequence[Float64], sites: Sequence[str]
) -> Names:
    """Weights that tell blocks to keep from the others (one array a page each; `weights` of blocks).

    Raises UsageError where scikit-learn is not installed.
    """
    fit = fitting("names", max_iter=ITERATIONS)
    words = _common(pages, sites)
    wanted, of_rows, rows = _rows(pages, kept, weights, words)
    if not len(words) or wanted.min(initial=1) == wanted.max(initial=0):  # nothing to tell apart
        return none()
    learnt = fit(rows, wanted, sample_weight=of_rows).coef_[0].astype(np.float32)
    strong = np.abs(learnt) >= LEAST_WEIGHT
    return Names(words[strong], learnt[strong])


def _common(pages: Sequence[Blocks], sites: Sequence[str]) -> UInt32:
    """The hashes that stand on pages of enough sites, ascending."""
    numbers = {site: number for number, site in enumerate(sorted(set(sites)))}
    of_sites: list[list[UInt32]] = [[] for _ in numbers]
    for page, site in zip(pages, sites, strict=True):
        of_sites[numbers[site]].append(page.name_words)
    once = [np.unique(np.concatenate(of_site)) for of_site in of_sites]
    words, counts = np.unique(np.concatenate(once), return_counts=True)
    return np.asarray(words[(counts >= LEAST_SITES) & (words != 0)])


def _rows(
    pages: Sequence[Blocks], kept: Sequence[Bool], weights: Sequence[Float64], words: UInt32
) -> tuple[npt.NDArray[np.int8], Float64, Any]:
    """What to learn from: for the blocks inside each named element, those to keep and the others apart.

    Whether to keep them, their weight together, and a sparse matrix: how often each word stands around them.
    """
    from scipy import sparse

    n_elements = np.array([page.named_elements.shape[1] for page in pages])
    begins = np.concatenate([[0], np.cumsum(n_elements)])
    around = np.concatenate(
        [page.named_elements[0] + begin for page, begin in zip(pages, begins, strict=False)]
    )
    ends = np.concatenate(
        [page.named_elements[1] + begin for page, begin in zip(pages, _begins(pages), strict=True)]
    )
    hashes = np.concatenate([page.name_words for page in pages])
    places = np.searchsorted(words, hashes).clip(max=max(len(words) - 1, 0))
    known = words[places] == hashes if len(words) else np.zeros(len(hashes), dtype=bool)
    own_ends = np.concatenate([[0], np.cumsum(known)])[np.concatenate([[0], ends])]
    own = sparse.csr_matrix(
        (np.ones(int(known.sum()), dtype=np.float32), places[known], own_ends),
        shape=(len(around), len(words)),
    )
    inside = np.concatenate([page.named + begin for page, begin in zip(pages, begins, strict=False)])
    groups = inside * 2 + np.concatenate(kept)
    of_groups = np.bincount(groups, weights=np.concatenate(weights), minlength=2 * len(around))
    used = np.flatnonzero(of_groups)
    weight = np.asarray(of_groups[used], dtype=np.float64)
    return (used % 2).astype(np.int8), weight, _with_ancestors(own, around)[used // 2]


def _begins(pages: Sequence[Blocks]) -> npt.NDArray[np.intp]:
    return np.cumsum([0, *(len(page.name_words) for page in pages[:-1])])


def _with_ancestors(own: Any, around: npt.NDArray[np.intp]) -> Any:
    """The words of elements, and of all named elements around them."""
    from scipy import sparse

    n = len(around)
    outer = around != np.arange(n)
    step = sparse.csr_matrix(
        (outer.astype(np.float32)[outer], around[outer], np.concatenate([[0], np.cumsum(outer)])),
        shape=(n, n),
    )
    sums, of_level = own, own
    while of_level.nnz:
        of_level = step @ of_level
        sums = sums + of_level
    return sums
