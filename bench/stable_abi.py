"""The cost of the stable ABI: CPU time of the same pages with kernels that use it and without.

    python bench/stable_abi.py [--shards INPUT...] [--rounds N] [--control] [--write]

Builds the kernels for this version of Python alone into build/version (minutes, the first time). In each
round two new processes, one with either kind, clean all shards in turns: processes differ by a few percent,
also with the same kernels. Prints Markdown. `--control` compares the usual kernels with themselves.
"""

import argparse
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Final

from _results import replace
from _shards import add_argument, shards

ROOT: Final = Path(__file__).resolve().parent.parent
STABLE, VERSION = "", "version"
"""Variants of the kernels: VARIANTS in setup.py."""
N_DRAWS: Final = 10_000
WORK: Final = """
import sys, time
from tests.fuzz import built
from victor_spark.settings import Settings
from victor_spark import pipeline
from victor_spark.warc import inputs, reading

settings = Settings()
clean = pipeline.cleaning(settings, pipeline.models(settings))
print(sys.modules["victor_spark.kernels.blocks"].__file__, flush=True)
for path in sys.stdin:
    start = time.process_time()
    records = (record for shard in inputs.resolve([path.strip()]) for record in reading.read(shard))
    n_pages = sum(clean(record).text is not None for record in records if record.status is None)
    print(n_pages, time.process_time() - start, flush=True)
"""


def main() -> int:
    """Builds, runs the processes, prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add_argument(parser)
    parser.add_argument("--rounds", type=int, default=10, metavar="N", help="default: 10")
    parser.add_argument("--control", action="store_true", help="compare the usual kernels with themselves")
    parser.add_argument("--write", action="store_true", help="write to bench/RESULTS.md as well")
    arguments = parser.parse_args()
    variants = (STABLE, STABLE if arguments.control else VERSION)
    with shards(arguments.shards) as chosen:
        if not arguments.control:
            build(VERSION)
        pairs = []
        for number in range(arguments.rounds):
            print(f"round {number + 1} of {arguments.rounds}", file=sys.stderr)
            processes = [process(variant) for variant in variants]
            n_pages, seconds = 0, [0.0, 0.0]
            for each in processes:
                spent(each, chosen[0].path)  # the first call loads models
            for place, shard in enumerate(chosen):
                turn = (number + place) % 2
                for kind in (turn, 1 - turn):
                    n_cleaned, took = spent(processes[kind], shard.path)
                    seconds[kind] += took
                n_pages += n_cleaned
            for each in processes:
                each.communicate()
            pairs.append((seconds[0], seconds[1]))
    printed = table(pairs, n_pages)
    print(printed)
    if arguments.write:
        replace(Path(__file__).name, printed)
    return 0


def build(variant: str) -> None:
    """Builds the kernels of a variant, those that changed."""
    folder = f"build/{variant}"
    command = [
        sys.executable,
        "setup.py",
        "build_ext",
        "--build-lib",
        folder,
        "--build-temp",
        f"{folder}/temp",
    ]
    environment = {**os.environ, "VICTOR_KERNELS": variant}
    subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)


def process(variant: str) -> subprocess.Popen[str]:
    """A process with the kernels of a variant that cleans the shards named on its stdin."""
    environment = {**os.environ, "VICTOR_KERNELS": variant, "PYTHONPATH": str(ROOT)}
    command, pipe = [sys.executable, "-c", WORK], subprocess.PIPE
    started = subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, text=True)
    assert started.stdout
    kernel = started.stdout.readline().strip()
    if not kernel.endswith(".so") or (".abi3." in kernel) is bool(variant):
        started.kill()
        sys.exit(f"{kernel}: not a kernel of this kind; ./dev setup compiles the usual ones")
    return started


def spent(worker: subprocess.Popen[str], path: str) -> tuple[int, float]:
    """How many pages of a shard the process cleaned, and its CPU seconds."""
    assert worker.stdout
    print(path, file=worker.stdin, flush=True)
    n_pages, seconds = worker.stdout.readline().split()
    return int(n_pages), float(seconds)


def table(pairs: Sequence[tuple[float, float]], n_pages: int) -> str:
    """The ratio of both kinds, with an interval."""
    ratios, dice = [stable / other for stable, other in pairs], random.Random(0)
    means = sorted(fmean(dice.choices(ratios, k=len(ratios))) for _ in range(N_DRAWS))
    low, high = means[N_DRAWS // 40], means[-1 - N_DRAWS // 40]
    stable, other = (1000 * fmean(pair[kind] for pair in pairs) / n_pages for kind in (0, 1))
    return f"""\
## The stable ABI

{n_pages} pages, {len(pairs)} rounds with two new processes each, which take turns shard by shard. CPU time
from WARC.gz to text.

| stable ABI, ms/page | one version of Python, ms/page | ratio, mean of rounds | 95 % interval |
|---:|---:|---:|---:|
| {stable:.3f} | {other:.3f} | {fmean(ratios):.3f} | {low:.3f} – {high:.3f} |

The interval is from {N_DRAWS:,} draws of the rounds. Processes differ by a few percent, also with the same
kernels.
"""


if __name__ == "__main__":
    sys.exit(main())
