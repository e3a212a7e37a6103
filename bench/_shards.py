"""Where the pages of a benchmark come from: shards made from annotated pages, or those given by --shards."""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Final

import _checkout  # noqa: F401
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from research import sample
from victor_spark.errors import InputError
from victor_spark.evaluation import gold
from victor_spark.warc import inputs
from victor_spark.warc.shard import Shard

SETS: Final = ("wcxb", "daniel", "dragnet")
PAGES_PER_SET: Final = 340
N_SHARDS: Final = 8


def add_argument(parser: argparse.ArgumentParser) -> None:
    """The argument that every benchmark has."""
    parser.add_argument("--shards", nargs="+", metavar="INPUT", help="default: made from annotated pages")


@contextmanager
def shards(given: list[str] | None) -> Iterator[tuple[Shard, ...]]:
    """The shards given, else shards made from $VICTOR_DATA (default ../shared/data) in a temporary folder.

    Without either the benchmark says so in a line and ends with exit code 0.
    """
    if given:
        try:
            yield inputs.resolve(given)
        except InputError as error:
            sys.exit(f"{error}")
        return
    data = sample.data_directory()
    if data is None:
        print(
            "skipped: no annotated pages ($VICTOR_DATA, default ../shared/data); give --shards",
            file=sys.stderr,
        )
        sys.exit(0)
    with tempfile.TemporaryDirectory(prefix="victor-bench-") as folder:
        make(Path(folder), data)
        yield inputs.resolve([folder])


def make(folder: Path, data: Path, *, sets: tuple[str, ...] = SETS, per_set: int = PAGES_PER_SET) -> int:
    """Writes `per_set` pages of each set, evenly chosen, as WARC shards of one gzip member a record."""
    files = [(folder / f"shard-{number:05d}.warc.gz").open("wb") for number in range(N_SHARDS)]
    writers = [WARCWriter(file, gzip=True) for file in files]
    n_pages = 0
    for path in gold.find(data / "pages", sets).values():
        for page in _evenly(path, per_set):
            _write(writers[n_pages % N_SHARDS], page.url or f"http://pages.example/{page.id}", page.html)
            n_pages += 1
    for file in files:
        file.close()
    return n_pages


def _evenly(path: Path, n: int) -> list[gold.GoldPage]:
    pages = list(gold.read(path))
    step = max(1, len(pages) // n)
    return list(islice(pages[::step], n))


def _write(writer: WARCWriter, url: str, html: str) -> None:
    body = html.encode("utf-8", "replace")
    head = [("Content-Type", "text/html; charset=utf-8"), ("Content-Length", str(len(body)))]
    http = StatusAndHeaders("200 OK", head, protocol="HTTP/1.1")
    writer.write_record(writer.create_warc_record(url, "response", payload=BytesIO(body), http_headers=http))
