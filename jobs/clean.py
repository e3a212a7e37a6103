"""`victor clean` under spark-submit: spark-submit [any flags] jobs/clean.py INPUT... --output OUT.

Takes the options of `victor clean` and uses the session that spark-submit sets up. Exit codes are the same;
spark-submit shows a program's stderr on its own stdout.
"""

import sys

from victor_spark.cli import main

if __name__ == "__main__":
    sys.argv[1:1] = ["clean"]
    sys.exit(main())
