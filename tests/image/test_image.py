"""The image of the Dockerfile, made without Docker, and the commands of docker-compose.yml in it."""

import os
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster import standalone
from tests.cluster.runs import ROOT
from tests.deployment import compose
from tests.image import root
from tests.image.root import Image, Network
from tests.s3 import seaweed
from tests.spark.crawl import rows
from tests.versions import environments
from victor_spark.cli import main

pytestmark = [pytest.mark.image, pytest.mark.timeout(1500)]


@pytest.fixture(scope="module")
def image() -> Iterator[Image]:
    try:
        seaweed.installed()
        made = root.built(ROOT / "Dockerfile")
    except (environments.UnavailableError, root.UnavailableError) as error:
        pytest.skip(str(error))
    yield made
    for stage in ("build", "last"):
        shutil.rmtree(root.FOLDER / stage)


def test_the_cluster_of_compose_cleans_a_crawl_in_the_image(image: Image, tmp_path: Path) -> None:
    """Master, workers, upload, job and status by the commands of the file; SeaweedFS in place of MinIO."""
    data = tmp_path / "data"
    (data / "crawl").mkdir(parents=True)
    for shard in (ROOT / "sample").glob("crawl-*.warc.gz"):
        shutil.copy(shard, data / "crawl")
    for path in (data, *data.rglob("*")):
        os.chown(path, 1000, 1000)
    services = compose.loaded()["services"]
    (tmp_path / "s3").mkdir()
    variables = services["minio"]["environment"]
    secrets = {variables["MINIO_ROOT_USER"]: variables["MINIO_ROOT_PASSWORD"]}
    store = seaweed.Server(tmp_path / "s3", ports={"s3.port": 9000}, secrets=secrets)
    network = Network.made(tmp_path, list(services), image)
    started = [network.holder]

    def start(name: str, command: str | None = None) -> standalone.Daemon:
        service = compose.service(name)
        words = image.command(shlex.split(command or service["command"]), data, service.get("hostname", name))
        variables = {**image.variables, **service["environment"], "HOME": "/home/victor"}
        started.append(network.start(f"{name}-{len(started)}", words, variables))
        return started[-1]

    try:
        started.append(network.start("minio", store.command(), os.environ))
        started[-1].wait_for(re.compile("Start Seaweed S3 API Server"))
        start("master").wait_for(standalone._MASTER_UP)
        for name in ("worker-1", "worker-2"):
            start(name).wait_for(standalone._WORKER_UP)
        for name, command in compose.runs():
            job = start(name, command)
            assert job.process.wait(600) == 0, job.tail()
        assert "complete" in job.tail()
    finally:
        for daemon in reversed(started):
            daemon.stop()
        store.kill()

    expected = tmp_path / "expected"
    assert main(["clean", str(ROOT / "sample" / "crawl-*.warc.gz"), "--output", str(expected)]) == 0
    assert outcomes(data / "clean") == outcomes(expected)


def outcomes(output: Path) -> list[tuple[object, ...]]:
    """The id, status and text of each row, without the paths of shards."""
    return sorted(((row["id"], row["status"], row["text"]) for row in rows(output)), key=str)


def test_the_entry_point_knows_the_words_of_spark_on_kubernetes(image: Image, tmp_path: Path) -> None:
    """`executor` starts the class in Spark's jars, which says that the driver cannot be reached."""
    network = Network.made(tmp_path, ["image"], image)
    variables = {
        **image.variables,
        "SPARK_JAVA_OPT_0": "-Dspark.driver.port=1",
        "SPARK_DRIVER_URL": "spark://CoarseGrainedScheduler@127.0.0.1:1",
        "SPARK_EXECUTOR_ID": "1",
        "SPARK_EXECUTOR_CORES": "1",
        "SPARK_EXECUTOR_MEMORY": "256m",
        "SPARK_APPLICATION_ID": "application",
        "SPARK_EXECUTOR_POD_IP": "127.0.0.1",
        "SPARK_EXECUTOR_POD_NAME": "pod",
        "SPARK_RESOURCE_PROFILE_ID": "0",
        "SPARK_USER": "victor",
    }
    try:
        executor = network.start("executor", image.command(["executor"]), variables)
        assert executor.process.wait(120) == 1, executor.tail()
    finally:
        network.holder.stop()
    log = executor.log.read_text(errors="replace")
    assert "KubernetesExecutorBackend" in log
    assert "Failed to connect to /127.0.0.1:1" in log


def test_the_packages_of_the_image_hold_compiled_kernels(image: Image, tmp_path: Path) -> None:
    network = Network.made(tmp_path, [], image)
    script = "from victor_html import tokenizer; from victor_spark.kernels import markup; "
    script += "from victor_spark.rendering import walk; "
    script += "print(tokenizer.__file__, markup.__file__, walk.__file__)"
    try:
        asked = network.start("kernels", image.command(["python3", "-c", script]), image.variables)
        assert asked.process.wait(60) == 0, asked.tail()
    finally:
        network.holder.stop()
    assert re.search(r"tokenizer\S+\.so .*markup\S+\.so .*walk\S+\.so", asked.tail())
