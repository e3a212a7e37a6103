"""Which blocks to keep, given their marginals: the paper's threshold, or the expected F1 of the page."""

from typing import Final

import numpy as np

from victor_spark.blocks import OTHER, Blocks, Bool, Float64
from victor_spark.kernels import decision as kernel
from victor_spark.kernels import views
from victor_spark.kernels.num import LEVELS


def n_words(blocks: Blocks) -> Float64:
    """Words per block, as the weights of decisions."""
    return blocks.n_words.astype(np.float64)


def by_threshold(marginals: Float64, threshold: float) -> Bool:
    """Keep a block when P(other) < threshold (Victor, section 5.2 and Figure 2)."""
    return np.asarray(marginals[:, OTHER] < threshold)


MIN_EXPECTED_F1: Final = 0.2
"""Nothing is kept of a page with a lower expected F1: most such pages have empty gold."""

SURE: Final = 0.7
"""On a page with a lower expected F1, it is likelier that all uncertain blocks are content, or none."""


def by_expected_f1(
    marginals: Float64, words: Float64, beta: float = 1.0, least: float = MIN_EXPECTED_F1, sure: float = SURE
) -> Bool:
    """Keep the likeliest blocks, as many as make the page's expected F by words highest.

    Uncertain blocks are assumed to be content together or not at all: of comments with P(content) = 0.4, a
    page's gold text has all or none. So the content is modelled as the blocks with P(content) > u, u uniform
    between 0 and 1: each block has its marginal, and the expected F is a mean over u. `beta` 1 is F1; below 1
    precision counts for more, above 1 recall (van Rijsbergen 1979). Probabilities are rounded to
    kernels.num.LEVELS levels. Where the highest expected F1 is below `sure`, u has the distribution `WIDE`
    instead. If it is below `least`, nothing is kept.
    """
    kept = np.zeros(len(words), dtype=bool)
    filled = views(np.zeros(LEVELS), kept.view(np.uint8))
    kernel.keep_best(*views(marginals, words), beta**2, least, sure, *views(WIDE), *filled)
    return kept


_POWERS: Final = np.linspace(0, 1, LEVELS + 1) ** 0.65
WIDE: Final = np.diff(_POWERS / (_POWERS + _POWERS[::-1]))
"""The probability of each level of u if its log-odds have a wider logistic distribution than a uniform u."""


def expected_f1(marginals: Float64, words: Float64, kept: Bool) -> float:
    """The expected F1 by words of `kept`, u uniform; 0 where nothing is kept."""
    of_kept, of_levels = kept.view(np.uint8), np.zeros((2, LEVELS))
    return float(kernel.expected_f1(*views(marginals, words, of_kept, of_levels)))


def mean_content(marginals: Float64, blocks: Blocks, kept: Bool) -> float:
    """The mean P(content) of the kept blocks, weighted by characters; at least one block is kept."""
    columns = (marginals, blocks.text_start, blocks.text_end, kept.view(np.uint8))
    return float(kernel.mean_content(*views(*columns)))
