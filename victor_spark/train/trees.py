"""Grows the boosted trees of a model with CatBoost (Prokhorenkova et al. 2018)."""

import json
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from victor_spark.blocks import Bool, Float32, Float64
from victor_spark.model.trees import ARRAYS, TreeOptions, Trees


def grow(
    values: Sequence[Float32],
    kept: Sequence[Bool],
    words: Sequence[Float64],
    options: TreeOptions,
    baselines: Sequence[Float32] = (),
) -> Trees:
    """Trees that separate blocks to keep from the others, grown on pages (one array a page each).

    In the first round a block is weighted by the square root of its words, and all pages alike. `baselines`
    are the log-odds of other trees, to which the new trees add.
    """
    import catboost

    of_blocks = np.concatenate([page_weights(of_page) for of_page in words])
    rows, weights = _sample(of_blocks, options.most_blocks)
    wanted = np.concatenate(kept)[rows]
    if wanted.all() or not wanted.any():  # only one class
        return none(options.depth)
    pages = np.repeat(np.arange(len(words)), [len(of_page) for of_page in words])[rows]
    masses = np.concatenate(words)[rows] * weights / of_blocks[rows]
    sampled = np.take(np.concatenate(values, axis=1), rows, axis=1)
    logits = np.concatenate(baselines)[rows] if baselines else np.zeros(len(rows), dtype=np.float32)
    pool = catboost.Pool(sampled.T, wanted.astype(np.int8))
    pool.quantize(border_count=_N_BORDERS)  # once for all rounds
    of_round, grown = weights, list[Trees]()
    ends = np.linspace(0, options.n_trees, options.n_rounds + 1).round().astype(int)
    for n_trees in (n for n in np.diff(ends).tolist() if n):
        if grown:
            logits = logits + grown[-1](sampled)
            of_f1 = _f1_weights(logits, wanted, masses, pages)
            of_round = (1.0 - options.f1_share) * weights + options.f1_share * of_f1
        pool.set_weight(of_round)
        pool.set_baseline(logits)
        grown.append(_fitted(pool, replace(options, n_trees=n_trees), seed=1 + len(grown)))
    return joined(none(options.depth), *grown)


def _fitted(pool: Any, options: TreeOptions, seed: int) -> Trees:
    """The trees that CatBoost grows in one call."""
    import catboost

    model = catboost.CatBoostClassifier(
        iterations=options.n_trees,
        depth=options.depth,
        learning_rate=options.learning_rate,
        l2_leaf_reg=options.l2,
        rsm=options.feature_fraction,
        border_count=_N_BORDERS,
        boosting_type="Plain",
        bootstrap_type="No",
        random_seed=seed,
        allow_writing_files=False,
        verbose=0,
    )
    model.fit(pool)
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch, "model.json")
        model.save_model(str(path), format="json")
        stored = json.loads(path.read_bytes())
    _scale, [bias] = stored["scale_and_bias"]
    trees = none(options.depth, len(stored["oblivious_trees"]))
    # In a shallower tree, the missing conditions are false for all blocks.
    for number, tree in enumerate(stored["oblivious_trees"]):
        for level, split in enumerate(tree["splits"] or ()):
            trees.features[number, level] = split["float_feature_index"]
            trees.thresholds[number, level] = split["border"]
        trees.leaves[number, : len(tree["leaf_values"])] = tree["leaf_values"]
    trees.leaves[:1] += bias
    return trees


def _f1_weights(logits: Float32, wanted: Bool, masses: Float64, pages: npt.NDArray[np.intp]) -> Float64:
    """The weights of blocks in a logistic loss whose gradient is that of their pages' F1.

    Of a page with blocks of mass m, labels y and probabilities p, F1 is taken as 2 sum(mpy) / sum(mp + my)
    (the Dice loss of Milletari et al. 2016): its derivative by a block's log-odds is what a logistic loss has
    where the block weighs m(2 - F1)p / sum(mp + my) as content, and mF1(1 - p) / sum(mp + my) as none. So
    blocks that contradict their label weigh least: the label may be wrong. `masses`: the words that the
    sampled blocks represent; those of a page are normalised to the sum 1.
    """
    masses = masses / np.maximum(np.bincount(pages, masses), _MIN_MASS)[pages]
    likely = 1.0 / (1.0 + np.exp(-logits.astype(np.float64)))
    right = np.bincount(pages, masses * likely * wanted)
    both = np.maximum(np.bincount(pages, masses * (likely + wanted)), _MIN_BOTH)
    f1 = (2.0 * right / both)[pages]
    gains = np.where(wanted, (2.0 - f1) * likely, f1 * (1.0 - likely))
    return np.asarray(masses * gains / both[pages] + _MIN_MASS)


_N_BORDERS: Final = 64
_MIN_MASS: Final = 1e-9
_MIN_BOTH: Final = 0.02


def page_weights(words: Float64) -> Float64:
    """The weight of each block of a page, by its words; the sum is 1."""
    weights = np.sqrt(words) + 0.1
    return np.asarray(weights / weights.sum())


def _sample(weights: Float64, most: int) -> tuple[npt.NDArray[np.intp], Float64]:
    """Rows to learn from and their weights: all heavy ones, and light ones at random with larger weights."""
    if len(weights) <= most:
        return np.arange(len(weights)), weights
    low, high = 0.0, most / weights.min()
    for _ in range(60):  # how much a unit of weight raises a row's chance, so that `most` rows are expected
        middle = (low + high) / 2
        low, high = (middle, high) if np.minimum(weights * middle, 1.0).sum() < most else (low, middle)
    chances = np.minimum(weights * low, 1.0)
    rows = np.flatnonzero(np.random.default_rng(1).random(len(weights)) < chances)
    return rows, weights[rows] / chances[rows]


def joined(*parts: Trees) -> Trees:
    """All trees together, of the same depth: their log-odds are added."""
    return Trees(*(np.concatenate([getattr(part, name) for part in parts]) for name in ARRAYS))


def scaled(trees: Trees, by: float) -> Trees:
    """The trees with log-odds multiplied by `by`."""
    return replace(trees, leaves=trees.leaves * np.float32(by))


def none(depth: int = 0, n_trees: int = 0) -> Trees:
    """`n_trees` trees whose log-odds are 0."""
    return Trees(
        features=np.zeros((n_trees, depth), dtype=np.int32),
        thresholds=np.full((n_trees, depth), np.inf, dtype=np.float32),
        leaves=np.zeros((n_trees, 2**depth), dtype=np.float32),
    )
