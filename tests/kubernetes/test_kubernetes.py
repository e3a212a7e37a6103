"""Spark on Kubernetes without a cluster: valid objects, and pods that run as processes of this machine."""

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.conftest import crawl, expected
from tests.cluster.runs import Outcome, environment
from tests.cluster.standalone import QUICK, Daemon
from tests.conftest import ROOT
from tests.deployment import manifests
from tests.kubernetes.api import SECONDS, Api, serving
from tests.loopback import free_ports
from tests.spark.crawl import rows

__all__ = ["crawl", "expected"]
pytestmark = [pytest.mark.kubernetes, pytest.mark.timeout(600)]

SMALL = {
    "spark.executor.instances": "2",
    "spark.executor.cores": "1",
    "spark.executor.memory": "512m",
    "spark.executor.extraJavaOptions": f'{QUICK} -Dof.test="two words"',
    "spark.kubernetes.executor.podTemplateFile": "/etc/victor/executor.yaml",
    "spark.kubernetes.namespace": "victor",
    "spark.kubernetes.container.image": "registry.example/victor-spark:0.1",
    "spark.ui.enabled": "false",
}


def outcomes(output: Path) -> list[Outcome]:
    """The file, offset, status and text of each row of an output."""
    return [
        (Path(row["warc_filename"]).name, row["warc_record_offset"], row["status"], row["text"])
        for row in rows(output)
    ]


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    """With the objects of deploy/kubernetes/victor.yaml, but for the Job."""
    image = {**environment(), "PYTHONPATH": str(ROOT), "PYSPARK_PYTHON": sys.executable}
    secrets = {"victor-s3": {"AWS_ACCESS_KEY_ID": "invented"}}
    (tmp_path / "pods").mkdir()
    with serving(tmp_path / "pods", image, secrets, manifests.validator("1.34")) as found:
        found.create("victor", "configmaps", configured(found.url))
        yield found


def configured(url: str) -> dict[str, Any]:
    """The ConfigMap, with small executors."""
    content = manifests.loaded()["ConfigMap"]
    text = "\n".join(f"{name} {value}" for name, value in SMALL.items())
    content["data"]["spark.properties"] = f"{text}\nspark.kubernetes.driver.master {url}\n"
    return content


def executors(api: Api) -> list[str]:
    """The names of the executors that there were."""
    return [name for name in api.processes if "-exec-" in name]


def check_executors(api: Api) -> None:
    """Two were started by the entry point, with the template's secret, and ended with the run."""
    assert not api.problems
    assert len(executors(api)) >= 2
    for name in executors(api):
        assert api.processes[name].process.poll() is not None, "an executor that outlives its driver"
    assert not [name for kind, name in api.objects if kind == "pods" and "-exec-" in name]


def test_the_job_of_the_manifest_cleans_a_crawl(
    api: Api, crawl: Path, expected: list[Outcome], tmp_path: Path
) -> None:
    """The driver in client mode, as the pod of the Job."""
    pod = manifests.loaded()["Job"]["spec"]["template"]
    places = {
        "k8s://https://kubernetes.default.svc": f"k8s://{api.url}",
        "jobs/clean.py": str(ROOT / "jobs" / "clean.py"),
        "s3://crawl/warc.paths": str(crawl),
        "s3://clean/out": str(tmp_path / "out"),
    }
    (container,) = pod["spec"]["containers"]
    container["args"] = [places.get(word, word) for word in container["args"]]
    api.create("victor", "pods", {"apiVersion": "v1", "kind": "Pod", **pod, "metadata": {"name": "driver"}})
    assert api.wait("driver") == 0, api.tails()
    assert outcomes(tmp_path / "out") == expected
    check_executors(api)


def test_cluster_mode_starts_the_driver_by_the_entry_point(
    api: Api, crawl: Path, expected: list[Outcome], tmp_path: Path
) -> None:
    """spark-submit makes a pod, a service and a config map; a missing input is exit code 2 of the driver."""
    (tmp_path / "executor.yaml").write_text(manifests.loaded()["ConfigMap"]["data"]["executor.yaml"])
    assert submitted(api, tmp_path, str(crawl), tmp_path / "out") == 0, api.tails()
    assert outcomes(tmp_path / "out") == expected
    check_executors(api)
    assert submitted(api, tmp_path, str(tmp_path / "none.warc.gz"), tmp_path / "never") == 2
    assert "none.warc.gz: no such file" in api.tails()


def submitted(api: Api, folder: Path, source: str, output: Path) -> int:
    """The exit code of a driver that spark-submit started."""
    before = set(api.processes)
    driver, blocks = map(str, free_ports(2))
    conf: Mapping[str, str] = {
        **SMALL,
        "spark.kubernetes.executor.podTemplateFile": str(folder / "executor.yaml"),
        "spark.kubernetes.driver.master": api.url,
        "spark.kubernetes.submission.waitAppCompletion": "false",
        "spark.kubernetes.authenticate.driver.serviceAccountName": "victor",
        "spark.driver.port": driver,
        "spark.driver.blockManager.port": blocks,
    }
    flags = [word for name, value in conf.items() for word in ("--conf", f"{name}={value}")]
    program = str(shutil.which("spark-submit", path=environment()["PATH"]))
    command = [program, "--master", f"k8s://{api.url}", "--deploy-mode", "cluster", *flags]
    command += [f"local://{ROOT}/jobs/clean.py", source, "--output", str(output)]
    submit = Daemon.started(command, folder / "submit.log", {**os.environ, **environment()})
    try:
        assert submit.process.wait(SECONDS) == 0, f"{submit.tail()}\n{api.tails()}"
    finally:
        submit.stop()
    (pod,) = [name for name in set(api.processes) - before if name.endswith("-driver")]
    return api.wait(pod)
