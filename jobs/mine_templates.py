"""`victor templates mine` under spark-submit: INPUT... --output templates.parquet.

Takes the options of `victor templates mine`; exit codes are the same.
"""

import sys

from victor_spark.cli import main

if __name__ == "__main__":
    sys.argv[1:1] = ["templates", "mine"]
    sys.exit(main())
