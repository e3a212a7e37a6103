# cython: language_level=3
"""What the words in class, id, role and itemprop of a block's ancestors weigh, along the way to the root.

Cython pure Python mode: compiled when the wheel is built, and the same source runs uncompiled.
"""

import cython
from cython.cimports.victor_spark.kernels import num

num.check()

_FADING = cython.declare(cython.float, 0.5)


@cython.ccall
def weigh(
    named_elements: cython.const[cython.int][:, ::1],
    words: cython.const[cython.uint][::1],
    slots: cython.const[cython.uint][::1],
    slot_weights: cython.const[cython.float][::1],
    of_block: cython.const[cython.int][::1],
    sums: cython.float[:, ::1],
    rows: cython.float[:, ::1],
) -> cython.int:
    """Fills `rows` (num.NAME_SUMS, n_blocks) with the sums of the innermost named element around each block.

    `named_elements`, `words` and `of_block` are the columns `named_elements`, `name_words` and `named` of
    Blocks; `slots`/`slot_weights` an open-addressing table from a word's hash to its weight (hash 0: free);
    `sums` (num.NAME_SUMS, n named elements + 1) is scratch. An element weighs what its words do together.
    Returns how many elements there are.
    """
    n: cython.int = cython.cast(cython.int, named_elements.shape[1])
    mask: cython.uint = cython.cast(cython.uint, slots.shape[0] - 1)
    e: cython.int
    around: cython.int
    i: cython.Py_ssize_t = 0
    slot: cython.uint
    weight: cython.float
    for e in range(sums.shape[0]):
        sums[e, 0] = 0.0
    for e in range(1, n):
        weight = 0.0
        while i < named_elements[num.NAMED_END, e]:
            slot = words[i] & mask
            while slots[slot] != words[i] and slots[slot] != 0:
                slot = (slot + 1) & mask
            if slots[slot] != 0:
                weight += slot_weights[slot]
            i += 1
        around = named_elements[num.NAMED_AROUND, e]
        sums[num.NAMES_ALL, e] = sums[num.NAMES_ALL, around] + weight
        sums[num.NAMES_HIGHEST, e] = (
            weight if weight > sums[num.NAMES_HIGHEST, around] else sums[num.NAMES_HIGHEST, around]
        )
        sums[num.NAMES_LOWEST, e] = (
            weight if weight < sums[num.NAMES_LOWEST, around] else sums[num.NAMES_LOWEST, around]
        )
        sums[num.NAMES_FADING, e] = sums[num.NAMES_FADING, around] * _FADING + weight
        sums[num.NAMES_INNERMOST, e] = weight
    for e in range(sums.shape[0]):
        for i in range(of_block.shape[0]):
            rows[e, i] = sums[e, of_block[i]]
    return n - 1
