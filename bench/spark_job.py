"""The whole job on Spark: `jobs/clean.py` with local[2], from WARC.gz to Parquet.

    python bench/spark_job.py [--shards INPUT...] [--repeat N]

Prints Markdown.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from _shards import add_argument, shards

from victor_spark.warc.shard import Shard

ROOT: Final = Path(__file__).resolve().parent.parent
MASTER: Final = "local[2]"


def main() -> None:
    """Runs the job once and prints its times."""
    parser = argparse.ArgumentParser(description="Pages per second of the whole Spark job.")
    add_argument(parser)
    parser.add_argument("--repeat", type=int, default=4, metavar="N", help="every shard N times (default: 4)")
    arguments = parser.parse_args()
    with shards(arguments.shards) as chosen, tempfile.TemporaryDirectory(prefix="victor-bench-") as folder:
        crawl = _repeated(chosen, Path(folder) / "crawl", arguments.repeat)
        started = time.monotonic()
        run = job(crawl, Path(folder) / "out")
        wall = time.monotonic() - started
    statuses = ", ".join(f"{status} {n}" for status, n in run["statuses"].items())
    seconds, rate = run["seconds"]["clean"], run["pages_per_second"]
    print("## The whole job on Spark\n")
    print(f"`jobs/clean.py --master {MASTER}`, {run['n_pages']} pages: {statuses}.\n")
    print(f"- {seconds:.1f} s from the plan to the last Parquet file: {rate} pages/s")
    print(f"- {wall:.1f} s with the start of Python, Java and Spark, and the counting of rows\n")


def job(crawl: Path, output: Path) -> dict[str, Any]:
    """Runs the job as its user does, and returns its run.json."""
    script = ROOT / "jobs" / "clean.py"
    command = [sys.executable, str(script), str(crawl), "--output", str(output), "--master", MASTER]
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": paths}, stdout=sys.stderr)
    run: dict[str, Any] = json.loads((output / "_run" / "run.json").read_bytes())
    return run


def _repeated(chosen: Sequence[Shard], folder: Path, n: int) -> Path:
    """A folder with `n` copies of every shard (links would count as the same file)."""
    folder.mkdir()
    for number, shard in enumerate(chosen):
        for copy in range(n):
            shutil.copyfile(shard.path, folder / f"{number:05d}-{copy:03d}-{Path(shard.path).name}")
    return folder


if __name__ == "__main__":
    main()
