"""One gzip member, zstd or lz4 frame of a shard, as a stream of its content."""

import struct
import zlib
from collections.abc import Callable, Generator
from typing import Final

from fastwarc.stream_io import Lz4Reader, ZstdReader

from victor_spark.warc.compression import (
    SKIPPABLE_MAGICS,
    STEPS,
    ZSTD_DICTIONARY_MAGIC,
    ZSTD_MAGIC,
    Reader,
    decompressed,
)
from victor_spark.warc.source import CorruptError, Source, SourceError, View

NAMES: Final = {"gzip": "gzip member", "zstd": "zstd frame", "lz4": "lz4 frame"}
MAGIC_LENGTH: Final = 4
"""Bytes that show that a member begins."""

_WINDOW: Final = 64 << 10
_KEPT: Final = 256 << 10

Parts = Generator[bytes, None, tuple[int, bool]]
"""Yields what a member holds; returns the offset after it, and whether it ends there and not the file."""


def _inflated(source: Source, start: int) -> Parts:
    """The content of the gzip member at an offset."""
    inflate = zlib.decompressobj(wbits=31)
    position = start
    while not inflate.eof:
        packed = inflate.unconsumed_tail
        if not packed:
            packed = source.read_at(position, _WINDOW)
            position += len(packed)
        if not packed:
            return position, False
        try:
            part = inflate.decompress(packed, _WINDOW)
        except zlib.error as error:
            raise CorruptError(str(error)) from None
        if part:
            yield part
    return position - len(inflate.unused_data), True


def _frame(source: Source, start: int, dictionary: bytes | None) -> Parts:
    """The content of the zstd or lz4 frame at an offset; a skippable frame has none."""
    is_lz4 = source.compression == "lz4"
    head = source.read_at(start, 8)
    is_skippable = head.startswith(SKIPPABLE_MAGICS)
    if is_skippable:
        frame_end = start + 8 + (struct.unpack_from("<I", head, 4)[0] if len(head) == 8 else 1)
    else:
        frame_end = _end_of_lz4(source, start) if is_lz4 else _end_of_zstd(source, start)
    end, complete = min(frame_end, source.size), frame_end <= source.size

    def opened() -> Reader:
        view = View(source, start, end)
        return Lz4Reader(view) if is_lz4 else ZstdReader(view, dictionary=dictionary)

    if not is_skippable:
        # A frame that the file's end cuts off is read on in smaller steps; a damaged one is not.
        error = yield from decompressed(opened, steps=STEPS[:1] if complete else STEPS)
        if source.failure is not None:
            raise SourceError(str(source.failure))
        if error is not None and complete:
            raise CorruptError(error)
    return end, complete


def _end_of_zstd(source: Source, start: int) -> int:
    """Where the zstd frame at `start` ends, by its block headers alone (RFC 8878, 3.1.1).

    A frame that the file's end cuts off ends behind it.
    """
    head = source.read_at(start, 5)
    if len(head) < 5:
        return source.size + 1
    descriptor = head[4]
    single_segment = descriptor >> 5 & 1
    content_size = (single_segment, 2, 4, 8)[descriptor >> 6]
    position = start + 5 + (not single_segment) + (0, 1, 2, 4)[descriptor & 3] + content_size
    last = False
    while not last:
        block = source.read_at(position, 3)
        if len(block) < 3:
            return source.size + 1
        value = int.from_bytes(block, "little")
        last, kind, length = bool(value & 1), value >> 1 & 3, value >> 3
        if kind == 3:
            raise CorruptError("reserved zstd block type")
        position += 3 + (1 if kind == 1 else length)
    return position + 4 * (descriptor >> 2 & 1)


def _end_of_lz4(source: Source, start: int) -> int:
    """Where the lz4 frame at `start` ends, by its block headers alone; as `_end_of_zstd`."""
    head = source.read_at(start, 5)
    if len(head) < 5:
        return source.size + 1
    flags = head[4]
    position = start + 7 + 8 * (flags >> 3 & 1) + 4 * (flags & 1)
    while len(block := source.read_at(position, 4)) == 4:
        position += 4
        if not (value := int.from_bytes(block, "little")):
            return position + 4 * (flags >> 2 & 1)
        position += (value & 0x7FFFFFFF) + 4 * (flags >> 4 & 1)
    return source.size + 1


class Member:
    """A compressed member as a stream. Going back a little is free, going back further inflates it again."""

    def __init__(self, parts: Callable[[], Parts]) -> None:
        self._new = parts
        self._start()

    def _start(self) -> None:
        self._parts = self._new()
        self._end: tuple[int, bool] | None = None
        self._position = self._n_inflated = 0
        self._kept = b""  # the last bytes inflated

    def _advance(self) -> bool:
        if self._end is not None:
            return False
        try:
            part = next(self._parts)
        except StopIteration as stop:
            self._end = stop.value
            return False
        self._n_inflated += len(part)
        self._kept = (self._kept + part)[-_KEPT:]
        return True

    def read(self, n: int = -1, /) -> bytes:
        """At most `n` bytes from here on, fewer at the end."""
        parts: list[bytes] = []
        n_left = n if n >= 0 else 1 << 62
        while n_left > 0 and (self._position < self._n_inflated or self._advance()):
            first = self._position - self._n_inflated + len(self._kept)
            parts.append(self._kept[first : first + n_left])
            self._position += len(parts[-1])
            n_left -= len(parts[-1])
        return b"".join(parts)

    def seek(self, position: int, /) -> int:
        """Goes to `position`, or to the end when that comes first."""
        if position < self._n_inflated - len(self._kept):
            self._start()
        while self._n_inflated < position and self._advance():
            pass
        self._position = min(position, self._n_inflated)
        return self._position

    def tell(self) -> int:
        """The position."""
        return self._position

    def end(self) -> tuple[int, bool]:
        """The offset in the shard after this member, and whether it ends there and not the file."""
        while self._end is None:
            self._advance()
        return self._end


def dictionary_of(source: Source) -> bytes | None:
    """The dictionary frame that a .warc.zst may begin with, unpacked."""
    head = source.read_at(0, 8)
    if not head.startswith(ZSTD_DICTIONARY_MAGIC) or len(head) < 8:
        return None
    content = source.read_at(8, struct.unpack_from("<I", head, 4)[0])
    if not content.startswith(ZSTD_MAGIC):
        return content
    try:
        return ZstdReader(View(source, 8, 8 + len(content))).read()
    except OSError:
        return None


def open_member(source: Source, start: int) -> Member:
    """The gzip member, zstd or lz4 frame at an offset; CorruptError when none begins there."""
    if source.size - start < MAGIC_LENGTH or not source.begins_member(start):
        raise CorruptError(f"no {NAMES[source.compression]} begins here")
    if source.compression == "gzip":
        return Member(lambda: _inflated(source, start))
    dictionary = dictionary_of(source)
    return Member(lambda: _frame(source, start, dictionary))
