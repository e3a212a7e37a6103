"""A shard's bytes: one seekable file that remembers what it read last and whether reading failed."""

import os
from collections import deque
from collections.abc import Callable
from typing import BinaryIO, Final, Protocol

from victor_spark.warc import kinds
from victor_spark.warc.damage import SourceError

_MAGIC: Final = {
    "gzip": (kinds.GZIP_MAGIC,),
    "zstd": (kinds.ZSTD_MAGIC, *kinds.SKIPPABLE_MAGICS),
    "lz4": (kinds.LZ4_MAGIC, *kinds.SKIPPABLE_MAGICS),
}


class Stream(Protocol):
    """Bytes that can be read forward and sought in; reading past the end gives less, or b""."""

    def read(self, n: int = -1, /) -> bytes:
        """At most `n` bytes from here on, fewer at the end."""
        ...

    def seek(self, position: int, /) -> int:
        """Goes to a position."""
        ...

    def tell(self) -> int:
        """The position."""
        ...


class Source:
    """The file object that FastWARC and the careful reader share.

    It keeps the last two windows read, so that the claim "a member begins here" can be checked without
    reading twice, and the exception of a failed read, which FastWARC would pass on as damage.
    """

    def __init__(
        self, file: BinaryIO, start: int = 0, progress: Callable[[int], None] = lambda _: None
    ) -> None:
        """`start`: where the bytes stand that tell the packing; `progress` is told of bytes read anew."""
        self._file, self._progress, self._furthest = file, progress, start
        self._windows: deque[tuple[int, bytes]] = deque(maxlen=2)
        self.failure: Exception | None = None
        self.size = file.seek(0, os.SEEK_END)
        self._position = file.seek(start)
        self.compression = kinds.compression_of(self.read(4))
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
        """Nothing to do: whoever opened the file closes it."""

    def read_at(self, position: int, n: int) -> bytes:
        """`n` bytes from `position`, fewer at the end: the file's, or what `size` was set to."""
        self.seek(position)
        return self.read(max(min(n, self.size - position), 0))

    def begins_member(self, position: int) -> bool:
        """Whether a member begins at `position`, or may: the file ends within what its magic would be."""
        head = self.read_at(position, 4)
        return any(head.startswith(magic) or magic.startswith(head) for magic in _MAGIC[self.compression])

    def surely_no_member_at(self, position: int) -> bool:
        """Whether the bytes read lately show that no gzip member, zstd or lz4 frame begins at `position`."""
        magics = _MAGIC.get(self.compression)
        if magics is None:
            return False
        for start, window in self._windows:
            if start <= position <= start + len(window) - 4:
                return not window.startswith(magics, position - start)
        return position >= self._position


class View:
    """The bytes [start, end) of a source as a stream of their own; positions past its end are its end."""

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
        """Nothing to do: the source stays open."""

    def tell(self) -> int:
        """The position."""
        return self._position
