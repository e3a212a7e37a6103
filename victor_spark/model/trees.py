"""Boosted oblivious trees that give a block its log-odds of content, from many features at once.

The paper maps numbers into finite sets by hand (section 3.1, step 5); the bins of such a score are a set
that the data finds. CatBoost (Prokhorenkova et al. 2018) grows the trees; here they are plain arrays.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Self

import numpy as np

from victor_spark.blocks import Float32, Int32
from victor_spark.errors import ModelError
from victor_spark.kernels import trees as kernel


@dataclass(frozen=True, slots=True)
class TreeOptions:
    """How trees are grown; none without `n_trees`. `most_blocks`: learn from a weighted sample of so many.

    They are grown in `n_rounds`; after the first, a part `f1_share` of what blocks weigh is what they matter
    to the F1 of their page: see `_f1_weights`.
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

    Those after it are `last` and `serving_f1`, where that has any: what they say is averaged. What the CRF
    and the last trees learn from are guesses about unseen sites: the first trees are grown for each of
    `n_folds`, too.
    """

    first: TreeOptions = TreeOptions()
    last: TreeOptions = TreeOptions()
    serving_f1: TreeOptions = TreeOptions()
    n_folds: int = 4

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """The options that `asdict` gave, or those of a file, where `serving_f1` says in what it differs from
        `last`; TypeError for keys that mean nothing.
        """
        bases = {"serving_f1": stored.get("last", {})}
        kinds = {
            name: TreeOptions(**{**bases.get(name, {}), **stored[name]}) for name in KINDS if name in stored
        }
        return cls(**{**stored, **kinds})


KINDS: Final = tuple(field.name for field in fields(TreesOptions) if field.type is TreeOptions)


@dataclass(frozen=True, slots=True, eq=False)
class Trees:
    """All trees as columns: the questions (n_trees, depth), see kernels.trees, and the leaves' values.

    `leaves` has shape (n_trees, 2 ** depth): what a leaf adds to the log-odds.
    """

    features: Int32
    thresholds: Float32
    leaves: Float32

    def __call__(self, values: Float32) -> Float32:
        """The log-odds of content of each block; `values` are (n_features, n_blocks)."""
        n = values.shape[1]
        sums = np.zeros(n, dtype=np.float32)
        if n and len(self.features):
            kernel.add_values(
                memoryview(values),
                memoryview(self.features),
                memoryview(self.thresholds),
                memoryview(self.leaves),
                memoryview(np.empty((1, n), dtype=np.int32)),
                memoryview(sums),
            )
        return sums


ARRAYS: Final = tuple(field.name for field in fields(Trees))


def check(trees: Trees, n_features: int) -> None:
    """Raises ModelError for arrays that are no trees over so many features: the kernel trusts them."""
    shape = trees.features.shape
    if (
        trees.features.dtype != np.int32
        or trees.thresholds.dtype != np.float32
        or trees.leaves.dtype != np.float32
        or len(shape) != 2
        or shape[1] > _MAX_DEPTH
        or trees.thresholds.shape != shape
        or trees.leaves.shape != (shape[0], 2 ** shape[1])
        or np.isnan(trees.thresholds).any()
        or not np.isfinite(trees.leaves).all()
        or not ((trees.features >= 0) & (trees.features < n_features)).all()
    ):
        raise ModelError("the trees are damaged")


_MAX_DEPTH: Final = 16
