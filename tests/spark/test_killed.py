"""SIGKILL at any moment, then the same command again: exactly the rows of a run without faults."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.cluster.standalone import QUICK
from tests.spark.crawl import PARAGRAPH, Response, Victor, page, rows, tree, write_warc

pytestmark = pytest.mark.spark

COMMAND = (sys.executable, "-c", "import sys; from victor_spark.cli import main; sys.exit(main())")
LONG = (pytest.mark.cluster, pytest.mark.timeout(1800))
"""Many moments, for `./dev test-cluster`."""

SMALL = ("--wave-bytes", "9K", "--split-bytes", "3K", "--master", "local[2]")


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one shard of 90 pages."""
    folder = tmp_path_factory.mktemp("shards")
    noise = random.Random(7)
    pages = [
        page(f"Ferry {n}", PARAGRAPH, f"Timetable {noise.randbytes(300).hex()}").encode() for n in range(90)
    ]
    write_warc(
        folder / "a.warc.gz", [Response(f"http://a.example/{n}", html) for n, html in enumerate(pages)]
    )
    return folder


def killed(shards: Path, output: Path, root: Path, seconds: float, *options: str) -> bool:
    """Runs the command and kills it so long after its waves begin; whether it was at work."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYSPARK_")}
    environment |= {"PYTHONPATH": str(root), "JDK_JAVA_OPTIONS": QUICK}
    command = [*COMMAND, "clean", str(shards), "--output", str(output), *SMALL, *options]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        for line in process.stderr:
            if "waves on" in line or "waves are done" in line:
                time.sleep(seconds)
                process.kill()
                break
    return process.returncode == -signal.SIGKILL


@pytest.mark.parametrize(
    ("n_kills", "options"),
    [(2, ()), pytest.param(12, (), marks=LONG), pytest.param(12, ("--by-site",), marks=LONG)],
)
def test_a_run_that_is_killed_again_and_again(
    spark: SparkSession,
    shards: Path,
    root: Path,
    tmp_path: Path,
    victor: Victor,
    n_kills: int,
    options: tuple[str, ...],
) -> None:
    """The waves in the ledger of a killed run stay unchanged; the last run does the others."""
    output, moments = tmp_path / "out", random.Random()
    kept: dict[str, tuple[int, int]] = {}
    for number in range(n_kills):
        seconds = moments.uniform(0, 2.0 if number else 0.5)
        at_work = killed(shards, output, root, seconds, *options)
        assert at_work or number, "the first run ended before it was killed"
        entered = tuple(f"wave-{path.stem}-" for path in output.glob("_run/ledger/*.json"))
        print(f"killed {seconds:.3f} s after it began, with {len(entered)} waves done: {at_work}")
        pages = tree(output / "pages") if (output / "pages").exists() else {}
        assert kept.items() <= pages.items()
        kept = {name: found for name, found in pages.items() if entered and name.startswith(entered)}
        assert (output / "_run" / "run.json").exists() == (not at_work)
    assert victor("clean", shards, "--output", output, *options).code == 0
    assert victor("clean", shards, "--output", tmp_path / "undisturbed", *options).code == 0
    assert rows(output) == rows(tmp_path / "undisturbed")
    assert spark.read.parquet(str(output / "pages")).count() == 90
    assert not (output / "_run" / "staged").exists()
