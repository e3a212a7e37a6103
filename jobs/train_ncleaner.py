"""`victor train ncleaner` as a job, which works on the driver alone."""

import sys

from victor_spark.cli import main

if __name__ == "__main__":
    sys.exit(main(["train", "ncleaner", *sys.argv[1:]]))
