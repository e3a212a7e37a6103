"""A shard's bytes as streams: the file, a part of it, the content of a compressed member; errors."""

import os
import struct
from collections import deque
from collections.abc import Callable
from typing import BinaryIO, Final

from fastwarc.stream_io import Lz4Reader

from victor_spark.warc import compression
from victor_spark.warc.compression import CorruptError, Parts

MEMBER_NAMES: Final = {"gzip": "gzip member", "zstd": "zstd frame", "lz4": "lz4 frame"}
MAGIC_LENGTH: Final = 4
"""Bytes that show that a member begins."""

_KEPT: Final = 256 << 10
_LONGEST_DICTIONARY: Final = 64 << 20


class CutError(Exception):
    """The file ends before its last record or member does; the message names the part it ends in."""


class SourceError(Exception):
    """The file can't be read here (disk, network). The archive is not damaged; reading the shard ends."""


class Source:
    """The file object that both readers share.

    It keeps the last two windows read, so that FastWARC's record offsets can be checked without reading
    twice, and the exception of a failed read, which FastWARC would report as damage.
    """

    def __init__(
        self, file: BinaryIO, start: int = 0, progress: Callable[[int], None] = lambda _: None
    ) -> None:
        """`start`: the offset whose bytes show the compression; `progress`: called with bytes read anew."""
        self._file, self._progress, self._furthest = file, progress, start
        self._windows: deque[tuple[int, bytes]] = deque(maxlen=2)
        self.failure: Exception | None = None
        self.size = file.seek(0, os.SEEK_END)
        self._position = file.seek(start)
        self.compression = compression.compression_of(self.read(4))
        self.seek(0)

    def read(self, n: int = -1, /) -> bytes:
        """At most `n` bytes from here on, fewer at the end."""
        try:
            part = self._file.read(n)
        except Exception as error:
            self.failure = error
            raise SourceError(str(error)) from error
        self._windows.append((self._position, part))
        self._position += len(part)
        if self._position > self._furthest:
            self._progress(min(self._position - self._furthest, len(part)))
            self._furthest = self._position
        return part

    def seek(self, position: int, whence: int = os.SEEK_SET, /) -> int:
        """Goes to a position."""
        try:
            self._position = self._file.seek(position, whence)
        except Exception as error:
            self.failure = error
            raise SourceError(str(error)) from error
        return self._position

    def tell(self) -> int:
        """The position."""
        return self._position

    def close(self) -> None:
        """Does nothing: the caller that opened the file closes it."""

    def read_at(self, position: int, n: int) -> bytes:
        """`n` bytes from `position`, fewer at the end, which `size` sets."""
        self.seek(position)
        return self.read(max(min(n, self.size - position), 0))

    def begins_member(self, position: int) -> bool:
        """Whether a member begins at `position`, or may: the file ends within a magic number."""
        head = self.read_at(position, 4)
        magics = compression.MAGICS[self.compression]
        return any(head.startswith(magic) or magic.startswith(head) for magic in magics)

    def surely_no_member_at(self, position: int) -> bool:
        """Whether the last bytes read show that no gzip member, zstd or lz4 frame begins at `position`."""
        magics = compression.MAGICS.get(self.compression)
        if magics is None:
            return False
        for start, window in self._windows:
            if start <= position <= start + len(window) - 4:
                return not window.startswith(magics, position - start)
        return position >= self._position


class View:
    """The bytes [start, end) of a source as a stream; positions past its end are its end."""

    def __init__(self, source: Source, start: int, end: int) -> None:
        self._source, self._start, self._end = source, start, end
        self._position = 0

    def read(self, n: int = -1, /) -> bytes:
        """At most `n` bytes from here on, fewer at the end."""
        n_left = self._end - self._start - self._position
        n = n_left if n < 0 else min(n, n_left)
        part = self._source.read_at(self._start + self._position, n) if n > 0 else b""
        self._position += len(part)
        return part

    def seek(self, position: int, whence: int = os.SEEK_SET, /) -> int:
        """Goes to a position."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._end - self._start}[whence]
        self._position = min(max(base + position, 0), self._end - self._start)
        return self._position

    def close(self) -> None:
        """Does nothing: the source stays open."""

    def tell(self) -> int:
        """The position."""
        return self._position

    def read_at(self, position: int, n: int) -> bytes:
        """At most `n` bytes from `position` on, fewer at the end; the next `read` follows them."""
        self.seek(position)
        return self.read(n)


class Member:
    """A compressed member as a stream. Going back a little is free, going back further inflates it again."""

    def __init__(self, parts: Callable[[], Parts]) -> None:
        self._new = parts
        self._start()

    def _start(self) -> None:
        self._parts = self._new()
        self._end: tuple[int, bool] | None = None
        self._position = self._n_inflated = 0
        self._kept = bytearray()  # the last bytes inflated

    def _advance(self) -> bool:
        if self._end is not None:
            return False
        try:
            part = next(self._parts)
        except StopIteration as stop:
            self._end = stop.value
            return False
        self._n_inflated += len(part)
        if len(self._kept) > 2 * _KEPT:
            del self._kept[:-_KEPT]
        self._kept += part
        return True

    def read(self, n: int = -1, /) -> bytes:
        """At most `n` bytes from here on, fewer at the end."""
        parts: list[bytes] = []
        n_left = n if n >= 0 else 1 << 62
        while n_left > 0 and (self._position < self._n_inflated or self._advance()):
            first = self._position - self._n_inflated + len(self._kept)
            parts.append(bytes(self._kept[first : first + n_left]))
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

    def read_at(self, position: int, n: int) -> bytes:
        """At most `n` bytes from `position` on, fewer at the end; the next `read` follows them."""
        self.seek(position)
        return self.read(n)

    def end(self) -> tuple[int, bool]:
        """The offset in the shard after this member, and whether it ends there and not the file."""
        while self._end is None:
            self._advance()
        return self._end


def dictionary_of(source: Source) -> bytes | None:
    """The dictionary frame that a .warc.zst may begin with, unpacked."""
    head = source.read_at(0, 8) if source.compression == "zstd" else b""
    if not head.startswith(compression.ZSTD_DICTIONARY_MAGIC) or len(head) < 8:
        return None
    content = source.read_at(8, struct.unpack_from("<I", head, 4)[0])
    if not content.startswith(compression.ZSTD_MAGIC):
        return content
    found = compression.inflated_bytes(content, "zstd", _LONGEST_DICTIONARY)
    return None if found.end is None else found.content


def open_member(source: Source, start: int) -> Member:
    """The gzip member, zstd or lz4 frame at an offset; CorruptError when none begins there."""
    kind = source.compression
    if source.size - start < MAGIC_LENGTH or not source.begins_member(start):
        raise CorruptError(f"no {MEMBER_NAMES[kind]} begins here")
    if kind == "lz4":
        return Member(lambda: _lz4_frame(source, start))
    assert kind != "plain"
    dictionary = dictionary_of(source)
    return Member(lambda: compression.inflated(source.read_at, start, kind, dictionary=dictionary))


def _lz4_frame(source: Source, start: int) -> Parts:
    """The content of the lz4 frame at an offset; a skippable frame has none."""
    head = source.read_at(start, 8)
    if head.startswith(compression.SKIPPABLE_MAGICS):
        frame_end = start + 8 + (struct.unpack_from("<I", head, 4)[0] if len(head) == 8 else 1)
        return min(frame_end, source.size), frame_end <= source.size
    frame_end = _end_of_lz4(source, start)
    end, complete = min(frame_end, source.size), frame_end <= source.size
    try:
        yield from compression.decompressed(lambda: Lz4Reader(View(source, start, end)))
    except CorruptError:
        if complete:
            raise
    finally:
        if source.failure is not None:
            raise SourceError(str(source.failure)) from source.failure
    return end, complete


def _end_of_lz4(source: Source, start: int) -> int:
    """Where the lz4 frame at `start` ends, by its block headers alone.

    A frame that the file's end cuts off ends behind it.
    """
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
