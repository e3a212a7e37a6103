"""Does the job scale and stay flat? Many pages on local[2] and a loopback cluster, beside plain processes.

    python bench/scale.py [--shards INPUT...] [--pages N] [--rounds N]

In turns: two single processes at the same time, each with half of the shards, without Spark (read, clean,
rows, Parquet); the job on local[2]; the job on a standalone cluster of two workers with a core each.
Throughput is that of the cleaning itself, without the start of Python, Java and cluster. Memory is the
resident memory of drivers, executors and Python workers while the job runs, sampled. Prints Markdown. Exit
code 1 if either way of Spark has less than 85 % of the two processes' pages per second, or if a process
grows by more than 20 % over its second half.
"""

import argparse
import itertools
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from _shards import add_argument, shards

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # for the cluster of the tests

from tests.cluster import standalone  # noqa: E402 - needs the path
from tests.cluster.runs import environment  # noqa: E402
from victor_spark.archive.inputs import Shard  # noqa: E402

WANTED: Final = 0.85
ALLOWED_GROWTH: Final = 0.2
SAMPLE_SECONDS: Final = 2.0
WAYS: Final = ("two processes", "local[2]", "cluster")

_PLAIN: Final = """
import json, sys, time
import pyarrow.parquet as pq
from victor_spark import pipeline
from victor_spark.archive import inputs
from victor_spark.archive.records import ReadOptions
from victor_spark.spark.clean_partition import CleanTask, _batches, page_work
settings = pipeline.Settings()
models = pipeline.models(settings)
task = CleanTask(settings, ReadOptions(), None, "")
work = page_work(task, models)
sys.stdin.readline()
started, n = time.monotonic(), 0
with pq.ParquetWriter(sys.argv[1], task.schema, compression="zstd") as writer:
    for batch in _batches(inputs.resolve(sys.argv[2:]), work):
        writer.write_batch(batch)
        n += batch.num_rows
print(json.dumps([n, time.monotonic() - started]))
"""


@dataclass
class Memory:
    """Resident megabytes of a run's processes by kind, sample by sample."""

    samples: dict[str, list[float]] = field(default_factory=dict)

    def growth(self, kind: str) -> float:
        """How much larger the largest process of a kind was at the end than half way."""
        curve = self.samples[kind]
        middle = curve[len(curve) // 2]
        return statistics.median(curve[-max(1, len(curve) // 10) :]) / middle - 1


def main() -> int:
    """Runs all ways in turns and prints what came of them."""
    parser = argparse.ArgumentParser(description="Throughput and memory of the whole job over many pages.")
    add_argument(parser)
    parser.add_argument("--pages", type=int, default=100_000, metavar="N", help="about (default: 100000)")
    parser.add_argument("--rounds", type=int, default=1, metavar="N", help="turns (default: 1)")
    arguments = parser.parse_args()
    rates: dict[str, list[float]] = {way: [] for way in WAYS}
    memories: dict[str, Memory] = {}
    with shards(arguments.shards) as chosen, tempfile.TemporaryDirectory(prefix="victor-bench-") as name:
        folder = Path(name)
        crawl, n_pages = _crawl(chosen, folder / "crawl", arguments.pages)
        with standalone.running(_made(folder / "cluster"), _environment()) as cluster:
            for number in range(arguments.rounds):
                rates["two processes"].append(_two_processes(crawl, folder))
                for way, master in (("local[2]", "local[2]"), ("cluster", cluster.url)):
                    output = folder / f"out-{number}-{way[:5]}"
                    rate, memories[way] = _job(crawl, output, master, cluster)
                    rates[way].append(rate)
                    shutil.rmtree(output)
    return _report(rates, memories, n_pages)


def _crawl(chosen: Sequence[Shard], folder: Path, n_pages: int) -> tuple[list[Path], int]:
    """The shards again and again under other names, an even number, until there are that many pages."""
    from victor_spark.archive import records

    sizes = {shard.path: sum(1 for _ in records.read(shard)) for shard in chosen}
    folder.mkdir()
    links, n = list[Path](), 0
    for number, shard in enumerate(itertools.cycle(chosen)):
        if n >= n_pages and not len(links) % 2:
            return links, n
        links.append(folder / f"{number:06}-{Path(shard.path).name}")
        links[-1].symlink_to(Path(shard.path).absolute())
        n += sizes[shard.path]
    raise AssertionError


def _two_processes(crawl: Sequence[Path], folder: Path) -> float:
    """Pages per second of two processes together, from the first page of both to the last of either."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", _PLAIN, str(folder / f"plain-{half}.parquet"), *map(str, crawl[half::2])],
            env=_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for half in range(2)
    ]
    for process in processes:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    told = [json.loads(process.communicate()[0]) for process in processes]
    return float(sum(n for n, _ in told) / max(seconds for _, seconds in told))


def _job(
    crawl: Sequence[Path], output: Path, master: str, cluster: standalone.Cluster
) -> tuple[float, Memory]:
    """Pages per second of the job, from its first wave to its last, and its memory."""
    conf = ["spark.driver.host=127.0.0.1", "spark.driver.bindAddress=127.0.0.1", "spark.ui.enabled=false"]
    conf += ["spark.executor.memory=512m", f"spark.executorEnv.PYTHONPATH={ROOT}"]
    program = shutil.which("spark-submit", path=_environment()["PATH"])
    assert program
    command = [program, "--master", master, *(part for pair in conf for part in ("--conf", pair))]
    command += [str(ROOT / "jobs/clean.py"), str(crawl[0].parent), "--output", str(output)]
    process = subprocess.Popen(
        command,
        env=_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        text=True,
    )
    sessions = [process.pid, *(worker.process.pid for worker in cluster.workers.values())]
    with _sampled(sessions if "spark:" in master else sessions[:1]) as memory:
        said = process.communicate()[0]
    if process.returncode:
        sys.exit(said[-3000:])
    run = json.loads((output / "_run/run.json").read_text())
    return float(run["pages_per_second"]), memory


@contextmanager
def _sampled(sessions: Sequence[int]) -> Iterator[Memory]:
    memory, stop = Memory(), threading.Event()

    def sample() -> None:
        while not stop.wait(SAMPLE_SECONDS):
            largest: dict[str, float] = {}
            for pid in itertools.chain.from_iterable(map(standalone.in_session, sessions)):
                kind, megabytes = _process(pid)
                if kind is not None:
                    largest[kind] = max(largest.get(kind, 0.0), megabytes)
            for kind, megabytes in largest.items():
                memory.samples.setdefault(kind, []).append(megabytes)

    sampler = threading.Thread(target=sample, daemon=True)
    sampler.start()
    try:
        yield memory
    finally:
        stop.set()
        sampler.join()


def _process(pid: int) -> tuple[str | None, float]:
    """What a process is, and its resident megabytes."""
    try:
        line = standalone.command_line(pid)
        fields = Path(f"/proc/{pid}/statm").read_text().split()
    except (FileNotFoundError, ProcessLookupError):
        return None, 0.0
    kinds = {
        "CoarseGrainedExecutorBackend": "executor (Java)",
        "pyspark.daemon": "Python worker or its child",
        "deploy.SparkSubmit": "driver (Java)",
        "jobs/clean.py": "driver (Python)",
    }
    kind = next((kind for word, kind in kinds.items() if word in line), None)
    return kind, int(fields[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def _report(rates: dict[str, list[float]], memories: dict[str, Memory], n_pages: int) -> int:
    plain = statistics.median(rates["two processes"])
    print(f"## Scale: {n_pages} pages, two cores\n\n| | pages/s | of two processes |\n|---|---:|---:|")
    shares = {way: statistics.median(found) / plain for way, found in rates.items()}
    for way, found in rates.items():
        print(f"| {way} | {statistics.median(found):.0f} | {shares[way]:.0%} |")
    print(
        "\nResident megabytes of the largest process of each kind: a fifth, half, and the end of the way.\n"
    )
    print("| | process | 1/5 | 1/2 | end | second half |\n|---|---|---:|---:|---:|---:|")
    flat = True
    for way, memory in memories.items():
        for kind, curve in sorted(memory.samples.items()):
            growth = memory.growth(kind)
            flat &= growth <= ALLOWED_GROWTH
            marks = [curve[len(curve) // 5], curve[len(curve) // 2], curve[-1]]
            print(f"| {way} | {kind} | {' | '.join(f'{mark:.0f}' for mark in marks)} | {growth:+.0%} |")
    enough = all(share >= WANTED for share in shares.values())
    print(f"\nAt least {WANTED:.0%}: {'yes' if enough else 'NO'}; flat: {'yes' if flat else 'NO'}.")
    return int(not (enough and flat))


def _environment() -> dict[str, str]:
    return {**environment(), "PYTHONPATH": str(ROOT), "PYSPARK_PYTHON": sys.executable}


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


if __name__ == "__main__":
    sys.exit(main())
