"""Commands in one process with one Spark session: a line of JSON on stdin each, `code N` on stdout after it.

A line with an object sets options of Spark.
"""

import json
import sys

from victor_spark.cli import main
from victor_spark.spark import lock
from victor_spark.spark.session import session

lock.BEAT_SECONDS, lock.PATIENCE_SECONDS = 1.0, 5.0  # a run that died holds its output for a shorter time

if __name__ == "__main__":
    with session() as spark:
        for line in sys.stdin:
            words = json.loads(line)
            if isinstance(words, dict):
                for name, value in words.items():
                    spark.conf.set(name, value)
            else:
                print("code", main(words), flush=True)
