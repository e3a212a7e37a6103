"""Cost and quality of `victor dedup`, on real texts that are repeated with edits.

    python bench/dedup.py [--pages N...] [--write]

The texts are those of the annotated sets; each has up to four copies with up to 15 % of its words changed.
Prints, as Markdown, CPU time (of all processes, start included) and shuffled bytes per page, and the share of
pairs that exact Jaccard similarity finds (recall) and of pairs found that reach the threshold (precision).
"""

import argparse
import random
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from io import BytesIO
from itertools import combinations
from pathlib import Path
from typing import Final

import _events
import pyarrow.parquet as pq
from _processes import cpu_seconds
from _results import replace
from warcio.warcwriter import WARCWriter

from research import sample
from victor_spark.evaluation import gold
from victor_spark.words import words

TITLE: Final = "## Duplicates"
THRESHOLD: Final = 0.8
SHINGLE: Final = 5
COMMAND: Final = (sys.executable, "-c", "import sys; from victor_spark.cli import main; sys.exit(main())")


def main() -> int:
    """Measures runs of the sizes asked for."""
    parser = argparse.ArgumentParser(description="Cost and recall of victor dedup.")
    parser.add_argument("--pages", type=int, nargs="+", default=[2000, 10_000])
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--write", action="store_true", help="into bench/RESULTS.md")
    arguments = parser.parse_args()
    data = sample.data_directory()
    if data is None:
        parser.error("no annotated pages: set VICTOR_DATA")
    found = gold.find(data / "pages").values()
    texts = sorted({page.gold for path in found for page in gold.read(path) if page.gold})
    lines = [
        "| pages | words a page | CPU s | ms a page | shuffled bytes a page | pairs | recall | precision |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    lines += [_measured(texts, n, arguments.master) for n in arguments.pages]
    printed = "\n".join([TITLE, "", *lines, "", "    python bench/dedup.py --write"])
    print(printed)
    if arguments.write:
        replace(Path(__file__).name, printed)
    return 0


def _measured(texts: Sequence[str], n: int, master: str) -> str:
    pages = _repeated(texts, n)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write(folder / "pages.warc.wet.gz", pages)
        out = folder / "out"
        cpu_seconds([*COMMAND, "clean", folder / "pages.warc.wet.gz", "--output", out, "--master", master])
        environment = _events.logged_to(folder / "events")
        options = ["--threshold", THRESHOLD, "--shingle-words", SHINGLE, "--master", master]
        seconds = cpu_seconds([*COMMAND, "dedup", out, *options], environment)
        shuffled = _events.shuffled(folder / "events")
        written = pq.read_table(out / "pages", columns=["url", "text"]).to_pylist()
        clusters = defaultdict(set)
        for row in pq.read_table(out / "duplicates").to_pylist():
            clusters[row["duplicate_cluster"]].add(row["url"])
    similar = _brute_force({row["url"]: row["text"] for row in written})
    found = {pair for urls in clusters.values() for pair in combinations(sorted(urls), 2)}
    both = len(similar & found)
    n_words = sum(len(words(row["text"])) for row in written) / len(written)
    n = len(written)
    cost = f"{seconds:.1f} | {1000 * seconds / n:.2f} | {shuffled / n:,.0f}"
    quality = f"{len(similar):,} | {both / len(similar):.4f} | {both / len(found):.4f}"
    return f"| {n:,} | {n_words:.0f} | {cost} | {quality} |"


def _repeated(texts: Sequence[str], n: int) -> list[str]:
    chance, pages = random.Random(1), list[str]()
    while len(pages) < n:
        for text in chance.sample(texts, min(n // 3, len(texts))):
            pages.append(text)
            for _ in range(chance.randrange(5)):
                lines = [line.split(" ") for line in text.split("\n")]
                places = [(line, word) for line, some in enumerate(lines) for word in range(len(some))]
                rate = chance.choice((0.0, 0.005, 0.02, 0.05, 0.15))
                for line, word in chance.sample(places, int(rate * len(places))):
                    lines[line][word] = f"edited{chance.randrange(10**6)}"
                pages.append("\n".join(" ".join(line) for line in lines))
    chance.shuffle(pages)
    return pages[:n]


def _write(path: Path, pages: Sequence[str]) -> None:
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        for number, text in enumerate(pages):
            record = writer.create_warc_record(
                f"http://site{number % 100}.example/{number}",
                "conversion",
                payload=BytesIO(text.encode()),
                warc_content_type="text/plain",
            )
            writer.write_record(record)
            record.raw_stream.close()


def _brute_force(texts: dict[str, str]) -> set[tuple[str, str]]:
    """The pairs of pages whose exact Jaccard similarity reaches the threshold."""
    holders, sizes = defaultdict(list), {}
    shared = Counter[tuple[str, str]]()
    for url, text in sorted(texts.items()):
        of_text = words(text)
        size = min(SHINGLE, len(of_text))
        runs = {tuple(of_text[first : first + size]) for first in range(len(of_text) - size + 1) if size}
        sizes[url] = len(runs)
        for run in runs:
            shared.update((other, url) for other in holders[run])
            holders[run].append(url)
    return {(a, b) for (a, b), n in shared.items() if n >= THRESHOLD * (sizes[a] + sizes[b] - n)}


if __name__ == "__main__":
    sys.exit(main())
