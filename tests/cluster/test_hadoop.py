"""An output that only Spark's own filesystem layer reaches, as hdfs:// is: a view (viewfs://) of a disk."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cluster.runs import Job, Outcome
from tests.spark.crawl import rows

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]


def test_a_run_goes_on_in_an_output_that_hadoop_alone_reaches(
    job: Callable[..., Job], tmp_path: Path, expected: list[Outcome]
) -> None:
    """Staging, renaming, ledger and lease go through Hadoop; the driver is killed in between."""
    (tmp_path / "mounted").mkdir()
    mount = {"spark.hadoop.fs.viewfs.mounttable.crawls.link./clean": (tmp_path / "mounted").as_uri()}
    made = job(conf=mount, output="viewfs://crawls/clean/out", options=["--wave-bytes", "20000"])
    first = made.start()
    first.busy()
    first.kill()
    lease = tmp_path / "mounted" / "out" / "_run" / "lease.json"
    assert lease.exists()
    lease.unlink()  # or wait a minute to see that nobody keeps it
    last = made.start()
    last.finish()
    last.output = tmp_path / "mounted" / "out"
    assert last.outcomes() == expected
    record = json.loads((last.output / "_run" / "run.json").read_text())
    assert record["n_rows"] == len(rows(last.output)) == len(expected)
    assert (last.output / "_run" / "report.html").read_text().startswith("<!DOCTYPE html>")
    assert not (last.output / "_run" / "staged").exists()
    assert not lease.exists()
