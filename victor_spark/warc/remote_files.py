"""Remote files as seekable files: read by byte ranges; a failed read is retried and resumed."""

import io
import os
import random
import time
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

T = TypeVar("T")

FIRST_FETCH: Final = 256 << 10
LARGEST_FETCH: Final = 8 << 20
_PROGRESS: Final = 64 << 10
"""After so many bytes arrived, the next failure counts as the first one."""

N_TRIES: Final = 6
FIRST_WAIT: Final = 1.0
LONGEST_WAIT: Final = 30.0
"""Seconds before the second try, doubled before each further one, and the most; with full jitter."""

Window = tuple[int, int]


class TransientError(OSError):
    """A failure that a retry may overcome; `wait`: the seconds that a server asked for."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait


class Retries:
    """Counts failures in a row; `failed` waits, or raises an OSError after the last try."""

    def __init__(self) -> None:
        self.n_failures = 0

    def failed(self, error: TransientError) -> None:
        """Waits before the next try; raises OSError when there is none left."""
        self.n_failures += 1
        if self.n_failures >= N_TRIES:
            raise OSError(f"{error} ({self.n_failures} tries)") from error
        time.sleep(wait_before_retry(self.n_failures, error.wait))


def wait_before_retry(n_failures: int, asked: float | None = None) -> float:
    """Seconds to wait after so many failures; a server may ask for more, up to the longest wait."""
    longest = min(FIRST_WAIT * 2 ** (n_failures - 1), LONGEST_WAIT)
    return max(random.uniform(0.0, longest), min(asked or 0.0, LONGEST_WAIT))


def with_retries(call: Callable[[], T]) -> T:
    """The result of `call`, which is repeated after every TransientError."""
    retries = Retries()
    while True:
        try:
            return call()
        except TransientError as error:
            retries.failed(error)


class Ranges(Protocol):
    """A file of known size that can be read by byte ranges."""

    size: int

    def fetch(self, start: int, end: int) -> Iterator[bytes]:
        """The bytes [start, end) as they arrive; TransientError where another try may help."""
        ...

    def close(self) -> None:
        """Closes the connection."""
        ...


class RemoteFile(io.RawIOBase):
    """Reads a `Ranges` as a file. Sequential reads fetch ever larger ranges.

    `windows`, sorted and disjoint, are the only bytes that will be read: no fetch goes past the end of the
    window it begins in.
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

    def seek(self, position: int, whence: int = os.SEEK_SET, /) -> int:
        """Goes to a position."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._ranges.size}[whence]
        self._position = max(base + position, 0)
        return self._position

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        """Fills the buffer, or less at the end of the file."""
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
        """The end of the window around a position; outside of all windows, the end of the file."""
        number = bisect_right(self._windows, position, key=lambda window: window[0]) - 1
        inside = number >= 0 and position < self._windows[number][1]
        return self._windows[number][1] if inside else self._ranges.size

    def close(self) -> None:
        """Closes the file and its connection."""
        if not self.closed:
            self._ranges.close()
        super().close()


def fetched(ranges: Ranges, start: int, end: int) -> bytes:
    """The bytes [start, end); resumed where a connection broke; OSError when no retry is left."""
    content = bytearray()
    retries = Retries()
    while len(content) < end - start:
        n_before, error = len(content), None
        try:
            for part in ranges.fetch(start + n_before, end):
                content += part
        except TransientError as caught:
            error = caught
        n_missing = end - start - len(content)
        if error is None and n_missing:
            error = TransientError(f"the server left out the last {n_missing} bytes of a range")
        if len(content) - n_before >= _PROGRESS:
            retries.n_failures = 0
        if error is not None:
            retries.failed(error)
    return bytes(content)
