"""`victor sites write` under spark-submit: SOURCE... --output TABLE.

Takes the options of `victor sites write`; exit codes are the same.
"""

import sys

from victor_spark.cli import main

if __name__ == "__main__":
    sys.argv[1:1] = ["sites", "write"]
    sys.exit(main())
