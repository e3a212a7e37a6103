"""`victor templates apply` under spark-submit: INPUT... --templates T --output OUT.

Takes the options of `victor templates apply`; exit codes are the same.
"""

import sys

from victor_spark.cli import main

if __name__ == "__main__":
    sys.argv[1:1] = ["templates", "apply"]
    sys.exit(main())
