"""`victor train langid` for a scheduler that only starts jobs: it works on the driver alone, from text files."""

import sys

from victor_spark.cli import main

if __name__ == "__main__":
    sys.exit(main(["train", "langid", *sys.argv[1:]]))
