"""Names that kernels look up: open-addressing tables from their hashes to numbers."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt


def hashed(numbers: Mapping[str, int], size: int) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int32]]:
    """The slots with the names' hashes (0: free), and the number in each; `size` is a power of two."""
    slots = np.zeros(size, dtype=np.uint32)
    values = np.zeros(size, dtype=np.int32)
    for name, number in numbers.items():
        code = fnv1a(name)
        slot = code % size
        while slots[slot]:
            slot = (slot + 1) % size
        slots[slot], values[slot] = code, number
    return slots, values


def fnv1a(name: str) -> int:
    """The 32-bit FNV-1a hash over code points, as the scan computes it."""
    code = 2166136261
    for letter in name:
        code = ((code ^ ord(letter)) * 16777619) & 0xFFFFFFFF
    return code
