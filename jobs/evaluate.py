"""`victor evaluate` under spark-submit: spark-submit [any flags] jobs/evaluate.py --gold … --output DIR.

Takes the options of `victor evaluate` and uses the session that spark-submit sets up. Gold, --cleaned folders
and DIR are files of the machine that the driver runs on (--cleaned: of the executors' machines, too).
"""

import sys

from victor_spark.cli import main

if __name__ == "__main__":
    sys.argv[1:1] = ["evaluate", "--spark"]
    sys.exit(main())
