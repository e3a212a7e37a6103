"""Which versions of Spark, Java and Python go together, and replacements for what some lack.

| Spark | Java     | Python       | lacks                                                                   |
|-------|----------|--------------|-------------------------------------------------------------------------|
| 3.5   | 8 to 17  | 3.11         | Python data sources: `spark.read.format("warc")`; `toArrow`; a DataFrame |
|       |          |              | of an Arrow table; `applyInArrow`; `cancelJobGroupAndFutureJobs`        |
| 4.0   | 17 to 21 | 3.11 to 3.13 | `applyInArrow` on batches of a group; `repartitionById`                 |
| 4.1…  | 17 …     | 3.11 …       | nothing that is needed                                                  |

All versions run the same code: `plan.frame` takes `partition_keys`, and `site_pages` groups sorted batches.
"""

import os
import sys
from typing import Final

import pyspark
from pyspark.sql import SparkSession

from victor_spark.errors import ConfigurationError
from victor_spark.logs import log

_CONNECT: Final = ("SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED")
_OLDEST: Final = (3, 5)
_NEWEST_PYTHON: Final = {(3, 5): (3, 11), (4, 0): (3, 13)}
"""The newest Python that a version of Spark supports, if that is not any."""

_KEYS: Final = 30
"""Integers tried for each partition: enough to find one for nearly every partition."""


def check_classic() -> None:
    """ConfigurationError in a process of Spark Connect, in which there is no Spark session of our kind."""
    if not os.environ.keys().isdisjoint(_CONNECT):
        raise ConfigurationError(
            "Spark Connect cannot run this; unset SPARK_REMOTE, or use spark-submit --master"
        )


def check() -> None:
    """ConfigurationError if this Spark is too old or Connect; a line if it doesn't support this Python."""
    check_classic()
    major, minor = map(int, pyspark.__version__.split(".")[:2])
    spark, python = (major, minor), sys.version_info[:2]
    if spark < _OLDEST:
        raise ConfigurationError(f"Spark {pyspark.__version__} is too old: victor-spark needs 3.5 or newer")
    if (newest := _NEWEST_PYTHON.get(spark, python)) < python:
        versions = [".".join(map(str, version)) for version in (spark, newest, python)]
        log("Spark {} supports Python up to {}; this is Python {}".format(*versions))


def partition_keys(spark: SparkSession, n: int) -> list[int]:
    """For each of `n` partitions, an integer that `DataFrame.repartition(n, column)` puts into it."""
    partitions = f"transform(sequence(0, {_KEYS * n}), key -> pmod(hash(CAST(key AS int)), {n}))"
    found = spark.sql(f"SELECT {partitions} AS partitions FROM VALUES (0)").collect()[0].partitions
    keys = {partition: key for key, partition in enumerate(found)}
    return [keys.get(partition, partition) for partition in range(n)]  # if none is found: unequal work
