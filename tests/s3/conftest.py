"""An S3 server, a proxy before it, an invented crawl in it, and processes that run our commands."""

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
import pyspark
import pytest

from tests.between import Between, between
from tests.cluster import standalone
from tests.cluster.runs import environment
from tests.cluster.standalone import QUICK
from tests.conftest import ROOT
from tests.s3 import seaweed
from tests.s3.seaweed import FOLDER, KEY, SECRET, Server
from tests.spark.crawl import CZECH, PARAGRAPH, Response, page, write_warc
from tests.versions.environments import UnavailableError
from tests.warc.storage import FOREIGN

N_SHARDS: Final = 4
WAVES: Final = ("--wave-bytes", "6K", "--split-bytes", "6K", "--partitions", "2")
"""About a wave for each shard."""

AWS: Final = "software.amazon.awssdk"
SDK: Final = "2.35.4"
"""The version that hadoop-aws names; its bundle of all services has 690 MB, these two have 20 MB."""

PACKAGES: Final = (f"{AWS}:s3-transfer-manager:{SDK}", f"{AWS}:sts:{SDK}")
COMMITTERS: Final = "org.apache.spark:spark-hadoop-cloud_2.13:4.1.2"
LEFT_OUT: Final = (
    f"{AWS}:bundle",
    *(f"org.apache.hadoop:hadoop-{name}" for name in ("client-api", "client-runtime", "cloud-storage")),
    *(f"org.apache.hadoop:hadoop-{name}" for name in ("azure", "azure-datalake", "huaweicloud")),
    "com.google.cloud.bigdataoss:gcs-connector",
)


@dataclass
class Victor:
    """Our commands, in a process with a Spark session."""

    process: subprocess.Popen[str]
    log: Path
    seen: int = 0

    def start(self, *words: str) -> None:
        """Begins a command."""
        self.seen = self.log.stat().st_size
        self._send(words)

    def configure(self, options: dict[str, str]) -> None:
        """Sets options of Spark for the commands that follow."""
        self._send(options)

    def _send(self, line: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()

    def finish(self) -> tuple[int, list[str]]:
        """The exit code of the command that began, and our lines on stderr."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if found := re.fullmatch(r"code (\d+)\n", line):
                return int(found[1]), self.lines()
        raise AssertionError(f"the process ended:\n{self.printed()}")

    def kill(self) -> None:
        """Kills the driver and its child processes, as a machine that goes down does."""
        for pid in standalone.in_session(self.process.pid):
            standalone.kill(pid)
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()

    def printed(self) -> str:
        """The end of the command's stderr."""
        with self.log.open(errors="replace") as log:
            log.seek(self.seen)
            return log.read()[-9000:]

    def lines(self) -> list[str]:
        return [line for line in self.printed().splitlines() if line.startswith("victor: ")]

    def run(self, *words: str, code: int = 0) -> list[str]:
        """Runs a command, which must end with the code."""
        self.start(*words)
        found, lines = self.finish()
        assert found == code, self.printed()
        return lines

    def refused(self, *words: str, code: int = 2) -> str:
        """The one line with which a command ends."""
        (line,) = [line for line in self.run(*words, code=code) if line.startswith("victor: error: ")]
        return line.removeprefix("victor: error: ")


@contextmanager
def victor(
    folder: Path, url: str, *submit: str, python: Path = Path(sys.executable), **variables: str
) -> Iterator[Victor]:
    """The process, whose environment points to a store; `submit`: flags of spark-submit."""
    kept = {name: value for name, value in environment().items() if name not in (*FOREIGN, "SPARK_HOME")}
    small = ("--conf", "spark.sql.shuffle.partitions=2")
    flags = ["--master", "local[2]", "--conf", f"spark.driver.extraJavaOptions={QUICK}", *small, *submit]
    own = {
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": url,
        "PYTHONPATH": str(ROOT),
        "PYSPARK_PYTHON": str(python),
        "PYSPARK_SUBMIT_ARGS": shlex.join([*flags, "pyspark-shell"]),
    }
    log = folder / f"victor-{uuid4()}.log"
    with log.open("wb") as errors:
        process = subprocess.Popen(
            [str(python), "-m", "tests.s3.commands"],
            env={**kept, **own, **variables},
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
        )
    made = Victor(process, log)
    try:
        yield made
        if process.poll() is None:
            process.communicate(timeout=120)
    finally:
        made.kill()


@dataclass
class Store:
    """The server, the proxy before it, a client, and the crawl in s3://crawls/in/."""

    server: Server
    between: Between
    client: Any
    crawl: Path
    folder: Path
    expected: list[dict[str, Any]] = field(default_factory=list)

    def rows(self, output: str) -> list[dict[str, Any]]:
        """The rows of the Parquet files of a folder, each a whole one, in the order of the crawl."""
        bucket, _, prefix = output.removeprefix("s3://").removeprefix("s3a://").partition("/")
        return rows_of(self.client, bucket, prefix)

    def names(self, bucket: str, prefix: str) -> list[str]:
        return names(self.client, bucket, prefix)


def names(client: Any, bucket: str, prefix: str) -> list[str]:
    """The keys of a bucket's objects."""
    found = client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
    return [one["Key"] for part in found for one in part.get("Contents", [])]


def rows_of(client: Any, bucket: str, prefix: str) -> list[dict[str, Any]]:
    """The rows of Parquet files, without the locations of their inputs."""
    found: list[dict[str, Any]] = []
    for name in names(client, bucket, f"{prefix}/"):
        if name.endswith(".parquet"):
            content = client.get_object(Bucket=bucket, Key=name)["Body"].read()
            found += pq.read_table(pa.BufferReader(content)).to_pylist()
    return placeless(found)


def placeless(found: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows in the order of the crawl, with the names of shards without their folders."""
    named = [{**row, "warc_filename": Path(row["warc_filename"]).name} for row in found]
    return sorted(named, key=lambda row: (row["warc_filename"], row["warc_record_offset"] or 0))


def write_crawl(folder: Path) -> Path:
    """Shards of pages in two languages, with an error page in each."""
    folder.mkdir()
    for shard in range(N_SHARDS):
        responses = [
            Response(
                f"http://harbour{shard}.example/{number}",
                page(f"Ferry {shard}.{number}", PARAGRAPH, (CZECH, PARAGRAPH)[number % 2] * 2).encode(),
                "404 Not Found" if number == 3 else "200 OK",
            )
            for number in range(12)
        ]
        write_warc(folder / f"shard-{shard}.warc.gz", responses)
    return folder


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server without TLS; skips if it cannot be installed."""
    try:
        seaweed.installed()
    except UnavailableError as error:
        pytest.skip(str(error))
    with seaweed.running(tmp_path_factory.mktemp("seaweed")) as server:
        yield server


@pytest.fixture(scope="session")
def store(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("store")
    crawl = write_crawl(folder / "crawl")
    client = server.client()
    client.create_bucket(Bucket="crawls")
    for shard in sorted(crawl.iterdir()):
        client.upload_file(str(shard), "crawls", f"in/{shard.name}")
    with between(server.url.removeprefix("http://")) as go_between:
        yield Store(server, go_between, client, crawl, folder)
    client.close()


@pytest.fixture(scope="session")
def ours(store: Store) -> Iterator[Victor]:
    """Our commands without Hadoop's jars; all their requests to the store go through the proxy.

    Multipart uploads begin at 5 MB.
    """
    blocks = json.dumps({"default_block_size": 5 << 20})
    with victor(store.folder, store.between.url, FSSPEC_S3=blocks) as made:
        yield made


@pytest.fixture(scope="session")
def expected(store: Store, ours: Victor) -> list[dict[str, Any]]:
    """The rows of the crawl from disk to disk."""
    output = store.folder / "expected"
    ours.run("clean", str(store.crawl), "--output", str(output), *WAVES)
    found = disk_rows(output / "pages")
    assert len(found) == N_SHARDS * 12
    assert sum(row["status"] == "ok" for row in found) == N_SHARDS * 11
    return found


@pytest.fixture(autouse=True)
def no_fault(request: pytest.FixtureRequest) -> Iterator[None]:
    """Removes the faults at the end of each test."""
    yield
    if "store" in request.fixturenames:
        store: Store = request.getfixturevalue("store")
        store.between.fault = lambda _: None
        store.between.answered.clear()


def s3a_flags(store: Store) -> list[str]:
    """Flags of spark-submit for hadoop-aws and its committers, which go to the store."""
    (jar,) = (Path(pyspark.__file__).parent / "jars").glob("hadoop-client-api-*.jar")
    packages = [f"org.apache.hadoop:hadoop-aws:{jar.stem.rpartition('-')[2]}", *PACKAGES, COMMITTERS]
    options = {
        "spark.jars.ivy": FOLDER.parent / "ivy",
        "spark.hadoop.fs.s3a.endpoint": store.between.url,
        "spark.hadoop.fs.s3a.endpoint.region": "us-east-1",
        "spark.hadoop.fs.s3a.path.style.access": "true",
        "spark.hadoop.fs.s3a.connection.ssl.enabled": "false",
        "spark.hadoop.fs.s3a.attempts.maximum": 3,
        "spark.hadoop.fs.s3a.retry.limit": 3,
        "spark.hadoop.fs.s3a.buffer.dir": store.folder / "s3a",
        "spark.hadoop.fs.s3a.committer.staging.tmp.path": store.folder / "staging",
    }
    flags = [word for name, value in options.items() for word in ("--conf", f"{name}={value}")]
    return [*flags, "--packages", ",".join(packages), "--exclude-packages", ",".join(LEFT_OUT)]


def require_jars(made: Victor) -> None:
    """Skips if the jars cannot be downloaded."""
    made.start("cleaners")
    try:
        made.finish()
    except AssertionError as error:
        if "unresolved dependency" in str(error) or "module not found" in str(error):
            pytest.skip("the jars of hadoop-aws cannot be downloaded")
        raise


@pytest.fixture(scope="session")
def hadoop(store: Store) -> Iterator[Victor]:
    """Our commands with hadoop-aws and its committers."""
    with victor(store.folder, store.between.url, *s3a_flags(store)) as made:
        require_jars(made)
        yield made


def disk_rows(output: Path) -> list[dict[str, Any]]:
    """The rows of Parquet files on this disk."""
    return placeless(pq.ParquetDataset(output).read().to_pylist())  # type: ignore[no-untyped-call]
