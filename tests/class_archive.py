"""Writes the archive of classes with which the JVMs of tests start: python -m tests.class_archive FILE.

Java takes half of a session's start to load Spark's classes and to verify their bytecode. From an archive
(class data sharing), it maps them as they are. It ignores an archive that another Java made, or one of other
jars.
"""

import os
import shlex
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark import SparkContext

from tests.spark.crawl import PARAGRAPH, Response, page, write_warc
from victor_spark.cli import main
from victor_spark.spark.session import session


def write(archive: Path) -> None:
    """Runs commands that load the classes that tests need, and ends Java, which then writes the archive."""
    option = shlex.quote(f"-XX:ArchiveClassesAtExit={archive}")
    os.environ["SPARK_SUBMIT_OPTS"] = f"{option} -Xlog:disable"
    with TemporaryDirectory() as folder, session(master="local[2]"):
        pages = [Response(f"http://a.example/{n}", page("Ferry", PARAGRAPH).encode()) for n in range(3)]
        shard, out = str(write_warc(Path(folder) / "a.warc.gz", pages)), f"{folder}/out"
        for words in (
            ["clean", shard, "--output", out, "--by-site"],
            ["clean", shard, "--output", f"{folder}/rdd", "--engine", "rdd"],
            ["dedup", out],
            ["export", out, f"{folder}/lines", "--to", "jsonl"],
        ):
            if code := main(words):
                sys.exit(code)
    java = SparkContext._gateway.proc  # type: ignore[union-attr]
    java.stdin.close()
    java.wait()


if __name__ == "__main__":
    write(Path(sys.argv[1]).resolve())
