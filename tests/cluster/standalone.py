"""A Spark cluster on this machine's loopback addresses: a master and two workers of one core each."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

MASTER_HOST: Final = "127.0.0.1"
WORKER_HOSTS: Final = ("127.0.0.1", "127.0.0.2")
QUICK: Final = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""For Java that runs for seconds: what it would compile well is never called again."""

START_SECONDS: Final = 240.0
_CLASS: Final = "org.apache.spark.deploy"
_MASTER_UP: Final = re.compile(r"Starting Spark master at (spark://\S+)")
_WORKER_UP: Final = re.compile("Successfully registered with master")


@dataclass
class Daemon:
    """A master or a worker, in a session of its own together with all it starts."""

    process: subprocess.Popen[bytes]
    log: Path

    @classmethod
    def started(cls, command: Sequence[str | Path], log: Path, environment: Mapping[str, str]) -> "Daemon":
        """Starts a command whose output goes to a log."""
        with log.open("wb") as file:
            process = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                start_new_session=True,
            )
        return cls(process, log)

    def wait_for(self, pattern: re.Pattern[str]) -> re.Match[str]:
        """Waits until the log matches."""
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            if found := pattern.search(self.log.read_text(encoding="utf-8", errors="replace")):
                return found
            time.sleep(0.1)
        raise TimeoutError(f"no {pattern.pattern!r} in:\n{self.tail()}")

    def tail(self) -> str:
        """The end of its log."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join([f"--- {self.log.name}", *lines[-15:]])

    def stop(self) -> None:
        """Ends it and all it started."""
        for pid in in_session(self.process.pid):
            kill(pid)
        self.process.wait()


@dataclass
class Cluster:
    """A running cluster; `workers` by host."""

    url: str
    folder: Path
    environment: Mapping[str, str]
    master: Daemon
    workers: dict[str, Daemon] = field(default_factory=dict)

    def start_worker(self, host: str) -> None:
        """Starts the worker of a host, where there is none (any more)."""
        log = self.folder / f"worker-{host}-{time.monotonic_ns()}.log"
        options = ["--host", host, "--port", "0", "--webui-port", "0", "--cores", "1", "--memory", "1g"]
        options += ["--work-dir", str(self.folder / f"work-{host}"), self.url]
        environment = {**self.environment, "SPARK_LOCAL_IP": host}
        self.workers[host] = _daemon("worker.Worker", options, log, environment)

    def ready(self) -> None:
        """Replaces workers that are gone, and waits until all are there."""
        for host in WORKER_HOSTS:
            worker = self.workers.get(host)
            if worker is None or worker.process.poll() is not None:
                if worker is not None:
                    worker.stop()
                self.start_worker(host)
        for worker in self.workers.values():
            worker.wait_for(_WORKER_UP)

    def tails(self) -> str:
        """The ends of all logs, those of the executors too."""
        logs = sorted(self.folder.glob("work-*/*/*/stderr"), key=lambda path: path.stat().st_mtime)[-2:]
        ends = [
            f"--- {log}\n" + "\n".join(log.read_text(errors="replace").splitlines()[-25:]) for log in logs
        ]
        return "\n".join([self.master.tail(), *(worker.tail() for worker in self.workers.values()), *ends])

    def stop(self) -> None:
        """Ends every process."""
        for daemon in [*self.workers.values(), self.master]:
            daemon.stop()


@contextmanager
def running(folder: Path, environment: Mapping[str, str]) -> Iterator[Cluster]:
    """A cluster that stops at the end, whatever happened; its logs and work lie in `folder`."""
    options = ["--host", MASTER_HOST, "--port", "0", "--webui-port", "0"]
    environment = {**environment, "SPARK_DAEMON_MEMORY": "256m", "SPARK_DAEMON_JAVA_OPTS": QUICK}
    master = _daemon(
        "master.Master", options, folder / "master.log", {**environment, "SPARK_LOCAL_IP": MASTER_HOST}
    )
    cluster = Cluster("", folder, environment, master)
    try:
        cluster.url = master.wait_for(_MASTER_UP)[1]
        cluster.ready()
        yield cluster
    finally:
        cluster.stop()


def _daemon(name: str, options: list[str], log: Path, environment: Mapping[str, str]) -> Daemon:
    """A daemon of the Spark in SPARK_HOME."""
    program = Path(environment["SPARK_HOME"]) / "bin" / "spark-class"
    return Daemon.started([program, f"{_CLASS}.{name}", *options], log, environment)


def in_session(session: int) -> list[int]:
    """The processes of a session, youngest last."""
    return [pid for pid, fields in _processes() if int(fields[3]) == session]


def children(pid: int) -> list[int]:
    """The processes that a process started itself."""
    return [child for child, fields in _processes() if int(fields[1]) == pid]


def parent(pid: int) -> int:
    """The process that started another."""
    return int(_fields(Path(f"/proc/{pid}"))[1])


def alive(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return _fields(Path(f"/proc/{pid}"))[0] not in {"Z", "X"}
    except (FileNotFoundError, ProcessLookupError):
        return False


def command_line(pid: int) -> str:
    """The command line of a process."""
    return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")


def _processes() -> Iterator[tuple[int, list[str]]]:
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            yield int(folder.name), _fields(folder)
        except (FileNotFoundError, ProcessLookupError):
            continue


def _fields(folder: Path) -> list[str]:
    """The fields of a process from its state on: state, parent, group, session."""
    return (folder / "stat").read_text().rpartition(")")[2].split()


def kill(pid: int) -> None:
    """Ends a process at once, if it is there."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return
