"""HTTP heads and WARC fields are read in all forms that archives have."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from victor_spark.warc import headers


@pytest.mark.parametrize(
    ("date", "expected"),
    [
        ("2024-02-29T12:34:56Z", datetime(2024, 2, 29, 12, 34, 56, tzinfo=UTC)),
        (" 2024-02-29T12:34:56.789123456Z ", datetime(2024, 2, 29, 12, 34, 56, 789123, tzinfo=UTC)),
        ("2024-02-29T12:34:56+02:00", datetime(2024, 2, 29, 10, 34, 56, tzinfo=UTC)),
        ("2024-02-29 12:34:56", datetime(2024, 2, 29, 12, 34, 56, tzinfo=UTC)),
        ("20240229123456", datetime(2024, 2, 29, 12, 34, 56, tzinfo=UTC)),
        ("2024-02-29", datetime(2024, 2, 29, tzinfo=UTC)),
        ("2024-02", datetime(2024, 2, 1, tzinfo=UTC)),
        ("2024", datetime(2024, 1, 1, tzinfo=UTC)),
        ("2024-02-30T00:00:00Z", None),
        ("20241301", None),
        ("yesterday", None),
        ("0000", None),
        ("0001-01-01T00:00:00Z", None),
        ("9999-12-31T23:59:59Z", None),
        ("00010101000000", None),
        ("", None),
        (None, None),
    ],
)
def test_dates_of_any_precision(date: str | None, expected: datetime | None) -> None:
    assert headers.fetch_time(date) == expected


@given(date=st.text(max_size=40))
def test_no_date_raises(date: str) -> None:
    time = headers.fetch_time(date)
    assert time is None or time.tzinfo is UTC


@given(
    block=st.binary(max_size=300),
    start=st.sampled_from([b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 100\r\n\r\nHTTP/1.1 "]),
)
def test_no_head_raises_or_reaches_beyond_its_block(block: bytes, start: bytes) -> None:
    head = headers.http_head(start + block)
    assert head is None or 0 < head.length <= len(start + block)


def test_the_last_of_several_heads_counts() -> None:
    head = headers.http_head(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 No\r\nContent-Type: a/b\r\n\r\nbody")
    assert head is not None
    assert (head.status, head.content_type) == (404, "a/b")


@pytest.mark.parametrize("end", [b"\r\n\r\n", b"\n\n", b"\r\n \t\r\n", b"\n\r\n", b"\r\n\n", b"\r\r"])
def test_an_empty_line_of_any_form_ends_a_head(end: bytes) -> None:
    whole = b"HTTP/1.1 200 OK\r\nContent-Type : a/b" + end
    head = headers.http_head(whole + b"Content-Type: c/d\r\n\r\n")
    assert head is not None
    assert (head.content_type, head.length, head.complete) == ("a/b", len(whole), True)


def test_lines_that_end_in_two_carriage_returns_do_not_end_a_head() -> None:
    whole = b"HTTP/1.1 200 OK\r\r\nContent-Type: a/b\r\r\nContent-Encoding: gzip\r\r\n\r\r\n"
    head = headers.http_head(whole + b"body")
    assert head is not None
    assert (head.content_type, head.content_encodings) == ("a/b", ("gzip",))
    assert (head.length, head.complete) == (len(whole), True)


def test_of_repeated_fields_the_last_counts() -> None:
    fields = b"Content-Type: a/b\r\nContent-Length: 5\r\nContent-Type: c/d\r\ncontent-length: 6, 6\r\n"
    head = headers.http_head(b"HTTP/1.1 200 OK\r\n" + fields + b"\r\n")
    assert head is not None
    assert (head.content_type, head.content_length) == ("c/d", 6)


def test_encodings_of_several_lines_stack() -> None:
    head = headers.http_head(
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Encoding: BR, zstd\r\n\r\n"
    )
    assert head is not None
    assert head.content_encodings == ("gzip", "br", "zstd")


def test_an_encoding_in_quotation_marks_is_known() -> None:
    head = headers.http_head(b'HTTP/1.1 200 OK\r\nContent-Encoding: "br", "gzip"\r\n\r\n')
    assert head is not None
    assert head.content_encodings == ("br", "gzip")


def test_many_heads_and_fields_are_read() -> None:
    head = headers.http_head(b"HTTP/1.1 100 Continue\r\n\r\n" * 9999 + b"HTTP/1.1 200 OK\r\n\r\n")
    assert head is not None
    assert (head.status, head.is_interim) == (200, False)
    head = headers.http_head(b"HTTP/1.1 103 Early Hints\r\n" + b"Content-Encoding: br\r\n" * 9999 + b"\r\n")
    assert head is not None
    assert (head.content_encodings, head.is_interim) == (("br",) * 9999, True)


def test_a_charset_behind_a_million_blanks_is_looked_for_once() -> None:
    assert headers.charset(f"text/html; charset={' ' * 10**6};") is None


@pytest.mark.parametrize(
    ("content_type", "mime", "charset"),
    [
        ("text/html", "text/html", None),
        ('Text/HTML ; Charset = "UTF-8"', "text/html", "UTF-8"),
        ("text/html; charset='cp1250'; x=y", "text/html", "cp1250"),
        ("text/html, text/html; charset=koi8-r", "text/html", "koi8-r"),
        ("text/html;charset=", "text/html", None),
        ("nonsense", None, None),
        ("", None, None),
        (None, None, None),
    ],
)
def test_content_types(content_type: str | None, mime: str | None, charset: str | None) -> None:
    assert headers.mime_type(content_type) == mime
    assert headers.charset(content_type) == charset


@pytest.mark.parametrize("character", ["\x85", "\u2028", "\x0b", "\x0c", "\x1c"])
def test_only_newlines_end_a_field_of_a_warc_header(character: str) -> None:
    url = f"http://harbour.example/{character}date:1"
    header = headers.WARC.parse(f"WARC/1.1\r\nWARC-Target-URI: {url}\r\nContent-Length: 5\r\n\r\n".encode())
    assert header is not None
    assert header.fields == {"warc-target-uri": url, "content-length": "5"}


@pytest.mark.parametrize("date", ["null", "-", "0"])
def test_arc_lines_without_a_date_are_read(date: str) -> None:
    header = headers.ARC.parse(f"http://harbour.example/a b 10.0.0.1 {date} text/html 680\n".encode())
    assert header is not None
    assert header.fields["warc-target-uri"] == "http://harbour.example/a b"
    assert header.block_length == 680


def test_an_address_of_arc_that_is_not_utf_8_is_latin_1() -> None:
    header = headers.ARC.parse(b"http://harbour.example/\xe9t\xe9 10.0.0.1 20080430204825 text/html 5\n")
    assert header is not None
    assert header.fields["warc-target-uri"] == "http://harbour.example/été"


@pytest.mark.parametrize(
    "line", [b"http://harbour.example/ 5\n", b"http://harbour.example/ 10.0.0.1 0 text/html 5"]
)
def test_a_line_of_too_few_parts_or_without_an_end_is_no_arc_header(line: bytes) -> None:
    assert headers.ARC.parse(line) is None


@pytest.mark.timeout(60)
@pytest.mark.parametrize("unit", [b"a 1 20080430204825 ", b"1 20080430 ", b" 200 a b 1 ", b" 1"])
def test_long_arc_lines_take_linear_time(unit: bytes) -> None:
    headers.ARC.parse(
        b"http://x 10.0.0.1 20080430204825 " + unit * (headers.MAX_HEADER // len(unit)) + b"x\n"
    )
