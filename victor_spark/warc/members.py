"""One gzip member, zstd or lz4 frame of a shard, as a stream of what it holds."""

import struct
import zlib
from collections.abc import Callable
from typing import Final, Protocol

from fastwarc.stream_io import Lz4Reader, ZstdReader

from victor_spark.warc import kinds
from victor_spark.warc.damage import CorruptError, SourceError
from victor_spark.warc.source import Source, View

NAMES: Final = {"gzip": "gzip member", "zstd": "zstd frame", "lz4": "lz4 frame"}
SHORTEST: Final = 4
"""Bytes that say that a member begins."""

_WINDOW: Final = 64 << 10
_KEPT: Final = 256 << 10
_STEPS: Final = (_WINDOW, 512, 1)
"""Bytes that are asked of a frame at a time, the smaller numbers at the end of a file that cuts it off."""


class Inflater(Protocol):
    """Reads a packed member forward.

    `end` is the offset after it once it was read to its end, `complete` whether that end was its own and not
    the file's.
    """

    end: int | None
    complete: bool

    def read(self, n: int, /) -> bytes:
        """At most `n` bytes from here on, fewer at the end."""
        ...


class GzipInflater:
    """Inflates the gzip member at an offset and not a byte further."""

    def __init__(self, source: Source, start: int) -> None:
        self._source, self._next = source, start
        self._inflate = zlib.decompressobj(wbits=31)
        self.end: int | None = None
        self.complete = False

    def read(self, n: int, /) -> bytes:
        """At most `n` bytes from here on, fewer at the end."""
        while self.end is None and n > 0:
            packed = self._inflate.unconsumed_tail
            if not packed:
                packed = self._source.read_at(self._next, _WINDOW)
                self._next += len(packed)
            if not packed:  # the file ends within the member
                self.end = self._next
                return b""
            try:
                part = self._inflate.decompress(packed, n)
            except zlib.error as error:
                raise CorruptError(str(error)) from None
            if self._inflate.eof:
                self.end = self._next - len(self._inflate.unused_data)
                self.complete = True
            if part:
                return part
        return b""


class FrameInflater:
    """Decompresses the zstd or lz4 frame at an offset; a skippable frame holds nothing."""

    def __init__(self, source: Source, start: int, dictionary: bytes | None) -> None:
        self._source, self._start, self._dictionary = source, start, dictionary
        frame_end = end_of_lz4 if source.compression == "lz4" else end_of_zstd
        self._frame_end = end_of_skippable(source, start) or frame_end(source, start)
        self.end: int | None = None
        self.complete = self._frame_end <= source.size
        self._n_read, self._steps = 0, list(_STEPS)
        self._reader = None
        if not source.read_at(start, 4).startswith(kinds.SKIPPABLE_MAGICS):
            self._reader = self._opened()

    def _opened(self) -> Lz4Reader | ZstdReader:
        view = View(self._source, self._start, min(self._frame_end, self._source.size))
        if self._source.compression == "lz4":
            return Lz4Reader(view)
        return ZstdReader(view, dictionary=self._dictionary)

    def read(self, n: int, /) -> bytes:
        """At most `n` bytes from here on, fewer at the end."""
        part = b""
        while self._reader is not None and self.end is None and not part and self._steps:
            try:
                part = self._reader.read(min(n, self._steps[0]))
                break
            except OSError as error:
                if self._source.failure is not None:
                    raise SourceError(str(self._source.failure)) from error
                if self.complete:
                    raise CorruptError(str(error)) from None
            # A read that meets the file's end gives nothing of what came before: smaller ones give more.
            self._reader, n_before = self._opened(), self._n_read
            self._steps.pop(0)
            while n_before:
                n_before -= len(self._reader.read(min(n_before, _STEPS[0])))
        self._n_read += len(part)
        if not part:
            self.end = min(self._frame_end, self._source.size)
        return part


def end_of_skippable(source: Source, start: int) -> int | None:
    """Where the skippable frame at `start` ends; None for another frame."""
    head = source.read_at(start, 8)
    if not head.startswith(kinds.SKIPPABLE_MAGICS):
        return None
    return start + 8 + (struct.unpack_from("<I", head, 4)[0] if len(head) == 8 else 1)


def end_of_zstd(source: Source, start: int) -> int:
    """Where the zstd frame at `start` ends, by its block heads alone (RFC 8878, 3.1.1).

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


def end_of_lz4(source: Source, start: int) -> int:
    """Where the lz4 frame at `start` ends, by its block heads alone; as `end_of_zstd`."""
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
    """A packed member as a stream. Going back a little is free, going back further inflates it again."""

    def __init__(self, inflater: Callable[[], Inflater]) -> None:
        self._new = inflater
        self._start()

    def _start(self) -> None:
        self._inflater = self._new()
        self._position = self._n_inflated = 0
        self._kept = b""  # the last bytes inflated

    def _advance(self) -> bool:
        part = self._inflater.read(_WINDOW)
        self._n_inflated += len(part)
        self._kept = (self._kept + part)[-_KEPT:]
        return bool(part)

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

    def end(self) -> int:
        """The offset in the shard after this member; inflates what is left of it."""
        while self._inflater.end is None and self._advance():
            pass
        assert self._inflater.end is not None
        return self._inflater.end

    @property
    def complete(self) -> bool:
        """Whether the member read to its end was closed there, not cut off by the end of the file."""
        return self._inflater.complete


def dictionary_of(source: Source) -> bytes | None:
    """The dictionary frame that a .warc.zst may begin with, unpacked."""
    head = source.read_at(0, 8)
    if not head.startswith(kinds.ZSTD_DICTIONARY_MAGIC) or len(head) < 8:
        return None
    content = source.read_at(8, struct.unpack_from("<I", head, 4)[0])
    if not content.startswith(kinds.ZSTD_MAGIC):
        return content
    try:
        return ZstdReader(View(source, 8, 8 + len(content))).read()
    except OSError:
        return None


def open_member(source: Source, start: int) -> Member:
    """The gzip member, zstd or lz4 frame at an offset; CorruptError when none begins there."""
    if source.size - start < SHORTEST or not source.begins_member(start):
        raise CorruptError(f"no {NAMES[source.compression]} begins here")
    if source.compression == "gzip":
        return Member(lambda: GzipInflater(source, start))
    dictionary = dictionary_of(source)
    return Member(lambda: FrameInflater(source, start, dictionary))
