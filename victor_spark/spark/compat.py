"""Which versions of Spark, Java and Python go together, and what stands in for functions that some lack.

| Spark | Java     | Python       | lacks                                                                   |
|-------|----------|--------------|-------------------------------------------------------------------------|
| 3.5   | 8 to 17  | 3.11         | Python data sources: `spark.read.format("warc")`; `toArrow`; a DataFrame |
|       |          |              | of an Arrow table; `applyInArrow`; `cancelJobGroupAndFutureJobs`        |
| 4.0   | 17 to 21 | 3.11 to 3.13 | `applyInArrow` on batches of a group; `repartitionById`                 |
| 4.1…  | 17 …     | 3.11 …       | nothing that is needed                                                  |

All versions run the same code: `plan.frame` takes `partition_keys`, and `site_pages` groups sorted batches.
"""

import sys
from typing import Final

import numpy as np
import numpy.typing as npt
import pyspark

from victor_spark.errors import ConfigurationError
from victor_spark.spark.progress import log

_OLDEST: Final = (3, 5)
_NEWEST_PYTHON: Final = {(3, 5): (3, 11), (4, 0): (3, 13)}
"""The newest Python that a version of Spark supports, if that is not any."""

_SEED: Final = 42  # of Spark's hash()

UInt32 = npt.NDArray[np.uint32]


def check() -> None:
    """ConfigurationError if this Spark is too old; a line if it doesn't support this Python yet."""
    major, minor = map(int, pyspark.__version__.split(".")[:2])
    spark, python = (major, minor), sys.version_info[:2]
    if spark < _OLDEST:
        raise ConfigurationError(f"Spark {pyspark.__version__} is too old: victor-spark needs 3.5 or newer")
    if (newest := _NEWEST_PYTHON.get(spark, python)) < python:
        versions = [".".join(map(str, version)) for version in (spark, newest, python)]
        log("Spark {} supports Python up to {}; this is Python {}".format(*versions))


def partition_keys(n: int) -> npt.NDArray[np.int32]:
    """For each of `n` partitions, an integer that `DataFrame.repartition(n, column)` puts into it.

    Should Spark ever hash in another way, partitions would have unequal work, and the same rows.
    """
    found, first = dict[int, int](), 0
    while len(found) < n:
        keys = np.arange(first, first + 4 * n, dtype=np.uint32)
        for key, partition in zip(keys.tolist(), (_hash(keys) % n).tolist(), strict=True):
            found.setdefault(partition, key)
        first += 4 * n
    return np.array([found[partition] for partition in range(n)], np.int32)


def _hash(keys: UInt32) -> npt.NDArray[np.int32]:
    """Spark's hash() of an integer of 32 bits: MurmurHash3."""
    mixed = np.uint32(_SEED) ^ _rotated(keys * np.uint32(0xCC9E2D51), 15) * np.uint32(0x1B873593)
    mixed = _rotated(mixed, 13) * np.uint32(5) + np.uint32(0xE6546B64)
    mixed ^= np.uint32(4)  # bytes of a key
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        mixed = (mixed ^ mixed >> np.uint32(shift)) * np.uint32(factor)
    return mixed.view(np.int32)


def _rotated(x: UInt32, n: int) -> UInt32:
    return x << np.uint32(n) | x >> np.uint32(32 - n)
