"""The daemon of Spark's Python workers on one machine: imports what tasks need once, before it forks them."""

import gc
import sys

# Modules in Spark's zip would be compiled at every start; where pip installed it, they stand beside it.
ZIP = "/pyspark/python/lib/pyspark.zip"
for archive in sys.path[:]:
    if archive.endswith(ZIP) and archive.removesuffix(ZIP) in sys.path:
        sys.path.remove(archive)
        sys.path_importer_cache.pop(archive, None)  # else its directory is read again before each task

import pyarrow as pa  # noqa: E402
import pyspark.worker  # noqa: E402, F401
from pyspark.daemon import manager  # noqa: E402

import victor_spark.spark.tasks  # noqa: E402, F401
from victor_spark.hosts import registered_domain  # noqa: E402

if __name__ == "__main__":
    pa.array([])  # imports pandas, where it is installed
    registered_domain(None)  # reads the public suffix list
    gc.freeze()  # Spark collects garbage after each task, and would look at all modules
    manager()
