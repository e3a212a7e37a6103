"""Spark's daemon of Python workers on one machine: imports what their tasks need once, before it forks them."""

import gc
import sys
from pathlib import Path

# Spark's zip comes first in the path, and its modules would be compiled anew; pip installed the same ones.
sys.path[:] = [one for one in sys.path if one[-11:] != "pyspark.zip" or str(Path(one).parents[3]) not in sys.path]

import pyspark.worker  # noqa: E402, F401
from pyspark.daemon import manager  # noqa: E402

import victor_spark.spark.tasks  # noqa: E402, F401

if __name__ == "__main__":
    gc.freeze()  # Spark collects garbage after each task; it would look at all of these modules
    manager()
