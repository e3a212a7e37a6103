"""`victor clean --by-site` and `--sites` beside one pass: CPU time of all processes, and disk.

    python bench/by_site.py [--shards INPUT...] [--pages N] [--rounds N]

Prints Markdown. The runs alternate. They clean the shards again and again under other names, so that the
start of Spark is a small part; CPU time is that from the first task on. `--sites` uses a table that `victor
sites write` makes of the same pages.
"""

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import _events
import pyarrow.parquet as pq
import scale
from _shards import add_argument, shards

COMMAND: Final = (sys.executable, "-c", "import sys; from victor_spark.cli import main; sys.exit(main())")
BY_SITE: Final = ("--by-site", "--keep-blocks")


def main() -> None:
    """Runs all ways, and prints their costs."""
    parser = argparse.ArgumentParser(description="CPU time of two passes beside one.")
    add_argument(parser)
    parser.add_argument("--pages", type=int, default=10_000, metavar="N", help="about (default: 10,000)")
    parser.add_argument("--rounds", type=int, default=2, metavar="N")
    arguments = parser.parse_args()
    took: dict[str, list[float]] = {"one pass": [], "--by-site": [], "--sites": []}
    with shards(arguments.shards) as chosen, tempfile.TemporaryDirectory(prefix="victor-bench-") as name:
        folder = Path(name)
        crawl = scale.crawl_of(chosen, folder / "crawl", arguments.pages)
        table, output = folder / "table", folder / "out"
        for _ in range(arguments.rounds):
            _run(crawl, output, took["one pass"])
            shutil.rmtree(output)
            events = folder / "events"
            shutil.rmtree(events, ignore_errors=True)
            n_pages = _run(crawl, output, took["--by-site"], BY_SITE, _events.settings(events))
            scored, known = (_size(output / f"_run/first_pass/{part}") for part in ("pages", "known-*"))
            text = sum(map(_text_bytes, (output / "_run/first_pass/pages").glob("*.parquet")))
            if not table.exists():
                subprocess.run(
                    [*COMMAND, "sites", "write", output, "--output", table], check=True, stdout=sys.stderr
                )
            shutil.rmtree(output)
            _run(crawl, output, took["--sites"], ("--sites", str(table)))
            shutil.rmtree(output)
        n_shuffled = _events.shuffled(events)
        sites = _size(table)
    print(f"## Two passes beside one ({n_pages} pages, {arguments.rounds} rounds)\n")
    for way, seconds in took.items():
        ratios = [two / one for one, two in zip(took["one pass"], seconds, strict=True)]
        of_one = f"{statistics.median(ratios):.2f} of one pass, {min(ratios):.2f} to {max(ratios):.2f}"
        print(f"- {way}: {1000 * statistics.median(seconds) / n_pages:.2f} ms of CPU time a page ({of_one})")
    sizes = [size / n_pages / 1000 for size in (scored, text, known, n_shuffled)]
    print(
        f"- scored pages on disk: {sizes[0]:.1f} kB a page (their text: {sizes[1]:.1f} kB before compression)"
    )
    print(f"- table of sites: {sites / n_pages / 1000:.1f} kB a page")
    print(f"- sums of sites: {sizes[2]:.1f} kB a page on disk, {sizes[3]:.1f} kB shuffled between tasks\n")


def _run(
    crawl: Path, output: Path, seconds: list[float], options: Sequence[str] = (), conf: Sequence[str] = ()
) -> int:
    """Cleans the crawl, and notes the CPU seconds; the number of pages."""
    halves = [crawl / "a", crawl / "b"]
    turn = scale.job(halves, output, "local[2]", (), options=options, conf=conf)
    shutil.rmtree(output.with_name(f"{output.name}-collections"))
    seconds.append(turn.cpu)
    return turn.n_pages


def _text_bytes(path: Path) -> int:
    file = pq.ParquetFile(path)
    return sum(
        len(text or "")
        for batch in file.iter_batches(columns=["scored.text"])
        for text in batch["scored"].field("text").to_pylist()
    )


def _size(folder: Path) -> int:
    return sum(
        path.stat().st_size
        for top in folder.parent.glob(folder.name)
        for path in top.rglob("*")
        if path.is_file()
    )


if __name__ == "__main__":
    main()
