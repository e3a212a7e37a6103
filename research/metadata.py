"""The quality of metadata: titles, authors and days of pages compared with the annotated ones.

python -m research.metadata --data DATA [--output docs/metadata.md]

The pages of DATA/more/{aed,fundus} and, with the annotations of DATA/more/wcxb-metadata.jsonl, of
DATA/pages/wcxb. A title is right when its word F1 with the annotated one is at least 0.8, a day when it is
the same; authors count by the F1 of the words of their names. CPU time is that of reading the metadata alone.
With the extra `peers`, trafilatura and resiliparse are measured on the same pages.
"""

import argparse
import json
import lzma
import re
import sys
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import mean
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit
from zlib import crc32

from victor_spark.errors import EXIT_DONE, InputError, VictorError
from victor_spark.metadata.extract import metadata

SETS: Final = ("aed", "fundus", "wcxb")
FIELDS: Final = ("titles", "authors", "days")
RIGHT_TITLE: Final = 0.8
_KINDS: Final = {
    "json-ld": "JSON-LD",
    "meta": "`meta`",
    "itemprop": "`itemprop`, `rel`",
    "rel": "`itemprop`, `rel`",
    "h1": "`h1`",
    "title": "`title`",
    "time": "`time`",
    "address": "the address",
    "text": "text",
    "nothing": "nothing found",
}
"""First word of a source in `Metadata.sources` → its kind; all others are marks of elements."""


class Stated(NamedTuple):
    """Title, names of authors and ISO date of a page, as annotated or as read."""

    title: str | None
    authors: Sequence[str]
    date: str | None


Reader = Callable[[str, str | None], tuple[Stated, Mapping[str, str]]]
"""Reads the metadata of a page from its html and its address, and says from which source each field is."""


def by_victor(html: str, url: str | None) -> tuple[Stated, Mapping[str, str]]:
    """The metadata that victor-spark reads."""
    found = metadata(html.encode("utf-8", "replace"), url)
    names = dict(zip(FIELDS, ("title", "authors", "date"), strict=True))
    sources = {field: found.sources[name] for field, name in names.items() if name in found.sources}
    return Stated(found.title, found.authors, found.date), sources


def by_trafilatura(html: str, url: str | None) -> tuple[Stated, Mapping[str, str]]:
    """The metadata that trafilatura reads."""
    from trafilatura.metadata import extract_metadata

    found = extract_metadata(html, default_url=url, extensive=True)
    return Stated(found.title, _names(found.author), found.date), {}


def by_resiliparse(html: str, _: str | None) -> tuple[Stated, Mapping[str, str]]:
    """The metadata that resiliparse reads: the `title` element."""
    from resiliparse.parse.html import HTMLTree

    return Stated(HTMLTree.parse(html).title, (), None), {}


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


Scores = dict[tuple[str, ...], list[float]]
"""Scores by field and half of the sites (`all` for both), and by field and kind of source."""


def measure(data: Path, name: str, read: Reader) -> tuple[Scores, float]:
    """The scores of the pages of a set, and the CPU time of a page in milliseconds."""
    found: Scores = {}
    spent, n_pages = 0.0, 0
    for html, url, annotated in pages(data, name):
        started = time.process_time()
        stated, sources = read(html, url)
        spent += time.process_time() - started
        n_pages += 1
        half = str(crc32((urlsplit(url or html).hostname or "").removeprefix("www.").encode()) % 2)
        for field, score in scores(stated, annotated):
            source = _KINDS.get(
                sources.get(field, "nothing").partition("=")[0].partition(" ")[0], "class, id"
            )
            for group in ("all", half, source):
                found.setdefault((field, group), []).append(score)
    return found, 1000 * spent / max(n_pages, 1)


def table(measured: Sequence[tuple[str, str, Scores]]) -> str:
    """The scores of every set and reader, in brackets those of either half of its sites."""
    lines = ["| set | reader | titles | authors | days |", "|---|---|---|---|---|"]
    for name, reader, found in measured:
        cells = [
            f"{_mean(found[field, 'all'])} ({_mean(found[field, '0'])}, {_mean(found[field, '1'])})"
            if any(found.get((field, "all"), ()))
            else "–"
            for field in FIELDS
        ]
        lines.append(f"| {name} | {' | '.join([reader, *cells])} |")
    return "\n".join(lines)


def by_source(measured: Sequence[tuple[str, str, Scores]]) -> str:
    """The scores of what victor-spark read, by kind of source over all sets, with the number of pages."""
    lines = ["| source | titles | authors | days |", "|---|---|---|---|"]
    for source in sorted({*_KINDS.values(), "class, id"}):
        groups = [
            [score for *_, found in measured for score in found.get((field, source), ())] for field in FIELDS
        ]
        cells = [f"{_mean(group)} of {len(group)}" if group else "–" for group in groups]
        lines.append(f"| {source} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _mean(values: Sequence[float]) -> str:
    return f"{mean(values):.3f}".removeprefix("0") if values else "–"


def filled(page: str, tables: Sequence[str]) -> str:
    """The page with these tables in the place of those with the same first line."""
    for table in tables:
        head = table.split("\n", 1)[0]
        before, _, behind = page.partition(head)
        if not behind:
            raise InputError(f"the page has no table that begins with {head}")
        page = before + table + behind[behind.find("\n\n") :]
    return page


def main(argv: Sequence[str] | None = None) -> int:
    """Prints the means of every set and reader."""
    parser = argparse.ArgumentParser(
        prog="python -m research.metadata",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", type=Path, required=True, metavar="DATA", help="the annotated pages")
    parser.add_argument("--output", type=Path, metavar="PAGE", help="a page whose tables are filled in")
    arguments = parser.parse_args(argv)
    readers: dict[str, Reader] = {"victor": by_victor}
    peers: dict[str, Reader] = {"trafilatura": by_trafilatura, "resiliparse": by_resiliparse}
    for peer, reads in peers.items():
        if find_spec(peer) is not None:
            readers[peer] = reads
        else:
            print(f"{peer} is not installed: pip install -e '.[peers]'", file=sys.stderr)
    measured: list[tuple[str, str, Scores]] = []
    try:
        for name in SETS:
            for reader, read in readers.items():
                found, spent = measure(arguments.data, name, read)
                measured.append((name, reader, found))
                print(f"{name} {reader}: {spent:.2f} ms a page", file=sys.stderr)
        tables = (table(measured), by_source([one for one in measured if one[1] == "victor"]))
        print("\n\n".join(tables))
        if arguments.output:
            arguments.output.write_text(filled(arguments.output.read_text(), tables))
    except VictorError as error:
        print(f"metadata: {error}", file=sys.stderr)
        return error.exit_code
    return EXIT_DONE


if __name__ == "__main__":
    sys.exit(main())
