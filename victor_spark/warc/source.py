"""A shard's bytes as one seekable file, and how reading them fails."""

import os
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

from victor_spark.warc.compression import MAGICS, compression_of


@dataclass(frozen=True, slots=True)
class Damage:
    """A byte range of the shard that can't be read, and the reason and status of its row."""

    warc_record_offset: int
    warc_record_length: int
    reason: str
    status: str = "corrupt_record"


class CorruptError(Exception):
    """The archive is damaged here; reading may continue elsewhere."""


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
        self.compression = compression_of(self.read(4))
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
        return any(head.startswith(magic) or magic.startswith(head) for magic in MAGICS[self.compression])

    def surely_no_member_at(self, position: int) -> bool:
        """Whether the last bytes read show that no gzip member, zstd or lz4 frame begins at `position`."""
        magics = MAGICS.get(self.compression)
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
