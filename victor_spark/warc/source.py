"""A shard's bytes as streams: the file, or the content of a compressed member; errors."""

import os
import struct
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import BinaryIO, Final

from victor_spark.warc import compression
from victor_spark.warc.compression import CorruptError, Parts
from victor_spark.warc.headers import Syntax

MEMBER_NAMES: Final = {"gzip": "gzip member", "zstd": "zstd frame", "lz4": "lz4 frame"}

_RETRY_STEP: Final = 512  # as `retry` of compression.inflated
_MAX_KEPT: Final = 4 << 20
"""The last inflated bytes, which are kept: more than a search for the next record reads ahead."""

END: Final = 1 << 62
"""A position behind every stream's end."""
_MAX_STARTS: Final = 1024
"""The fewest starts of members that are kept for going back in a stream."""
_PROBE: Final = 512
_PROBED: Final = {"gzip": 16 << 10, "zstd": 256 << 10, "lz4": 5 << 20}
"""Packed bytes that must give a record's first line; zstd and lz4 give blocks, of up to 128 KiB and 4 MiB."""

_LONGEST_DICTIONARY: Final = 64 << 20


class CutError(Exception):
    """The file ends before its last record or member does; the message names the part it ends in."""


class SourceError(Exception):
    """The file can't be read here (disk, network). The archive is not damaged; reading the shard ends."""


class Source:
    """The file of a shard."""

    def __init__(
        self, file: BinaryIO, start: int = 0, progress: Callable[[int], None] = lambda _: None
    ) -> None:
        """`start`: the offset whose bytes show the compression; `progress`: called with bytes read anew."""
        self._file, self._progress, self._furthest = file, progress, start
        self.size = file.seek(0, os.SEEK_END)
        self.compression = compression.compression_of(self.read_at(start, 4))
        self.dictionary = self._dictionary()  # now, as `size` may be set to less

    def read_at(self, position: int, n: int) -> bytes:
        """`n` bytes from `position`, fewer at the end, which `size` sets."""
        try:
            self._file.seek(min(position, self.size))  # no file system can seek to any position
            part = self._file.read(max(min(n, self.size - position), 0))
        except Exception as error:
            raise SourceError(str(error)) from error
        end = position + len(part)
        if part and end > self._furthest:
            self._progress(min(end - self._furthest, len(part)))
            self._furthest = end
        return part

    def reach(self, position: int) -> int:
        """`position`, or the end of the file when that comes first."""
        return min(position, self.size)

    def begins_member(self, position: int) -> bool:
        """Whether a member begins at `position`, or may: the file ends within a magic number."""
        head = self.read_at(position, 4)
        if self.compression == "gzip" and head[3:] > b"\x1f":  # reserved flags, which igzip ignores
            return False
        magics = compression.MAGICS[self.compression]
        return head.startswith(magics) or any(magic.startswith(head) for magic in magics)

    def _dictionary(self) -> bytes | None:
        """The dictionary frame that a .warc.zst may begin with, unpacked."""
        head = self.read_at(0, 8) if self.compression == "zstd" else b""
        if not head.startswith(compression.ZSTD_DICTIONARY_MAGIC) or len(head) < 8:
            return None
        (length,) = struct.unpack_from("<I", head, 4)
        content = self.read_at(8, min(length, _LONGEST_DICTIONARY))
        if len(content) < length or not content.startswith(compression.ZSTD_MAGIC):
            return content if len(content) == length else None  # with a part of it, frames give other bytes
        found = compression.inflated_bytes(content, "zstd", _LONGEST_DICTIONARY)
        return None if found.end is None else found.content


class Member:
    """The gzip member, zstd or lz4 frame at an offset as a stream; CorruptError if none begins there.

    Programs that compress blocks (bgzip, pzstd) cut records: `extend` adds the members after it. If one of
    them is damaged, the stream ends there, with the `problem`. `last`: the offset of the last member, known
    at the end. A read before the kept bytes inflates members again.
    """

    def __init__(self, source: Source, offset: int) -> None:
        self._source = source
        self._syntax: Syntax | None = None  # of the records, from the first call of `extend` on
        self._starts = [(0, offset)]  # of the first member and the last ones: position in the stream, offset
        self._size, self._end, self.last, self.problem = END, (offset, False), offset, ""
        self._start()

    def _start(self) -> None:
        """Begins with the last member of `_starts`."""
        self._n_inflated, offset = self._starts[-1]
        self._kept = bytearray()  # the last bytes inflated
        self._parts = self._inflating(offset)

    def _inflating(self, offset: int) -> Iterator[bytes]:
        while True:
            try:
                end, complete = yield from member_parts(self._source, offset, retry=_RETRY_STEP)
            except CorruptError as error:
                if len(self._starts) == 1:
                    raise
                end, complete, self.problem = offset, True, str(error)
                break
            if not self._goes_on(end, complete=complete):
                break
            offset = end
            self._starts.append((self._n_inflated, offset))
            if len(self._starts) > 2 * _MAX_STARTS:
                del self._starts[1:-_MAX_STARTS]
        self._size, self._end, self.last = self._n_inflated, (end, complete), offset

    def _goes_on(self, end: int, *, complete: bool) -> bool:
        """Whether a member that begins no record follows one that ends at `end` and is `complete`."""
        source, syntax = self._source, self._syntax
        if syntax is None or not complete or end > source.size - compression.MAGIC_LENGTH:
            return False
        return source.begins_member(end) and not holds_record(source, end, syntax)

    def extend(self, syntax: Syntax) -> bool:
        """Adds the next members to the stream, until one begins with a record; False if it adds none."""
        end, complete = self.end()
        is_extended, self._syntax = self._syntax is not None, syntax
        if is_extended or not self._goes_on(end, complete=complete):
            return False
        self._starts.append((self._size, end))
        self._size = END
        self._start()
        return True

    def _advance(self) -> bool:
        if (part := next(self._parts, None)) is None:
            return False
        self._n_inflated += len(part)
        if len(self._kept) > 2 * _MAX_KEPT:
            del self._kept[:-_MAX_KEPT]
        self._kept += part
        return True

    def reach(self, position: int) -> int:
        """`position`, or the end of the content when that comes first."""
        while self._size == END and self._n_inflated < position and self._advance():
            pass
        return min(position, self._size)

    def read_at(self, position: int, n: int) -> bytes:
        """`n` bytes from `position`, fewer at the end."""
        if position < self._n_inflated - len(self._kept):
            del self._starts[bisect_right(self._starts, (position, END)) :]
            self._start()
        self.reach(position)
        n = min(n, self._size - position)
        parts: list[bytes] = []
        while n > 0 and (position < self._n_inflated or self._advance()):
            first = position - self._n_inflated + len(self._kept)
            with memoryview(self._kept) as kept:  # copied once
                parts.append(bytes(kept[first : first + n]))
            position += len(parts[-1])
            n -= len(parts[-1])
        return b"".join(parts)

    def end(self) -> tuple[int, bool]:
        """The offset in the shard after the stream, and whether it ends there and not the file."""
        self.reach(END)
        return self._end


def member_parts(source: Source, start: int, n: int | None = None, **steps: int) -> Parts:
    """The content of the gzip member, zstd or lz4 frame at an offset; CorruptError when none begins there.

    `n`: the packed bytes to read, None for all. `steps`: `step` and `retry` of `compression.inflated`.
    """
    kind = source.compression
    if source.size - start < compression.MAGIC_LENGTH or not source.begins_member(start):
        raise CorruptError(f"no {MEMBER_NAMES[kind]} begins here")
    assert kind != "plain"

    def read_at(position: int, n_bytes: int) -> bytes:
        return source.read_at(position, n_bytes if n is None else min(n_bytes, start + n - position))

    return compression.inflated(read_at, start, kind, source.dictionary, **steps)


def holds_record(source: Source, start: int, syntax: Syntax, within: int = 0) -> bool:
    """Whether a member begins at an offset, and a record at its start, or in its first `within` bytes."""
    with suppress(CorruptError):
        n = None if within else _PROBED[source.compression]
        parts = member_parts(source, start, n, step=_PROBE, retry=0)
        content = compression.gathered(parts, max(within, syntax.reach)).content
        return bool(syntax.start.match(content) or (within and syntax.search.search(content)))
    return False
