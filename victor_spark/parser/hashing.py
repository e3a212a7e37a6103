"""Names that kernels look up: open-addressing tables from their hashes to numbers."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt


def hashed(numbers: Mapping[str, int], size: int) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int32]]:
    """The slots with the names' hashes (0: free), and the number in each; `size` is a power of two."""
    slots, places = open_table([fnv1a(name) for name in numbers], size)
    return slots, np.array([*numbers.values(), 0], dtype=np.int32)[places]


def open_table(codes: Sequence[int], size: int) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int32]]:
    """The slots with the codes (0: free), and which of the codes is in each (free: as many as there are)."""
    slots = np.zeros(size, dtype=np.uint32)
    places = np.full(size, len(codes), dtype=np.int32)
    for place, code in enumerate(codes):
        slot = code % size
        while slots[slot]:
            slot = (slot + 1) % size
        slots[slot], places[slot] = code, place
    return slots, places


def fnv1a(name: str) -> int:
    """The 32-bit FNV-1a hash over code points, as the scan computes it."""
    code = 2166136261
    for letter in name:
        code = ((code ^ ord(letter)) * 16777619) & 0xFFFFFFFF
    return code
