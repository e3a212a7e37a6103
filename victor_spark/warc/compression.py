"""Detects compression by magic numbers, and decompresses: gzip, zlib, raw deflate, zstd, brotli, lz4."""

import zlib
from collections.abc import Callable, Generator, Iterator
from typing import Any, Final, Literal, NamedTuple

import brotli
import lz4.frame
import zstandard
from isal import isal_zlib

Compression = Literal["gzip", "zstd", "lz4", "plain"]
Encoding = Literal["gzip", "zlib", "deflate", "zstd", "lz4", "br"]

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
MAGIC_LENGTH: Final = 4
"""Bytes that show that a member begins."""

_STEPS: Final = {"zstd": 2 << 10}
_STEP: Final = 64 << 10
"""Compressed bytes per call: most pages take one."""
_BODY_STEP: Final = 16 << 10
"""As _STEP, for bodies: at an error they are decoded again byte by byte."""
_BROTLI_PART: Final = 64 << 10
_PART: Final = 8 << 20
"""The most bytes that a call of gzip, zlib or deflate gives, which bounds its memory."""

Parts = Generator[bytes, None, tuple[int, bool]]
"""Yields the content of a member; returns the offset after it, and whether it is complete.

It is incomplete if the bytes end first. Raises CorruptError where they are damaged.
"""

_ERRORS: Final[Any] = (isal_zlib.error, zlib.error, zstandard.ZstdError, brotli.error, RuntimeError)
"""The exceptions of the decoders; lz4 raises RuntimeError."""


class CorruptError(Exception):
    """The archive is damaged here; reading may continue elsewhere."""


class Content(NamedTuple):
    """Decompressed bytes, the end of the compressed ones (None: not reached), and the error."""

    content: bytes
    end: int | None = None
    error: str | None = None


def compression_of(head: bytes) -> Compression:
    """The compression of a file that begins with these bytes."""
    if head.startswith(GZIP_MAGIC[:2]):
        return "gzip"
    if head.startswith(MAGICS["zstd"]):
        return "zstd"
    return "lz4" if head.startswith(LZ4_MAGIC) else "plain"


def unpacked(head: bytes) -> bytes:
    """The decompressed beginning of a file (b"" if it is damaged or lz4); plain bytes unchanged."""
    compression = compression_of(head)
    if compression in ("gzip", "zstd"):
        return inflated_bytes(head, compression, HEAD_LENGTH).content
    return b"" if compression == "lz4" else head


class _Brotli:
    """A brotli stream with the methods of a zlib object. `waits`: it may have more output already."""

    unused_data = b""

    def __init__(self) -> None:
        self._stream = brotli.Decompressor()
        self.eof = self.waits = False

    def decompress(self, packed: bytes) -> bytes:
        """The next part of the content."""
        part: bytes = self._stream.process(packed, output_buffer_limit=_BROTLI_PART)
        self.eof = self._stream.is_finished()
        self.waits = bool(part) and not self.eof  # can_accept_more_data overlooks inflated output
        return part


_DEFLATE: Final = {"gzip": 31, "zlib": 15, "deflate": -15}
_INFLATERS: Final = (type(isal_zlib.decompressobj()), type(zlib.decompressobj()))


def _decoder(encoding: Encoding, dictionary: bytes | None, deflate: Any) -> Any:
    """A new decoder; `deflate`: the library for gzip and its relatives."""
    if encoding in _DEFLATE:
        return deflate.decompressobj(wbits=_DEFLATE[encoding])
    if encoding == "zstd":
        words = None if dictionary is None else zstandard.ZstdCompressionDict(dictionary)
        return zstandard.ZstdDecompressor(dict_data=words).decompressobj()
    return _Brotli() if encoding == "br" else lz4.frame.LZ4FrameDecompressor()


def inflated(
    read_at: Callable[[int, int], bytes],
    start: int,
    encoding: Encoding,
    dictionary: bytes | None = None,
    *,
    step: int = _STEP,
    retry: int = 1,
) -> Parts:
    """The content of the gzip member, zstd or lz4 frame, zlib, raw deflate or brotli stream at an offset.

    `read_at(position, n)` gives `n` of the compressed bytes, fewer at their end. The decoder gets `step` of
    them per call. If a call fails, its bytes are decoded again up to the error, `retry` at a time (0: not).
    """
    position, n_given = start, 0
    step = min(step, _STEPS.get(encoding, step))
    packed = read_at(start, step)
    # igzip misreads a gzip header with optional fields that two calls share.
    has_fields = encoding == "gzip" and packed[3:4] != b"\0"
    decoder = _decoder(encoding, dictionary, zlib if has_fields else isal_zlib)
    while packed:
        try:
            for part in _decoded(decoder, packed):
                n_given += len(part)
                yield part
        except _ERRORS as error:
            again = _decoder(encoding, dictionary, zlib)  # its error messages have more detail
            problem, end = yield from _before_error(again, read_at, start, position, n_given, retry)
            if again.eof:  # brotli reports bytes after its end as an error
                return end, True
            raise CorruptError(problem or str(error)) from None
        position += len(packed)
        if decoder.eof:
            return position - len(decoder.unused_data or b""), True
        packed = read_at(position, step)
    return position, False


def _decoded(decoder: Any, packed: bytes) -> Iterator[bytes]:
    if not isinstance(decoder, _INFLATERS):
        yield decoder.decompress(packed)
        while getattr(decoder, "waits", False):
            yield decoder.decompress(b"")
        return
    yield (part := decoder.decompress(packed, _PART))
    while len(part) == _PART and not decoder.eof:
        yield (part := decoder.decompress(decoder.unconsumed_tail, _PART))


def _before_error(
    decoder: Any, read_at: Callable[[int, int], bytes], start: int, position: int, n_given: int, step: int
) -> Generator[bytes, None, tuple[str, int]]:
    """The content after its first `n_given` bytes and before the error in the step at `position`.

    Returns the error, and the end of the compressed bytes that were used.
    """
    at, end = start, position + _STEP if step else start
    try:
        while not decoder.eof and at < end:
            packed = read_at(at, min(_STEP, position - at) if at < position else step)
            at += max(len(packed), 1)
            for part in _decoded(decoder, packed):
                yield part[n_given:]
                n_given = max(n_given - len(part), 0)
    except _ERRORS as error:
        return str(error), at
    return "", at - len(decoder.unused_data or b"")


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


def inflated_bytes(packed: bytes, encoding: Encoding, limit: int, start: int = 0) -> Content:
    """At most `limit` bytes of the content of the member at `start` of the packed bytes."""

    def read_at(position: int, n: int) -> bytes:
        return packed[position : position + n]

    return gathered(inflated(read_at, start, encoding, step=_BODY_STEP), limit)
