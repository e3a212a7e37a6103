"""Remote files as seekable files, read by byte ranges; a failed read is retried and resumed.

And the files of fsspec's file systems: s3://, gs://, hdfs:// and others.
"""

import errno
import io
import os
import random
import time
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, Final, TypeVar, cast

from victor_spark.errors import REFUSALS, InputError, StoreError, one_line

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

T = TypeVar("T")

FIRST_FETCH: Final = 256 << 10
LARGEST_FETCH: Final = 8 << 20
_PROGRESS: Final = 64 << 10
"""After this number of bytes, the next failure counts as the first one."""

N_TRIES: Final = 6
FIRST_WAIT: Final = 1.0
LONGEST_WAIT: Final = 30.0
"""Seconds before the second try, doubled before each further one, and the most; with full jitter."""

_OPTIONS: Final[dict[str, dict[str, Any]]] = {"hdfs": {"dfs.client.failover.max.attempts": "2"}}
"""The options of a file system; others do not cache listings. HDFS retries before we do."""

_KEPT: Final[dict[int, Any]] = {}
"""HDFS clients, kept as long as the process: fsspec deletes its own after a fork, and the child hangs."""

ALIASES: Final = {"s3a": "s3", "s3n": "s3", "gcs": "gs"}
"""Schemes → the name of their file system."""

_ADVICE: Final = {
    "s3": "no AWS credentials found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, "
    "or run where a role is attached; for a public bucket set FSSPEC_S3_ANON=true",
    "gs": "no Google credentials found: set GOOGLE_APPLICATION_CREDENTIALS; "
    "for a public bucket set FSSPEC_GS_TOKEN=anon",
    "hdfs": "reading hdfs:// needs an extra: pip install 'victor-spark[hdfs]' (or Hadoop's own libhdfs, "
    "with HADOOP_HOME, JAVA_HOME and CLASSPATH=$(hadoop classpath --glob))",
}
"""File systems for which victor-spark has an extra → what to do without credentials or libraries."""
_LACKING: Final = ("Unable to locate credentials", "libhdfs", "libjvm")
_CHANGED: Final = "the file changed while it was read"
_UNTRUSTED: Final = "the server's certificate is not trusted; AWS_CA_BUNDLE names a file of authorities"
_PERMANENT: Final = (FileNotFoundError, IsADirectoryError, NotADirectoryError)
_PERMANENT_CODES: Final = frozenset({errno.EINVAL, errno.EBADF, errno.ENOENT, errno.EACCES, errno.EPERM})

Window = tuple[int, int]
Fetch = Callable[[int, int], Iterator[bytes]]


class TransientError(OSError):
    """A failure that a retry may overcome; `wait`: the seconds that a server asked for."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait


def wait_before_retry(n_failures: int, asked: float | None = None) -> float:
    """Seconds to wait after `n_failures` failures; a server may ask for more, up to the longest wait."""
    longest = min(FIRST_WAIT * 2 ** (n_failures - 1), LONGEST_WAIT)
    return max(random.uniform(0.0, longest), min(asked or 0.0, LONGEST_WAIT))


def with_retries(call: Callable[[], T], has_progress: Callable[[], bool] = lambda: False) -> T:
    """The result of `call`, repeated after every TransientError; OSError when no try is left.

    `has_progress`: whether the call that failed got so far that its failure counts as the first one.
    """
    n_failures = 0
    while True:
        try:
            return call()
        except TransientError as error:
            n_failures = 1 if has_progress() else n_failures + 1
            if n_failures >= N_TRIES:
                raise OSError(f"{error} ({n_failures} tries)") from error
            time.sleep(wait_before_retry(n_failures, error.wait))


class RemoteFile(io.RawIOBase):
    """A file of known size that is read by byte ranges. Sequential reads fetch ever larger ones.

    `fetch(start, end)` yields the bytes as they arrive; it raises TransientError where another try may help.
    `windows`, sorted and disjoint, are the only bytes that will be read: no fetch goes past its window's end.
    """

    def __init__(self, size: int, fetch: Fetch, close: Callable[[], None], windows: Sequence[Window]) -> None:
        super().__init__()
        self._size, self._fetch, self._close = size, fetch, close
        self._windows = windows
        self._fetched: deque[tuple[int, bytes]] = deque(maxlen=2)
        self._position = 0
        self._step = FIRST_FETCH

    def readable(self) -> bool:
        """True."""
        return True

    seekable = readable

    def seek(self, position: int, whence: int = os.SEEK_SET, /) -> int:
        """Goes to a position."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._size}[whence]
        self._position = max(base + position, 0)
        return self._position

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        """Fills the buffer, or less at the end of the file."""
        view = memoryview(buffer).cast("B")
        n_read = 0
        while n_read < len(view) and self._position < self._size:
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
        number = bisect_right(self._windows, position, key=lambda window: window[0]) - 1
        inside = number >= 0 and position < self._windows[number][1]
        last = self._windows[number][1] if inside else self._size
        end = min(position + max(n, self._step), self._size, last)
        self._fetched.append((position, fetched(self._fetch, position, end)))
        return self._fetched[-1]

    def close(self) -> None:
        """Closes the file and its connection."""
        if not self.closed:
            self._close()
        super().close()


def fetched(fetch: Fetch, start: int, end: int) -> bytes:
    """The bytes [start, end); resumed where a connection broke; OSError when no retry is left."""
    content = bytearray()
    n_before = 0

    def fetch_rest() -> None:
        nonlocal n_before
        n_before = len(content)
        for part in fetch(start + n_before, end):
            content.extend(part)
        if n_missing := end - start - len(content):
            raise TransientError(f"the server left out the last {n_missing} bytes of a range")

    with_retries(fetch_rest, lambda: len(content) - n_before >= _PROGRESS)
    return bytes(content)


def _file_system_name(path: str) -> str:
    """The name of a URL's file system in fsspec."""
    name = path[: path.index("://")].lower()
    return ALIASES.get(name, name)


def file_system(path: str) -> tuple[Any, str]:
    """The fsspec file system of a URL, and the path within it; InputError when its library is missing."""
    name = _file_system_name(path)
    try:
        import fsspec

        # No cached listings: files may have come or gone since.
        with translated(path):
            options = _OPTIONS.get(name, {"use_listings_cache": False})
            system, inner = fsspec.core.url_to_fs(name + path[path.index("://") :], **options)
    except ImportError:
        extra = f"pip install 'victor-spark[{name}]'" if name in _ADVICE else f"what fsspec needs for {name}"
        raise InputError(f"{path}: reading {name}:// needs an extra: {extra}") from None
    if name == "hdfs":
        _KEPT[id(system)] = system
    if name == "s3":
        system.retries = 1  # ours come on top of botocore's own (AWS_MAX_ATTEMPTS)
    return system, inner


def open_file(path: str, windows: Sequence[Window] = ()) -> BinaryIO:
    """A seekable file of an fsspec file system; OSError when it can't be opened, or changes while it is read.

    `windows`: the only bytes that will be read.
    """
    system, inner = file_system(path)
    is_hdfs = _file_system_name(path) == "hdfs"
    unbuffered = {} if is_hdfs else {"block_size": LARGEST_FETCH, "cache_type": "none"}
    file = tried(path, lambda: system.open(inner, "rb", **unbuffered))

    def fetch(start: int, end: int) -> Iterator[bytes]:
        with translated(path):
            file.seek(start)
            part = file.read(end - start)
        yield part

    return cast(BinaryIO, RemoteFile(int(file.size), fetch, file.close, windows))


def call(path: str, method: str) -> Any:
    """The result of a method of the file system ("info", "isdir", "find", "glob") for a path."""
    system, inner = file_system(path)
    return tried(path, lambda: getattr(system, method)(inner))


def tried(path: str, action: Callable[[], T]) -> T:
    """The result of an action on a file system, with retries; OSError if all fail."""
    return with_retries(translated(path)(action))


@contextmanager
def translated(path: str) -> Iterator[None]:
    """Turns a client's exceptions into OSError or InputError: the libraries share no base class.

    TransientError unless a retry is known to be useless.
    """
    try:
        yield
    except (ImportError, InputError, TransientError):
        raise
    except Exception as error:
        raise (_refusal(error, path) or _meaning(error, path)) from error


def _code(error: Exception) -> str:
    """S3's name of an error, or the HTTP status where there is none, as in the answer to HEAD."""
    answer: Any = getattr(error.__cause__ or error.__context__ or error, "response", None)
    return str(answer.get("Error", {}).get("Code", "")) if isinstance(answer, dict) else ""


def _refusal(error: Exception, path: str) -> StoreError | None:
    """The reason why S3 refuses all requests, if it does; requests a byte, as the answer to HEAD has none."""
    if (code := _code(error)) in ("400", "403"):
        system, inner = file_system(path)
        try:
            system.cat_file(inner, 0, 1)
        except Exception as again:  # noqa: BLE001 - asked only for its reason
            code = _code(again)
    return None if code.isdigit() or code not in REFUSALS else StoreError(f"{REFUSALS[code]} ({code})")


def _meaning(error: Exception, path: str) -> Exception:
    message = one_line(error).partition(r"\n\tat")[0]  # without Java's traceback
    kind = type(error).__name__
    if "Credential" in kind or any(text in message for text in _LACKING):
        return InputError(f"{path}: {_ADVICE.get(_file_system_name(path), message)}")
    if isinstance(error, ValueError) and "Protocol not known" in message:
        return InputError(f"{path}: {message}")
    if kind == "FileExpired" or "SSL validation failed" in message:
        return OSError(_CHANGED if kind == "FileExpired" else _UNTRUSTED)
    if isinstance(error, PermissionError) or "AccessControlException" in message:
        return PermissionError(f"access denied ({message})")
    if isinstance(error, _PERMANENT):
        return error
    code = error.errno if isinstance(error, OSError) else None
    useless = code in _PERMANENT_CODES or isinstance(error, ValueError | TypeError | NotImplementedError)
    return OSError(message) if useless else TransientError(message)
