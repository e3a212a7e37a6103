"""`victor clean --by-site` and `--sites` beside one pass: processor time of all processes, and disk.

    python bench/by_site.py [--shards INPUT...] [--rounds N]

Prints Markdown. The runs alternate. `--sites` uses a table that `victor sites write` makes of the same pages.
"""

import argparse
import shutil
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Final

import _events
import pyarrow.parquet as pq
from _processes import cpu_seconds
from _shards import add_argument, shards

COMMAND: Final = (sys.executable, "-c", "import sys; from victor_spark.cli import main; sys.exit(main())")


def main() -> None:
    """Runs all ways, and prints their costs."""
    parser = argparse.ArgumentParser(description="Processor time of two passes beside one.")
    add_argument(parser)
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    arguments = parser.parse_args()
    took: dict[str, list[float]] = {"one pass": [], "--sites": [], "--by-site": []}
    with shards(arguments.shards) as chosen, tempfile.TemporaryDirectory(prefix="victor-bench-") as folder:
        paths = [shard.path for shard in chosen]
        for _ in range(arguments.rounds):
            for name, seconds in took.items():
                output = Path(folder) / "out"
                shutil.rmtree(output, ignore_errors=True)
                events = Path(folder) / "events"
                shutil.rmtree(events, ignore_errors=True)
                table = Path(folder) / "table"
                if name == "--sites" and not table.exists():
                    before = [*paths, "--output", output, "--by-site", "--keep-blocks"]
                    cpu_seconds([*COMMAND, "clean", *before])
                    cpu_seconds([*COMMAND, "sites", "write", output, "--output", table])
                    shutil.rmtree(output)
                options: dict[str, list[object]] = {
                    "--by-site": ["--by-site", "--keep-blocks"],
                    "--sites": ["--sites", table],
                }
                command = [*COMMAND, "clean", *paths, "--output", output, *options.get(name, [])]
                seconds.append(cpu_seconds(command, _events.logged_to(events)))
        n_pages = sum(pq.read_metadata(path).num_rows for path in (output / "pages").glob("*.parquet"))
        text = sum(map(_text_bytes, (output / "_run/first_pass/pages").glob("*.parquet")))
        n_shuffled = _events.shuffled(events)
        scored, known = (_size(output / f"_run/first_pass/{name}") for name in ("pages", "known-*"))
        sites = _size(table)
    print(f"## Two passes beside one ({n_pages} pages, {arguments.rounds} rounds)\n")
    for name, seconds in took.items():
        ratios = [two / one for one, two in zip(took["one pass"], seconds, strict=True)]
        of_one = f"{statistics.median(ratios):.2f} of one pass, {min(ratios):.2f} to {max(ratios):.2f}"
        cpu = f"{1000 * statistics.median(seconds) / n_pages:.2f} ms of processor time a page"
        print(f"- {name}: {cpu} ({of_one})")
    sizes = [size / n_pages / 1000 for size in (scored, text, known, n_shuffled)]
    print(
        f"- scored pages on disk: {sizes[0]:.1f} kB a page (their text: {sizes[1]:.1f} kB before compression)"
    )
    print(f"- table of sites: {sites / n_pages / 1000:.1f} kB a page")
    print(f"- sums of sites: {sizes[2]:.1f} kB a page on disk, {sizes[3]:.1f} kB shuffled between tasks\n")


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
