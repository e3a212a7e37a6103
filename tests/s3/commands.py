"""Commands in one process with one Spark session: a line of JSON on stdin each, `code N` on stdout after it.

A line with an object sets options of Spark. With WITHOUT_SPARK, commands start a session themselves.
"""

import json
import os
import sys
from contextlib import nullcontext

from victor_spark.cli import main
from victor_spark.spark import lock
from victor_spark.spark.session import session

lock.BEAT_SECONDS, lock.PATIENCE_SECONDS = 1.0, 5.0  # a run that died holds its output for a shorter time

if __name__ == "__main__":
    with nullcontext() if "WITHOUT_SPARK" in os.environ else session() as spark:
        for line in sys.stdin:
            words = json.loads(line)
            if spark and isinstance(words, dict):
                for name, value in words.items():
                    spark.conf.set(name, value)
            else:
                print("code", main(words), flush=True)
