"""Boosted trees that find the CRF's discrete values in the data: the leaf a block falls into.

The paper maps numbers into finite sets by hand (section 3.1, step 5); a leaf is such a value, of many
features at once. LightGBM grows the trees (training only); here they are plain arrays.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np

from victor_spark.errors import ModelError, UsageError
from victor_spark.kernels import trees as kernel
from victor_spark.page import Bool, Float64, Int32


@dataclass(frozen=True, slots=True)
class TreeOptions:
    """How trees are grown; no trees without `n_trees`."""

    n_trees: int = 0
    n_leaves: int = 16
    learning_rate: float = 0.15
    least_blocks: int = 500
    feature_fraction: float = 0.3
    l2: float = 5.0


@dataclass(frozen=True, slots=True, eq=False)
class Trees:
    """The nodes of all trees as columns; see kernels.trees.leaves. `n_leaves` counts all leaves."""

    roots: Int32
    features: Int32
    thresholds: Float64
    children: Int32

    @property
    def n_leaves(self) -> int:
        """How many leaves all trees have together."""
        return int((self.children < 0).sum()) + int((self.roots < 0).sum())


ARRAYS: Final = tuple(field.name for field in fields(Trees))


def leaves(trees: Trees, values: Float64) -> Int32:
    """The leaf of every tree for every block: shape (n_trees, n_blocks); `values` (n_features, n_blocks)."""
    found = np.empty((len(trees.roots), values.shape[1]), dtype=np.int32)
    if found.size:
        kernel.leaves(
            memoryview(values),
            memoryview(trees.roots),
            memoryview(trees.features),
            memoryview(trees.thresholds),
            memoryview(trees.children),
            memoryview(found),
        )
    return found


def check(trees: Trees, n_features: int) -> None:
    """Raises ModelError for arrays that are no trees: the kernel trusts them."""
    n_nodes = len(trees.features)
    kinds = (trees.roots, trees.features, trees.children)
    inner = trees.children >= 0
    if (
        any(array.dtype != np.int32 for array in kinds)
        or trees.thresholds.dtype != np.float64
        or trees.thresholds.shape != (n_nodes,)
        or trees.children.shape != (2, n_nodes)
        or not np.isfinite(trees.thresholds).all()
        or not ((trees.features >= 0) & (trees.features < n_features)).all()
        or not (trees.roots < n_nodes).all()
        or not (trees.children < n_nodes).all()
        or not (trees.children[inner] > np.broadcast_to(np.arange(n_nodes), (2, n_nodes))[inner]).all()
        or not (-1 - trees.children[~inner] < trees.n_leaves).all()
    ):
        raise ModelError("the trees are damaged")


def grow(
    values: Sequence[Float64], kept: Sequence[Bool], words: Sequence[Float64], options: TreeOptions
) -> Trees:
    """Trees that tell blocks to keep from the others, grown on pages (one array a page each).

    A block weighs the square root of its words, a page as much as any other. Raises UsageError
    where LightGBM is not installed.
    """
    try:
        import lightgbm
    except ImportError as error:
        raise UsageError("training trees needs LightGBM: pip install 'victor-spark[train]'") from error
    weights = [np.sqrt(of_page) + 0.1 for of_page in words]
    data = lightgbm.Dataset(
        np.concatenate(values, axis=1).T,
        np.concatenate(kept).astype(np.float64),
        weight=np.concatenate([1000 * of_page / of_page.sum() for of_page in weights]),
        params={"verbose": -1, "max_bin": 127},
    )
    parameters = {
        "objective": "binary",
        "num_leaves": options.n_leaves,
        "learning_rate": options.learning_rate,
        "min_data_in_leaf": options.least_blocks,
        "feature_fraction": options.feature_fraction,
        "lambda_l2": options.l2,
        "max_bin": 127,
        "seed": 1,
        "deterministic": True,
        "force_row_wise": True,
        "verbose": -1,
    }
    booster = lightgbm.train(parameters, data, options.n_trees)
    return _flattened([tree["tree_structure"] for tree in booster.dump_model()["tree_info"]])


def _flattened(structures: Sequence[Mapping[str, Any]]) -> Trees:
    """LightGBM's nested nodes as columns, parents before children, leaves numbered across trees."""
    nodes: list[tuple[int, float]] = []
    children: list[list[int]] = []
    n_leaves = 0

    def add(node: Mapping[str, Any]) -> int:
        nonlocal n_leaves
        if "split_feature" not in node:
            n_leaves += 1
            return -n_leaves
        number = len(nodes)
        nodes.append((node["split_feature"], node["threshold"]))
        children.append([0, 0])
        children[number] = [add(node["left_child"]), add(node["right_child"])]
        return number

    roots = [add(structure) for structure in structures]
    return Trees(
        roots=np.array(roots, dtype=np.int32),
        features=np.array([feature for feature, _ in nodes], dtype=np.int32),
        thresholds=np.array([threshold for _, threshold in nodes], dtype=np.float64),
        children=np.ascontiguousarray(np.array(children, dtype=np.int32).reshape(-1, 2).T),
    )


def none() -> Trees:
    """No trees at all, as in a model of the paper's features."""
    return _flattened(())
