"""Which blocks to keep, given their marginals: the paper's threshold, or the expected F1 of the page."""

import math
from typing import Final

import numpy as np

from victor_spark.page import OTHER, Blocks, Bool, Float64


def n_words(blocks: Blocks) -> Float64:
    """Words per block (tokens with a letter or digit; Victor, section 3.2): what decisions weigh."""
    return (blocks.n_alpha_tokens + blocks.n_num_tokens + blocks.n_mix_tokens).astype(np.float64)


def by_threshold(marginals: Float64, threshold: float) -> Bool:
    """Keep a block when P(other) < threshold (Victor, section 5.2 and Figure 2)."""
    return np.asarray(marginals[:, OTHER] < threshold)


LEAST_EXPECTED_F1: Final = 0.2
"""Below this a page counts as having nothing to keep: such pages mostly have empty gold."""


def by_expected_f1(
    marginals: Float64, words: Float64, beta: float = 1.0, least: float = LEAST_EXPECTED_F1
) -> Bool:
    """Keep the likeliest blocks, as many as make the page's expected F by words highest.

    With p = P(content) and w words, a prefix of the blocks sorted by p is kept that maximises
    (1 + beta²)·Σ_kept(w·p) / (Σ_kept w + beta²·Σ_all(w·p)); blocks without words share the last kept p as
    their bar. `beta` 1 is F1; below 1 precision counts for more, above 1 recall (van Rijsbergen 1979).
    Nothing is kept where the expected F1 of what F1 would keep stays below `least`.
    """
    p = 1.0 - marginals[:, OTHER]
    order = np.argsort(-p, kind="stable")
    kept_words = np.cumsum(words[order])
    expected = np.cumsum((words * p)[order])
    if not len(p) or kept_words[-1] == 0 or expected[-1] == 0:
        return np.zeros(len(p), dtype=bool)
    f1 = 2 * expected / (kept_words + expected[-1])
    f = f1 if beta == 1.0 else expected / (kept_words + beta**2 * expected[-1])
    return np.asarray((p >= p[order[int(f.argmax())]]) & (f1.max() >= least))


PRECISION: Final = "precision"
RECALL: Final = "recall"
PREFERENCES: Final = {PRECISION: 0.5, RECALL: math.sqrt(2)}
"""What users may prefer, and its beta: best for F0.5 and F2 out of fold. docs/quality.md has the curve."""


def expected_f1(marginals: Float64, words: Float64, kept: Bool) -> float:
    """The F1 by words that `kept` can expect under the marginals; 0 where nothing is kept."""
    gained = words * (1.0 - marginals[:, OTHER])
    total = float(words[kept].sum() + gained.sum())
    return float(2 * gained[kept].sum() / total) if total else 0.0
