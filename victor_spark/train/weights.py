"""Trains the weights of names and of origins by logistic regression; see `victor_spark.model.weights`."""

import warnings
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from victor_spark.blocks import Blocks, Bool, Float64, Int32, UInt32
from victor_spark.kernels.num import MAX_ORIGINS, NAMED_AROUND, NAMED_ELEMENTS, NAMED_END, NO_HINT
from victor_spark.model.weights import Names, Origins, used_elements

MIN_SITES_OF_WORD: Final = 4
"""Words of fewer sites get no weight."""

MIN_WEIGHT: Final = 0.1
"""Words with a smaller weight are left out: most of them, with hardly any effect on the sums."""

NAME_ITERATIONS: Final = 60

MIN_SITES_OF_ORIGIN: Final = 10
"""A collection of fewer sites gets no weights: its elements would identify its sites."""

NO_ORIGIN: Final = -1
"""The number of a page whose collection has no weights."""

_WEIGHT_OF_ABSENT: Final = np.float32(-50.0)
_ORIGIN_C: Final = 0.3
_ORIGIN_ITERATIONS: Final = 300


def erased(blocks: Blocks) -> Blocks:
    """The same blocks as if no element had any class, id, role or itemprop, or was hidden by an attribute."""
    return replace(
        blocks,
        hints=np.full_like(blocks.hints, NO_HINT),
        class_path=blocks.path,
        named=np.zeros_like(blocks.named),
        named_elements=np.zeros((len(NAMED_ELEMENTS), 1), dtype=np.int32),
        name_words=np.zeros(0, dtype=np.uint32),
    )


def learn_names(
    pages: Sequence[Blocks], kept: Sequence[Bool], weights: Sequence[Float64], sites: Sequence[str]
) -> Names:
    """Weights that separate blocks to keep from the others (one array a page each; `weights` of blocks)."""
    of_sites: dict[str, list[UInt32]] = defaultdict(list)
    for page, site in zip(pages, sites, strict=True):
        of_sites[site].append(page.name_words)
    once = [np.unique(np.concatenate(of_site)) for of_site in of_sites.values()]
    hashes, counts = np.unique(np.concatenate(once), return_counts=True)
    words = hashes[(counts >= MIN_SITES_OF_WORD) & (hashes != 0)]
    wanted, of_rows, rows = _rows(pages, kept, weights, words)
    if not len(words) or wanted.min(initial=1) == wanted.max(initial=0):  # only one class
        return Names(np.zeros(0, dtype=np.uint32), np.zeros(0, dtype=np.float32))
    learnt = _fitted(rows, wanted, of_rows, max_iter=NAME_ITERATIONS).coef_[0].astype(np.float32)
    strong = np.abs(learnt) >= MIN_WEIGHT
    return Names(words[strong], learnt[strong])


def _rows(
    pages: Sequence[Blocks], kept: Sequence[Bool], weights: Sequence[Float64], words: UInt32
) -> tuple[npt.NDArray[np.int8], Float64, Any]:
    """The training rows: two for each named element, its blocks to keep and its other blocks.

    Whether to keep them, their weight together, and a sparse matrix: how often each word stands around them.
    """
    from scipy import sparse

    n_elements = [page.named_elements.shape[1] for page in pages]
    begins = np.cumsum([0, *n_elements[:-1]])
    elements = np.concatenate([page.named_elements for page in pages], axis=1)
    around = elements[NAMED_AROUND] + np.repeat(begins, n_elements)
    word_begins = np.cumsum([0, *(len(page.name_words) for page in pages[:-1])])
    ends = elements[NAMED_END] + np.repeat(word_begins, n_elements)
    hashes = np.concatenate([page.name_words for page in pages])
    places = np.searchsorted(words, hashes).clip(max=max(len(words) - 1, 0))
    known = words[places] == hashes if len(words) else np.zeros(len(hashes), dtype=bool)
    own_ends = np.concatenate([[0], np.cumsum(known)])[np.concatenate([[0], ends])]
    own = sparse.csr_matrix(
        (np.ones(int(known.sum()), dtype=np.float32), places[known], own_ends),
        shape=(len(around), len(words)),
    )
    inside = np.concatenate([page.named for page in pages]) + np.repeat(begins, list(map(len, pages)))
    groups = inside * 2 + np.concatenate(kept)
    of_groups = np.bincount(groups, weights=np.concatenate(weights), minlength=2 * len(around))
    used = np.flatnonzero(of_groups)
    weight = np.asarray(of_groups[used], dtype=np.float64)
    # The words of an element are its own and those of all named elements around it.
    outer = around != np.arange(len(around))
    step = sparse.csr_matrix(
        (outer.astype(np.float32)[outer], around[outer], np.concatenate([[0], np.cumsum(outer)])),
        shape=(len(around), len(around)),
    )
    sums = own
    while step.nnz:  # sums of 1, 2, 4, … elements
        sums, step = sums + step @ sums, step @ step
    return (used % 2).astype(np.int8), weight, sums[used // 2]


def origin_numbers(collections: Sequence[str], sites: Sequence[str]) -> Int32:
    """The number of each page's collection (n_pages), by how many pages it has, or NO_ORIGIN; "" is none."""
    n_sites = Counter(collection for collection, _ in set(zip(collections, sites, strict=True)))
    by_size = Counter(name for name in collections if name and n_sites[name] >= MIN_SITES_OF_ORIGIN)
    order = sorted(by_size, key=lambda name: (-by_size[name], name))[:MAX_ORIGINS]
    of_names = {name: number for number, name in enumerate(order)}
    return np.array([of_names.get(name, NO_ORIGIN) for name in collections], dtype=np.int32)


def learn_origins(pages: Sequence[Blocks], collections: Int32, n: int, elements: tuple[str, ...]) -> Origins:
    """Weights that separate `n` collections (`collections`: the number of each page's, or NO_ORIGIN).

    A collection without pages here is never likely; where only one has pages, there are no weights.
    `elements` is the model's vocabulary.
    """
    known = np.flatnonzero(collections != NO_ORIGIN)
    there = np.unique(collections[known])
    if len(there) < 2:
        return Origins(np.zeros((0, len(elements) + 1), dtype=np.float32), elements)
    used = np.array([used_elements(pages[row], elements) for row in known.tolist()], dtype=np.float64)
    found = _fitted(used, collections[known], C=_ORIGIN_C, max_iter=_ORIGIN_ITERATIONS)
    learnt = np.column_stack([found.coef_, found.intercept_]).astype(np.float32)
    weights = np.zeros((n, len(elements) + 1), dtype=np.float32)
    weights[:, -1] = _WEIGHT_OF_ABSENT
    weights[there] = np.concatenate([-learnt / 2, learnt / 2]) if len(there) == 2 else learnt
    return Origins(weights, elements)


def _fitted(rows: Any, wanted: Any, row_weights: Float64 | None = None, **options: Any) -> Any:
    from sklearn.linear_model import LogisticRegression

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # training stops before convergence, on purpose
        return LogisticRegression(**options).fit(rows, wanted, sample_weight=row_weights)
