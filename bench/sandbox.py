"""The cost of the child process: CPU time of all processes for one task, with it and without.

    python bench/sandbox.py [--shards INPUT...] [--rounds N]

Prints Markdown. Exit code 1 if the median of the rounds is over the 12 % that are allowed.
"""

import argparse
import os
import resource
import sys
from pathlib import Path
from statistics import median
from types import SimpleNamespace
from typing import Any, Final

import pyarrow as pa
from _shards import add_argument, shards

from victor_spark import pipeline
from victor_spark.request import CleanRequest, Limits
from victor_spark.settings import Settings
from victor_spark.spark import plan
from victor_spark.spark.tasks import CleanTask, clean_partition

ALLOWED_RATIO: Final = 1.12


def main() -> int:
    """Runs the benchmark, prints its table, and says whether the sandbox is cheap enough."""
    parser = argparse.ArgumentParser(description="CPU time of a task with its child process and without.")
    add_argument(parser)
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="default: 5")
    arguments = parser.parse_args()
    with shards(arguments.shards) as chosen:
        table = plan.collect([shard.path for shard in chosen]).table
        models: Any = SimpleNamespace(value=pipeline.models(Settings()))
        tasks = [
            CleanTask(CleanRequest(limits=Limits(sandbox=sandbox)), "bench", models)
            for sandbox in (False, True)
        ]
        for task in tasks:  # the first call loads models, and forks
            spent(table[:1], task)
        pairs = []
        for number in range(arguments.rounds):
            print(f"round {number + 1} of {arguments.rounds}", file=sys.stderr)
            # The order alternates, because the second run finds the files in memory.
            order = tasks if number % 2 else tasks[::-1]
            by_task = {task.request.limits.sandbox: spent(table, task) for task in order}
            pairs.append((by_task[False], by_task[True]))
    ratio = median(inside[0] / alone[0] for alone, inside in pairs)
    print("## The child process that cleans pages\n")
    print(f"{pairs[0][0][1]} pages, {len(pairs)} rounds; CPU seconds of all processes.\n")
    print("| without | with the sandbox | ratio |")
    print("|---:|---:|---:|")
    for (alone, _), (inside, _) in pairs:
        print(f"| {alone:.2f} | {inside:.2f} | {inside / alone:.3f} |")
    print(f"\nMedian: {ratio - 1:+.1%} (allowed: {ALLOWED_RATIO - 1:+.0%}).\n")
    return int(ratio > ALLOWED_RATIO)


def spent(table: pa.Table, task: CleanTask) -> tuple[float, int]:
    """CPU seconds for the shards, those of the child too while it still lives, and the number of rows."""
    start = cpu_seconds()
    n_rows = sum(len(batch) for batch in clean_partition(table.to_batches(max_chunksize=1), task=task))
    return cpu_seconds() - start, n_rows


def cpu_seconds() -> float:
    """Of this process and its children, living or not (Linux)."""
    own, dead = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return sum(usage.ru_utime + usage.ru_stime for usage in (own, dead)) + _of_living_children()


def _of_living_children() -> float:
    children = Path("/proc/self/task")
    pids = [pid for thread in children.iterdir() for pid in (thread / "children").read_text().split()]
    stats = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids]
    return sum(int(fields[11]) + int(fields[12]) for fields in stats) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    sys.exit(main())
