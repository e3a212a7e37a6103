"""What the deployment files say, done on this machine: the packed environment, every command of compose."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
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
from victor_spark.cli import main

def where(_):
    import victor_spark
    from victor_spark import resources
    from victor_spark.kernels import markup
    yield sys.executable, victor_spark.__file__, str(resources.directory("models")), markup.__file__

spark = SparkSession.builder.getOrCreate()
told = spark.sparkContext.parallelize(range(4), 4).mapPartitions(where).collect()
open(sys.argv[1], "w").write(json.dumps(told))
sys.exit(main(["clean", *sys.argv[2:]]))
"""


def test_a_packed_environment_is_all_that_executors_need(
    cluster: Cluster, crawl: Path, expected: list[Outcome], tmp_path: Path
) -> None:
    """Executors' Python, packages, kernels and models are those of the archive, and the rows the same."""
    assert main(["package", "--output", str(tmp_path / "dist")]) == 0
    (tmp_path / "where.py").write_text(_WHERE)
    program = shutil.which("spark-submit", path=environment()["PATH"])
    conf = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.executor.memory": "512m",
        "spark.pyspark.driver.python": sys.executable,
        "spark.pyspark.python": "./env/bin/python",
    }
    flags = [part for key, value in conf.items() for part in ("--conf", f"{key}={value}")]
    archive = f"{tmp_path / 'dist' / 'victor-env.tar.gz'}#env"
    told, output = tmp_path / "told.json", tmp_path / "out"
    done = subprocess.run(
        [
            str(program),
            "--master",
            cluster.url,
            *flags,
            "--archives",
            archive,
            str(tmp_path / "where.py"),
            str(told),
            str(crawl),
            "--output",
            str(output),
        ],
        env={**environment(), "PYTHONPATH": str(ROOT)},  # the driver's
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    for executable, package, models, kernel in json.loads(told.read_text()):
        home = Path(executable).parents[1]
        for path in (package, models, kernel):
            assert Path(path).is_relative_to(home), (executable, path)
        assert not home.is_relative_to(sys.prefix)
        assert not Path(package).is_relative_to(ROOT / "victor_spark")
        assert kernel.endswith(".so")
    found = [
        (Path(row["warc_filename"]).name, row["warc_record_offset"], row["status"], row["text"])
        for row in rows(output)
    ]
    assert found == expected


@pytest.fixture
def minio() -> Iterator[str]:
    """moto in the place of MinIO."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    yield "http://{}:{}".format(*server.get_host_and_port())
    server.stop()


@pytest.fixture
def composed(tmp_path: Path, minio: str) -> Iterator[Callable[..., Any]]:
    """Starts a service of docker-compose.yml on this machine: its own command, in its own environment."""
    started: list[Daemon] = []
    addresses = {"http://minio:9000": minio, "/tmp/spark-work": str(tmp_path / "work")}
    addresses |= {"/data": str(tmp_path), "--host master --port 7077": "--host 127.0.0.1 --port 0"}
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
    composed: Callable[..., Daemon],
    crawl: Path,
    expected: list[Outcome],
    tmp_path: Path,
    minio: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Addresses and sizes are this machine's; MinIO alone is another program (moto)."""
    for name, value in compose.service("job")["environment"].items():
        monkeypatch.setenv(name, compose.replaced(value, {"http://minio:9000": minio}))
    store = boto3.client("s3")
    store.create_bucket(Bucket="crawl")
    for path in crawl.iterdir():
        store.upload_file(str(path), "crawl", path.name)
    url = composed("master").said(standalone._MASTER_UP)[1]
    master = {"spark_//master:7077": url}
    for name in ("worker-1", "worker-2"):
        composed(name, **master).said(standalone._WORKER_UP)
    default, *others = compose.jobs()
    assert default == ""
    assert [command.split()[0] for command in others] == ["victor"]
    for command in (compose.service("job")["command"], *others):
        job = composed("job", command, **master)
        assert job.process.wait(600) == 0, job.tail()
    assert "complete" in job.tail()
    found = [
        (os.path.basename(row["warc_filename"]), row["warc_record_offset"], row["status"], row["text"])
        for row in rows(tmp_path / "clean")
    ]
    assert found == expected
