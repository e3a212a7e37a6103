"""Which blocks to keep, given their marginals: the paper's threshold, or the expected F1 of the page."""

import math
from typing import Final

import numpy as np

from victor_spark.kernels import decision as kernel
from victor_spark.kernels import views
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
    kept = np.zeros(len(words), dtype=bool)
    kernel.keep_best(
        memoryview(marginals),
        memoryview(words),
        memoryview(np.argsort(marginals[:, OTHER] - 1.0, kind="stable")),
        beta**2,
        least,
        memoryview(kept.view(np.uint8)),
    )
    return kept


PRECISION: Final = "precision"
RECALL: Final = "recall"
PREFERENCES: Final = {PRECISION: 0.5, RECALL: math.sqrt(2)}
"""What users may prefer, and its beta: best for F0.5 and F2 out of fold. docs/quality.md has the curve."""


def expected_f1(marginals: Float64, words: Float64, kept: Bool) -> float:
    """The F1 by words that `kept` can expect under the marginals; 0 where nothing is kept."""
    of_kept = memoryview(kept.view(np.uint8))
    return float(kernel.expected_f1(memoryview(marginals), memoryview(words), of_kept))


def mean_content(marginals: Float64, blocks: Blocks, kept: Bool) -> float:
    """How likely the kept blocks are content, in the mean by characters; some are kept."""
    columns = (marginals, blocks.text_start, blocks.text_end, kept.view(np.uint8))
    return float(kernel.mean_content(*views(*columns)))
