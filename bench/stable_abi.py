"""What the stable ABI costs: CPU time of the same pages with kernels that use it and with kernels that don't.

    python bench/stable_abi.py [--shards INPUT...] [--rounds N] [--control] [--write]

Builds the kernels for this version of Python alone into build/version (minutes, the first time), and runs a
process for either kind in turn. Prints Markdown. `--control` compares the usual kernels with themselves.
"""

import argparse
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, median
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
from victor_spark import pipeline
from victor_spark.warc import inputs, reading

settings = pipeline.Settings()
clean = pipeline.cleaning(settings, pipeline.models(settings))

def cleaned(shards):
    records = (record for shard in shards for record in reading.read(shard))
    return sum(clean(record).text is not None for record in records if record.status is None)

shards = inputs.resolve(sys.argv[1:])
cleaned(shards[:1])
start = time.process_time()
n_pages = cleaned(shards)
seconds = time.process_time() - start
files = {sys.modules[f"victor_spark.{name}"].__file__ for name in ("kernels.blocks", "rendering.walk")}
print(n_pages, seconds, *files)
"""


def main() -> int:
    """Builds, runs the processes, prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add_argument(parser)
    parser.add_argument("--rounds", type=int, default=20, metavar="N", help="default: 20")
    parser.add_argument("--control", action="store_true", help="compare the usual kernels with themselves")
    parser.add_argument("--write", action="store_true", help="write to bench/RESULTS.md as well")
    arguments = parser.parse_args()
    other = STABLE if arguments.control else VERSION
    with shards(arguments.shards) as chosen:
        if not arguments.control:
            build(other)
        inputs = [shard.path for shard in chosen]
        pairs = []
        for number in range(arguments.rounds):
            print(f"round {number + 1} of {arguments.rounds}", file=sys.stderr)
            first, second = (spent(one, inputs) for one in ((STABLE, other), (other, STABLE))[number % 2])
            pairs.append((first, second) if number % 2 == 0 else (second, first))
    printed = table(pairs)
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


def spent(variant: str, inputs: Sequence[str]) -> tuple[int, float]:
    """How many pages a process with these kernels cleaned, and its CPU seconds after a first shard."""
    environment = {**os.environ, "VICTOR_KERNELS": variant, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", WORK, *inputs]
    ran = subprocess.run(command, env=environment, stdout=subprocess.PIPE, encoding="utf-8", check=True)
    n_pages, seconds, *files = ran.stdout.split()
    for file in files:
        if not file.endswith(".so") or (".abi3." in file) is bool(variant):
            sys.exit(f"{file}: not a kernel of this kind; ./dev setup compiles the usual ones")
    return int(n_pages), float(seconds)


def table(pairs: Sequence[tuple[tuple[int, float], tuple[int, float]]]) -> str:
    """The ratio of both kinds within the rounds, with an interval."""
    ratios = [stable / other for (_, stable), (_, other) in pairs]
    dice = random.Random(0)
    means = sorted(fmean(dice.choices(ratios, k=len(ratios))) for _ in range(N_DRAWS))
    low, high = means[N_DRAWS // 40], means[-1 - N_DRAWS // 40]
    n_pages = pairs[0][0][0]
    of_stable, of_other = (1000 * median(pair[kind][1] for pair in pairs) / n_pages for kind in (0, 1))
    return f"""\
## The stable ABI

{n_pages} pages, {len(pairs)} rounds of two processes that take turns; CPU time from WARC.gz to text.

| stable ABI, ms/page | one version of Python, ms/page | ratio, mean | 95 % interval |
|---:|---:|---:|---:|
| {of_stable:.3f} | {of_other:.3f} | {fmean(ratios):.3f} | {low:.3f} – {high:.3f} |

Milliseconds are medians. The ratio is taken within each round; its interval is from {N_DRAWS:,} draws of
the rounds.
"""


if __name__ == "__main__":
    sys.exit(main())
