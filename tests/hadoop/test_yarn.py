"""Runs on YARN with HDFS: both modes, the packed environment, and killed containers."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pyspark
import pytest

from tests.cluster import standalone
from tests.cluster.runs import ROOT, Outcome, undisturbed, write_crawl
from tests.hadoop import servers
from tests.hadoop.servers import Hdfs
from tests.hadoop.test_hdfs import outcomes
from victor_spark.cli import main

pytestmark = [pytest.mark.yarn, pytest.mark.timeout(900)]

CONF = {
    "spark.yarn.jars": f"local:{Path(pyspark.__file__).parent}/jars/*",
    "spark.executor.instances": "1",
    "spark.executor.memory": "512m",
    "spark.executor.memoryOverhead": "1g",
    "spark.driver.memory": "512m",
    "spark.driver.memoryOverhead": "1g",
    "spark.yarn.am.memory": "256m",
    "spark.ui.enabled": "false",
    "spark.yarn.maxAppAttempts": "2",
    "spark.yarn.appMasterEnv.SPARK_LOCAL_IP": "127.0.0.1",
    "spark.executorEnv.SPARK_LOCAL_IP": "127.0.0.1",
}
Submit = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture(scope="module")
def yarn(hdfs: Hdfs) -> Iterator[str]:
    with servers.yarn(hdfs) as web:
        yield web


@pytest.fixture(scope="module")
def dist(hdfs: Hdfs, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packed environment, with the HDFS client."""
    folder = tmp_path_factory.mktemp("packed") / "dist"
    sys.path.append(str(hdfs.files.client))
    try:
        assert main(["package", "--extras", "hdfs", "--output", str(folder)]) == 0
    finally:
        sys.path.remove(str(hdfs.files.client))
    return folder


@pytest.fixture
def submit(yarn: str, dist: Path, variables: dict[str, str], tmp_path: Path) -> Iterator[Submit]:
    """Starts spark-submit with the packed environment, in a folder of its own; stderr is in driver.log."""
    started: list[subprocess.Popen[bytes]] = []

    def start(mode: str, *arguments: str, **conf: str) -> subprocess.Popen[bytes]:
        environment = dict(variables)
        all_conf = {**CONF, "spark.pyspark.python": "./env/bin/python", **conf}
        if mode == "client":
            all_conf |= {"spark.driver.host": "127.0.0.1", "spark.pyspark.driver.python": sys.executable}
        else:  # Spark hands it on to containers, which must do with the archive
            environment.pop("PYTHONPATH")
        flags = [word for key, value in all_conf.items() for word in ("--conf", f"{key}={value}")]
        command = [str(shutil.which("spark-submit", path=variables["PATH"])), "--master", "yarn"]
        command += ["--deploy-mode", mode, "--archives", f"{dist}/victor-env.tar.gz#env", *flags]
        with (tmp_path / "driver.log").open("wb") as log:
            process = subprocess.Popen(
                [*command, str(dist / "clean.py"), *arguments],
                env=environment,
                cwd=tmp_path,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        started.append(process)
        return process

    yield start
    for process in started:
        for pid in standalone.in_session(process.pid):
            standalone.kill(pid)
        process.wait()


def ended(process: subprocess.Popen[bytes], folder: Path) -> tuple[int, list[str]]:
    """The exit code, and our own lines."""
    code = process.wait(600)
    log = (folder / "driver.log").read_text(errors="replace").splitlines()
    lines = [line for line in log if line.startswith("victor: ")]
    print("\n".join(log[-40:]))
    return code, lines


def test_an_application_master_killed_at_work_is_replaced_and_resumes(
    submit: Submit, hdfs: Hdfs, expected: list[Outcome], tmp_path: Path
) -> None:
    """Cluster mode: all Python comes from the archive; the second attempt waits for the first one's lease."""
    options = ["--output", "hdfs:///yarn/out", "--wave-bytes", "20000"]
    process = submit("cluster", "hdfs:///crawl/", *options)
    while process.poll() is None and not hdfs.exists("/yarn/out/_run/ledger/00000.json"):
        time.sleep(0.2)
    for pid in masters(hdfs.folder):
        os.kill(pid, signal.SIGKILL)
    assert ended(process, tmp_path)[0] == 0
    found = hdfs.fetched("/yarn/out", tmp_path / "rows")
    assert outcomes(found) == expected
    assert (found / "_run" / "run.json").exists()


def masters(folder: Path) -> list[int]:
    """The Java processes of application masters with containers below a folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(FileNotFoundError, ProcessLookupError):
            words = standalone.command_line(int(process.name))
            if (
                words.partition(" ")[0].endswith("java")
                and str(folder) in words
                and ".ApplicationMaster " in words
            ):
                found.append(int(process.name))
    assert found
    return found


def test_an_error_of_ours_is_exit_code_1_in_cluster_mode(submit: Submit, tmp_path: Path) -> None:
    """A missing input; in client mode, exit codes are ours, as below."""
    process = submit("cluster", "hdfs:///crawl/none.warc.gz", "--output", "hdfs:///yarn/never")
    assert ended(process, tmp_path)[0] == 1


def test_a_container_killed_for_its_memory_ends_the_run_which_resumes_in_a_larger_one(
    submit: Submit, hdfs: Hdfs, tmp_path: Path
) -> None:
    """Client mode: a page takes 2 GB, which --page-memory allows, in a container that has 1.2 GB."""
    crawl = write_crawl(tmp_path / "crawl", 2, 3, s1_p1="holds memory, is slow once")
    for shard in sorted(crawl.iterdir()):
        hdfs.file_system().pipe_file(f"/greedy/{shard.name}", shard.read_bytes())
    deeds = tmp_path / "deeds"
    deeds.mkdir()
    (deeds / "met").touch()
    conf = {
        "spark.task.maxFailures": "1",
        "spark.executorEnv.PYTHONPATH": f"{ROOT / 'tests' / 'cluster' / 'site'}{os.pathsep}{ROOT}",
        "spark.executorEnv.VICTOR_TEST_DEEDS": str(deeds),
    }
    command = ("client", "hdfs:///greedy/", "--output", "hdfs:///yarn/greedy", "--page-memory", "4000")
    process = submit(*command, **conf, **{"spark.executor.memoryOverhead": "700m"})
    code, lines = ended(process, tmp_path)
    assert code == 2, lines
    assert re.search(r"YARN killed a container \(.+ GB of 1\.2 GB physical memory used\): raise", lines[-1])
    assert not hdfs.exists("/yarn/greedy/_run/run.json")
    (deeds / "slow").touch()
    process = submit(*command, **conf, **{"spark.executor.memoryOverhead": "4g"})
    assert ended(process, tmp_path)[0] == 0
    assert outcomes(hdfs.fetched("/yarn/greedy", tmp_path / "rows")) == undisturbed(crawl)
