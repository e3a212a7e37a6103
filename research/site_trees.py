"""Boosted trees in place of the few numbers of models/sites, with more kinds of evidence.

They are not shipped: `research.sites measure` compares them with the shipped decision. For each block they
get its own probability, the shipped evidence and the decision by it, and in addition: the spread of the
consensus, the evidence of its tags and nearest name, repeated runs of words, its place in the page and among
the blocks of its layout, the decisions on its neighbours, and of the page: how much of it has layouts of the
site, on how many pages these are, and how much of it is kept.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from victor_spark.blocks import HEADER, OTHER, TEXT, Float32, Float64
from victor_spark.extractors import victor
from victor_spark.kernels.sites import LEAST
from victor_spark.sites.evidence import CONSENSUS, N_PAGES, SHARE, SiteModel, revised

if TYPE_CHECKING:
    from research.sites import Cleaned

Evidence = dict[int, Float32]
"""Number of a page → its evidence."""

_OPTIONS: Final[dict[str, Any]] = {
    "iterations": 300,
    "depth": 5,
    "learning_rate": 0.06,
    "l2_leaf_reg": 10,
    "bootstrap_type": "Bernoulli",
    "subsample": 0.5,
    "rsm": 0.5,
    "border_count": 64,
    "random_seed": 1,
    "verbose": 0,
}
_MAX_BLOCKS: Final = 400_000
_NEIGHBOURS: Final = (1, 2, -1, -2)
_WINDOWS: Final = (5, 15)
_SHIPPED: Final = 0
"""The row of `_features` with the log-odds of the shipped decision, to which trees add."""


def f1(
    pages: Sequence["Cleaned"],
    groups: Sequence[Sequence[int]],
    folds: np.ndarray,
    evidence: Sequence[Evidence],
    model: SiteModel,
) -> Float64:
    """Word F1 of each page, by trees grown on the pages of other folds (of sites).

    `evidence`: the shipped one, that with backing off, and that with runs of words.
    """
    import catboost

    spread = {i: own for group in groups for i, own in _spread(pages, group).items()}
    rows = [_features(page, [of[i] for of in evidence], spread[i], model).T for i, page in enumerate(pages)]
    wanted = [page.labels != OTHER for page in pages]
    weights = [np.sqrt(page.n_words + 0.1) / np.sqrt(page.n_words + 0.1).sum() for page in pages]
    found = np.zeros(len(pages))
    for fold in np.unique(folds):
        others = np.flatnonzero(folds != fold)
        x, y, weight = (np.concatenate([each[i] for i in others]) for each in (rows, wanted, weights))
        chosen = np.random.default_rng(0).permutation(len(y))[:_MAX_BLOCKS]
        pool = catboost.Pool(
            x[chosen], y[chosen].astype(np.int8), weight=weight[chosen], baseline=x[chosen, _SHIPPED]
        )
        trees = catboost.CatBoostClassifier(**_OPTIONS).fit(pool)
        for i in np.flatnonzero(folds == fold).tolist():
            own = catboost.Pool(rows[i], baseline=rows[i][:, _SHIPPED])
            odds = trees.predict(own, prediction_type="RawFormulaVal")
            revised_p = with_content(pages[i].probabilities, 1.0 / (1.0 + np.exp(-odds)))
            scores = victor.scores(revised_p, pages[i].blocks)
            found[i] = pages[i].decided(scores)[0]
    return found


def _features(page: "Cleaned", evidence: Sequence[Float32], spread: Float64, model: SiteModel) -> Float32:
    """A row a feature, a column a block."""
    own, n = log_odds(page.probabilities), len(page.blocks)
    shipped = evidence[0]
    odds = log_odds(revised(model, page.probabilities, page.n_words, shipped))
    weights, is_known = np.sqrt(page.n_words + 1.0), shipped[N_PAGES] > 0
    _, layout, mean = _by_layout(page)
    of_page = [
        np.average(is_known, weights=weights),
        np.average(shipped[SHARE], weights=weights),
        np.average(np.abs(own - shipped[CONSENSUS]) * is_known, weights=weights),
        np.log1p(n),
        np.log1p((page.n_words / (1.0 + np.exp(-odds))).sum()),
        np.average(1.0 / (1.0 + np.exp(-odds)), weights=page.n_words + 1e-9),
    ]
    rows = [
        odds,
        own,
        page.probabilities[:, HEADER],
        *(row for each in evidence for row in each),
        spread,
        own - shipped[CONSENSUS],
        np.log1p(page.n_words),
        np.arange(n) / max(n, 1),
        np.cumsum(page.n_words) / max(page.n_words.sum(), 1.0),
        mean[layout],
        *(np.log1p(np.bincount(layout, each)[layout]) for each in (np.ones(n), page.n_words)),
        *(np.full(n, each) for each in of_page),
        *(_shifted(each, by) for by in _NEIGHBOURS for each in (odds, own)),
        *(_window(odds, weights, size) for size in _WINDOWS),
    ]
    return np.array(rows, np.float32)


def _spread(pages: Sequence["Cleaned"], group: Sequence[int]) -> dict[int, Float64]:
    """For each page and block the standard deviation of the other pages' log-odds of its layout; -1: none."""
    sums: dict[int, Float64] = defaultdict(lambda: np.zeros(3))
    means = {}
    for i in group:
        means[i] = _by_layout(pages[i])
        keys, _, mean = means[i]
        for key, value in zip(keys, mean.tolist(), strict=True):
            sums[key] += (1.0, value, value * value)
    found = {}
    for i, (keys_of_page, layout, mean) in means.items():
        of_site = np.array([sums[key] for key in keys_of_page]).reshape(-1, 3).T
        n, total, squares = of_site - [np.ones_like(mean), mean, mean**2]
        n_others = np.maximum(n, 1.0)
        deviation = np.sqrt(np.maximum(squares / n_others - (total / n_others) ** 2, 0.0))
        found[i] = np.where(n > 0, deviation, -1.0)[layout]
    return found


def _by_layout(page: "Cleaned") -> tuple[list[int], np.ndarray, Float64]:
    """The layouts of a page; the number of the layout of each block; the mean log-odds of each layout."""
    weights = np.sqrt(page.n_words + 1.0)
    keys, layout = np.unique(page.blocks.class_path, return_inverse=True)
    total = np.bincount(layout, weights * log_odds(page.probabilities))
    return keys.tolist(), layout, total / np.bincount(layout, weights)


def _shifted(values: Float64, by: int) -> Float64:
    """The value of the block that is `by` blocks before each; 0 beyond the page."""
    found = np.zeros_like(values)
    if by > 0:
        found[by:] = values[:-by]
    else:
        found[:by] = values[-by:]
    return found


def _window(values: Float64, weights: Float64, size: int) -> Float64:
    """The weighted mean of the values over `size` blocks to each side."""
    around = np.ones(2 * size + 1)
    total, n = (np.convolve(each, around)[size : size + len(each)] for each in (values * weights, weights))
    return np.asarray(total / n)


def log_odds(probabilities: Float64) -> Float64:
    """The log-odds of content of each block, finite: as the kernel `sites` has them."""
    other = np.clip(probabilities[:, OTHER], LEAST, 1.0 - LEAST)
    return np.asarray(np.log((1.0 - other) / other))


def with_content(probabilities: Float64, content: Float64) -> Float64:
    """Probabilities with this P(content) of each block; the ratio of header to text stays."""
    before = probabilities[:, HEADER] + probabilities[:, TEXT]
    ratio = np.divide(probabilities[:, HEADER], before, out=np.zeros_like(before), where=before > 0)
    return np.stack([content * ratio, content * (1.0 - ratio), 1.0 - content], axis=1)
