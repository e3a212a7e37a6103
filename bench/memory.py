"""Memory of one process that cleans page after page: it must not grow.

    python bench/memory.py [--shards INPUT...] [--pages N]

Prints Markdown. Exit code 1 if the process is more than 10 % larger at the end than after a fifth of
the pages.
"""

import argparse
import itertools
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from _shards import add_argument, shards

from victor_spark import pipeline
from victor_spark.settings import Settings
from victor_spark.warc import reading
from victor_spark.warc.records import Record
from victor_spark.warc.shard import Shard

PAGES_PER_SAMPLE: Final = 1000
ALLOWED_GROWTH: Final = 0.1
_PAGE_SIZE: Final = 4096


def main() -> int:
    """Runs the benchmark, prints its curve, and says whether it is flat."""
    parser = argparse.ArgumentParser(description="Resident memory over many pages through one process.")
    add_argument(parser)
    parser.add_argument("--pages", type=int, default=20_000, metavar="N", help="default: 20000")
    arguments = parser.parse_args()
    with shards(arguments.shards) as chosen:
        curve = measure(chosen, arguments.pages)
    settled, end = curve[max(1, len(curve) // 5)], curve[-1]
    growth = end / settled - 1
    print("## Memory of one process, from WARC.gz to text\n")
    print(f"Resident megabytes after each {PAGES_PER_SAMPLE} of {arguments.pages} pages (shards repeated):\n")
    print(" ".join(f"{megabytes:.0f}" for megabytes in curve))
    print(f"\nFrom {settled:.0f} MB after a fifth of the pages to {end:.0f} MB at the end: {growth:+.1%}.\n")
    return int(growth > ALLOWED_GROWTH)


def measure(chosen: Sequence[Shard], n_pages: int) -> list[float]:
    """Resident megabytes before the first page and after every thousand."""
    settings = Settings()
    clean = pipeline.cleaning(settings, pipeline.models(settings))
    curve = [resident()]
    for number, record in enumerate(itertools.islice(_forever(chosen), n_pages), start=1):
        clean(record)
        if number % PAGES_PER_SAMPLE == 0 or number == n_pages:
            curve.append(resident())
            print(f"{number} pages: {curve[-1]:.0f} MB", file=sys.stderr)
    return curve


def _forever(chosen: Sequence[Shard]) -> Iterator[Record]:
    for shard in itertools.cycle(chosen):
        yield from reading.read(shard)


def resident() -> float:
    """Megabytes of this process that are in memory now (Linux)."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE_SIZE / 1e6


if __name__ == "__main__":
    sys.exit(main())
