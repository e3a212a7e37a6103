"""Two runs of the same command at once: the second refuses, and succeeds the first when that is dead."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cluster.runs import ROOT, Job, Outcome, Run, environment, undisturbed, write_crawl
from tests.cluster.standalone import QUICK
from tests.warc import storage
from victor_spark.spark.files import CloudFiles

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]

# A second run looks for signs of the first for a minute; here for little more than the time between two.
_COMMAND = """
import sys
from victor_spark.cli import main
from victor_spark.spark import lock
lock.BEAT_SECONDS, lock.PATIENCE_SECONDS = 2.0, 8.0
sys.exit(main(sys.argv[1:]))
"""
REFUSED = "another run is writing there"


def test_on_a_disk_the_second_refuses_and_the_first_ends_undisturbed(
    job: Callable[..., Job], tmp_path: Path
) -> None:
    crawl = write_crawl(tmp_path / "crawl", 2, 15, s0_p9="waits for leave")
    made = job(crawl=crawl)
    first = made.start()
    first.busy()
    second = replace(made, folder=tmp_path / "second", output=first.output).start()
    line = second.fail()
    assert first.process.poll() is None
    assert second.code == 2
    assert REFUSED in line
    first.go()
    first.finish()
    assert first.outcomes() == undisturbed(crawl)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Run]]:
    """Starts the command in a process of its own, whose pages do what they say."""
    started: list[Run] = []

    def begin(*arguments: str) -> Run:
        folder = tmp_path / f"run-{len(started)}"
        (folder / "deeds").mkdir(parents=True)
        paths = [str(ROOT / "tests" / "cluster" / "site"), str(ROOT)]
        variables = {"PYTHONPATH": os.pathsep.join(paths), "VICTOR_TEST_DEEDS": str(folder / "deeds")}
        variables["JDK_JAVA_OPTIONS"] = QUICK
        with (folder / "driver.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-c", _COMMAND, *arguments],
                env={**environment(), **variables},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        started.append(Run(process, folder, folder))
        return started[-1]

    yield begin
    for run in started:
        if run.code is None:
            run.kill()


def outcomes(files: CloudFiles) -> list[Outcome]:
    """What the rows in a store say."""
    found: list[dict[str, Any]] = []
    for name in files.below("pages"):
        if name.endswith(".parquet"):
            found += pq.read_table(pa.BufferReader(files.read(f"pages/{name}") or b"")).to_pylist()
    columns = ("warc_record_offset", "status", "text")
    return sorted((Path(row["warc_filename"]).name, *(row[name] for name in columns)) for row in found)


def test_in_a_store_the_second_refuses_while_the_first_lives_and_goes_on_when_it_is_dead(
    start: Callable[..., Run], tmp_path: Path
) -> None:
    """There are no locks in a store: the lease that the first one keeps beating tells that it lives."""
    crawl = write_crawl(tmp_path / "crawl", 3, 5, s0_p1="waits for leave")
    with storage.s3() as client:
        client.create_bucket(Bucket="outs")
        command = ("clean", str(crawl), "--output", "s3://outs/out", "--master", "local[2]")
        first = start(*command)
        first.busy()
        second = start(*command)
        line = second.fail()
        assert first.process.poll() is None
        assert second.code == 2
        assert REFUSED in line
        first.kill()
        files = CloudFiles("s3://outs/out")
        assert files.read("_run/lease.json")  # it died without a word
        third = start(*command)
        third.go()
        third.finish()
        assert outcomes(files) == sorted(undisturbed(crawl))
        assert files.read("_run/lease.json") is None
