"""From how many documents on a repeated string is a template: histogram and cut-off (Foschini, eq. 3.1)."""

from typing import Final

import numpy as np
import numpy.typing as npt

from victor_spark.blocks import Float64, Int32

N_BINS: Final = 100


def bins(document_frequencies: Int32, n_documents: int) -> Int32:
    """The bin of each string: bin i holds shares of the documents above i % and up to i + 1 %."""
    shares = -(-document_frequencies.astype(np.int64) * N_BINS // n_documents)
    return np.clip(shares - 1, 0, N_BINS - 1).astype(np.int32)


def histogram(document_frequencies: Int32, n_documents: int) -> npt.NDArray[np.int64]:
    """How many strings each of the 100 bins holds."""
    return np.bincount(bins(document_frequencies, n_documents), minlength=N_BINS).astype(np.int64)


def cut_off_bin(heights: npt.NDArray[np.int64]) -> int:
    """The bin b that minimises equation 3.1 with b = (x + y) / 2; of equal ones that in the middle.

    E(b) sums (i - x)² h over the bins i below b and (i - y)² h over the others. With y = 2b - x it is a
    parabola in x, so its least value for each b is known in closed form.
    """
    least = energies(heights)
    equal = np.flatnonzero(least <= least.min() * (1 + 1e-12) + 1e-9)
    return 1 + int(equal[len(equal) // 2])


def energies(heights: npt.NDArray[np.int64]) -> Float64:
    """The least E(b) over x for b = 1 ... 99."""
    places, total = np.arange(N_BINS, dtype=np.float64), max(float(heights.sum()), 1.0)
    least = np.empty(N_BINS - 1)
    for b in range(1, N_BINS):
        low, high = slice(None, b), slice(b, None)
        # With y = 2b - x, (i - y)² is ((2b - i) - x)²: all in all a spread, of i below b and of 2b - i above.
        mirrored = np.concatenate([places[low], 2 * b - places[high]])
        x = (heights * mirrored).sum() / total
        least[b - 1] = (heights * (mirrored - x) ** 2).sum()
    return least


def cut_off(document_frequencies: Int32, n_documents: int) -> int:
    """The least document frequency of a template, by the histogram alone."""
    b = cut_off_bin(histogram(document_frequencies, n_documents))
    return int(b * n_documents // N_BINS) + 1
