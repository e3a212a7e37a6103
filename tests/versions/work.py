"""The work for the test of one version of Spark, in one process: python work.py CRAWL OUT.

OUT gets the outputs of the commands, and found.json: their exit codes, and what the format "warc" counts.
"""

import json
import sys
from pathlib import Path

import pyspark

from victor_spark.cli import main
from victor_spark.errors import ConfigurationError
from victor_spark.spark.session import session


def work(crawl: str, out: Path) -> dict[str, object]:
    """Runs every command that uses Spark, in local mode."""
    clean = ["clean", crawl, "--blocks", "--output"]
    shuffled = ["--partition-by", "language", "--target-file-size", "1M"]
    mining = ["templates", "mine", crawl, "--output"]
    found: dict[str, object] = {"spark": pyspark.__version__, "python": sys.version.split()[0]}
    with session(master="local[2]") as spark:
        found["arrow"] = main([*clean, str(out / "arrow")])
        found["rdd"] = main([*clean, str(out / "rdd"), "--engine", "rdd", *shuffled])
        found["sites"] = main([*clean, str(out / "sites"), "--by-site"])
        found["dedup"] = main(["dedup", str(out / "arrow"), "--threshold", "0.05"])
        found["templates"] = main([*mining, str(out / "templates.parquet")])
        try:
            from victor_spark.spark import datasource
        except ConfigurationError as error:
            found["warc"] = str(error)
        else:
            datasource.register(spark)
            records = spark.read.format("warc").load(crawl)
            found["warc"] = {
                row["status"]: row["count"] for row in records.groupBy("status").count().collect()
            }
    return found


if __name__ == "__main__":
    folder = Path(sys.argv[2])
    folder.mkdir(parents=True)
    result = work(sys.argv[1], folder)
    (folder / "found.json").write_text(json.dumps(result))
