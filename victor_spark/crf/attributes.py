"""The attributes of each block as strings, for python-crfsuite: the slow twin of the dense decoder."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from victor_spark.crf.table import FeatureTable

BIAS = "bias"


def boundary_name(offset: int) -> str:
    """The attribute of a block that has no neighbour at `offset`."""
    return f"boundary[{offset}]"


def single_name(table: FeatureTable, feature: int, offset: int, code: int) -> str:
    """The attribute of a block whose neighbour at `offset` has `code` as its bin of `feature`."""
    return f"{table.names[feature]}[{offset}]={code}"


def conjunction_name(number: int, code: int) -> str:
    """`code` is the mixed-radix number of the parts' bins, the last part running fastest."""
    return f"conjunction[{number}]={code}"


def strides(table: FeatureTable, number: int) -> list[int]:
    """What one bin of each part adds to a conjunction's code."""
    steps = [1]
    for feature, _ in reversed(table.conjunctions[number][1:]):
        steps.append(steps[-1] * table.n_bins(feature))
    return steps[::-1]


def sequences(table: FeatureTable, codes: npt.NDArray[np.uint8]) -> list[list[str]]:
    """One list of attribute names a block; `codes` as FeatureTable.codes gives them."""
    n_blocks = codes.shape[1]
    items: list[list[str]] = [[BIAS] for _ in range(n_blocks)]
    for offset in range(-table.reach, table.reach + 1):
        for row in _missing(n_blocks, offset):
            items[row].append(boundary_name(offset))
    for feature, offsets in enumerate(table.offsets):
        columns = codes[feature].tolist()
        for offset in offsets:
            names = [single_name(table, feature, offset, code) for code in range(table.n_bins(feature))]
            for row in range(max(0, -offset), min(n_blocks, n_blocks - offset)):
                if code := columns[row + offset]:
                    items[row].append(names[code])
    for number in range(len(table.conjunctions)):
        for row, code in enumerate(_conjunction_codes(table, codes, number)):
            if code:
                items[row].append(conjunction_name(number, code))
    return items


def _missing(n_blocks: int, offset: int) -> Iterator[int]:
    return (row for row in range(n_blocks) if not 0 <= row + offset < n_blocks)


def _conjunction_codes(table: FeatureTable, codes: npt.NDArray[np.uint8], number: int) -> list[int]:
    n_blocks = codes.shape[1]
    total = np.zeros(n_blocks, dtype=np.int64)
    for (feature, offset), stride in zip(table.conjunctions[number], strides(table, number), strict=True):
        first, last = max(0, -offset), min(n_blocks, n_blocks - offset)
        if first < last:
            total[first:last] += codes[feature, first + offset : last + offset].astype(np.int64) * stride
    result: list[int] = total.tolist()
    return result
