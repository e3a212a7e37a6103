"""The CPU time of pages, and its share of the limit of each page.

    python bench/deadline.py [--shards INPUT...] [--write]

Without --shards: all pages of the annotated sets. Compares the CPU seconds of a page with the limit for its
size (`Limits.seconds`). Prints Markdown; with --write, the section of bench/RESULTS.md is replaced. Exit
code 1 if one page in a thousand takes more than a tenth of its limit. Also counts the pages that our parser
leaves to the parser library, and those beyond its budget of a tree.
"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from _results import replace
from _shards import add_argument, make, shards

from research import sample
from victor_html.parse import beyond_budget, parse
from victor_spark import pipeline
from victor_spark.evaluation import gold
from victor_spark.html import canonical
from victor_spark.html.charset import as_utf8
from victor_spark.request import Limits
from victor_spark.settings import Settings
from victor_spark.warc import inputs, reading
from victor_spark.warc.shard import Shard

TITLE: Final = "## CPU time of a page, and its limit"
ALLOWED_SHARE: Final = 0.1
SHARES: Final = (0.5, 0.99, 0.999, 0.9999, 1.0)
ALL_PAGES: Final = 1_000_000
KERNELS, LIBRARY, BEYOND = "kernels", "library", "kernels, beyond the budget of a tree"


def main() -> int:
    """Cleans every page and prints the quantiles of the times."""
    parser = argparse.ArgumentParser(description="CPU time of single pages, and its share of their limit.")
    add_argument(parser)
    parser.add_argument("--write", action="store_true", help="into bench/RESULTS.md")
    arguments = parser.parse_args()
    data = sample.data_directory()
    if arguments.shards or data is None:
        with shards(arguments.shards) as chosen:
            lines, bad = _measured(chosen)
    else:
        with tempfile.TemporaryDirectory(prefix="victor-bench-") as folder:
            make(Path(folder), data, sets=tuple(gold.find(data / "pages")), per_set=ALL_PAGES)
            lines, bad = _measured(inputs.resolve([folder]))
    print("\n".join(lines))
    if arguments.write:
        replace(Path(__file__).name, "\n".join(lines))
    return int(bad)


def _measured(chosen: Sequence[Shard]) -> tuple[list[str], bool]:
    settings, limits = Settings(), Limits()
    clean = pipeline.cleaning(settings, pipeline.models(settings))
    clean(next(iter(reading.read(chosen[0]))))  # what is built once
    seconds, granted, parsers = list[float](), list[float](), Counter[str]()
    for shard in chosen:
        for record in reading.read(shard):
            started = time.process_time()
            clean(record)
            seconds.append(time.process_time() - started)
            granted.append(limits.seconds(len(record.payload or b"")))
            parsers[_parser(record.payload or b"")] += 1
    shares = np.array(seconds) / np.array(granted)
    counts = ", ".join(f"{name} {parsers[name]:,}" for name in (KERNELS, LIBRARY, BEYOND))
    lines = [*_lines(np.array(seconds), shares, limits), "", f"Parsed by: {counts}."]
    return lines, bool(np.quantile(shares, 0.999) > ALLOWED_SHARE)


def _parser(payload: bytes) -> str:
    """Which of KERNELS, LIBRARY and BEYOND makes the tree of a page."""
    markup = canonical.with_iframes_ended(
        canonical.with_formulas_shown(canonical.with_parts_placed(as_utf8(payload, None)[0]))
    )
    if parse(markup).html is not None or parse(canonical.with_plaintext_read(markup)).html is not None:
        return KERNELS
    return LIBRARY if beyond_budget(markup) is None else BEYOND


def _lines(seconds: "np.ndarray", shares: "np.ndarray", limits: Limits) -> Iterator[str]:
    yield TITLE
    yield ""
    limit = f"{limits.page_seconds:g} s of CPU time, and as much again per megabyte of the page"
    yield f"{len(seconds):,} pages; the limit is {limit}."
    yield ""
    yield "| share of pages | CPU time, at most | share of the limit, at most |"
    yield "|---:|---:|---:|"
    for share in SHARES:
        name = "all" if share == 1 else f"{share * 100:g} %"
        yield f"| {name} | {np.quantile(seconds, share) * 1000:.1f} ms | {np.quantile(shares, share):.3%} |"


if __name__ == "__main__":
    sys.exit(main())
