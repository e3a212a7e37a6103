"""`victor evaluate` as a job, which works on the driver alone."""

import sys

from victor_spark.cli import main

if __name__ == "__main__":
    sys.argv[1:1] = ["evaluate"]
    sys.exit(main())
