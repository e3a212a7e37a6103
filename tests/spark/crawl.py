"""Shared by the tests of the job: invented pages, shards of them, and the results of a run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

PARAGRAPH = (
    "The ferry to the island leaves at seven in the morning, when the fog still lies on the water, and it "
    "comes back at six. In winter it does not run at all, so the islanders keep enough flour and coal for "
    "four months."
)
CZECH = (
    "Přívoz na ostrov odplouvá v sedm hodin ráno, kdy nad vodou ještě leží mlha, a vrací se v šest. V zimě "
    "nejezdí vůbec, a tak si ostrované schovávají mouku a uhlí na čtyři měsíce."
)


def page(title: str, *paragraphs: str) -> str:
    """An html page with a menu, a heading and paragraphs."""
    menu = "".join(
        f'<li><a href="/{name}">{name}</a></li>' for name in ("home", "news", "contact", "archive")
    )
    body = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    foot = "<div><a href='/terms'>Terms</a> <a href='/privacy'>Privacy</a></div>"
    return (
        f'<!DOCTYPE html><html><head><meta charset="utf-8"><title>{title}</title></head><body><ul>{menu}</ul>'
        f"<h1>{title}</h1>{body}{foot}</body></html>"
    )


@dataclass
class Response:
    """One response of an invented server."""

    url: str
    body: bytes
    status: str = "200 OK"
    content_type: str = "text/html; charset=utf-8"
    headers: Sequence[tuple[str, str]] = field(default_factory=tuple)


def write_warc(path: Path, responses: Sequence[Response]) -> Path:
    """Writes the responses as a WARC with one gzip member a record, after a warcinfo record."""
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        records = [writer.create_warcinfo_record(path.name, {"software": "a test"})]
        for response in responses:
            headers = [("Content-Type", response.content_type), *response.headers]
            records.append(
                writer.create_warc_record(
                    response.url,
                    "response",
                    payload=BytesIO(response.body),
                    http_headers=StatusAndHeaders(response.status, headers, protocol="HTTP/1.1"),
                    warc_headers_dict={"WARC-Date": "2025-03-01T12:30:00Z"},
                )
            )
        for record in records:
            writer.write_record(record)
            record.raw_stream.close()  # a temporary file by now
    return path


FETCHED = datetime(2025, 3, 1, 12, 30, tzinfo=UTC)


@dataclass(frozen=True)
class Outcome:
    """The result of a command: its exit code and the lines on stderr."""

    code: int
    lines: list[str]


Victor = Callable[..., Outcome]


def rows(output: Path) -> list[dict[str, Any]]:
    """The rows of an output, in the order of the crawl."""
    table = pq.ParquetDataset(output / "pages").read()  # type: ignore[no-untyped-call]
    found: list[dict[str, Any]] = table.to_pylist()
    return sorted(found, key=lambda row: (row["warc_filename"], row["warc_record_offset"] or 0))


def tree(folder: Path) -> dict[str, tuple[int, int]]:
    """Every file below a folder with its size and time of change."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): (path.stat().st_size, path.stat().st_mtime_ns) for path in files}
