"""A file far away as a seekable file: read by ranges, and taken up again where a line broke."""

import io
import os
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, Protocol

from victor_spark.warc.retrying import TransientError, Tries

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

FIRST_FETCH: Final = 256 << 10
LARGEST_FETCH: Final = 8 << 20
_PROGRESS: Final = 64 << 10
"""Bytes that have to arrive for the failures before them to be forgotten."""

Window = tuple[int, int]


class Ranges(Protocol):
    """A file of known size that can be read by byte ranges."""

    size: int

    def fetch(self, start: int, end: int) -> Iterator[bytes]:
        """The bytes [start, end) as they arrive; TransientError where another try may help."""
        ...

    def close(self) -> None:
        """Ends whatever is open."""
        ...


class RemoteFile(io.RawIOBase):
    """Reads a `Ranges` like a file. What is read in sequence is fetched in ever larger ranges.

    `windows`, sorted and apart from each other, are the only bytes that will be wanted: no fetch goes
    past the end of the one it begins in.
    """

    def __init__(self, ranges: Ranges, windows: Sequence[Window] = ()) -> None:
        super().__init__()
        self._ranges = ranges
        self._windows = windows
        self._fetched: deque[tuple[int, bytes]] = deque(maxlen=2)
        self._position = 0
        self._step = FIRST_FETCH

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is."""
        return True

    def tell(self) -> int:
        """The position."""
        return self._position

    def seek(self, position: int, whence: int = os.SEEK_SET, /) -> int:
        """Goes to a position."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._ranges.size}[whence]
        self._position = max(base + position, 0)
        return self._position

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        """Fills the buffer, but for the file's end."""
        view = memoryview(buffer).cast("B")
        n_read = 0
        while n_read < len(view) and self._position < self._ranges.size:
            start, part = self._part_at(self._position, len(view) - n_read)
            first = self._position - start
            piece = part[first : first + len(view) - n_read]
            view[n_read : n_read + len(piece)] = piece
            n_read += len(piece)
            self._position += len(piece)
        return n_read

    def _part_at(self, position: int, n: int) -> tuple[int, bytes]:
        """Fetched bytes around a position, and where they begin."""
        for start, part in self._fetched:
            if start <= position < start + len(part):
                return start, part
        follows = any(start + len(part) == position for start, part in self._fetched)
        self._step = min(self._step * 2, LARGEST_FETCH) if follows else FIRST_FETCH
        end = min(position + max(n, self._step), self._ranges.size, self._window_end(position))
        self._fetched.append((position, fetched(self._ranges, position, end)))
        return self._fetched[-1]

    def _window_end(self, position: int) -> int:
        """Where the window around a position ends; outside of any, the whole file is as good."""
        number = bisect_right(self._windows, position, key=lambda window: window[0]) - 1
        inside = number >= 0 and position < self._windows[number][1]
        return self._windows[number][1] if inside else self._ranges.size

    def close(self) -> None:
        """Closes the file and its connection."""
        if not self.closed:
            self._ranges.close()
        super().close()


def fetched(ranges: Ranges, start: int, end: int) -> bytes:
    """The bytes [start, end), taken up where a line broke until they are all there; else OSError."""
    content = bytearray()
    tries = Tries()
    while len(content) < end - start:
        n_before = len(content)
        error = _fetch_into(content, ranges, start, end)
        if len(content) - n_before >= _PROGRESS:
            tries.progressed()
        if error is not None:
            tries.failed(error)
    return bytes(content)


def _fetch_into(content: bytearray, ranges: Ranges, start: int, end: int) -> TransientError | None:
    """Appends what comes of [start, end) after what is there; what stopped it before its end."""
    try:
        for part in ranges.fetch(start + len(content), end):
            content += part
    except TransientError as error:
        return error
    n_missing = end - start - len(content)
    return TransientError(f"the last {n_missing} bytes of a range don't come") if n_missing else None
