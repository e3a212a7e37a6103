"""A crawl of invented pages in which one site has half of all pages: one pass and `--by-site`.

    python bench/skew.py [--pages N] [--sites N] [--write]

The sites of a skewed crawl have sizes by Zipf's law, and one more site has as many pages as they have
together; the sites of an even crawl have the same number of pages each. The pages are in random order. Six
runs: the skewed crawl in one pass, in two, in two on a loopback cluster, a quarter of it in two, and the even
crawl in one and in two.
Prints Markdown; with --write it becomes the section of bench/RESULTS.md, and its figures bench/skew.json.
"""

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path
from typing import Final

import _events
import pyarrow.parquet as pq
import scale
from _results import replace
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

TITLE: Final = "## Skewed sites"
FIGURES: Final = scale.ROOT / "bench/skew.json"
PAGES_PER_SHARD: Final = 1000
CONSONANTS: Final = "bcdfghlmnprstvw"
BY_SITE: Final = ("--by-site", "--keep-blocks")


@dataclass(frozen=True)
class Measured:
    """One run: bytes and milliseconds are per page; memory is the most of each kind of process."""

    name: str
    n_pages: int
    n_sites: int
    ms: float
    shuffled: float
    between: float
    sums: float
    longest_task: float
    memory: dict[str, float]


def main() -> int:
    """Runs all six and prints their figures."""
    parser = argparse.ArgumentParser(description="CPU time, shuffle and memory of two passes at skew.")
    parser.add_argument("--pages", type=int, default=200_000, metavar="N")
    parser.add_argument("--sites", type=int, default=5000, metavar="N")
    parser.add_argument("--write", action="store_true", help="into bench/RESULTS.md and bench/skew.json")
    arguments = parser.parse_args()
    n_pages, n_sites = arguments.pages, arguments.sites
    skewed, even = zipf(n_pages, n_sites), [n_pages // n_sites] * n_sites
    found = [
        measured("skewed, one pass", skewed, ()),
        measured("skewed, `--by-site`", skewed, BY_SITE),
        measured("skewed, `--by-site`, cluster", skewed, BY_SITE, on_cluster=True),
        measured("a quarter of it, `--by-site`", zipf(n_pages // 4, n_sites // 4), BY_SITE),
        measured("even, one pass", even, ()),
        measured("even, `--by-site`", even, BY_SITE),
    ]
    printed = "\n".join(report(found, n_pages, n_sites))
    print(printed)
    if arguments.write:
        replace(Path(__file__).name, printed)
        FIGURES.write_text(json.dumps([*map(asdict, found)], indent=1) + "\n", encoding="utf-8")
    return 0


def zipf(n_pages: int, n_sites: int) -> list[int]:
    """The number of pages of each site; the first one has half of all."""
    weights = [1 / rank for rank in range(1, n_sites)]
    scaled = [max(1, round(n_pages / 2 * weight / sum(weights))) for weight in weights]
    return [n_pages // 2, *scaled]


def measured(name: str, sizes: list[int], options: tuple[str, ...], *, on_cluster: bool = False) -> Measured:
    """Makes the crawl, runs the command, and measures it."""
    with tempfile.TemporaryDirectory(prefix="victor-bench-") as made, ExitStack() as stack:
        folder = Path(made)
        write_crawl(folder / "crawl", sizes)
        conf, master, workers = _events.settings(folder / "events"), "local[2]", list[int]()
        if on_cluster:
            cluster = stack.enter_context(scale.cluster(folder / "cluster"))
            master, workers = cluster.url, [worker.process.pid for worker in cluster.workers.values()]
        turn = scale.job([folder / "crawl"], folder / "out", master, workers, options=options, conf=conf)
        between = folder / "out/_run/first_pass"
        sums = sum(path.stat().st_size for path in between.glob("known-*/**/*.parquet"))
        scored = sum(path.stat().st_size for path in between.glob("pages/*.parquet"))
        shuffled = _events.shuffled(folder / "events")
        longest = max(_events.task_seconds(folder / "events"))
        n_rows = sum(pq.read_metadata(path).num_rows for path in (folder / "out/pages").glob("*.parquet"))
    assert turn.memory
    assert n_rows == turn.n_pages == sum(sizes)
    memory = {kind: max(curve) for kind, curve in turn.memory.memory.items()}
    print(f"{name}: {turn.n_pages} pages, {turn.cpu:.0f} s of CPU time", file=sys.stderr, flush=True)
    return Measured(
        name,
        n_rows,
        len(sizes),
        ms=1000 * turn.cpu / n_rows,
        shuffled=shuffled / n_rows,
        between=scored / n_rows,
        sums=sums / n_rows,
        longest_task=longest,
        memory=memory,
    )


def write_crawl(folder: Path, sizes: list[int]) -> None:
    """The pages of all sites in random order, as WARC files."""
    folder.mkdir()
    chance = random.Random(1)
    order = [(site, number) for site, size in enumerate(sizes) for number in range(size)]
    chance.shuffle(order)
    words = ["".join(_syllables(chance)) for _ in range(20_000)]
    for first in range(0, len(order), PAGES_PER_SHARD):
        headers = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
        with (folder / f"{first:07}.warc.gz").open("wb") as file:
            writer = WARCWriter(file, gzip=True)
            for site, number in order[first : first + PAGES_PER_SHARD]:
                record = writer.create_warc_record(
                    f"http://site{site}.example/{number}",
                    "response",
                    payload=BytesIO(page(site, number, words).encode()),
                    http_headers=headers,
                )
                writer.write_record(record)
                record.raw_stream.close()


def _syllables(chance: random.Random) -> Iterator[str]:
    for _ in range(chance.randint(1, 4)):
        yield chance.choice(CONSONANTS) + chance.choice("aeiou")


def page(site: int, number: int, words: list[str]) -> str:
    """An article, a list of teasers or a thread: the names of classes and the frame are the site's own."""
    own, chance = random.Random(site), random.Random(f"{site} {number}")

    def prose(source: random.Random, n: int) -> str:
        return " ".join(source.choices(words, k=n)).capitalize() + "."

    name = "".join(own.choices(words, k=2))
    menu = "".join(f'<li class="{name}-item"><a href="/{n}">{prose(own, 2)}</a></li>' for n in range(12))
    foot = "".join(f"<p>{prose(own, 12)}</p>" for _ in range(4))
    kind, n_parts = own.choice(("story", "teaser", "post")), chance.randint(4, 16)
    parts = "".join(
        f'<div class="{name}-{kind}"><h3>{prose(chance, 4)}</h3><p>{prose(chance, 40)}</p>'
        f'<span class="{name}-by">{prose(chance, 3)}</span></div>'
        for _ in range(n_parts)
    )
    return (
        f'<!DOCTYPE html><html><head><title>{prose(chance, 5)}</title></head><body class="{name}">'
        f'<ul class="{name}-menu">{menu}</ul><div class="{name}-main"><h1>{prose(chance, 6)}</h1>{parts}'
        f'</div><div class="{name}-foot">{foot}</div></body></html>'
    )


def report(found: list[Measured], n_pages: int, n_sites: int) -> Iterator[str]:
    """The figures as Markdown."""
    yield f"{TITLE}: {n_pages:,} invented pages of {n_sites:,} sites, two cores"
    yield ""
    yield "CPU time and bytes are per page. CPU time is that of all processes from the first task on. Memory:"
    yield "the largest resident size of a process of each kind, in MB."
    yield ""
    kinds = sorted({kind for each in found for kind in each.memory})
    yield f"| | pages | CPU ms | shuffled | scored pages | sums | longest task | {' | '.join(kinds)} |"
    yield "|---|" + "---:|" * (6 + len(kinds))
    for each in found:
        memory = " | ".join(f"{each.memory.get(kind, 0):.0f}" for kind in kinds)
        sizes = " | ".join(f"{size / 1000:.2f} kB" for size in (each.shuffled, each.between, each.sums))
        times = f"{each.ms:.2f} | {sizes} | {each.longest_task:.1f} s"
        yield f"| {each.name} | {each.n_pages:,} | {times} | {memory} |"
    one, two, _, _, even_one, even_two = (each.ms for each in found)
    yield ""
    yield f"Two passes take {two / one:.2f} times the CPU time of one on the skewed crawl, and"
    yield f"{even_two / even_one:.2f} times on the even one."
    yield ""
    command = f"python bench/skew.py --pages {n_pages} --sites {n_sites} --write"
    yield f"    {command}"


if __name__ == "__main__":
    sys.exit(main())
