"""`victor train crf` for a scheduler that only starts jobs: it works on the driver alone, from annotated pages."""

import sys

from victor_spark.cli import main

if __name__ == "__main__":
    sys.exit(main(["train", "crf", *sys.argv[1:]]))
