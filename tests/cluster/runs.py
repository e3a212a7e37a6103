"""A run of the job on the cluster: its start, observation, faults and results."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pyspark

from tests.cluster import standalone
from tests.cluster.standalone import QUICK, Cluster
from tests.spark.crawl import PARAGRAPH, Response, page, rows, write_warc
from victor_spark import pipeline
from victor_spark.settings import Settings
from victor_spark.warc import inputs, reading

WAIT_SECONDS: Final = 600.0
ROOT: Final = Path(__file__).resolve().parents[2]

Place = tuple[str, int | None]
Outcome = tuple[str, int | None, str, str | None]


@dataclass
class Run:
    """One start of the command, in its own session; `deeds`: the folder of files by its pages at work."""

    process: subprocess.Popen[bytes]
    folder: Path
    output: Path
    code: int | None = None

    @property
    def deeds(self) -> Path:
        return self.folder / "deeds"

    def busy(self, n: int = 1) -> list[int]:
        """The child processes that clean a page at this moment; waits for `n` of them."""
        deadline = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            signs = [int(sign.name.partition("-")[2]) for sign in self.deeds.glob("busy-*")]
            if len(pids := [pid for pid in signs if standalone.alive(pid)]) >= n:
                return pids
            time.sleep(0.01)
        raise TimeoutError(f"no page under work:\n{self.printed()}")

    def go(self) -> None:
        """Releases pages that the run holds, or that wait for leave."""
        for sign in ("met", "leave"):
            (self.deeds / sign).touch()

    def finish(self) -> None:
        """Waits for the end, which must be a success."""
        self.code = self.process.wait(WAIT_SECONDS)
        assert self.code == 0, self.printed()

    def fail(self) -> str:
        """Waits for the end, which must be a failure; returns our last line."""
        self.code = self.process.wait(WAIT_SECONDS)
        assert self.code != 0, self.printed()
        return [line for line in self.printed().splitlines() if line.startswith("victor: ")][-1]

    def kill(self) -> None:
        """Kills all processes of the driver at once, as a machine that goes down does."""
        for pid in standalone.in_session(self.process.pid):
            standalone.kill(pid)
        self.code = self.process.wait()

    def printed(self) -> str:
        """The end of the driver's log."""
        return (self.folder / "driver.log").read_text(errors="replace")[-9000:]

    def outcomes(self) -> list[Outcome]:
        """The rows: shard, offset, status and text."""
        return [
            (Path(row["warc_filename"]).name, row["warc_record_offset"], row["status"], row["text"])
            for row in rows(self.output)
        ]

    def attempts(self) -> list[dict[str, Any]]:
        """Every attempt at a task that ended, by the event log."""
        logs = [path for path in (self.folder / "events").rglob("*") if path.is_file()]
        events = [
            json.loads(line) for log in logs for line in log.read_text().splitlines() if line[:1] == "{"
        ]
        return [event for event in events if event.get("Event") == "SparkListenerTaskEnd"]


@dataclass
class Job:
    """A job to run: its cluster and shards; options of Spark and of the command.

    `held`: each shard's first page waits for `Run.go`, so that a test strikes pages under work for certain.
    `variables`: of the driver's environment, beside those of this process.
    """

    cluster: Cluster
    folder: Path
    crawl: Path
    conf: dict[str, str] = field(default_factory=dict)
    options: Sequence[str] = ()
    inputs: Sequence[str] | None = None
    output: Path | None = None
    held: bool = False
    variables: Mapping[str, str] = field(default_factory=dict)

    def start(self) -> Run:
        """Starts spark-submit; the job is under way when a page is cleaned."""
        for name in ("deeds", "events"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        if self.held:
            (self.folder / "deeds" / "held").touch()
        output = self.output or self.folder / "out"
        inputs = self.inputs or [str(self.crawl)]
        command = [*self._submit(), *inputs, "--output", str(output), *self.options]
        with (self.folder / "driver.log").open("ab") as log:
            process = subprocess.Popen(
                command, env=self._environment(), stdout=log, stderr=log, start_new_session=True
            )
        return Run(process, self.folder, output)

    def _submit(self) -> list[str]:
        conf = {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.ui.enabled": "false",
            "spark.executor.memory": "512m",
            "spark.driver.extraJavaOptions": QUICK,
            "spark.executor.extraJavaOptions": QUICK,
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": (self.folder / "events").as_uri(),
            "spark.eventLog.rolling.enabled": "false",
            "spark.eventLog.compress": "false",
            "spark.executorEnv.VICTOR_TEST_DEEDS": str(self.folder / "deeds"),
            "spark.executorEnv.PYTHONPATH": self._environment()["PYTHONPATH"],
            **self.conf,
        }
        program = shutil.which("spark-submit", path=self._environment()["PATH"])
        assert program
        flags = [part for key, value in conf.items() for part in ("--conf", f"{key}={value}")]
        return [program, "--master", self.cluster.url, *flags, str(ROOT / "jobs" / "clean.py")]

    def _environment(self) -> dict[str, str]:
        paths = [str(ROOT / "tests" / "cluster" / "site"), str(ROOT), self.variables.get("PYTHONPATH", "")]
        return {
            **environment(),
            **self.variables,
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
            "VICTOR_TEST_DEEDS": str(self.folder / "deeds"),
            "PYSPARK_PYTHON": sys.executable,
        }


def environment() -> dict[str, str]:
    """The environment of this process without Spark's variables; the interpreter's scripts are on PATH.

    Spark's own search for its home doesn't quote the interpreter's path, which may hold a space.
    """
    gone = {"PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET", "SPARK_SUBMIT_OPTS", "PYTHONPATH"}
    kept = {name: value for name, value in os.environ.items() if name not in gone}
    paths = [str(Path(sys.executable).parent), os.environ["PATH"]]
    home = str(Path(pyspark.__file__).parent)
    return {**kept, "PATH": os.pathsep.join(paths), "SPARK_HOME": home, "SPARK_LOCAL_IP": "127.0.0.1"}


def write_crawl(folder: Path, n_shards: int, n_pages: int, **deeds: str) -> Path:
    """Shards of pages that take 40 ms each; `deeds`, by "shard_page", do something else beside.

    Each shard's first page waits until two processes are at work.
    """
    folder.mkdir()
    for shard in range(n_shards):
        responses = []
        for number in range(n_pages):
            alone = "takes 40 ms" if number else "waits for company, takes 40 ms"
            deed = deeds.get(f"s{shard}_p{number}", alone)
            body = page(f"Ferry {shard}.{number}", f"This page {deed}.", PARAGRAPH, PARAGRAPH)
            responses.append(Response(f"http://harbour.example/{shard}/{number}", body.encode()))
        write_warc(folder / f"shard-{shard}.warc.gz", responses)
    return folder


def undisturbed(crawl: Path) -> list[Outcome]:
    """The expected rows of a crawl: its pages read and cleaned here, without Spark."""
    settings = Settings()
    clean = pipeline.cleaning(settings, pipeline.models(settings))
    return [
        (
            Path(record.warc_filename).name,
            record.warc_record_offset,
            document.status,
            document.text if document.status == "ok" else None,
        )
        for shard in inputs.resolve([str(crawl)])
        for record in reading.read(shard)
        for document in [clean(record)]
    ]


def of_kind(pid: int, kind: str) -> int:
    """The ancestors of a child that cleans a page: its Python worker, the worker's daemon, the executor."""
    worker = standalone.parent(pid)
    daemon = standalone.parent(worker)
    executor = standalone.parent(daemon)
    assert "pyspark.daemon" in standalone.command_line(daemon)
    assert "CoarseGrainedExecutorBackend" in standalone.command_line(executor)
    return {"child": pid, "worker": worker, "daemon": daemon, "executor": executor}[kind]


def strike(pid: int, number: signal.Signals = signal.SIGKILL) -> None:
    """Ends a process that must exist, and waits for its end."""
    assert standalone.alive(pid)
    os.kill(pid, number)
    deadline = time.monotonic() + WAIT_SECONDS
    while standalone.alive(pid) and time.monotonic() < deadline:
        time.sleep(0.001)


def infos(run: Run) -> Iterator[dict[str, Any]]:
    """Spark's record of every attempt at a task."""
    for event in run.attempts():
        yield event["Task Info"]
