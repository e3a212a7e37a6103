"""Forks Spark's Python workers on one machine, after importing the modules that their tasks need."""

import gc
import os
import sys
from importlib.machinery import PathFinder

# Modules in Spark's zip would be compiled at every start; where pip installed it, they stand beside it.
ZIP = "/pyspark/python/lib/pyspark.zip"
for archive in [entry for entry in sys.path if entry.endswith(ZIP)]:
    others = [entry for entry in sys.path if entry != archive]
    found = PathFinder.find_spec("pyspark", others)
    if found and found.origin == archive.removesuffix(ZIP) + "/pyspark/__init__.py":
        sys.path[:] = others
        sys.path_importer_cache.pop(archive, None)  # else its directory is read again before each task

import numpy as np  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyspark.worker  # noqa: E402, F401
from pyspark.daemon import manager  # noqa: E402

import victor_spark.spark.tasks  # noqa: E402, F401

if __name__ == "__main__":
    pa.array([])  # imports pandas, where it is installed
    os.register_at_fork(after_in_child=np.random.seed)  # else all workers would draw the same numbers
    gc.freeze()  # Spark collects garbage after each task, and would look at all modules
    manager()
