"""`victor dedup` under spark-submit: OUT, or OUT --output DEST --drop.

Takes the options of `victor dedup`; exit codes are the same.
"""

import sys

from victor_spark.cli import main

if __name__ == "__main__":
    sys.argv[1:1] = ["dedup"]
    sys.exit(main())
