"""Decodes HTTP bodies: transfer and content encodings, up to a limit, whatever the header declares."""

import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from io import BytesIO
from typing import Final

import zstandard
from fastwarc.stream_io import BrotliReader, ZstdReader

from victor_spark.warc import file_types
from victor_spark.warc.compression import (
    GZIP_MAGIC,
    SKIPPABLE_MAGICS,
    ZSTD_MAGIC,
    Reader,
    decompressed,
    inflated_prefix,
)

_CHUNK_HEAD = re.compile(rb"[ \t]*([0-9a-fA-F]{1,15})[ \t]*(?:;[^\r\n]{0,4096})?\r?\n")
_MAX_DECLARED: Final = 4
_MAX_UNDECLARED: Final = 3  # gzip layers that no header announces
_STEP: Final = 2 << 10  # packed bytes of a member that are read first: few to copy behind its end


@dataclass(frozen=True, slots=True)
class Body:
    """A decoded payload, and what is wrong with it.

    `truncated`: the end is missing. `oversize`: decoding stopped at the limit, `payload` is what came
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
    declared = [name for name in (*encodings, *transfer) if name in DECODERS]
    if len(declared) > _MAX_DECLARED:
        return Body(b"", problem=f"{len(declared)} declared encodings, more than {_MAX_DECLARED}")
    n_left = _MAX_DECLARED * (len(raw) + limit)
    truncated = False
    if "chunked" in transfer:
        raw, complete = joined_chunks(raw)
        truncated = not complete
    body = Body(raw)
    for _ in range(len(declared) + _MAX_UNDECLARED):
        if body.problem or body.oversize or not (declared or body.payload.startswith(GZIP_MAGIC)):
            break
        decoder = DECODERS[declared.pop()] if declared else _gunzip
        n_left -= len(body.payload)
        body = decoder(body.payload, min(limit, n_left)) if n_left > 0 else Body(body.payload, oversize=True)
        n_left -= len(body.payload)
        truncated |= body.truncated
    oversize = body.oversize or len(body.payload) > limit
    return Body(body.payload, truncated, oversize, body.problem)


def joined_chunks(raw: bytes) -> tuple[bytes, bool]:
    """A chunked body put together, and whether its last chunk was there.

    A body that is not chunked comes back as it is; where chunk heads go wrong the rest is kept as it is.
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


def _gunzip(packed: bytes, limit: int) -> Body:
    """A gzip body; one that is plain already comes back as it is."""
    if not packed.startswith(GZIP_MAGIC[:2]):
        return Body(packed)
    return _inflated(packed, 31, limit)


def _undeflate(packed: bytes, limit: int) -> Body:
    """A deflate body, with zlib's head or without; one that is plain already comes back as it is."""
    if packed.startswith(GZIP_MAGIC):
        return _inflated(packed, 31, limit)
    if len(packed) > 1 and packed[0] & 0x0F == 8 and (packed[0] << 8 | packed[1]) % 31 == 0:
        body = _inflated(packed, 15, limit)
        if not body.problem:
            return body
    return _or_plain(_inflated(packed, -15, limit), packed)


def _or_plain(body: Body, packed: bytes) -> Body:
    """The decoded body, or, where decoding failed and the packed bytes are text, these.

    For encodings without a magic number. Short packed bodies may hold literal tags, so decoding goes first.
    """
    if not body.truncated:
        return body
    begins_with_tag = packed[:64].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")
    is_html = begins_with_tag and file_types.looks_like_html(packed)
    return Body(packed) if is_html or file_types.is_text(packed[:4096]) else body


def _inflated(packed: bytes, wbits: int, limit: int) -> Body:
    """All members of a zlib, gzip or raw deflate body, or as much of them as inflates."""
    parts: list[bytes] = []
    rest, n_left, step = memoryview(packed), limit + 1, len(packed)
    error = "nothing inflates"
    while True:
        try:
            part, length = _member(rest, wbits, n_left, step)
        except zlib.error as wrong:
            part, length, error = inflated_prefix(bytes(rest), n_left, wbits), 0, str(wrong)
        parts.append(part)
        n_left -= len(part)
        if n_left <= 0:
            return Body(b"".join(parts), oversize=True)
        if not length:
            return _cut(parts, error)
        rest, step = rest[length:], _STEP
        if wbits != 31 or bytes(rest[:3]) != GZIP_MAGIC:
            return Body(b"".join(parts))


def _member(packed: memoryview, wbits: int, n_left: int, step: int) -> tuple[bytes, int]:
    """What one member holds, at most `n_left` bytes of it, and its packed length, 0 where its end is missing.

    The steps double: zlib copies what a step brings beyond the member's end, which a whole body for each of
    many members would make quadratic.
    """
    inflate = zlib.decompressobj(wbits=wbits)
    parts: list[bytes] = []
    position = 0
    while position < len(packed) and n_left > 0 and not inflate.eof:
        parts.append(inflate.decompress(packed[position : position + step], n_left))
        n_left -= len(parts[-1])
        position += step
        step *= 2
    length = min(position, len(packed)) - len(inflate.unused_data) if inflate.eof else 0
    return b"".join(parts), length


def _cut(parts: list[bytes], error: str) -> Body:
    """A body of which only these parts could be decoded."""
    payload = b"".join(parts)
    return Body(payload, truncated=True, problem=None if payload else f"broken body: {error}")


def _unbrotli(packed: bytes, limit: int) -> Body:
    """A brotli body; one that is plain already comes back as it is."""
    if packed.startswith(GZIP_MAGIC):
        return Body(packed)
    return _or_plain(_decompressed(lambda: BrotliReader(BytesIO(packed)), limit), packed)


def _unzstd(packed: bytes, limit: int) -> Body:
    """All frames of a zstd body, skippable ones too; one that is plain already comes back as it is."""
    if not packed.startswith((ZSTD_MAGIC, *SKIPPABLE_MAGICS)):
        return Body(packed)
    body = _decompressed(lambda: ZstdReader(BytesIO(packed)), limit)
    if not body.truncated:
        return body
    # zstandard also decodes the end of a frame whose checksum is wrong.
    decompressor = zstandard.ZstdDecompressor()
    again = _decompressed(lambda: decompressor.stream_reader(packed, read_across_frames=True), limit)
    payload = max(body.payload, again.payload, key=len)
    return replace(body, payload=payload, problem=None if payload else body.problem)


def _decompressed(opened: Callable[[], Reader], limit: int) -> Body:
    """The content that a reader gives, or as much of it as decompresses."""
    parts: list[bytes] = []
    reading = decompressed(opened, limit + 1)
    while True:
        try:
            parts.append(next(reading))
        except StopIteration as stop:
            error = stop.value
            break
    if error is not None:
        return _cut(parts, error.rpartition("error: ")[2])
    payload = b"".join(parts)
    return Body(payload, oversize=len(payload) > limit)


DECODERS: Final[dict[str, Callable[[bytes, int], Body]]] = {
    "gzip": _gunzip,
    "x-gzip": _gunzip,
    "deflate": _undeflate,
    "x-deflate": _undeflate,
    "br": _unbrotli,
    "zstd": _unzstd,
}

_INVISIBLE = re.compile(
    rb"<!--.*?(?:-->|\Z)|<(script|style|title|noscript)\b.*?(?:</\1|\Z)", re.DOTALL | re.IGNORECASE
)
_TAG = re.compile(rb"<[^>]*(?:>|\Z)|[\s\x00]+")
_MIN_VISIBLE: Final = 64


def holds_text(payload: bytes) -> bool:
    """Whether a truncated page is worth cleaning: it holds its last tag, or at least 64 visible bytes."""
    if payload[-64:].rstrip().lower().endswith(b"</html>"):
        return True
    return len(_TAG.sub(b"", _INVISIBLE.sub(b"", payload))) >= _MIN_VISIBLE
