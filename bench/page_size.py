"""CPU time by the size of a page: real pages, and pages joined to sizes of up to 10 MB.

    python bench/page_size.py [--shards INPUT...] [--rounds N]

Prints Markdown. A page's time is the best of all rounds, in one process, from the record's bytes to its text.
"""

import argparse
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from _shards import add_argument, shards

from victor_spark import pipeline
from victor_spark.document import Document
from victor_spark.settings import Settings
from victor_spark.warc import reading
from victor_spark.warc.records import Record

SIZES: Final = (10_000, 100_000, 1_000_000, 10_000_000)
"""Bytes of the pages that are put together."""
MIN_KILOBYTES: Final = 10
"""Of smaller pages, the time is mostly a constant that does not depend on the size."""


def main() -> None:
    """Runs the benchmark and prints its tables."""
    parser = argparse.ArgumentParser(description="CPU time by the size of a page.")
    add_argument(parser)
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="default: 3")
    arguments = parser.parse_args()
    settings = Settings()
    clean = pipeline.cleaning(settings, pipeline.models(settings))
    with shards(arguments.shards) as chosen:
        pages = [
            record
            for shard in chosen
            for record in reading.read(shard)
            if record.payload and record.status is None
        ]
    print("## CPU time by the size of a page\n")
    print("\n".join(_spread(pages, clean, arguments.rounds)))
    print("\n".join(_put_together(pages, clean, arguments.rounds)))


def _seconds(record: Record, clean: Callable[[Record], Document], n_rounds: int) -> float:
    best = float("inf")
    for _ in range(n_rounds):
        start = time.process_time()
        clean(record)
        best = min(best, time.process_time() - start)
    return best


def _spread(pages: Sequence[Record], clean: Callable[[Record], Document], n_rounds: int) -> Iterator[str]:
    """Milliseconds a kilobyte over real pages."""
    kilobytes = np.array([len(page.payload or b"") for page in pages]) / 1000
    spent = np.array([_seconds(page, clean, n_rounds) for page in pages]) * 1000
    yield "| set | pages | median ms/kB | p99 ms/kB | p99 / median |"
    yield "|---|---:|---:|---:|---:|"
    for name, chosen in (
        ("all", kilobytes > 0),
        (f"of {MIN_KILOBYTES} kB and more", kilobytes >= MIN_KILOBYTES),
    ):
        middle, high = np.percentile((spent / kilobytes)[chosen], [50, 99])
        yield f"| {name} | {chosen.sum()} | {middle:.4f} | {high:.4f} | {high / middle:.1f} × |"


def _put_together(
    pages: Sequence[Record], clean: Callable[[Record], Document], n_rounds: int
) -> Iterator[str]:
    """Milliseconds a kilobyte of pages that are the first bytes of all pages, joined."""
    endless = itertools.chain.from_iterable(itertools.repeat([page.payload or b"" for page in pages]))
    content = bytearray()
    yield "\nSeveral pages joined to one page; tags that are open at the end of a page stay open:\n"
    yield "| kB | ms | ms/kB |"
    yield "|---:|---:|---:|"
    for size in SIZES:
        while len(content) < size:
            content += next(endless)
        page = replace(pages[0], payload=bytes(content[:size]))
        spent = _seconds(page, clean, n_rounds) * 1000
        yield f"| {size / 1000:.0f} | {spent:.1f} | {spent / size * 1000:.4f} |"


if __name__ == "__main__":
    main()
