"""What a raw record is: an html page, an html record that can't be cleaned, or none of our business."""

from dataclasses import dataclass, replace
from typing import Final

from victor_spark.blocks import Record
from victor_spark.warc import bodies, heads, kinds
from victor_spark.warc.bodies import Body
from victor_spark.warc.heads import Head
from victor_spark.warc.raw import Passed, RawRecord, Understand

HTML_TYPES: Final = ("text/html", "application/xhtml+xml")
TEXT: Final = "text/plain"
_FIRST_READ: Final = 16 << 10
_MAX_HEAD: Final = 256 << 10


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Which records become pages: HTTP statuses, declared types, WARC types; and the payload's cap in bytes.

    A record of another status becomes a row with status "http_status"; of another type, none. The text of
    "conversion" records is a page as well, if these are asked for; in a WET file nothing else is read.
    """

    statuses: tuple[int, ...] = (200,)
    mime_types: tuple[str, ...] = HTML_TYPES
    record_types: tuple[str, ...] = ("response",)
    max_bytes: int = 10 << 20


def in_wet(options: ReadOptions) -> ReadOptions:
    """The options for a WET file: its pages are conversions, unless other records were asked for."""
    asked = options.record_types != ReadOptions().record_types
    return options if asked else replace(options, record_types=("conversion",))


def understand(raw: RawRecord, options: ReadOptions, filename: str) -> Record | None:
    """The page record of a raw record, its length still 0; None when it is no html and shows no damage."""
    if raw.type not in options.record_types or raw.type == "revisit":
        return None
    first = raw.read(_FIRST_READ)
    head = heads.parse(first) if raw.type == "response" else None
    while head is not None and _is_open(head, len(first)):
        more = raw.read(min(len(first), _longest(options) - len(first)))
        if not more:
            break
        first += more
        head = heads.parse(first)
    if head is not None:
        return _of_http(raw, head, first, options, filename)
    return _of_bare(raw, first, options, filename)


def _is_open(head: Head, n_read: int) -> bool:
    """Whether the HTTP head, or the one that an interim head announces, may go on behind the bytes read."""
    return head.is_interim or (not head.complete and (n_read < _MAX_HEAD or head.length == n_read))


def _longest(options: ReadOptions) -> int:
    """The most bytes that are read of heads or of a packed body: a longer one is oversize."""
    return options.max_bytes + (options.max_bytes >> 3) + _MAX_HEAD


def _of_http(raw: RawRecord, head: Head, first: bytes, options: ReadOptions, filename: str) -> Record | None:
    """A response with an HTTP head."""
    mime = heads.mime_type(head.content_type)
    if mime is not None and mime not in options.mime_types:
        return None
    record = _record(raw, head.content_type, filename, status=head.status)
    wanted = head.status is None or head.status in options.statuses
    if mime is not None and not wanted:
        return replace(record, status="http_status", reason=str(head.status))
    if _is_open(head, len(first)) and len(first) >= _longest(options):
        return replace(record, status="oversize", reason=f"an HTTP head over {len(first)} bytes")
    body, reason = _body(raw, head, first[head.length :], options)
    if mime is None and not body.problem:
        if kinds.looks_like_html(body.payload or first[head.length :]):
            record = replace(record, content_mime_type=HTML_TYPES[0])
        elif not head.is_interim:
            return None
    if not wanted:
        return replace(record, status="http_status", reason=str(head.status))
    return judged(record, body, reason, options)


def _of_bare(raw: RawRecord, first: bytes, options: ReadOptions, filename: str) -> Record | None:
    """A record whose block is the payload itself, or a response whose HTTP head is broken or absent."""
    content_type = raw.field("Content-Type")
    mime = heads.mime_type(content_type)
    meant_as_http = raw.type == "response" and mime in (None, "application/http")
    if meant_as_http:
        content_type = HTML_TYPES[0]
        if not kinds.looks_like_html(first):
            return _unintelligible(raw, first, filename)
    elif mime not in options.mime_types and (raw.type != "conversion" or mime != TEXT):
        return None
    body, reason = _body(raw, Head(None, {}, 0, complete=True), first, options)
    record = _record(raw, content_type, filename, status=None)
    if raw.type == "conversion" and mime == TEXT:
        record = replace(record, http_charset=record.http_charset or "utf-8")
    return judged(record, body, reason, options)


def _unintelligible(raw: RawRecord, first: bytes, filename: str) -> Record | None:
    """A response without an HTTP head that is no html either: damage, unless empty or not from the web."""
    record = _record(raw, None, filename, status=None)
    if not first.strip() or (record.url is not None and not record.url.lower().startswith("http")):
        return None
    return replace(record, status="corrupt_record", reason="neither an HTTP head nor html")


def unread(raw: RawRecord, filename: str, status: str, reason: str) -> Record:
    """The record by its header alone, and why its block isn't read."""
    return replace(_record(raw, None, filename, status=None), status=status, reason=reason)


def passing(understand: Understand, offset: int, passed: Passed, filename: str) -> Understand:
    """`understand`, but for the record at an offset, which is passed over."""

    def understood(raw: RawRecord) -> Record | None:
        if raw.offset != offset:
            return understand(raw)
        return unread(raw, filename, passed.status, passed.reason)

    return understood


def _record(raw: RawRecord, content_type: str | None, filename: str, *, status: int | None) -> Record:
    return Record(
        id=heads.record_id(raw.field("WARC-Record-ID")),
        url=heads.url(raw.field("WARC-Target-URI")),
        warc_filename=filename,
        warc_record_offset=raw.offset,
        warc_record_length=0,
        payload=None,
        fetch_time=heads.fetch_time(raw.field("WARC-Date")),
        fetch_status=status,
        content_digest=raw.field("WARC-Payload-Digest"),
        content_mime_type=heads.mime_type(content_type),
        http_charset=heads.charset(content_type),
        content_truncated=raw.field("WARC-Truncated") or None,
    )


def _body(raw: RawRecord, head: Head, first: bytes, options: ReadOptions) -> tuple[Body, str | None]:
    """The decoded body, and why its end is missing (None: it is not)."""
    limit = _longest(options)
    n_raw = raw.block_length - head.length
    if n_raw > limit:
        return Body(b"", oversize=True), raw.field("WARC-Truncated")
    packed = first + raw.read(limit)
    chunked = "chunked" in head.transfer_encodings
    body = bodies.decode(packed, head.content_encodings, head.transfer_encodings, limit=options.max_bytes)
    promised = n_raw if chunked else max(n_raw, head.content_length or 0)
    cut = body.truncated or len(packed) < promised
    return body, raw.field("WARC-Truncated") or ("unspecified" if cut else None)


def judged(record: Record, body: Body, truncated: str | None, options: ReadOptions) -> Record:
    """The record with its payload, or with the reason why it can't be cleaned."""
    if body.oversize:
        return replace(
            record, content_truncated=truncated, status="oversize", reason=f"over {options.max_bytes} bytes"
        )
    if body.problem:
        return replace(record, content_truncated=truncated, status="corrupt_record", reason=body.problem)
    other = kinds.binary_type(body.payload[:512])
    if other is not None:
        return replace(record, content_truncated=truncated, status="not_html", reason=other)
    if truncated is not None and not bodies.holds_text(body.payload):
        return replace(record, content_truncated=truncated, status="truncated", reason=truncated)
    return replace(record, content_truncated=truncated, payload=body.payload)
