"""Records: what is read of an archive, and which pages come of it.

`page_record` makes a Record of a RawRecord: an html page, an html record that can't be cleaned, or None.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from victor_spark.warc import file_types, headers, http_body
from victor_spark.warc.headers import HttpHead
from victor_spark.warc.http_body import Body
from victor_spark.warc.shard import HTML_TYPES, STANDARD_TYPES, ReadOptions

_FIRST_READ: Final = 16 << 10
_MAX_HEAD: Final = 256 << 10
_SHOWN_TYPE: Final = 40


@dataclass(frozen=True, slots=True)
class Record:
    """One record of an archive, its body decoded from transfer and content encodings.

    `status` is None for a record that can be cleaned; otherwise the record never gets that far
    and the row carries this status and `reason` (`payload` is then None or what there is of it).
    """

    id: str | None
    url: str | None
    warc_filename: str
    warc_record_offset: int
    warc_record_length: int
    payload: bytes | None
    fetch_time: datetime | None = None
    fetch_status: int | None = None
    content_digest: str | None = None
    content_mime_type: str | None = None
    http_charset: str | None = None
    content_truncated: str | None = None
    status: str | None = None
    reason: str | None = None
    crawl: str | None = None


@dataclass(frozen=True, slots=True)
class Damage:
    """A byte range of the shard that can't be read, and the reason and status of its row."""

    warc_record_offset: int
    warc_record_length: int
    reason: str
    status: str = "corrupt_record"


@dataclass(frozen=True, slots=True)
class RawRecord:
    """A record before its block is read: its offset, its WARC type, its fields, and the block as a stream.

    `field` gives a WARC field by name, in any case. `read(n)` gives at most `n` bytes more of the block,
    fewer only at its end. `block_length` is the length that the header declares.
    """

    offset: int
    type: str
    field: Callable[[str], str | None]
    read: Callable[[int], bytes]
    block_length: int


def page_record(raw: RawRecord, options: ReadOptions, filename: str) -> Record | None:
    """The page record, its length still 0; None when the raw record is neither html nor damaged."""
    if raw.type not in STANDARD_TYPES:
        written = raw.field("WARC-Type") or ""
        reason = f"unknown WARC-Type {written[:_SHOWN_TYPE]!a}" if written else "no WARC-Type"
        return unread(raw, filename, "corrupt_record", reason)
    if raw.type not in options.record_types or raw.type == "revisit":
        return None
    first = raw.read(_FIRST_READ)
    head = headers.http_head(first) if raw.type == "response" else None
    while head is not None and _is_open(head, len(first)):
        more = raw.read(min(len(first), _longest(options) - len(first)))
        if not more:
            break
        first += more
        head = headers.http_head(first)
    if head is not None:
        return _http_record(raw, head, first, options, filename)
    return _bare_record(raw, first, options, filename)


def _is_open(head: HttpHead, n_read: int) -> bool:
    """Whether the HTTP head, or the one after an interim head, may continue after the bytes read."""
    return head.is_interim or (not head.complete and (n_read < _MAX_HEAD or head.length == n_read))


def _longest(options: ReadOptions) -> int:
    """The limit in bytes of HTTP heads and of an encoded body; beyond it a record is oversize."""
    return options.max_bytes + (options.max_bytes >> 3) + _MAX_HEAD


def _http_record(
    raw: RawRecord, head: HttpHead, first: bytes, options: ReadOptions, filename: str
) -> Record | None:
    """A response with an HTTP head."""
    mime = headers.mime_type(head.content_type)
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
        if file_types.looks_like_html(body.payload or first[head.length :]):
            record = replace(record, content_mime_type=HTML_TYPES[0])
        elif not head.is_interim:
            return None
    if not wanted:
        return replace(record, status="http_status", reason=str(head.status))
    return with_payload(record, body, reason, options)


def _bare_record(raw: RawRecord, first: bytes, options: ReadOptions, filename: str) -> Record | None:
    """A record whose block is the payload itself, or a response whose HTTP head is broken or absent."""
    content_type = raw.field("Content-Type")
    mime = headers.mime_type(content_type)
    meant_as_http = raw.type == "response" and mime in (None, "application/http")
    if meant_as_http:
        content_type = HTML_TYPES[0]
        if not file_types.looks_like_html(first):
            damaged = unread(raw, filename, "corrupt_record", "neither an HTTP head nor html")
            is_of_web = damaged.url is None or damaged.url.lower().startswith("http")
            return damaged if first.strip() and is_of_web else None
    elif mime not in options.mime_types and (raw.type != "conversion" or mime != "text/plain"):
        return None
    body, reason = _body(raw, HttpHead(), first, options)
    record = _record(raw, content_type, filename, status=None)
    if raw.type == "conversion" and mime == "text/plain":
        record = replace(record, http_charset=record.http_charset or "utf-8")
    return with_payload(record, body, reason, options)


def unread(raw: RawRecord, filename: str, status: str, reason: str) -> Record:
    """The record by its header alone, with the reason why its block is not read."""
    return replace(_record(raw, None, filename, status=None), status=status, reason=reason)


def _record(raw: RawRecord, content_type: str | None, filename: str, *, status: int | None) -> Record:
    return Record(
        id=headers.without_brackets(raw.field("WARC-Record-ID")),
        url=headers.without_brackets(raw.field("WARC-Target-URI")),
        warc_filename=filename,
        warc_record_offset=raw.offset,
        warc_record_length=0,
        payload=None,
        fetch_time=headers.fetch_time(raw.field("WARC-Date")),
        fetch_status=status,
        content_digest=raw.field("WARC-Payload-Digest"),
        content_mime_type=headers.mime_type(content_type),
        http_charset=headers.charset(content_type),
        content_truncated=raw.field("WARC-Truncated") or None,
    )


def _body(raw: RawRecord, head: HttpHead, first: bytes, options: ReadOptions) -> tuple[Body, str | None]:
    """The decoded body, and the reason why its end is missing (None: it is complete)."""
    limit = _longest(options)
    n_raw = raw.block_length - head.length
    if n_raw > limit:
        return Body(b"", oversize=True), raw.field("WARC-Truncated")
    packed = first + raw.read(n_raw - len(first))  # FastWARC makes room for all that is asked for
    chunked = "chunked" in head.transfer_encodings
    body = http_body.decode(packed, head.content_encodings, head.transfer_encodings, limit=options.max_bytes)
    promised = n_raw if chunked else max(n_raw, head.content_length or 0)
    cut = body.truncated or len(packed) < promised
    return body, raw.field("WARC-Truncated") or ("unspecified" if cut else None)


def with_payload(record: Record, body: Body, truncated: str | None, options: ReadOptions) -> Record:
    """The record with its payload, or with the status and reason why it can't be cleaned."""
    payload, status, reason = None, None, None
    if body.oversize:
        status, reason = "oversize", f"over {options.max_bytes} bytes"
    elif body.problem:
        status, reason = "corrupt_record", body.problem
    elif (reason := file_types.binary_type(body.payload[:512])) is not None:
        status = "not_html"
    elif truncated is not None and not http_body.holds_text(body.payload):
        status, reason = "truncated", truncated
    else:
        payload = body.payload
    return replace(record, payload=payload, content_truncated=truncated, status=status, reason=reason)
