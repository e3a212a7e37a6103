"""CPU time on one core from WARC.gz to text: victor beside its peers, and step by step.

    python bench/pipeline.py [--shards INPUT...] [--rounds N]

Prints Markdown. All tools clean the same records in the same process, shard by shard in turn, so that a busy
machine slows all of them alike: the ratios say more than the milliseconds.
"""

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Final

from _peers import Tool, ours, peers
from _shards import add_argument, shards
from _steps import FLOOR, STEPS, spent

from victor_spark.warc import reading
from victor_spark.warc.shard import Shard

REFERENCE: Final = "victor"
NOTE: Final = """\
Rest: the document's own numbers, checks of its text, and the difference between two runs. The floor is the
minimum for programs that read WARC files and parse HTML with a library: reading and parsing only."""

Seconds = Mapping[str, Sequence[float]]


def main() -> None:
    """Runs the benchmark and prints its tables."""
    parser = argparse.ArgumentParser(description="CPU time on one core, WARC.gz to text.")
    add_argument(parser)
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="default: 3")
    arguments = parser.parse_args()
    with shards(arguments.shards) as chosen:
        tools = {**ours(), **peers()}
        for tool in tools.values():  # first calls load lists and compile patterns
            _pages(chosen[:1], tool, limit=5)
        seconds = rounds(chosen, tools, arguments.rounds)
        n_pages, kilobytes = _size(chosen)
        print("\n".join(_beside(seconds, n_pages, kilobytes)))
        whole = min(seconds[REFERENCE]) / n_pages
        print("\n".join(_by_step(chosen, arguments.rounds, whole)))


def rounds(chosen: Sequence[Shard], tools: Mapping[str, Tool], n: int) -> Seconds:
    """CPU seconds of every tool in each round; within a round the tools take turns shard by shard."""
    seconds: dict[str, list[float]] = defaultdict(list)
    for number in range(n):
        print(f"round {number + 1} of {n}", file=sys.stderr)
        for name in tools:
            seconds[name].append(0.0)
        for shard in chosen:
            for name, tool in tools.items():
                seconds[name][-1] += _pages([shard], tool)
    return seconds


def _pages(chosen: Sequence[Shard], tool: Tool, limit: int | None = None) -> float:
    """CPU seconds for reading and cleaning the shards' records."""
    start, n_pages = time.process_time(), 0
    for shard in chosen:
        for record in reading.read(shard):
            if record.payload is not None and record.status is None:
                tool(record)
                n_pages += 1
            if n_pages == limit:
                break
    return time.process_time() - start


def _size(chosen: Sequence[Shard]) -> tuple[int, float]:
    """How many pages there are, and how many kilobytes a page has on average."""
    lengths = [len(record.payload or b"") for shard in chosen for record in reading.read(shard)]
    return len(lengths), sum(lengths) / len(lengths) / 1000


def _beside(seconds: Seconds, n_pages: int, kilobytes: float) -> Iterator[str]:
    n_rounds = len(seconds[REFERENCE])
    yield "## From WARC.gz to text, CPU time on one core\n"
    yield f"{n_pages} pages of {kilobytes:.0f} kB on average, {n_rounds} rounds, tools in turn.\n"
    yield f"| tool | ms/page | pages/s | its time / {REFERENCE}'s, min | median |"
    yield "|---|---:|---:|---:|---:|"
    for name, spent_by in seconds.items():
        ratios = [other / own for other, own in zip(spent_by, seconds[REFERENCE], strict=True)]
        faster = "" if name == REFERENCE else f"{min(ratios):.1f} ×"
        middle = "" if name == REFERENCE else f"{median(ratios):.1f} ×"
        best = min(spent_by) / n_pages
        yield f"| {name} | {best * 1000:.2f} | {1 / best:.0f} | {faster} | {middle} |"
    yield "\nMilliseconds are those of the best round; the ratio is taken within each round.\n"


def _by_step(chosen: Sequence[Shard], n_rounds: int, whole: float) -> Iterator[str]:
    """A table of the steps, of the rest, of the whole and of the floor."""
    results = [spent(chosen) for _ in range(n_rounds)]
    n_pages = results[0][1]
    best = {step: min(result[step] for result, _ in results) / n_pages for step in (*STEPS, FLOOR)}
    floor = best["read"] + best[FLOOR]
    yield "## Step by step\n"
    yield "| step | ms/page | share |"
    yield "|---|---:|---:|"
    for step in STEPS:
        yield f"| {step} | {best[step] * 1000:.3f} | {best[step] / whole:.0%} |"
    rest = whole - sum(best[step] for step in STEPS)
    yield f"| rest | {rest * 1000:.3f} | {rest / whole:.0%} |"
    yield f"| {REFERENCE} as a whole | {whole * 1000:.3f} | 100% |"
    yield f"| the floor: read, {FLOOR} | {floor * 1000:.3f} | {floor / whole:.0%} |"
    yield f"\n{NOTE}\n"


if __name__ == "__main__":
    main()
