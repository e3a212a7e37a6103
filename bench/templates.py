"""Site templates: CPU time and memory of mining one site, and time of applying a thousand templates.

    python bench/templates.py [--megabytes N...] [--write]

The site: pages in the markup of one page, each with randomly drawn paragraphs of other annotated pages, up to
N megabytes of html. Prints Markdown; --write replaces the section of bench/RESULTS.md instead.
"""

import argparse
import json
import lzma
import random
import resource
import sys
import time
from collections.abc import Iterator, Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

from _results import replace
from _shards import add_argument

from research import sample
from victor_spark.html.canonical import canonical
from victor_spark.templates import mine as miner
from victor_spark.templates.matcher import Matcher
from victor_spark.templates.mine import MiningSettings
from victor_spark.templates.tokens import TOKENISERS, spans

TITLE: Final = "## Site templates"
MEGABYTES: Final = (9, 50, 220, 280)
SITE: Final = "flink.apache.org"
N_TEMPLATES: Final = 1000
N_ROUNDS: Final = 3


def main() -> int:
    """Prints a table of mining, and the time of applying."""
    parser = argparse.ArgumentParser(description="Mine and apply site templates.")
    add_argument(parser)
    parser.add_argument("--megabytes", type=int, nargs="+", default=MEGABYTES, metavar="N")
    parser.add_argument("--write", action="store_true", help="into bench/RESULTS.md, not to stdout")
    arguments = parser.parse_args()
    data = sample.data_directory()
    if data is None or not (data / "sites").is_dir():
        print("skipped: no pages of whole sites ($VICTOR_DATA, default ../shared/data)", file=sys.stderr)
        return 0
    section = "\n".join(_section(data, arguments.megabytes))
    if arguments.write:
        replace(Path(__file__).name, section)
    else:
        print(section)
    return 0


def _section(data: Path, megabytes: Sequence[int]) -> Iterator[str]:
    yield f"{TITLE}\n\nMining one site's html (view html), one core; CPU time from texts to templates.\n"
    yield "| MB of html | pages | tokens | CPU s | µs/token | bytes/token | templates |"
    yield "|---:|---:|---:|---:|---:|---:|---:|"
    for each in megabytes:
        yield mining(data, each)
    yield f"\nApplying {N_TEMPLATES} templates to a page (text): {applying(data):.2f} ms.\n"


def mining(data: Path, megabytes: int) -> str:
    """A row of the table. Memory: how much a process of its own grows beyond the texts, at its peak."""
    texts = list(site(data, megabytes * 1_000_000))
    n_bytes = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
    n_tokens = sum(len(spans(text, TOKENISERS["html"]).starts) for text in texts)
    receiver, sender = get_context("fork").Pipe(duplex=False)
    child = get_context("fork").Process(target=_mine, args=(texts, sender))
    child.start()
    seconds, grown, n_templates = receiver.recv()
    child.join()
    size = f"| {n_bytes / 1e6:.0f} | {len(texts)} | {n_tokens:,} "
    cost = f"| {seconds:.1f} | {1e6 * seconds / n_tokens:.2f} | {grown / n_tokens:.0f} "
    return f"{size}{cost}| {n_templates} |"


def _mine(texts: Sequence[str], sender: Connection) -> None:
    before, started = _resident(), time.process_time()
    found = miner.mine("bench.example", texts, MiningSettings(view="html"))
    sender.send((time.process_time() - started, _peak() - before, len(found.templates)))


def site(data: Path, n_characters: int) -> Iterator[str]:
    """Pages of one site: its pages' canonical html, with paragraphs of other pages put in at random."""
    dice = random.Random(n_characters)
    frames = [canonical(html).html for html in _pages(data / "sites" / f"{SITE}.jsonl.xz")]
    others = _pages(data / "pages" / "daniel.jsonl.xz") + _pages(data / "pages" / "wcxb.jsonl.xz")[:400]
    paragraphs = [
        part for html in others for part in canonical(html).html.split("</p>") if 200 < len(part) < 5000
    ]
    total = 0
    while total < n_characters:
        frame = dice.choice(frames)
        middle = frame.find("</p>", len(frame) // 3) + 4
        own = "</p>".join(dice.sample(paragraphs, dice.randint(3, 25)))
        page = f"{frame[:middle]}{own}</p>{frame[middle:]}"
        total += len(page)
        yield page


def applying(data: Path) -> float:
    """Milliseconds a page, the matcher having seen pages of the site; the least of some rounds."""
    texts = [" \n".join(page.split(">")) for page in site(data, 4_000_000)]
    miner.MIN_SHARE = miner.MIN_SECTION_SHARE = 0.02  # type: ignore[misc] # many templates
    found = miner.mine("bench.example", texts)
    pairs = [(template.tokens, template.regex) for template in found.templates]
    dice = random.Random(1)
    words = sorted({word for text in texts[:50] for word in text.split() if word.isalpha()})
    while len(pairs) < N_TEMPLATES:  # the rest: pairs and triples of the site's words
        tokens = dice.sample(words, dice.randint(2, 3))
        pairs.append((tokens, r"(?<!\S)" + r"\s+".join(tokens) + r"(?!\S)"))
    matcher = Matcher(pairs[:N_TEMPLATES])
    pages = [text[:6000] for text in texts[:200]]  # text of a news page's length
    times = []
    for _ in range(N_ROUNDS):
        started = time.process_time()
        for page in pages:
            matcher.intervals(page)
        times.append(time.process_time() - started)
    return 1000 * min(times) / len(pages)


def _pages(path: Path) -> list[str]:
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line)["html"] for line in lines]


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    sys.exit(main())
