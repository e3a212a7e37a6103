"""Hadoop's own servers on loopback: a NameNode with DataNodes, a ResourceManager with a NodeManager.

The jar with their classes comes by Spark's own --packages, the HDFS client of Python by pip, once, into
.venv/hadoop/. Everything else is in Spark's jars.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from xml.sax.saxutils import escape

import fsspec
import pyspark
import requests

from tests.cluster.runs import environment
from tests.cluster.standalone import QUICK, START_SECONDS, Daemon, kill
from tests.loopback import free_ports

FOLDER: Final = Path(os.environ.get("VICTOR_HADOOP") or Path(sys.prefix) / "hadoop")
SPARK_JARS: Final = Path(pyspark.__file__).parent / "jars"
SUPERUSER: Final = "hdfs"
N_DATANODES: Final = 3
_OF_YARN: Final = "org.bouncycastle:bcpkix-jdk18on:1.78.1"
"""Needed by the ResourceManager, and not in the jar of all servers."""

_IN_SPARK: Final = (
    "org.apache.hadoop:hadoop-client-api,org.apache.hadoop:hadoop-client-runtime,org.slf4j:slf4j-api,"
    "org.xerial.snappy:snappy-java,commons-logging:commons-logging"
)
_REPORTED: Final = re.compile("Successfully sent block report")
_SCHEDULER: Final = "org.apache.hadoop.yarn.server.resourcemanager.scheduler.fifo.FifoScheduler"
_LOGGING: Final = """\
rootLogger.level = info
rootLogger.appenderRef.console.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n%ex
"""


class UnavailableError(Exception):
    """Hadoop cannot be installed here; the message gives the reason."""


@dataclass(frozen=True)
class Installed:
    """The folders with the jars of Hadoop's servers, and with Python's HDFS client."""

    jars: Path
    client: Path


def installed() -> Installed:
    """Fetches what is missing; UnavailableError where that fails."""
    (api,) = SPARK_JARS.glob("hadoop-client-api-*.jar")
    version = api.stem.rpartition("-")[2]
    found = Installed(FOLDER / f"jars-{version}", FOLDER / "client")
    FOLDER.mkdir(exist_ok=True)
    if not found.jars.exists():
        (FOLDER / "empty.py").touch()
        submit = [str(shutil.which("spark-submit", path=environment()["PATH"])), "--master", "local[1]"]
        names = f"org.apache.hadoop:hadoop-client-minicluster:{version},{_OF_YARN}"
        ivy = ["--packages", names, "--conf", f"spark.jars.ivy={FOLDER}/ivy"]
        _run(*submit, *ivy, "--exclude-packages", _IN_SPARK, str(FOLDER / "empty.py"))
        (FOLDER / "ivy" / "jars").rename(found.jars)
        shutil.rmtree(FOLDER / "ivy")
    if not found.client.exists():
        draft = FOLDER / "client.draft"
        shutil.rmtree(draft, ignore_errors=True)
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
        _run(*pip, "--target", str(draft), "--no-deps", "hdfs-native", "argcomplete")
        draft.rename(found.client)
    return found


def _run(*command: str) -> None:
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "not found" in line or "rror" in line]
        raise UnavailableError(f"{command[-1]} can't be installed: {(lines or [done.stderr[-300:]])[0]}")


@dataclass
class Servers:
    """Processes that share a folder, with a configuration in conf/."""

    folder: Path
    files: Installed
    daemons: dict[str, Daemon] = field(default_factory=dict)

    @property
    def variables(self) -> dict[str, str]:
        """The environment of clients."""
        return {**environment(), "HADOOP_CONF_DIR": str(self.folder / "conf")}

    def configure(self, name: str, values: Mapping[str, object]) -> None:
        """Writes a file of conf/."""
        (self.folder / "conf").mkdir(exist_ok=True)
        (self.folder / "conf" / "log4j2.properties").write_text(_LOGGING)
        rows = [
            f"<property><name>{key}</name><value>{escape(str(value))}</value></property>"
            for key, value in values.items()
        ]
        content = "\n".join(["<configuration>", *rows, "</configuration>"])
        (self.folder / "conf" / name).write_text(content)

    def command(self, main: str, *arguments: str, heap: str = "256m") -> list[str]:
        """A program of Hadoop's."""
        java = f"{os.environ['JAVA_HOME']}/bin/java"
        path = os.pathsep.join([f"{self.folder}/conf", f"{self.files.jars}/*", f"{SPARK_JARS}/*"])
        flags = [f"-Xmx{heap}", *QUICK.split(), f"-Djava.io.tmpdir={self.folder}"]
        return [java, *flags, "-cp", path, f"org.apache.hadoop.{main}", *arguments]

    def run(self, main: str, *arguments: str) -> str:
        """Runs a program of the administrator to its end."""
        done = subprocess.run(
            self.command(main, *arguments), env=self.admin, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    @property
    def admin(self) -> dict[str, str]:
        """The environment of servers and of the administrator's programs."""
        return {**self.variables, "HADOOP_USER_NAME": SUPERUSER}

    def start(self, name: str, main: str, *arguments: str, heap: str = "256m") -> Daemon:
        """Starts a server, in place of one that was killed."""
        if name in self.daemons:
            self.daemons[name].stop()
        log = self.folder / f"{name}.log"
        with log.open("wb") as file:
            process = subprocess.Popen(
                self.command(main, *arguments, heap=heap),
                env=self.admin,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                start_new_session=True,
            )
        self.daemons[name] = Daemon(process, log)
        return self.daemons[name]

    def tails(self) -> str:
        """The ends of all logs."""
        return "\n".join(daemon.tail() for daemon in self.daemons.values())

    def stop(self) -> None:
        """Ends every process, those of YARN's containers too, which are in sessions of their own."""
        for daemon in self.daemons.values():
            daemon.stop()
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if (process / "cwd").readlink().is_relative_to(self.folder):
                    kill(int(process.name))


@dataclass
class Hdfs(Servers):
    """A file system; `url` and `web` are its roots for hdfs:// and webhdfs://."""

    url: str = ""
    web: str = ""

    def start_datanodes(self, *numbers: int, reserved: int = 0) -> None:
        """Starts or restarts DataNodes; waits until the NameNode knows their blocks.

        `reserved`: bytes of their disks that they leave free; with more than a disk has, they are full.
        """
        names = ("datanode.address", "datanode.http.address", "datanode.ipc.address")
        options = [f"-Ddfs.{name}=127.0.0.1:0" for name in names]
        options.append(f"-Ddfs.datanode.du.reserved={reserved}")
        for name in (f"datanode-{number}" for number in numbers):
            folder = f"-Ddfs.datanode.data.dir={self.folder / name}"
            self.start(name, "hdfs.server.datanode.DataNode", folder, *options, heap="128m")
        for number in numbers:
            self.daemons[f"datanode-{number}"].wait_for(_REPORTED)

    def ask(self, operation: str, path: str, method: str = "PUT", **parameters: object) -> dict[str, Any]:
        """Does something as the superuser, by WebHDFS."""
        url = self.web.replace("webhdfs", "http") + "/webhdfs/v1" + path
        options = {"op": operation, "user.name": SUPERUSER, **parameters}
        answer = requests.request(method, url, params=options, timeout=60)
        answer.raise_for_status()
        found: dict[str, Any] = answer.json() if answer.content else {}
        return found

    def wait_for_datanodes(self, n: int) -> None:
        """Waits until the NameNode reports `n` live DataNodes."""
        state = (
            self.web.replace("webhdfs", "http") + "/jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState"
        )
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            with suppress(requests.ConnectionError, IndexError):  # not all of it is up
                if requests.get(state, timeout=60).json()["beans"][0]["NumLiveDataNodes"] == n:
                    return
            time.sleep(0.2)
        raise TimeoutError(self.tails())

    def file_system(self) -> Any:
        """The file system by fsspec's own client of WebHDFS."""
        host, port = self.web.removeprefix("webhdfs://").split(":")
        return fsspec.filesystem(
            "webhdfs", host=host, port=int(port), user=SUPERUSER, skip_instance_cache=True
        )

    def exists(self, path: str) -> bool:
        """Whether there is such a file or directory."""
        return bool(self.file_system().exists(path))

    def fetched(self, path: str, folder: Path) -> Path:
        """A directory, copied to this machine."""
        system = self.file_system()
        for name in system.find(path):
            target = folder / name.removeprefix(f"{path}/")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(system.cat_file(name))
        return folder


@contextmanager
def hdfs(folder: Path, files: Installed) -> Iterator[Hdfs]:
    """A NameNode and three DataNodes, which stop at the end; all users may write to the root."""
    rpc, web = free_ports(2)
    servers = Hdfs(folder, files, url=f"hdfs://127.0.0.1:{rpc}", web=f"webhdfs://127.0.0.1:{web}")
    servers.configure("core-site.xml", {"fs.defaultFS": servers.url, "hadoop.tmp.dir": folder / "tmp"})
    site = {
        "dfs.namenode.http-address": f"127.0.0.1:{web}",
        "dfs.namenode.safemode.extension": 0,
        "dfs.replication": 2,
        "dfs.blocksize": 1 << 20,
        "dfs.namenode.fs-limits.min-block-size": 0,
        # A DataNode that is silent for 2 * 2 + 10 * 1 seconds is dead.
        "dfs.heartbeat.interval": 1,
        "dfs.namenode.heartbeat.recheck-interval": 2000,
    }
    servers.configure("hdfs-site.xml", site)
    try:
        servers.run("hdfs.server.namenode.NameNode", "-format", "-force", "-nonInteractive")
        servers.start("namenode", "hdfs.server.namenode.NameNode")
        servers.start_datanodes(*range(N_DATANODES))
        servers.ask("SETPERMISSION", "/", permission="777")
        yield servers
    finally:
        servers.stop()


@contextmanager
def yarn(servers: Servers) -> Iterator[str]:
    """A ResourceManager and a NodeManager of 8 GB beside other servers; the address of its web services."""
    names = ("address", "scheduler.address", "resource-tracker.address", "admin.address", "webapp.address")
    free = zip(names, free_ports(len(names)), strict=True)
    ports = {f"yarn.resourcemanager.{name}": f"127.0.0.1:{port}" for name, port in free}
    of_node = ("address", "localizer.address", "webapp.address")
    site = {
        **ports,
        **{f"yarn.nodemanager.{name}": "127.0.0.1:0" for name in of_node},
        "yarn.resourcemanager.scheduler.class": _SCHEDULER,
        "yarn.scheduler.minimum-allocation-mb": 64,
        "yarn.nodemanager.resource.memory-mb": 8192,
        "yarn.nodemanager.resource.cpu-vcores": 8,
        "yarn.nodemanager.local-dirs": servers.folder / "containers",
        "yarn.nodemanager.log-dirs": servers.folder / "container-logs",
        "yarn.nodemanager.delete.debug-delay-sec": 600,  # a test that fails shows their logs
        "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": 99.9,
        "yarn.nodemanager.container-monitor.interval-ms": 500,
        # By default, polling is off, also where no cgroup enforces the limit (YARN-11967).
        "yarn.nodemanager.resource.memory.enforced": "false",
        "yarn.nodemanager.pmem-check-enabled": "true",
        "yarn.nodemanager.vmem-check-enabled": "false",
    }
    servers.configure("yarn-site.xml", site)
    web = f"http://{ports['yarn.resourcemanager.webapp.address']}/ws/v1/cluster"
    for name, main in (("resource", "ResourceManager"), ("node", "NodeManager")):
        servers.start(f"{name}manager", f"yarn.server.{name}manager.{main}")
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        with suppress(requests.RequestException):
            if requests.get(f"{web}/metrics", timeout=60).json()["clusterMetrics"]["activeNodes"]:
                break
        time.sleep(0.2)
    else:
        raise TimeoutError(servers.tails())
    yield web
