"""Hadoop's servers, shared by the tests of this folder; for ./dev test-hdfs and ./dev test-yarn."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.cluster import standalone
from tests.cluster.conftest import cluster, crawl, expected, job
from tests.cluster.runs import ROOT
from tests.cluster.standalone import Cluster
from tests.hadoop import servers
from tests.hadoop.servers import Hdfs, Installed, UnavailableError

__all__ = ["cluster", "crawl", "expected", "job"]

WORK = """
import json, sys
from victor_spark.cli import main
from victor_spark.spark.session import session
codes, sys.stdout = sys.stdout, sys.stderr
with session(master="local[2]"):
    for line in sys.stdin:
        print(main(json.loads(line)), file=codes, flush=True)
"""


@dataclass
class Victor:
    """A process with a Spark session in local mode, in which commands run one by one."""

    process: subprocess.Popen[str]
    log: Path
    n_said: int = field(default=0)

    def __call__(self, *words: object) -> tuple[int, list[str]]:
        """The exit code of a command, and its own lines on stderr."""
        assert self.process.stdin
        assert self.process.stdout
        print(json.dumps([str(word) for word in words]), file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        lines = self.log.read_text(errors="replace").splitlines()
        new, self.n_said = lines[self.n_said :], len(lines)
        assert answer, "\n".join(new[-40:])
        return int(answer), [line.removeprefix("victor: ") for line in new if line.startswith("victor: ")]


@pytest.fixture(scope="session")
def hadoop() -> Installed:
    try:
        return servers.installed()
    except UnavailableError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def hdfs(hadoop: Installed, crawl: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hdfs]:
    """A NameNode and three DataNodes, with the crawl in /crawl."""
    with servers.hdfs(tmp_path_factory.mktemp("hdfs"), hadoop) as found:
        system = found.file_system()
        for path in crawl.iterdir():
            found.ask("MKDIRS", "/crawl")
            system.pipe_file(f"/crawl/{path.name}", path.read_bytes())
        yield found


@pytest.fixture(scope="session")
def variables(hdfs: Hdfs) -> dict[str, str]:
    """The environment of commands: with the client, as a user who is not the superuser."""
    paths = os.pathsep.join([str(ROOT), str(hdfs.files.client)])
    return {**hdfs.variables, "PYTHONPATH": paths, "HADOOP_USER_NAME": "reader"}


@pytest.fixture(scope="session")
def victor(variables: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Victor]:
    log = tmp_path_factory.mktemp("victor") / "stderr.log"
    with log.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-c", WORK],
            env={**variables, "JDK_JAVA_OPTIONS": f"{standalone.QUICK} -Xmx512m"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=file,
            text=True,
            start_new_session=True,
        )
    yield Victor(process, log)
    for pid in standalone.in_session(process.pid):
        standalone.kill(pid)
    process.communicate()


@pytest.fixture(scope="session")
def shared_cluster(variables: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with standalone.running(tmp_path_factory.mktemp("cluster"), variables) as found:
        yield found
