"""What the deployment files say, done on this machine: the packed environment, every command of compose."""

import json
import shlex
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from moto.server import ThreadedMotoServer

from tests.cluster import standalone
from tests.cluster.runs import ROOT, Outcome, environment
from tests.cluster.standalone import Cluster, Daemon
from tests.deployment import compose
from tests.spark.crawl import rows
from victor_spark.cli import main

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]

_WHERE = """
import json, os, sys
from pyspark.sql import SparkSession
import victor_spark
from victor_spark.cli import main

def where(_):
    import victor_spark
    from victor_spark import resources
    from victor_spark.kernels import markup
    models = str(resources.directory("models"))
    yield {"executable": sys.executable, "package": victor_spark.__file__, "models": models,
           "kernel": markup.__file__, "driver": driver}

driver = victor_spark.__file__
spark = SparkSession.builder.getOrCreate()
told = spark.sparkContext.parallelize(range(4), 4).mapPartitions(where).collect()
open(sys.argv[1], "w").write(json.dumps(told))
sys.exit(main(["clean", *sys.argv[2:]]))
"""


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What one command packs."""
    folder = tmp_path_factory.mktemp("packed") / "dist"
    assert main(["package", "--output", str(folder)]) == 0
    return folder


@pytest.fixture
def submitted(cluster: Cluster, crawl: Path, tmp_path: Path) -> Callable[..., list[dict[str, str]]]:
    """Runs the job with flags of spark-submit; where each of four tasks found what it runs."""

    def submit(*flags: str, **variables: str) -> list[dict[str, str]]:
        (tmp_path / "where.py").write_text(_WHERE)
        conf = {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.ui.enabled": "false",
            "spark.executor.memory": "512m",
            "spark.driver.extraJavaOptions": standalone.QUICK,
            "spark.executor.extraJavaOptions": standalone.QUICK,
        }
        program = shutil.which("spark-submit", path=environment()["PATH"])
        options = [part for key, value in conf.items() for part in ("--conf", f"{key}={value}")]
        told, output = tmp_path / "told.json", tmp_path / "out"
        done = subprocess.run(
            [
                str(program),
                "--master",
                cluster.url,
                *options,
                *flags,
                str(tmp_path / "where.py"),
                str(told),
                str(crawl),
                "--output",
                str(output),
            ],
            env={**environment(), **variables},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        places: list[dict[str, str]] = json.loads(told.read_text())
        return places

    return submit


def outcomes(output: Path) -> list[Outcome]:
    """What the rows of an output say."""
    return [
        (Path(row["warc_filename"]).name, row["warc_record_offset"], row["status"], row["text"])
        for row in rows(output)
    ]


def test_a_packed_environment_is_all_that_executors_need(
    submitted: Callable[..., list[dict[str, str]]], dist: Path, expected: list[Outcome], tmp_path: Path
) -> None:
    """Executors' Python, packages, kernels and models are those of the archive, and the rows the same."""
    python = ("spark.pyspark.driver.python=" + sys.executable, "spark.pyspark.python=./env/bin/python")
    flags = ("--archives", f"{dist / 'victor-env.tar.gz'}#env", "--conf", python[0], "--conf", python[1])
    places = submitted(*flags, PYTHONPATH=str(ROOT))  # the driver's
    assert len(places) == 4
    for place in places:
        home = Path(place["executable"]).parents[1]
        for path in (place["package"], place["models"], place["kernel"]):
            assert Path(path).is_relative_to(home), place
        assert not home.is_relative_to(sys.prefix)
        assert not Path(place["package"]).is_relative_to(ROOT / "victor_spark")
        assert place["kernel"].endswith(".so")
    assert outcomes(tmp_path / "out") == expected


def test_a_zip_is_victor_spark_where_the_packages_are_installed(
    submitted: Callable[..., list[dict[str, str]]],
    cluster: Cluster,
    dist: Path,
    expected: list[Outcome],
    tmp_path: Path,
) -> None:
    """It unpacks itself in the executors' work directories, and the driver imports it, too."""
    flags = ("--py-files", str(dist / "victor-spark.zip"))
    places = submitted(*flags, PYSPARK_PYTHON=sys.executable)
    assert len(places) == 4
    for place in places:
        assert place["executable"] == sys.executable
        for path in (place["package"], place["models"], place["kernel"]):
            assert Path(path).is_relative_to(cluster.folder), place
        assert place["kernel"].endswith(".so")
        assert Path(place["driver"]).is_relative_to(dist)
    assert outcomes(tmp_path / "out") == expected


@pytest.fixture
def store() -> Iterator[str]:
    """The address of the S3: MinIO's where it is installed, otherwise moto's, which runs in its place."""
    if shutil.which("minio"):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        yield f"127.0.0.1:{port}"
        return
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    yield "{}:{}".format(*server.get_host_and_port())
    server.stop()


def answers(address: str) -> bool:
    """Whether a server is there, after a while."""
    host, _, port = address.partition(":")
    for _ in range(300):
        with suppress(OSError), socket.create_connection((host, int(port)), timeout=1):
            return True
        time.sleep(0.1)
    return False


@pytest.fixture
def composed(tmp_path: Path, store: str) -> Iterator[Callable[..., Any]]:
    """Starts a service of docker-compose.yml on this machine: its own command, in its own environment."""
    started: list[Daemon] = []
    addresses = {"minio:9000": store, "--address :9000": f"--address {store}"}
    addresses |= {"--console-address :9001": "--console-address 127.0.0.1:0"}
    addresses |= {
        "/tmp/spark-work": str(tmp_path / "work"),
        "/data": str(tmp_path),
        "--host master --port 7077": "--host 127.0.0.1 --port 0",
    }
    addresses |= {"--webui-port 8080": "--webui-port 0", "--memory 4g": "--memory 1g"}
    addresses |= {"spark.executor.memory=1g": "spark.executor.memory=512m"}

    def start(name: str, command: str | None = None, **others: str) -> Daemon:
        service = compose.service(name)
        words = {**addresses, **{old.replace("_", ":", 1): new for old, new in others.items()}}
        command = compose.replaced(command or service["command"], words)
        variables = {key: compose.replaced(value, words) for key, value in service["environment"].items()}
        variables |= {"SPARK_LOCAL_HOSTNAME": "127.0.0.1", "SPARK_LOCAL_IP": "127.0.0.1"}
        log = tmp_path / f"{name}-{len(started)}.log"
        with log.open("wb") as file:
            process = subprocess.Popen(
                shlex.split(command),
                cwd=ROOT,
                env={**environment(), **variables, "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": str(ROOT)},
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                start_new_session=True,
            )
        started.append(Daemon(process, log))
        return started[-1]

    yield start
    for daemon in reversed(started):
        daemon.stop()


def test_every_command_of_compose_runs_as_it_is_written(
    composed: Callable[..., Daemon], store: str, crawl: Path, expected: list[Outcome], tmp_path: Path
) -> None:
    """Addresses and sizes are this machine's; where no MinIO is installed, moto runs in its place."""
    shutil.copytree(crawl, tmp_path / "crawl")
    if shutil.which("minio"):
        (tmp_path / "s3").mkdir()
        composed("minio", "minio " + compose.service("minio")["command"])  # its image begins with the program
    assert answers(store)
    url = composed("master").said(standalone._MASTER_UP)[1]
    master = {"spark_//master:7077": url}
    for name in ("worker-1", "worker-2"):
        composed(name, **master).said(standalone._WORKER_UP)
    assert [name for name, _ in compose.runs()] == ["upload", "job", "job"]
    for name, command in compose.runs():
        job = composed(name, command, **master)
        assert job.process.wait(600) == 0, job.tail()
    assert "complete" in job.tail()
    assert outcomes(tmp_path / "clean") == expected
