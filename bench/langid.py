"""CPU time of language identification a page: the language, the block features, the encoding check.

Needs annotated pages ($VICTOR_DATA, default ../shared/data); run it with `./dev bench langid`.
"""

import itertools
import json
import lzma
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from victor_spark.blocks import Blocks, Int32, UInt32
from victor_spark.html.canonical import canonical
from victor_spark.html.segment import segment
from victor_spark.kernels import code_points, uncompiled
from victor_spark.langid import encoding, identify
from victor_spark.langid.profiles import Profiles
from victor_spark.langid.scores import block_scores
from victor_spark.resources import directory

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("VICTOR_DATA") or ROOT.parent / "shared" / "data")
SETS = ("wcxb", "dragnet", "daniel")
N_PAGES = 100
ROUNDS = 5


def main() -> int:
    """Prints a table, or says that there are no pages."""
    if not (DATA / "pages").is_dir():
        print(f"no annotated pages in {DATA}: nothing measured")
        return 0
    started = time.process_time()
    profiles = Profiles.load(directory("models") / "langid" / "profiles.npz")
    loaded = time.process_time()
    identify.page(code_points("warm up"), profiles)
    print(f"profiles: read in {1e3 * (loaded - started):.0f} ms, ", end="")
    print(f"expanded in {1e3 * (time.process_time() - loaded):.0f} ms; kernels compiled: {not uncompiled()}")
    pages = [blocks for name in SETS for blocks in read(DATA / "pages" / f"{name}.jsonl.xz")]
    points = [code_points(blocks.text) for blocks in pages]
    n_blocks, n_letters = sum(map(len, pages)), sum(int(blocks.n_letters.sum()) for blocks in pages)
    mean_blocks, mean_letters = n_blocks / len(pages), n_letters / len(pages)
    print(f"{len(pages)} pages, {mean_blocks:.0f} blocks and {mean_letters:.0f} letters each\n")
    print(f"{'':38}{'ms/page':>9}{'ms/250 blocks':>15}")
    steps: dict[str, Callable[[int], object]] = {
        "text to code points": lambda i: code_points(pages[i].text),
        "page language, all profiles": lambda i: identify.page(points[i], profiles),
        "shares of languages by blocks": lambda i: identify.shares(*spans(points[i], pages[i]), profiles),
        "langid1 and langid2, one target": lambda i: block_scores(
            *spans(points[i], pages[i]), ["en"], profiles
        ),
        "langid1 and langid2, two targets": lambda i: block_scores(
            *spans(points[i], pages[i]), ["en", "cs"], profiles
        ),
        "broken encoding": lambda i: encoding.examined(pages[i].text, profiles, points[i]),
    }
    for name, step in steps.items():
        seconds = best(step, len(pages))
        print(f"{name:38}{1e3 * seconds / len(pages):9.3f}{1e3 * seconds / n_blocks * 250:15.3f}")
    return 0


def read(path: Path) -> list[Blocks]:
    """The blocks of the set's first pages."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        pages = [json.loads(line)["html"] for line in itertools.islice(lines, N_PAGES)]
    return [segment(canonical(html, http_charset=None).html) for html in pages]


def spans(points: UInt32, blocks: Blocks) -> tuple[UInt32, Int32, Int32]:
    """Text and blocks as langid's functions take them."""
    return points, blocks.text_start, blocks.text_end


def best(step: Callable[[int], object], n_pages: int) -> float:
    """CPU seconds of the fastest of several rounds over all pages, after one that warms up."""
    seconds = []
    for _ in range(ROUNDS + 1):
        started = time.process_time()
        for i in range(n_pages):
            step(i)
        seconds.append(time.process_time() - started)
    return min(seconds[1:])


if __name__ == "__main__":
    sys.exit(main())
