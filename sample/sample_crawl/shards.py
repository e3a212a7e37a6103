"""Exchanges → the bytes of a WARC shard, one gzip member a record, the same bytes every time."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from io import BytesIO
from typing import Final
from urllib.parse import urlsplit
from uuid import NAMESPACE_URL, uuid5

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from sample_crawl.exchange import Exchange

START: Final = datetime(2024, 5, 6, 8, 0, tzinfo=UTC)
GZIP_HEADER_LENGTH: Final = 10
N_DESTROYED: Final = 64  # bytes of a corrupt member that are overwritten
ABOUT: Final = {
    "software": "sample/build.py",
    "format": "WARC File Format 1.0",
    "description": "Sample crawl of invented sites; every text was written for it",
    "robots": "obey",
}
AGENT: Final = (
    ("User-Agent", "sample-crawler (+https://crawler.example/)"),
    ("Accept", "text/html,application/xhtml+xml;q=0.9,*/*;q=0.1"),
    ("Accept-Encoding", "gzip, br"),
)


def shard(filename: str, exchanges: Sequence[Exchange]) -> bytes:
    """The shard: warcinfo, a DNS record, then the request, response and metadata of each exchange.

    After the first exchange stands a revisit of its page. A clipped exchange must be the last: its
    response is the last record and lacks its second half.
    """
    members = [_warcinfo(filename), _dns(filename, exchanges[0])]
    for number, exchange in enumerate(exchanges):
        members += _triple(exchange, START + timedelta(seconds=2 * number))
        if number == 0:
            members.append(_revisit(exchange))
    return b"".join(members)


def _revisit(exchange: Exchange) -> bytes:
    """A revisit record: the crawler came again and found the page unchanged."""
    later = START + timedelta(days=1)
    headers = {
        **_headers(exchange.url, "revisit", later),
        "WARC-Profile": "http://netpreserve.org/warc/1.0/revisit/identical-payload-digest",
        "WARC-Refers-To-Target-URI": exchange.url,
        "WARC-Refers-To-Date": _date(START),
    }
    http = StatusAndHeaders(exchange.status_line, list(exchange.headers), protocol="HTTP/1.1")
    return _member(exchange.url, "revisit", b"", headers, http=http)


def _triple(exchange: Exchange, when: datetime) -> Iterator[bytes]:
    """The three records of an exchange; where the response is clipped nothing follows it."""
    yield _request(exchange, when)
    response = _response(exchange, when)
    match exchange.damage:
        case "clipped":
            yield response[: len(response) // 2]
            return
        case "corrupt":
            end = GZIP_HEADER_LENGTH + N_DESTROYED
            response = response[:GZIP_HEADER_LENGTH] + b"\xff" * N_DESTROYED + response[end:]
    yield response
    yield _metadata(exchange, when)


def _response(exchange: Exchange, when: datetime) -> bytes:
    headers = {**_headers(exchange.url, "response", when), "WARC-IP-Address": "192.0.2.17"}
    if exchange.truncated:
        headers["WARC-Truncated"] = exchange.truncated
    http = StatusAndHeaders(exchange.status_line, list(exchange.headers), protocol="HTTP/1.1")
    return _member(exchange.url, "response", exchange.body, headers, http=http)


def _request(exchange: Exchange, when: datetime) -> bytes:
    address = urlsplit(exchange.url)
    target = (address.path or "/") + (f"?{address.query}" if address.query else "")
    lines = [("Host", address.netloc), *AGENT]
    http = StatusAndHeaders(f"GET {target} HTTP/1.1", lines, is_http_request=True)
    headers = _with_response(exchange, "request", when)
    return _member(exchange.url, "request", b"", headers, http=http)


def _metadata(exchange: Exchange, when: datetime) -> bytes:
    fields = f"fetchTimeMs: {40 + 7 * len(exchange.url) % 300}\r\nhopsFromSeed: L\r\n"
    headers = _with_response(exchange, "metadata", when)
    return _member(exchange.url, "metadata", fields.encode(), headers)


def _warcinfo(filename: str) -> bytes:
    fields = "".join(f"{name}: {value}\r\n" for name, value in ABOUT.items())
    headers = {**_headers(filename, "warcinfo", START), "WARC-Filename": filename}
    return _member("", "warcinfo", fields.encode(), headers)


def _dns(filename: str, exchange: Exchange) -> bytes:
    host = urlsplit(exchange.url).hostname
    answer = f"20240506080000\n{host}.\t3600\tIN\tA\t192.0.2.17\n".encode()
    headers = _headers(f"dns:{host}#{filename}", "response", START)
    return _member(f"dns:{host}", "response", answer, headers, content_type="text/dns")


def _with_response(exchange: Exchange, record_type: str, when: datetime) -> dict[str, str]:
    headers = _headers(exchange.url, record_type, when)
    return {**headers, "WARC-Concurrent-To": _identifier(exchange.url, "response")}


def _headers(url: str, record_type: str, when: datetime) -> dict[str, str]:
    return {"WARC-Record-ID": _identifier(url, record_type), "WARC-Date": _date(when)}


def _identifier(url: str, record_type: str) -> str:
    return f"<urn:uuid:{uuid5(NAMESPACE_URL, f'{record_type} {url}')}>"


def _date(when: datetime) -> str:
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")


def _member(
    url: str,
    record_type: str,
    block: bytes,
    headers: dict[str, str],
    *,
    http: StatusAndHeaders | None = None,
    content_type: str = "",
) -> bytes:
    """One record as a gzip member of its own (zlib writes no time stamp into it)."""
    target = BytesIO()
    writer = WARCWriter(target, gzip=True)
    record = writer.create_warc_record(
        url,
        record_type,
        payload=BytesIO(block),
        length=len(block),
        warc_content_type=content_type,
        warc_headers_dict=headers,
        http_headers=http,
    )
    writer.write_record(record)
    return target.getvalue()
