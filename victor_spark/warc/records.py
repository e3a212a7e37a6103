"""Records of an archive, and the page that each one gives.

`page_record` makes a Record of a RawRecord: an html page, an html record that can't be cleaned, or None.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

from victor_spark.warc import file_types, headers, http_body
from victor_spark.warc.headers import HttpHead
from victor_spark.warc.http_body import Body
from victor_spark.warc.shard import HTML_TYPES, STANDARD_TYPES, ReadOptions

_FIRST_READ: Final = 16 << 10
_SHOWN_TYPE: Final = 40


@dataclass(frozen=True, slots=True)
class Record:
    """One record of an archive, its body decoded from transfer and content encodings.

    `status` is None if the record can be cleaned. Otherwise its row has this `status` and `reason`.
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


class RawRecord(NamedTuple):
    """A record before its block is read: its file, crawl and offset, and its fields by lower-case WARC name.

    `read(position, n)` gives at most `n` bytes of the block, fewer only at its end. `block_length` is the
    length that the header declares, `length` the record's in the file, where it is known.
    """

    filename: str
    crawl: str | None
    offset: int
    fields: dict[str, str]
    read: Callable[[int, int], bytes]
    block_length: int
    length: int = 0


def page_record(raw: RawRecord, options: ReadOptions) -> Record | None:
    """The page record, its length 0 where unknown; None when the raw record is neither html nor damaged."""
    written = raw.fields.get("warc-type", "")
    kind = written.lower()
    if kind not in STANDARD_TYPES:
        reason = f"unknown WARC-Type {written[:_SHOWN_TYPE]!a}" if written else "no WARC-Type"
        return unread(raw, "corrupt_record", reason)
    if kind not in options.record_types or kind == "revisit":
        return None
    first = raw.read(0, _FIRST_READ)
    head = headers.http_head(first) if kind == "response" else None
    while head is not None and _is_open(head, len(first)):
        longer = raw.read(0, min(2 * len(first), _longest(options)))
        if len(longer) == len(first):
            break
        first = longer
        head = headers.http_head(first)
    if head is not None:
        return _http_record(raw, head, first, options)
    return _bare_record(raw, kind, first, options)


def _is_open(head: HttpHead, n_read: int) -> bool:
    """Whether the HTTP head, or the one after an interim head, may continue after the bytes read."""
    return head.is_interim or (not head.complete and (n_read < headers.MAX_HEADER or head.length == n_read))


def _longest(options: ReadOptions) -> int:
    """The limit in bytes of HTTP heads and of an encoded body; beyond it a record is oversize."""
    return options.max_bytes + (options.max_bytes >> 3) + headers.MAX_HEADER


def _http_record(raw: RawRecord, head: HttpHead, first: bytes, options: ReadOptions) -> Record | None:
    mime = headers.mime_type(head.content_type)
    if mime is not None and mime not in options.mime_types:
        return None
    wanted = head.status is None or head.status in options.statuses
    outcome: dict[str, Any] = {"status": "http_status", "reason": str(head.status)}
    if mime is not None and not wanted:
        return _record(raw, head.content_type, head.status, outcome)
    if _is_open(head, len(first)) and len(first) >= _longest(options):
        outcome = {"status": "oversize", "reason": f"an HTTP head over {len(first)} bytes"}
        return _record(raw, head.content_type, head.status, outcome)
    body, truncated = _body(raw, head, options)
    if wanted:
        outcome = outcome_of(body, truncated, options)
    if mime is None and not body.problem:
        if file_types.looks_like_html(body.payload or first[head.length :]):
            outcome["content_mime_type"] = HTML_TYPES[0]
        elif not head.is_interim:
            return None
    return _record(raw, head.content_type, head.status, outcome)


def _bare_record(raw: RawRecord, kind: str, first: bytes, options: ReadOptions) -> Record | None:
    """A record whose block is the payload itself, or a response whose HTTP head is broken or absent."""
    content_type = raw.fields.get("content-type")
    mime = headers.mime_type(content_type)
    meant_as_http = kind == "response" and mime in (None, "application/http")
    if meant_as_http:
        content_type = HTML_TYPES[0]
        if not file_types.looks_like_html(first):
            damaged = unread(raw, "corrupt_record", "neither an HTTP head nor html")
            is_of_web = damaged.url is None or damaged.url.lower().startswith("http")
            return damaged if first.strip() and is_of_web else None
    elif mime not in options.mime_types and (kind != "conversion" or mime != "text/plain"):
        return None
    outcome = outcome_of(*_body(raw, HttpHead(), options), options)
    if kind == "conversion" and mime == "text/plain":
        outcome["http_charset"] = headers.charset(content_type) or "utf-8"
    return _record(raw, content_type, None, outcome)


def unread(raw: RawRecord, status: str, reason: str) -> Record:
    """The record by its header alone, with the reason why its block is not read."""
    return _record(raw, None, None, {"status": status, "reason": reason})


def _record(
    raw: RawRecord, content_type: str | None, fetch_status: int | None, outcome: dict[str, Any]
) -> Record:
    """The Record of a header and of `outcome`: the fields that reading the block gave."""
    fields = {
        "payload": None,
        "content_mime_type": headers.mime_type(content_type),
        "http_charset": headers.charset(content_type),
        "content_truncated": raw.fields.get("warc-truncated") or None,
    }
    return Record(
        id=headers.without_brackets(raw.fields.get("warc-record-id")),
        url=headers.without_brackets(raw.fields.get("warc-target-uri")),
        warc_filename=raw.filename,
        warc_record_offset=raw.offset,
        warc_record_length=raw.length,
        fetch_time=headers.fetch_time(raw.fields.get("warc-date")),
        fetch_status=fetch_status,
        content_digest=raw.fields.get("warc-payload-digest"),
        crawl=raw.crawl,
        **fields | outcome,
    )


def _body(raw: RawRecord, head: HttpHead, options: ReadOptions) -> tuple[Body, str | None]:
    """The decoded body, and the reason why its end is missing (None: it is complete)."""
    limit = _longest(options)
    n_raw = raw.block_length - head.length
    if n_raw > limit:
        return Body(b"", oversize=True), raw.fields.get("warc-truncated")
    packed = raw.read(head.length, n_raw)
    chunked = "chunked" in head.transfer_encodings
    body = http_body.decode(packed, head.content_encodings, head.transfer_encodings, limit=options.max_bytes)
    promised = n_raw if chunked else max(n_raw, head.content_length or 0)
    cut = body.truncated or len(packed) < promised
    return body, raw.fields.get("warc-truncated") or ("unspecified" if cut else None)


def outcome_of(body: Body, truncated: str | None, options: ReadOptions) -> dict[str, Any]:
    """Fields of a Record: the payload, or the status and reason why it can't be cleaned."""
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
    return {"payload": payload, "content_truncated": truncated, "status": status, "reason": reason}
