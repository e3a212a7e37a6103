"""Titles, authors and days that are read from pages, beside the annotated ones.

python -m research.metadata --data DATA

The pages of DATA/more/{aed,fundus} and, with the annotations of DATA/more/wcxb-metadata.jsonl, of
DATA/pages/wcxb. A title is right when its word F1 with the annotated one is at least 0.8, a day when it is
the same; authors count by the F1 of the words of their names. CPU time is that of reading the metadata alone.
With the extra `peers`, trafilatura is measured on the same pages.
"""

import argparse
import json
import lzma
import re
import sys
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import mean
from typing import Any, Final, NamedTuple

from victor_spark.errors import EXIT_DONE, InputError, VictorError
from victor_spark.metadata.extract import metadata

SETS: Final = ("aed", "fundus", "wcxb")
RIGHT_TITLE: Final = 0.8


class Stated(NamedTuple):
    """What a page states, as annotated or as read: its title, the names of its authors, its ISO date."""

    title: str | None
    authors: Sequence[str]
    date: str | None


Reader = Callable[[str, str | None], Stated]
"""Reads the metadata of a page from its html and its address."""


def by_victor(html: str, url: str | None) -> Stated:
    """What victor-spark reads."""
    found = metadata(html.encode("utf-8", "replace"), url)
    return Stated(found.title, found.authors, found.date)


def by_trafilatura(html: str, url: str | None) -> Stated:
    """What trafilatura reads."""
    from trafilatura.metadata import extract_metadata

    found = extract_metadata(html, default_url=url, extensive=True)
    return Stated(found.title, _names(found.author), found.date)


def pages(data: Path, name: str) -> Iterator[tuple[str, str | None, Stated]]:
    """The html and the address of the pages of a set, and what is annotated."""
    if name != "wcxb":
        for page in _lines(data / "more" / f"{name}.jsonl.xz"):
            yield page["html"], page["url"], _annotated(page["meta"])
        return
    annotated = {page["id"]: _annotated(page) for page in _lines(data / "more" / "wcxb-metadata.jsonl")}
    for page in _lines(data / "pages" / "wcxb.jsonl.xz"):
        yield page["html"], page["url"], annotated[page["id"]]


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    try:
        with lzma.open(path, "rt", encoding="utf-8") if path.suffix == ".xz" else path.open() as lines:
            yield from map(json.loads, lines)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error}") from error


def _annotated(page: dict[str, Any]) -> Stated:
    return Stated(page.get("title"), _names(page.get("authors")), page.get("date"))


def _names(value: str | Sequence[str] | None) -> list[str]:
    return re.split(r"[;,|]| and | & ", value) if isinstance(value, str) else list(value or ())


def scores(found: Stated, annotated: Stated) -> Iterator[tuple[str, float]]:
    """The score of each field that is annotated."""
    if annotated.title:
        yield "titles", float(_f1(found.title or "", annotated.title) >= RIGHT_TITLE)
    if any(annotated.authors):
        yield "authors", _f1(" ".join(found.authors), " ".join(annotated.authors))
    if annotated.date:
        yield "days", float((found.date or "")[:10] == annotated.date[:10])


def _f1(found: str, wanted: str) -> float:
    one, other = (
        Counter(re.findall(r"\w+", unicodedata.normalize("NFKC", text).lower())) for text in (found, wanted)
    )
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else 1.0


def measure(data: Path, name: str, read: Reader) -> str:
    """A line of means over the pages of a set."""
    found: dict[str, list[float]] = {}
    spent = 0.0
    n_pages = 0
    for html, url, annotated in pages(data, name):
        started = time.process_time()
        stated = read(html, url)
        spent += time.process_time() - started
        n_pages += 1
        for field, score in scores(stated, annotated):
            found.setdefault(field, []).append(score)
    means = "  ".join(f"{field} {mean(values):.3f} of {len(values)}" for field, values in found.items())
    return f"{name:7} {n_pages} pages  {means}  {1000 * spent / max(n_pages, 1):.2f} ms a page"


def main(argv: Sequence[str] | None = None) -> int:
    """Prints the means of every set and reader."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, metavar="DATA", help="the annotated pages")
    arguments = parser.parse_args(argv)
    readers: dict[str, Reader] = {"victor": by_victor}
    try:
        import trafilatura  # noqa: F401

        readers["trafilatura"] = by_trafilatura
    except ImportError:
        print("trafilatura is not installed: pip install -e '.[peers]'", file=sys.stderr)
    try:
        for reader, read in readers.items():
            for name in SETS:
                print(f"{reader:12} {measure(arguments.data, name, read)}", flush=True)
    except VictorError as error:
        print(f"metadata: {error}", file=sys.stderr)
        return error.exit_code
    return EXIT_DONE


if __name__ == "__main__":
    sys.exit(main())
