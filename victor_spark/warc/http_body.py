"""Decodes HTTP bodies: transfer and content encodings, up to a limit, whatever the header declares."""

import re
from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

from victor_spark.warc import compression, file_types
from victor_spark.warc.compression import GZIP_MAGIC, ZSTD_MAGIC, Encoding

_CHUNK_HEAD = re.compile(rb"[ \t]*0*([0-9a-fA-F]{1,15})[ \t]*(?:;[^\r\n]{0,4096})?\r?\n")
_MAX_DECLARED: Final = 4
_MAX_UNDECLARED: Final = 3  # layers of gzip or zstd that no header announces
_MAGICS: Final = {GZIP_MAGIC: "gzip", ZSTD_MAGIC: "zstd"}
"""First bytes of a body → its encoding, which takes precedence over the declared one."""


class Body(NamedTuple):
    """A decoded payload, and its defects.

    `truncated`: the end is missing. `oversize`: decoding stopped at the limit, `payload` is the part
    before. `problem`: nothing could be decoded, and why.
    """

    payload: bytes
    truncated: bool = False
    oversize: bool = False
    problem: str | None = None


def decode(raw: bytes, encodings: tuple[str, ...], transfer: tuple[str, ...], *, limit: int) -> Body:
    """The payload of an HTTP body with these Content-Encodings and Transfer-Encodings, in header order.

    All layers share one budget of bytes read and written; beyond it the body is oversize.
    """
    declared = [name for each in (*encodings, *transfer) if (name := each.removeprefix("x-")) in DECODERS]
    if len(declared) > _MAX_DECLARED:
        return Body(b"", problem=f"{len(declared)} declared encodings, more than {_MAX_DECLARED}")
    n_left = _MAX_DECLARED * (len(raw) + limit)
    raw, complete = joined_chunks(raw) if "chunked" in transfer else (raw, True)
    truncated = not complete
    body = Body(raw)
    for _ in range(len(declared) + _MAX_UNDECLARED):
        shown = next((name for magic, name in _MAGICS.items() if body.payload.startswith(magic)), None)
        if body.problem or body.oversize or not (declared or shown):
            break
        decoder = DECODERS[shown or declared[-1]]
        del declared[-1:]
        n_left -= len(body.payload)
        body = decoder(body.payload, min(limit, n_left)) if n_left > 0 else Body(body.payload, oversize=True)
        n_left -= len(body.payload)
        truncated |= body.truncated
    oversize = body.oversize or len(body.payload) > limit
    return Body(body.payload, truncated, oversize, body.problem)


def joined_chunks(raw: bytes) -> tuple[bytes, bool]:
    """The joined chunks of a chunked body, and whether its last chunk is there.

    A body that is not chunked is returned unchanged; after a wrong chunk head, the rest is kept unchanged.
    """
    parts: list[bytes] = []
    position = 0
    while head := _CHUNK_HEAD.match(raw, position):
        length = int(head[1], 16)
        if length == 0:
            return b"".join(parts), True
        parts.append(raw[head.end() : head.end() + length])
        position = head.end() + length
        if position > len(raw):
            return b"".join(parts), False
        newlines = (newline for newline in (b"\r\n", b"\n") if raw.startswith(newline, position))
        position += len(next(newlines, b""))
    if not parts:
        return raw, True
    rest = raw[position:]
    cut = not rest or re.fullmatch(rb"[0-9a-fA-F]{0,15}\r?", rest) is not None
    return b"".join(parts) + (b"" if cut else rest), not cut


def _by_magic(encoding: Encoding, magics: tuple[bytes, ...], packed: bytes, limit: int) -> Body:
    """All members of a body that begins with a magic number; another one, which is plain, as it is."""
    return _inflated(packed, encoding, limit) if packed.startswith(magics) else Body(packed)


def _undeflate(packed: bytes, limit: int) -> Body:
    """A deflate body, with zlib's head or without; one that is plain already comes back as it is."""
    if len(packed) > 1 and packed[0] & 0x0F == 8 and (packed[0] << 8 | packed[1]) % 31 == 0:
        body = _inflated(packed, "zlib", limit)
        if not body.problem:
            return body
    return _or_plain(_inflated(packed, "deflate", limit), packed)


def _or_plain(body: Body, packed: bytes) -> Body:
    """The decoded body, or, where decoding failed and the packed bytes are text, these.

    For encodings without a magic number. Short packed bodies may hold literal tags, so decoding goes first.
    """
    if not body.truncated:
        return body
    begins_with_tag = packed[:64].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")
    is_html = begins_with_tag and file_types.looks_like_html(packed)
    return Body(packed) if is_html or file_types.is_text(packed[:4096]) else body


def _inflated(packed: bytes, encoding: Encoding, limit: int) -> Body:
    """All members of a body, or as much of them as inflates. In zstd, other bytes after them are damage."""
    parts: list[bytes] = []
    end: int | None = 0
    n_left, error = limit + 1, None
    follows = True
    while end is not None and follows and n_left > 0:
        part, end, error = compression.inflated_bytes(packed, encoding, n_left, end)
        parts.append(part)
        n_left -= len(part)
        if end is not None:
            follows = encoding == "gzip" and packed.startswith(GZIP_MAGIC, end)
            follows = follows or (encoding == "zstd" and end < len(packed))
    payload = b"".join(parts)
    if end is None and not error:
        error = "nothing inflates"
    if len(payload) > limit:
        return Body(payload, oversize=True)
    if error is None:
        return Body(payload)
    problem = None if payload else f"broken body: {error.rpartition('error: ')[2]}"
    return Body(payload, truncated=True, problem=problem)


DECODERS: Final[dict[str, Callable[[bytes, int], Body]]] = {
    "gzip": partial(_by_magic, "gzip", (GZIP_MAGIC[:2],)),
    "deflate": _undeflate,
    "br": lambda packed, limit: _or_plain(_inflated(packed, "br", limit), packed),
    "zstd": partial(_by_magic, "zstd", compression.MAGICS["zstd"]),
}

_INVISIBLE = re.compile(rb"(?is)<!--.*?(?:-->|\Z)|<(script|style|title|noscript)\b.*?(?:</\1|\Z)")
_TAG = re.compile(rb"<[^>]*(?:>|\Z)|[\s\x00]+")
_MIN_VISIBLE: Final = 64


def holds_text(payload: bytes) -> bool:
    """Whether a truncated page is worth cleaning: it holds its last tag, or at least 64 visible bytes."""
    if payload[-64:].rstrip().lower().endswith(b"</html>"):
        return True
    return len(_TAG.sub(b"", _INVISIBLE.sub(b"", payload))) >= _MIN_VISIBLE
