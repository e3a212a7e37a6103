"""An invented crawl with the files of Common Crawl: lists of paths, WARC, WET, and the columnar index."""

import gzip
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from tests.spark.crawl import CZECH, PARAGRAPH, page

CRAWL: Final = "CC-MAIN-2026-43"
N_SITES: Final = 6
N_PAGES: Final = 8
DATE: Final = "2026-10-11T01:02:03Z"


def write(folder: Path) -> None:
    """Two WARC files with a page of each site in turn, their WET files, an index table, and the lists."""
    segment = f"crawl-data/{CRAWL}/segments/1760140800000.1"
    names = [f"CC-MAIN-20261011000000-20261011030000-{number:05}.warc" for number in range(2)]
    warcs = [f"{segment}/warc/{name}.gz" for name in names]
    wets = [f"{segment}/wet/{name}.wet.gz" for name in names]
    index: list[dict[str, Any]] = []
    for number, (warc, wet) in enumerate(zip(warcs, wets, strict=True)):
        pages = [
            (f"https://site{site}.example/{one}", *_page(site, one))
            for one in range(number, N_PAGES, 2)
            for site in range(N_SITES)
        ]
        _write_warc(folder / warc, pages)
        _write_wet(folder / wet, pages)
        languages = {url: language for url, _, language in pages}
        index += [
            {**row, "content_languages": languages[row["url"]]} for row in _indexed(folder / warc, warc)
        ]
    table = f"cc-index/table/cc-main/warc/crawl={CRAWL}/subset=warc/part-00000-4dd72944.c000.gz.parquet"
    (folder / table).parent.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(index), folder / table, compression="gzip")  # type: ignore[no-untyped-call]
    robots = table.replace("subset=warc", "subset=robotstxt")
    for name, paths in (("warc", warcs), ("wet", wets), ("cc-index-table", [robots, table])):
        lines = "".join(f"{path}\n" for path in paths)
        (folder / f"crawl-data/{CRAWL}/{name}.paths.gz").write_bytes(gzip.compress(lines.encode()))


def _page(site: int, number: int) -> tuple[str, str]:
    """The html of a page and its language; the last page of a site repeats the one before."""
    number = min(number, N_PAGES - 2)
    text, language = ((CZECH, "ces"), (PARAGRAPH, "eng"))[site % 2]
    own = [f"{text} {site} {number} {word}." for word in ("one", "two", "three")]
    return page(f"Ferry {site}.{number}", *own), language


def _add(writer: WARCWriter, record: Any) -> None:
    writer.write_record(record)
    record.raw_stream.close()  # a temporary file by now


def _write_warc(path: Path, pages: list[tuple[str, str, str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        _add(writer, writer.create_warcinfo_record(path.name, {"isPartOf": CRAWL}))
        for url, html, _ in pages:
            request = StatusAndHeaders("GET / HTTP/1.1", [("User-Agent", "CCBot/2.0")], is_http_request=True)
            answer = StatusAndHeaders(
                "200 OK", [("Content-Type", "text/html; charset=utf-8")], protocol="HTTP/1.1"
            )
            for kind, fields, body in (("request", request, b""), ("response", answer, html.encode())):
                record = writer.create_warc_record(
                    url, kind, BytesIO(body), http_headers=fields, warc_headers_dict={"WARC-Date": DATE}
                )
                _add(writer, record)
            metadata = BytesIO(b"fetchTimeMs: 20\r\n")
            _add(
                writer,
                writer.create_warc_record(
                    url, "metadata", metadata, warc_content_type="application/warc-fields"
                ),
            )


def _write_wet(path: Path, pages: list[tuple[str, str, str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        _add(writer, writer.create_warcinfo_record(path.name, {"software": "ia-web-commons"}))
        for url, html, _ in pages:
            lines = [part.partition("<")[0] for part in html.split(">")]
            text = "\n".join(line for line in lines if line.strip())
            _add(
                writer,
                writer.create_warc_record(
                    url,
                    "conversion",
                    BytesIO(text.encode()),
                    warc_content_type="text/plain",
                    warc_headers_dict={"WARC-Date": DATE},
                ),
            )


def _indexed(path: Path, name: str) -> list[dict[str, Any]]:
    """A row for each response: where it is."""
    rows = []
    with path.open("rb") as file:
        records = ArchiveIterator(file)
        for record in records:
            if record.rec_type == "response":
                where = {"warc_filename": name, "warc_record_offset": records.get_record_offset()}
                record.content_stream().read()
                length = records.get_record_length()
                url = record.rec_headers.get_header("WARC-Target-URI")
                rows.append({"url": url, "fetch_status": 200, **where, "warc_record_length": length})
    return rows
