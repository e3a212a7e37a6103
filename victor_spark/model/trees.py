"""Boosted oblivious trees that give a block its log-odds of content, from many features at once.

The paper maps numbers into finite sets by hand (section 3.1, step 5); the bins of the trees' score are such a
set, found from data. CatBoost (Prokhorenkova et al. 2018) grows the trees; here they are plain arrays.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Self

import numpy as np

from victor_spark.blocks import Float32, Int32
from victor_spark.errors import ModelError
from victor_spark.kernels import num, views
from victor_spark.kernels import trees as kernel


@dataclass(frozen=True, slots=True)
class TreeOptions:
    """How trees are grown: `n_trees` of them, on a weighted sample of at most `most_blocks` blocks.

    They are grown in `n_rounds`; after the first round, a part `f1_share` of a block's weight is its
    influence on the F1 of its page: see train.trees.
    """

    n_trees: int = 0
    depth: int = 6
    learning_rate: float = 0.1
    feature_fraction: float = 0.2
    l2: float = 5.0
    most_blocks: int = 300_000
    n_rounds: int = 1
    f1_share: float = 0.5


@dataclass(frozen=True, slots=True)
class TreesOptions:
    """How the trees before the CRF and those after it are grown.

    Those after it are `last` and, where it has trees, `serving_f1`: their log-odds are averaged. The first
    trees are also grown for each of `n_folds` folds, whose guesses train the CRF and the last trees.
    """

    first: TreeOptions = TreeOptions()
    last: TreeOptions = TreeOptions()
    serving_f1: TreeOptions = TreeOptions()
    n_folds: int = 4

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """The options that `asdict` gave, or those of a file; TypeError for unknown keys.

        In a file `serving_f1` has only the options that differ from `last`.
        """
        bases = {"serving_f1": stored.get("last", {})}
        kinds = {
            name: TreeOptions(**{**bases.get(name, {}), **stored[name]}) for name in KINDS if name in stored
        }
        return cls(**{**stored, **kinds})


KINDS: Final = tuple(field.name for field in fields(TreesOptions) if field.type is TreeOptions)


@dataclass(frozen=True, slots=True, eq=False)
class Trees:
    """All trees as columns: the splits (n_trees, depth), see kernels.trees, and the leaves' values.

    `leaves` has shape (n_trees, 2 ** depth): the log-odds that a leaf adds.
    """

    features: Int32
    thresholds: Float32
    leaves: Float32

    def __call__(self, values: Float32) -> Float32:
        """The log-odds of content of each block; `values` are (n_features, n_blocks)."""
        n = values.shape[1]
        sums = np.zeros(n, dtype=np.float32)
        if n and len(self.features):
            trees = (self.features, self.thresholds, self.leaves)
            scratch = (np.empty(len(values), dtype=np.uint8), np.empty((num.TREES_AT_ONCE, n), np.int32))
            kernel.add_values(*views(values, *trees, *scratch, sums))
        return sums


ARRAYS: Final = tuple(field.name for field in fields(Trees))


def check(trees: Trees, n_features: int) -> None:
    """Raises ModelError unless these are valid trees over `n_features`; the kernel does not check them."""
    shape = trees.features.shape
    if (
        trees.features.dtype != np.int32
        or trees.thresholds.dtype != np.float32
        or trees.leaves.dtype != np.float32
        or len(shape) != 2
        or shape[1] > num.MAX_TREE_DEPTH
        or trees.thresholds.shape != shape
        or trees.leaves.shape != (shape[0], 2 ** shape[1])
        or np.isnan(trees.thresholds).any()
        or not np.isfinite(trees.leaves).all()
        or not ((trees.features >= 0) & (trees.features < n_features)).all()
    ):
        raise ModelError("the trees are damaged")
