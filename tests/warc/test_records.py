"""Every html record gives exactly one row, for any content; other records give none."""

import gzip
import tracemalloc
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.warc import making
from tests.warc.conftest import Reading
from victor_spark.errors import ShardError
from victor_spark.warc.inputs import resolve
from victor_spark.warc.reading import read
from victor_spark.warc.shard import ReadOptions, Shard

PAGE = making.page(1)


def one(reading: Reading, block: bytes, *fields: str, options: ReadOptions | None = None, **header: object):
    """The only record of a shard that holds this block between two others."""
    around = making.warc(b"GET / HTTP/1.1\r\n\r\n", kind="request")
    content = making.shard([around, making.warc(block, *fields, **header), around]).content  # type: ignore[arg-type]
    (record,) = reading(content, options=options) if options else reading(content)
    return record


def none(reading: Reading, block: bytes, **header: object) -> bool:
    return reading(making.shard([making.warc(block, **header)]).content) == []  # type: ignore[arg-type]


@pytest.mark.parametrize("packing", ["gzip", "zstd", "plain"])
def test_records_come_with_their_offsets_and_lengths(reading: Reading, packing: str) -> None:
    shard = making.shard(making.responses(7), packing)
    records = reading(shard.content)
    assert [record.warc_record_offset for record in records] == shard.offsets[:-1]
    assert [record.warc_record_length for record in records] == shard.lengths()
    assert [record.payload for record in records] == [making.page(number) for number in range(7)]
    assert {record.status for record in records} == {None}


@pytest.mark.parametrize("packing", ["plain", "gzip"])
def test_arc_records_come_with_their_offsets_and_lengths(reading: Reading, packing: str) -> None:
    raw = [making.arc_head(), *(making.arc(making.http(making.page(n)), n) for n in range(4))]
    shard = making.shard(raw, packing)
    records = reading(shard.content, "made.arc.gz")
    assert [record.warc_record_offset for record in records] == shard.offsets[1:-1]
    assert [record.warc_record_length for record in records] == shard.lengths()[1:]
    assert [record.payload for record in records] == [making.page(number) for number in range(4)]
    assert records[2].url == "http://site.example/2"
    assert records[2].fetch_time == datetime(2024, 2, 29, 12, 34, 56, tzinfo=UTC)


@pytest.mark.parametrize(
    ("url", "content_type"),
    [
        ("http://site.example/1", "text/html; charset=utf-8"),
        ("http://site.example/1", ""),
        ("http://site.example/1 2", "text/html; x"),
        ("HTTP://site.example/1", "text/html"),
        ("http://site.example/1", "text/html 200 - - 12345678 made.arc"),  # version 2
        ("http://site.example/1", "text/html; x 200 - - 12345678 made.arc"),
    ],
)
def test_types_of_arc_records_may_have_parameters_or_be_missing(
    reading: Reading, url: str, content_type: str
) -> None:
    block = making.http(making.page(1))
    line = f"{url} 192.0.2.1 20240229123456 {content_type} {len(block)}\n".encode()
    raw = [making.arc_head(), making.arc(block, 0), line + block + b"\n", making.arc(block, 2)]
    _, record, _ = reading(making.shard(raw, "plain").content, "made.arc")
    assert (record.url, record.payload) == (url, making.page(1))
    assert record.fetch_time == datetime(2024, 2, 29, 12, 34, 56, tzinfo=UTC)


@pytest.mark.parametrize("date", ["null", "-", "2024"])
@pytest.mark.parametrize("path", ["1", "1" * 5000])
def test_an_arc_record_without_a_date_of_a_day_is_a_record(reading: Reading, date: str, path: str) -> None:
    block = making.http(making.page(1))
    line = f"http://site.example/{path} 192.0.2.1 {date} text/html {len(block)}\n".encode()
    raw = [making.arc_head(), line + block + b"\n", making.arc(block, 2)]
    record, _ = reading(making.shard(raw, "plain").content, "made.arc")
    assert (record.url, record.payload) == (f"http://site.example/{path}", making.page(1))
    assert record.status is None


@pytest.mark.parametrize("packing", ["plain", "gzip", "zstd"])
@pytest.mark.parametrize("n_bytes", [8_000, 9_000, 200_000])
def test_a_record_whose_header_is_long_is_a_page(reading: Reading, packing: str, n_bytes: int) -> None:
    """An address may hold a whole form, and a crawler may add fields of its own."""
    raw = [making.warc(making.http(PAGE), f"X-Form: {'f' * n_bytes}", number=n) for n in range(3)]
    for content in (making.shard(raw, packing).content, gzip.compress(b"".join(raw))):
        records = reading(content)
        assert [record.payload for record in records] == [PAGE] * 3
        assert {record.status for record in records} == {None}


def test_a_record_carries_the_values_of_its_headers(reading: Reading, tmp_path: Path) -> None:
    record = one(
        reading,
        making.http(PAGE, content_type='Text/HTML; Charset="ISO-8859-2"'),
        "WARC-Payload-Digest: sha1:ABCDEF",
        number=17,
    )
    assert record.id == "urn:uuid:00000000-0000-4000-8000-000000000017"
    assert record.url == "http://site.example/17"
    assert record.warc_filename == str(tmp_path / "made.warc.gz")
    assert record.fetch_time == datetime(2024, 2, 29, 12, 34, 56, tzinfo=UTC)
    assert record.fetch_status == 200
    assert record.content_digest == "sha1:ABCDEF"
    assert record.content_mime_type == "text/html"
    assert record.http_charset == "ISO-8859-2"
    assert (record.content_truncated, record.status, record.reason) == (None, None, None)


def test_angle_brackets_around_the_target_uri_are_removed(reading: Reading) -> None:
    raw = making.warc(making.http(PAGE)).replace(b"http://site.example/0", b"<http://site.example/0>")
    assert reading(making.shard([raw]).content)[0].url == "http://site.example/0"


def test_a_date_that_is_none_gives_no_fetch_time(reading: Reading) -> None:
    assert one(reading, making.http(PAGE), date="yesterday").fetch_time is None


def test_uris_that_are_not_utf8_become_valid_text(reading: Reading) -> None:
    raw = making.warc(making.http(PAGE)).replace(b"site.example/0", b"site.example/\xe9\xff")
    (record,) = reading(making.shard([raw]).content)
    assert record.url is not None
    record.url.encode("utf-8")


@pytest.mark.parametrize(
    "content_type", ["text/html", "TEXT/HTML;charset=x", "application/xhtml+xml", " text/html "]
)
def test_html_types_give_a_row(reading: Reading, content_type: str) -> None:
    assert one(reading, making.http(PAGE, content_type=content_type)).payload == PAGE


@pytest.mark.parametrize("content_type", [None, "", "; charset=utf-8", "html"])
def test_without_a_content_type_the_payload_decides(reading: Reading, content_type: str | None) -> None:
    record = one(reading, making.http(PAGE, content_type=content_type))
    assert (record.payload, record.content_mime_type) == (PAGE, "text/html")
    packed = gzip.compress(PAGE)
    assert (
        one(reading, making.http(packed, "Content-Encoding: gzip", content_type=content_type)).payload == PAGE
    )
    assert none(reading, making.http(b"plain words", content_type=content_type))
    assert none(reading, making.http(b"\x89PNG\r\n\x1a\n <html>", content_type=content_type))


@pytest.mark.parametrize("content_type", ["image/png", "application/pdf", "text/plain", "application/json"])
def test_other_types_give_no_row(reading: Reading, content_type: str) -> None:
    assert none(reading, making.http(PAGE, content_type=content_type))


@pytest.mark.parametrize("kind", ["request", "metadata", "revisit", "warcinfo", "resource", "conversion"])
def test_other_record_types_give_no_row(reading: Reading, kind: str) -> None:
    assert none(reading, making.http(PAGE), kind=kind)


def test_other_record_types_on_request(reading: Reading) -> None:
    options = ReadOptions(
        record_types=("resource", "conversion", "revisit"), mime_types=("text/html", "text/plain")
    )
    content = making.shard(
        [
            making.warc(PAGE, kind="resource", content_type="text/html; charset=utf-8"),
            making.warc(b"plain words", kind="conversion", content_type="text/plain"),
            making.warc(b"\x89PNG", kind="resource", content_type="image/png"),
            making.warc(making.http(PAGE), kind="revisit"),
            making.warc(making.http(PAGE), kind="response"),
        ]
    ).content
    records = reading(content, options=options)
    assert [(record.payload, record.http_charset) for record in records] == [
        (PAGE, "utf-8"),
        (b"plain words", "utf-8"),
    ]


@pytest.mark.parametrize("status", ["404 Not Found", "301 Moved Permanently", "500", "204 No Content"])
def test_other_statuses_give_a_row_without_payload(reading: Reading, status: str) -> None:
    for content_type in ("text/html", None):
        record = one(reading, making.http(PAGE, status=status, content_type=content_type))
        assert (record.status, record.reason, record.payload) == ("http_status", status[:3], None)
        assert record.fetch_status == int(status[:3])


def test_a_record_whose_body_is_not_read_may_be_truncated_too(reading: Reading) -> None:
    record = one(reading, making.http(PAGE, status="404 Not Found"), "WARC-Truncated: length")
    assert (record.status, record.content_truncated) == ("http_status", "length")


def test_other_statuses_on_request(reading: Reading) -> None:
    options = ReadOptions(statuses=(200, 404))
    assert one(reading, making.http(PAGE, status="404 Not Found"), options=options).payload == PAGE


@pytest.mark.parametrize(
    ("magic", "reason"),
    [
        (b"%PDF-1.7\n", "application/pdf"),
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"GIF89a\x01", "image/gif"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"PK\x03\x04\x14", "application/zip"),
    ],
)
def test_binary_declared_as_html_is_not_html(reading: Reading, magic: bytes, reason: str) -> None:
    record = one(reading, making.http(magic + bytes(200)))
    assert (record.status, record.reason, record.payload) == ("not_html", reason, None)


def test_a_body_in_chunks_and_gzip_is_decoded(reading: Reading) -> None:
    body = making.chunked(gzip.compress(PAGE))
    fields = ("Transfer-Encoding: chunked", "Content-Encoding: gzip")
    assert one(reading, making.http(body, *fields, length=None)).payload == PAGE
    assert one(reading, making.http(body, *fields, length=None)).content_truncated is None


def test_a_length_that_is_not_that_of_the_chunks_makes_no_page_truncated(reading: Reading) -> None:
    """Of a chunked body, the last chunk shows that it is whole; HTTP ignores Content-Length there."""
    block = making.http(making.chunked(PAGE), "Transfer-Encoding: chunked", length=10 * len(PAGE))
    record = one(reading, block)
    assert (record.payload, record.content_truncated) == (PAGE, None)


def test_stale_encoding_headers_do_no_harm(reading: Reading) -> None:
    fields = ("Transfer-Encoding: chunked", "Content-Encoding: br")
    assert one(reading, making.http(PAGE, *fields, length=123)).payload == PAGE


@pytest.mark.parametrize("content_type", ["text/html", None])
def test_an_undecodable_body_is_corrupt(reading: Reading, content_type: str | None) -> None:
    body = b"\x1f\x8b\x08\x00" + b"\xff" * 99
    record = one(reading, making.http(body, "Content-Encoding: gzip", content_type=content_type))
    assert record.status == "corrupt_record"
    assert record.reason is not None


def test_an_empty_body_is_a_page(reading: Reading) -> None:
    assert one(reading, making.http(b"")).payload == b""


@pytest.mark.parametrize("kind", ["application/http", "application/http; msgtype=response", "text/html", ""])
def test_html_without_an_http_head_is_taken_as_the_body(reading: Reading, kind: str) -> None:
    assert one(reading, PAGE, content_type=kind).payload == PAGE
    assert one(reading, PAGE, content_type=kind).content_mime_type == "text/html"


@pytest.mark.parametrize("url", ["http://site.example/0", "HTTPS://SITE.EXAMPLE/", None])
def test_a_block_that_is_neither_http_nor_html_is_corrupt(reading: Reading, url: str | None) -> None:
    """Also where the damage took the address; of other addresses, such as dns:, are no pages."""
    raw = making.warc(bytes(range(256)) * 4)
    name = b"WARC-Target-URI: " if url else b"WARC-T\x00rget-URI: "
    raw = raw.replace(b"WARC-Target-URI: http://site.example/0", name + (url or "").encode())
    (record,) = reading(making.shard([raw]).content)
    assert (record.status, record.url) == ("corrupt_record", url)


@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize(
    ("block", "status", "payload"),
    [
        (b"no head, no page", "corrupt_record", None),
        (b"HTTP/1.1 200 OK\r\nContent-Type: text/html", None, b""),
        (b"HTTP/1.1 100 Continue\r\n\r\n", "http_status", None),
    ],
)
def test_nothing_of_the_next_record_counts_to_a_short_block(
    reading: Reading, is_packed: bool, block: bytes, status: str | None, payload: bytes | None
) -> None:
    content = making.warc(block) + making.warc(making.http(PAGE), number=1)
    first, second = reading(gzip.compress(content) if is_packed else content)
    assert (first.status, first.payload, first.content_truncated) == (status, payload, None)
    assert second.payload == PAGE


def test_an_empty_response_gives_no_row(reading: Reading) -> None:
    assert none(reading, b"")


def test_an_answer_of_dns_gives_no_row(reading: Reading) -> None:
    raw = making.warc(b"20240229 site.example. 192.0.2.1").replace(
        b"http://site.example/0", b"dns:site.example"
    )
    assert reading(making.shard([raw]).content) == []


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\nContent-Type: text/html\n\n",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n",
        b"http/1.0 200\r\ncontent-type:text/html\r\nno colon here\r\n: no name\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX: " + b"x" * 40_000 + b"\r\n\r\n",
    ],
    ids=["bare newlines", "interim head", "odd fields", "no empty line", "very long"],
)
def test_odd_http_heads_are_understood(reading: Reading, head: bytes) -> None:
    record = one(reading, head + PAGE)
    assert (record.payload, record.fetch_status) == (PAGE, 200)


def test_a_head_without_a_status_is_taken_as_wanted(reading: Reading) -> None:
    record = one(reading, b"HTTP/1.1 OK\r\nContent-Type: text/html\r\n\r\n" + PAGE)
    assert (record.payload, record.fetch_status) == (PAGE, None)


@pytest.mark.parametrize("n_bytes", [0, 16 << 10, 250_000, 256 << 10, 700_000])
@pytest.mark.parametrize("shift", [0, 12])
def test_any_number_of_interim_heads_is_passed_over(reading: Reading, n_bytes: int, shift: int) -> None:
    interim = b"HTTP/1.1 100 Continue\r\n\r\n"
    heads = b"HTTP/1.1 103 Early Hints" + b"!" * shift + b"\r\n\r\n" + interim * (n_bytes // len(interim))
    assert one(reading, heads + making.http(PAGE)).payload == PAGE
    record = one(reading, heads)
    assert (record.status, record.reason) == ("http_status", "100" if n_bytes else "103")


@pytest.mark.parametrize("n_fields", [1000, 30_000])
def test_a_page_behind_a_long_head_is_found(reading: Reading, n_fields: int) -> None:
    record = one(reading, making.http(PAGE, *["Set-Cookie: a=b"] * n_fields))
    assert (record.payload, record.content_mime_type) == (PAGE, "text/html")


@pytest.mark.parametrize("start", [b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 100 Continue\r\n\r\n"])
def test_heads_beyond_the_cap_are_oversize(reading: Reading, start: bytes) -> None:
    record = one(reading, start * 40_000, options=ReadOptions(max_bytes=1000))
    assert record.status == "oversize"
    assert record.reason == f"an HTTP head over {1125 + (256 << 10)} bytes"


def test_too_many_declared_encodings_are_corrupt(reading: Reading) -> None:
    for content_type in ("text/html", None):
        block = making.http(PAGE, f"Content-Encoding: {'deflate, ' * 20_000}gzip", content_type=content_type)
        record = one(reading, block)
        assert (record.status, record.reason) == ("corrupt_record", "20001 declared encodings, more than 4")


def test_a_page_beyond_the_cap_is_oversize(reading: Reading) -> None:
    options = ReadOptions(max_bytes=10_000)
    for raw in (bytes(10_001), bytes(10_000_000)):
        for body, fields in ((raw, ()), (gzip.compress(raw), ("Content-Encoding: gzip",))):
            record = one(
                reading, making.http(b"<html>" + body if not fields else body, *fields), options=options
            )
            assert (record.status, record.payload) == ("oversize", None)


def test_a_page_beyond_the_cap_may_be_truncated_too(reading: Reading) -> None:
    options = ReadOptions(max_bytes=1000)
    record = one(reading, making.http(bytes(1 << 20)), "WARC-Truncated: length", options=options)
    assert (record.status, record.content_truncated) == ("oversize", "length")


def test_a_page_without_content_type_beyond_the_cap_is_oversize(reading: Reading) -> None:
    body = PAGE + bytes(2_000_000)
    assert (
        one(reading, making.http(body, content_type=None), options=ReadOptions(max_bytes=10_000)).status
        == "oversize"
    )


def test_a_giant_record_is_passed_over_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "giant.warc"
    n_bytes = 300 << 20
    raw = making.warc(making.http(b"", length=n_bytes), length=n_bytes + 100)
    head = raw[: raw.index(b"\r\n\r\nHTTP") + 4]
    with path.open("wb") as file:
        file.write(making.responses(1)[0] + head + making.http(b"", length=n_bytes))
        start = file.tell() - (raw.index(b"\r\n\r\n", len(head)) + 4 - len(head))
        file.seek(start + n_bytes + 100)  # a hole in the file
        file.write(b"\r\n\r\n" + making.warc(making.http(PAGE), number=9))
    tracemalloc.start()
    records = list(read(resolve([str(path)])[0]))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [record.status for record in records] == [None, "oversize", None]
    assert records[2].payload == PAGE
    assert peak < 4 << 20


def test_an_html_file_is_one_record(reading: Reading, tmp_path: Path) -> None:
    (record,) = reading(PAGE, "a page é %41.html")
    assert record.payload == PAGE
    assert record.url == (tmp_path / "a page é %41.html").as_uri()
    assert (record.warc_record_offset, record.warc_record_length) == (0, len(PAGE))
    assert record.fetch_status is None
    assert reading(PAGE, "page.html", ReadOptions(max_bytes=10))[0].status == "oversize"


@pytest.mark.parametrize("content", [b"", b"rubbish without a record"])
def test_a_shard_without_records_is_an_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.warc.gz"
    path.write_bytes(content)
    with pytest.raises(ShardError, match=r"bad\.warc\.gz: "):
        list(read(Shard(str(path), len(content), "warc")))


def test_a_missing_shard_is_an_error(tmp_path: Path) -> None:
    for kind in ("warc", "arc", "html"):
        with pytest.raises(ShardError, match=r"gone\.warc\.gz: "):
            list(read(Shard(str(tmp_path / "gone.warc.gz"), 1, kind)))  # type: ignore[arg-type]
