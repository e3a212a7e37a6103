"""Detects compression by magic numbers, and decompresses the beginning of a file."""

import zlib
from collections.abc import Callable, Generator
from io import BytesIO
from typing import Final, Literal

import zstandard
from fastwarc.stream_io import BrotliReader, Lz4Reader, ZstdReader

Compression = Literal["gzip", "zstd", "lz4", "plain"]
Reader = BrotliReader | Lz4Reader | ZstdReader | zstandard.ZstdDecompressionReader

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

STEPS: Final = (64 << 10, 512, 1)
"""Decompressed bytes per read. A read that fails loses what it had; smaller reads then lose less."""


def compression_of(head: bytes) -> Compression:
    """The compression of a file that begins with these bytes."""
    if head.startswith(GZIP_MAGIC[:2]):
        return "gzip"
    if head.startswith((ZSTD_MAGIC, ZSTD_DICTIONARY_MAGIC)):
        return "zstd"
    return "lz4" if head.startswith(LZ4_MAGIC) else "plain"


def unpacked(head: bytes) -> bytes:
    """The decompressed beginning of a file (b"" if it is damaged); plain bytes unchanged."""
    compression = compression_of(head)
    if compression == "gzip":
        return inflated_prefix(head, HEAD_LENGTH)
    if compression == "zstd":
        return b"".join(decompressed(lambda: ZstdReader(BytesIO(head)), HEAD_LENGTH))
    return b"" if compression == "lz4" else head


def inflated_prefix(packed: bytes, length: int, wbits: int = 31) -> bytes:
    """At most `length` bytes of a gzip member (or zlib, raw deflate), as many as inflate before an error."""
    inflate = zlib.decompressobj(wbits=wbits)
    parts: list[bytes] = []
    n_missing = length
    for start in range(0, len(packed), 512):  # small steps: an error loses the bytes of its own step only
        try:
            parts.append(inflate.decompress(packed[start : start + 512], n_missing))
        except zlib.error:
            break
        n_missing -= len(parts[-1])
        if inflate.eof or n_missing <= 0:
            break
    return b"".join(parts)


def decompressed(
    opened: Callable[[], Reader], limit: int = 1 << 62, steps: tuple[int, ...] = STEPS
) -> Generator[bytes, None, str | None]:
    """Yields at most `limit` bytes that a reader gives; returns the error that ends them (None: no error).

    After an error a new reader of `opened` continues from the same position in smaller steps.
    """
    n_read, problem = 0, None
    for step in steps:
        reader, n_skipped = opened(), 0
        try:
            while n_skipped < n_read:
                n_skipped += len(reader.read(min(n_read - n_skipped, steps[0])))
            while n_read < limit and (part := reader.read(min(step, limit - n_read))):
                n_read += len(part)
                yield part
        except (OSError, zstandard.ZstdError) as error:
            problem = str(error)
        else:
            return None
    return problem
