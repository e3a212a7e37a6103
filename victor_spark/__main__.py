"""`python -m victor_spark` is the command `victor`."""

import sys

from victor_spark.cli import main

if __name__ == "__main__":
    sys.exit(main())
