"""`victor export` under spark-submit: OUT DEST --to FORMAT.

Takes the options of `victor export` and uses the session that spark-submit sets up. Exit codes are the same.
"""

import sys

from victor_spark.cli import main

if __name__ == "__main__":
    sys.argv[1:1] = ["export"]
    sys.exit(main())
