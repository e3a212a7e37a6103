"""Throughput and memory of the job: many pages on local[2] and a loopback cluster, and plain processes.

    python bench/scale.py [--shards INPUT...] [--pages N] [--rounds N] [--write]

In turns: two single processes at the same time, each with half of the shards, without Spark (read, clean,
rows, Parquet); the job on local[2]; the job on a standalone cluster of two workers with a core each.
Throughput counts from the first wave to the end of the run: without the start of the driver's Python and
Java, but with that of the Python workers, with the first jobs of Java, the ledger and the record. The time of
the two processes begins after their start. The job is submitted as recommended, with
conf/spark-defaults.conf.

Memory: the resident memory of all processes is sampled while the job runs. For Python it must be flat. Java's
heap grows up to its limit before garbage is collected, so that its resident memory does not show a leak; the
memory in use after a collection does. That must be flat, by the log of each Java's collections: at the end at
most 20 % more, or 16 MB, than after half of the pages.

Prints Markdown; --write replaces the section of bench/RESULTS.md, and the figures in bench/scale.json. Exit
code 1 if either way of Spark has less than 85 % of the two processes' pages per second, both by the clock and
by processor time (other work on the machine slows the ways unequally), or if memory is not flat.
"""

import argparse
import itertools
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from _results import replace
from _shards import add_argument, shards
from _watching import OTHERS, Heap, Watched, heap, watched

from tests.cluster import standalone
from tests.cluster.runs import environment
from victor_spark.logs import size
from victor_spark.warc import reading
from victor_spark.warc.shard import Shard

ROOT: Final = Path(__file__).resolve().parent.parent
DEFAULTS: Final = ROOT / "conf/spark-defaults.conf"
FIGURES: Final = ROOT / "bench/scale.json"
TITLE: Final = "## Scale"
DEFAULT_PAGES: Final = 100_000
MIN_PAGES: Final = 50_000
MIN_EFFICIENCY: Final = 0.85
ALLOWED_GROWTH: Final = 0.2
ALLOWED_MEGABYTES: Final = 16
PLAIN: Final = "two processes"

_PLAIN: Final = """
import json, sys, time
import pyarrow.parquet as pq
from victor_spark import pipeline
from victor_spark.warc import inputs
from victor_spark.worker.rows import page_work
from victor_spark.request import CleanRequest
request = CleanRequest()
work = page_work(request, pipeline.models(request.cleaning))
sys.stdin.readline()
started, used, n = time.monotonic(), time.process_time(), 0
with pq.ParquetWriter(sys.argv[1], work.schema, compression="zstd") as writer:
    for batch in work.batches(inputs.resolve([sys.argv[2]])):
        writer.write_batch(batch)
        n += batch.num_rows
print(json.dumps([n, time.monotonic() - started, time.process_time() - used]))
"""


@dataclass(frozen=True)
class Turn:
    """One way, once: pages, seconds by the clock and of processor time; the job's memory and its run.json."""

    n_pages: int
    seconds: float
    cpu: float
    memory: Watched | None = None
    run: dict[str, Any] | None = None
    n_bytes_written: int = 0
    n_files: int = 0
    heaps: tuple[tuple[str, Heap], ...] = ()


def main() -> int:
    """Runs all ways in turns and prints the results."""
    parser = argparse.ArgumentParser(description="Throughput and memory of the whole job over many pages.")
    add_argument(parser)
    parser.add_argument(
        "--pages", type=int, default=DEFAULT_PAGES, metavar="N", help=f"about (default: {DEFAULT_PAGES})"
    )
    parser.add_argument("--rounds", type=int, default=1, metavar="N", help="turns (default: 1)")
    parser.add_argument("--write", action="store_true", help="into bench/RESULTS.md and bench/scale.json")
    arguments = parser.parse_args()
    turns: dict[str, list[Turn]] = {PLAIN: [], "local[2]": [], "cluster": []}
    with shards(arguments.shards) as chosen, tempfile.TemporaryDirectory(prefix="victor-bench-") as name:
        folder = Path(name)
        crawl = crawl_of(chosen, folder / "crawl", arguments.pages)
        with cluster(folder / "cluster") as running:
            for number in range(arguments.rounds):
                turns[PLAIN].append(_reported(PLAIN, _two_processes(crawl, folder)))
                for way, master in (("local[2]", "local[2]"), ("cluster", running.url)):
                    output = folder / f"out-{number}-{way[:5]}"
                    sessions = [worker.process.pid for worker in running.workers.values()]
                    found = job(
                        [crawl / "a", crawl / "b"], output, master, sessions if way == "cluster" else ()
                    )
                    turns[way].append(_reported(way, found))
                    shutil.rmtree(output)
                    assert turns[way][-1].n_pages == turns[PLAIN][-1].n_pages
    lines = list(_report(turns))
    print("\n".join(lines))
    if arguments.write:
        replace(Path(__file__).name, "\n".join(lines))
        FIGURES.write_text(json.dumps(_figures(turns), indent=1) + "\n", encoding="utf-8")
    return int("NO" in lines[-1])


def _reported(way: str, turn: Turn) -> Turn:
    """The turn, after a line about it on stderr."""
    pages = f"{turn.n_pages} pages in {turn.seconds:.0f} s by the clock"
    print(f"{way}: {pages}, {turn.cpu:.0f} s of processor time", file=sys.stderr, flush=True)
    return turn


def crawl_of(chosen: Sequence[Shard], folder: Path, n_pages: int) -> Path:
    """The shards again and again under other names, in two equal halves, until there are enough pages."""
    sizes = {shard.path: sum(1 for _ in reading.read(shard)) for shard in chosen}
    n = 0
    for half in ("a", "b"):
        (folder / half).mkdir(parents=True)
    for number, shard in enumerate(itertools.cycle(chosen)):
        if n >= n_pages:
            return folder
        for half in ("a", "b"):
            link = folder / half / f"{number:06}-{Path(shard.path).name}"
            link.hardlink_to(Path(shard.path).absolute())  # all names of a symbolic link are one shard
            n += sizes[shard.path]
    raise AssertionError


def _two_processes(crawl: Path, folder: Path) -> Turn:
    """Two processes together, from the first page of both to the last of either."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", _PLAIN, str(folder / f"plain-{half}.parquet"), str(crawl / half)],
            env=_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for half in ("a", "b")
    ]
    for process in processes:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    stated = [json.loads(process.communicate()[0]) for process in processes]
    n, seconds, cpu = zip(*stated, strict=True)
    return Turn(sum(n), max(seconds), sum(cpu))


def job(
    inputs: Sequence[Path],
    output: Path,
    master: str,
    workers: Sequence[int],
    *,
    options: Sequence[str] = (),
    conf: Sequence[str] = (),
) -> Turn:
    """The job, from its first wave to its last; `workers` are the sessions of the cluster's processes."""
    conf = [
        *conf,
        "spark.driver.host=127.0.0.1",
        "spark.driver.bindAddress=127.0.0.1",
        "spark.ui.enabled=false",
    ]
    conf += ["spark.executor.memory=512m", f"spark.executorEnv.PYTHONPATH={ROOT}"]
    logs = _made(output.with_name(f"{output.name}-collections"))
    for kind in ("driver", "executor"):
        log = f"-Xlog:gc:file={logs / kind}-%p.log:time"
        conf.append(f"spark.{kind}.extraJavaOptions={_recommended(kind)} {log}")
    program = shutil.which("spark-submit", path=_environment()["PATH"])
    assert program
    command = [program, "--master", master, "--properties-file", str(DEFAULTS)]
    command += [part for pair in conf for part in ("--conf", pair)]
    command += [str(ROOT / "jobs/clean.py"), *map(str, inputs), "--output", str(output), *options]
    process = subprocess.Popen(
        command,
        env=_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        text=True,
    )
    message = []
    with watched([process.pid, *workers]) as found:
        assert process.stdout
        for line in process.stdout:
            message.append(line)
            if line.startswith("victor: cleaning") and not found.began:
                found.begin()
    if process.wait():
        sys.exit("".join(message)[-3000:])
    run = json.loads((output / "_run/run.json").read_text())
    files = list((output / "pages").rglob("*.parquet"))
    return Turn(
        run["n_pages"],
        run["seconds"]["clean"],
        found.seconds,
        found,
        run,
        sum(path.stat().st_size for path in files),
        len(files),
        tuple((path.name.partition("-")[0], heap(path, found)) for path in sorted(logs.iterdir())),
    )


def _recommended(kind: str) -> str:
    """The options of Java in conf/spark-defaults.conf."""
    name = f"spark.{kind}.extraJavaOptions"
    lines = DEFAULTS.read_text(encoding="utf-8").splitlines()
    return next(line[len(name) :].strip() for line in lines if line.startswith(name))


def _report(turns: dict[str, list[Turn]]) -> Iterator[str]:
    n_pages = turns[PLAIN][0].n_pages
    n_turns = len(turns[PLAIN])
    read = turns["cluster"][0].run or {}
    yield f"{TITLE}: {n_pages:,} pages, two cores"
    yield ""
    turns_shown = f"{n_turns} turn{'s' if n_turns > 1 else ''}"
    yield f"{size(read['n_bytes'])} of archives, {turns_shown}. If clock and processor time disagree, other"
    yield "processes used the machine at the same time."
    if n_pages < MIN_PAGES:
        yield "In a run this short, the start of workers and of Java dominates; the result does not hold for"
        yield f"{DEFAULT_PAGES:,} pages."
    yield ""
    yield "| | pages/s | of two processes | pages per second of processor time | of two processes |"
    yield "|---|---:|---:|---:|---:|"
    enough = True
    for way, found in turns.items():
        clock, cpu = _rates(found)
        plain_clock, plain_cpu = _rates(turns[PLAIN])
        of_clock, of_cpu = clock / plain_clock, cpu / plain_cpu
        enough &= max(of_clock, of_cpu) >= MIN_EFFICIENCY
        yield f"| {way} | {clock:.0f} | {of_clock:.0%} | {cpu:.0f} | {of_cpu:.0%} |"
    yield ""
    yield from _seconds(turns)
    yield ""
    yield "Resident megabytes of the largest process of each kind, after 20 %, 50 % and 100 % of the pages."
    yield ""
    yield "| | process | 20 % | 50 % | 100 % | second half |"
    yield "|---|---|---:|---:|---:|---:|"
    flat = True
    for way, (*_, last) in turns.items():
        for kind, curve in sorted(last.memory.memory.items() if last.memory else ()):
            assert last.memory
            growth = last.memory.growth(kind)
            flat &= growth <= ALLOWED_GROWTH or "Java" in kind
            marks = [curve[len(curve) // 5], curve[len(curve) // 2], curve[-1]]
            yield f"| {way} | {kind} | {' | '.join(f'{mark:.0f}' for mark in marks)} | {growth:+.0%} |"
    yield ""
    yield "Megabytes of Java's heaps in use after a collection, number of collections, and size of the heap."
    yield ""
    yield "| | process | 20 % | 50 % | 100 % | collections | heap size |"
    yield "|---|---|---:|---:|---:|---:|---:|"
    for way, (*_, last) in turns.items():
        for kind, one in last.heaps:
            flat &= _is_flat(one)
            marks_shown = " | ".join(
                "-" if (live := one.at(at)) is None else f"{live}" for at in (0.2, 0.5, 1)
            )
            n = sum(when >= 0 for when, _ in one.collections)
            yield f"| {way} | {kind} | {marks_shown} | {n} | {one.committed} |"
    yield ""
    yield f"At least {MIN_EFFICIENCY:.0%}: {'yes' if enough else 'NO'}; flat: {'yes' if flat else 'NO'}."


def _seconds(turns: dict[str, list[Turn]]) -> Iterator[str]:
    """Processor time by kind of process; that of the two processes is the time of the pages alone."""
    plain = turns[PLAIN][-1]
    yield f"Seconds of processor time by kind of process; the two processes: {plain.cpu:.0f}."
    yield ""
    yield "| | process | seconds |"
    yield "|---|---|---:|"
    for way, (*_, last) in turns.items():
        for kind, seconds in last.memory.cpu.most_common() if last.memory else ():
            named = "Workers of the cluster, shells" if kind == OTHERS else kind
            yield f"| {way} | {named} | {seconds:.1f} |"


def _is_flat(one: Heap) -> bool:
    """Whether little more is in use at the end than after half of the pages, or nothing was collected."""
    half, end = one.at(0.5), one.at(1.0)
    if half is None or end is None:
        return True
    return end <= max(half * (1 + ALLOWED_GROWTH), half + ALLOWED_MEGABYTES)


def _rates(turns: Sequence[Turn]) -> tuple[float, float]:
    """Pages a second, by the clock and of processor time."""
    by_clock = statistics.median(turn.n_pages / turn.seconds for turn in turns)
    return by_clock, statistics.median(turn.n_pages / turn.cpu for turn in turns)


def _figures(turns: dict[str, list[Turn]]) -> dict[str, Any]:
    """The figures for docs/scale.md, of the run on the cluster."""
    last = turns["cluster"][-1]
    assert last.run
    assert last.memory
    return {
        "n_pages": last.n_pages,
        "n_bytes_read": last.run["n_bytes"],
        "n_bytes_written": last.n_bytes_written,
        "n_files": last.n_files,
        "n_waves": last.run["n_waves"],
        "pages_per_core_second": round(last.n_pages / last.cpu, 1),
        "memory": {kind: round(max(curve)) for kind, curve in last.memory.memory.items()},
    }


def cluster(folder: Path) -> AbstractContextManager[standalone.Cluster]:
    """A running cluster with its files in a new folder."""
    return standalone.running(_made(folder), _environment())


def _environment() -> dict[str, str]:
    return {**environment(), "PYTHONPATH": str(ROOT), "PYSPARK_PYTHON": sys.executable}


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


if __name__ == "__main__":
    sys.exit(main())
