"""Detects compression by magic numbers, and decompresses: gzip, zlib, raw deflate, zstd, brotli, lz4."""

import zlib
from collections.abc import Callable, Generator, Iterator
from typing import Any, Final, Literal, NamedTuple

import zstandard
from fastwarc.stream_io import BrotliReader, Lz4Reader

Compression = Literal["gzip", "zstd", "lz4", "plain"]
Encoding = Literal["gzip", "zlib", "deflate", "zstd"]

HEAD_LENGTH: Final = 64 << 10
"""Bytes of a file that suffice to identify it."""

GZIP_MAGIC: Final = b"\x1f\x8b\x08"
ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"
ZSTD_DICTIONARY_MAGIC: Final = b"\x5d\x2a\x4d\x18"
SKIPPABLE_MAGICS: Final = tuple(bytes([0x50 + i]) + b"\x2a\x4d\x18" for i in range(16))
"""Magic numbers of frames without content, in zstd and in lz4."""
LZ4_MAGIC: Final = b"\x04\x22\x4d\x18"
MAGICS: Final = {
    "gzip": (GZIP_MAGIC,),
    "zstd": (ZSTD_MAGIC, *SKIPPABLE_MAGICS),
    "lz4": (LZ4_MAGIC, *SKIPPABLE_MAGICS),
}
"""Magic numbers of gzip members, zstd and lz4 frames; the first of each is a frame with content."""

_WBITS: Final = {"gzip": 31, "zlib": 15, "deflate": -15}
_FIRST_STEP: Final = 512
_LONGEST_STEP: Final = {"zstd": 2 << 10}
_LONGEST_OTHER_STEP: Final = 16 << 10
"""Packed bytes per call, doubled from the first step up to the longest: bytes behind a member's end are
copied, so that short members need small steps."""

_READER_STEPS: Final = (64 << 10, 512, 1)
"""Decompressed bytes per read of a reader. A read that fails loses what it had; smaller ones lose less."""

Parts = Generator[bytes, None, tuple[int, bool]]
"""Yields what a member holds; returns the offset after it, and whether it ends there and not the bytes.

Raises CorruptError where the bytes are damaged.
"""


class CorruptError(Exception):
    """The archive is damaged here; reading may continue elsewhere."""


class Content(NamedTuple):
    """What was decompressed; where its packed bytes end (None: that was not reached); the error."""

    content: bytes
    end: int | None = None
    error: str | None = None


def compression_of(head: bytes) -> Compression:
    """The compression of a file that begins with these bytes."""
    if head.startswith(GZIP_MAGIC[:2]):
        return "gzip"
    if head.startswith((ZSTD_MAGIC, ZSTD_DICTIONARY_MAGIC)):
        return "zstd"
    return "lz4" if head.startswith(LZ4_MAGIC) else "plain"


def unpacked(head: bytes) -> bytes:
    """The decompressed beginning of a file (b"" if it is damaged or lz4); plain bytes unchanged."""
    compression = compression_of(head)
    if compression in ("gzip", "zstd"):
        return inflated_bytes(head, compression, HEAD_LENGTH).content
    return b"" if compression == "lz4" else head


def inflated(
    read_at: Callable[[int, int], bytes],
    start: int,
    encoding: Encoding,
    *,
    dictionary: bytes | None = None,
    exact: bool = False,
) -> Parts:
    """The content of the gzip member, zstd frame, zlib or raw deflate stream at an offset.

    `read_at(position, n)` gives `n` of the packed bytes, fewer at their end. `exact`: an error loses nothing
    that comes before it, else up to a step.
    """

    def new() -> Any:
        if encoding != "zstd":
            return zlib.decompressobj(wbits=_WBITS[encoding])
        words = None if dictionary is None else zstandard.ZstdCompressionDict(dictionary)
        return zstandard.ZstdDecompressor(dict_data=words).decompressobj()

    inflate, position, step = new(), start, _FIRST_STEP
    while not inflate.eof:
        packed = read_at(position, step)
        if not packed:
            return position, False
        try:
            part = inflate.decompress(packed)
        except (zlib.error, zstandard.ZstdError) as error:
            if exact:
                yield from _before_error(new(), read_at(start, position - start), packed)
            raise CorruptError(str(error)) from None
        position += len(packed)
        step = min(2 * step, _LONGEST_STEP.get(encoding, _LONGEST_OTHER_STEP))
        if part:
            yield part
    return position - len(inflate.unused_data), True


def _before_error(inflate: Any, known: bytes, packed: bytes) -> Iterator[bytes]:
    """What `packed`, which holds an error, gives up to there; `known` are the bytes before it."""
    try:
        inflate.decompress(known)
        for number in range(len(packed)):
            yield inflate.decompress(packed[number : number + 1])
    except (zlib.error, zstandard.ZstdError):
        return


def decompressed(opened: Callable[[], BrotliReader | Lz4Reader]) -> Parts:
    """The content that a reader gives. After an error a new reader continues in smaller steps."""
    n_read, problem = 0, ""
    for step in _READER_STEPS:
        reader, n_skipped = opened(), 0
        try:
            while n_skipped < n_read:
                n_skipped += len(reader.read(min(n_read - n_skipped, _READER_STEPS[0])))
            while part := reader.read(step):
                n_read += len(part)
                yield part
        except OSError as error:
            problem = str(error)
        else:
            return 0, True
    raise CorruptError(problem)


def gathered(parts: Parts, limit: int) -> Content:
    """At most `limit` bytes of a content, as many as decompress before an error."""
    kept: list[bytes] = []
    n_left, end, problem = limit, None, None
    try:
        while n_left > 0:
            kept.append(next(parts)[:n_left])
            n_left -= len(kept[-1])
    except StopIteration as stop:
        position, complete = stop.value
        end = position if complete else None
    except CorruptError as error:
        problem = str(error)
    return Content(b"".join(kept), end, problem)


def inflated_bytes(
    packed: bytes, encoding: Encoding, limit: int, start: int = 0, *, exact: bool = True
) -> Content:
    """At most `limit` bytes of the content of the member at `start` of the packed bytes."""

    def read_at(position: int, n: int) -> bytes:
        return packed[position : position + n]

    return gathered(inflated(read_at, start, encoding, exact=exact), limit)
