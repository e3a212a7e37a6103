"""From S3 to S3 through the command, without Hadoop's jars: the rows are those of a run on a disk."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cluster.runs import ROOT, undisturbed, write_crawl
from tests.cluster.standalone import QUICK
from tests.warc import storage
from victor_spark.spark.files import CloudFiles

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]


def victor(*arguments: str) -> list[str]:
    """What the command says in a process of its own, whose workers find the store in their environment."""
    done = subprocess.run(
        [sys.executable, "-c", "import sys; from victor_spark.cli import main; sys.exit(main())", *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT), "JDK_JAVA_OPTIONS": QUICK},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr.splitlines()


def test_a_run_from_store_to_store_is_complete_and_knows_it(tmp_path: Path) -> None:
    crawl = write_crawl(tmp_path / "crawl", 3, 5)
    with storage.s3() as client:
        client.create_bucket(Bucket="crawls")
        for shard in crawl.iterdir():
            client.upload_file(str(shard), "crawls", f"in č/{shard.name}")
        command = ("clean", "s3://crawls/in č/", "--output", "s3://crawls/out", "--master", "local[2]")
        command += ("--partition-by", "language")
        victor(*command)
        files = CloudFiles("s3://crawls/out")
        found: list[dict[str, Any]] = []
        for name in files.below("pages"):
            if name.endswith(".parquet"):
                found += pq.read_table(pa.BufferReader(files.read(f"pages/{name}") or b"")).to_pylist()
        rows = sorted(
            (Path(row["warc_filename"]).name, row["warc_record_offset"], row["status"], row["text"])
            for row in found
        )
        assert rows == sorted(undisturbed(crawl))
        assert files.names("_run/staged") is None
        assert any("already done" in line for line in victor(*command))
