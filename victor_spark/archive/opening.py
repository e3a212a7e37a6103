"""One way to open a file, wherever it lies: local, http(s)://, s3://, hdfs:// and what else fsspec knows.

Retrying and back-off belong here: everything remote passes through `open_file`.
"""

import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, Final, cast

from victor_spark.errors import InputError

EXTRAS: Final = {"http": "http", "https": "http", "s3": "s3", "hdfs": "hdfs", "gs": "gs", "gcs": "gs"}
"""URL scheme → the extra of victor-spark that installs what fsspec needs for it."""

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
_ALIASES: Final = {"s3a": "s3", "s3n": "s3"}
_REMOTE_BLOCK: Final = 5 << 20


def scheme(path: str) -> str | None:
    """The URL scheme of a remote path, None for a local one."""
    found = _SCHEME.match(path)
    return found[1].lower() if found else None


def one_line(error: BaseException) -> str:
    """What an exception says, as one short line without the path that OSError repeats."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    first = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    return first[:200] or type(error).__name__


@contextmanager
def _as_os_error() -> Iterator[None]:
    """Whatever a remote client raises, as OSError: the libraries share no base class."""
    try:
        yield
    except FileNotFoundError as error:  # also fsspec's word for servers that refuse or don't answer
        cause = error.__cause__
        if isinstance(cause, OSError) or getattr(cause, "status", 404) != 404:
            raise OSError(str(cause)) from error
        raise
    except (OSError, InputError):
        raise
    except Exception as error:
        raise OSError(one_line(error)) from error


def _remote(path: str) -> tuple[Any, str]:
    """The fsspec file system of a URL, and the path within it."""
    name = scheme(path) or "file"
    name = _ALIASES.get(name, name)
    try:
        import fsspec
    except ImportError:
        raise InputError(_missing(path, name)) from None
    try:
        with _as_os_error():
            system, inner = fsspec.core.url_to_fs(name + path[path.index("://") :])
    except OSError as error:
        if isinstance(error.__cause__, ImportError):
            raise InputError(_missing(path, name)) from None
        if isinstance(error.__cause__, ValueError):
            raise InputError(f"{path}: {error}") from None
        raise
    return system, inner


def _missing(path: str, name: str) -> str:
    extra = EXTRAS.get(name, name)
    return f"{path}: reading {name}:// needs an extra: pip install 'victor-spark[{extra}]'"


def open_file(path: str) -> BinaryIO:
    """A seekable binary file; OSError when it can't be opened, InputError when an extra is missing."""
    if scheme(path) is None:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise IsADirectoryError(None, "not a regular file")
        return open(path, "rb")
    system, inner = _remote(path)
    with _as_os_error():
        if scheme(path) in ("http", "https"):
            return _open_http(system, inner)
        return cast(BinaryIO, system.open(inner, "rb", block_size=_REMOTE_BLOCK))


def _open_http(system: Any, url: str) -> BinaryIO:
    """Ranges where the server has them; otherwise one download into a temporary file."""
    size = system.info(url).get("size")
    if size:
        remote = system.open(url, "rb", block_size=_REMOTE_BLOCK, size=size)
        try:
            remote.seek(size - 1)
            if len(remote.read(1)) == 1:
                remote.seek(0)
                return cast(BinaryIO, remote)
        except (ValueError, OSError):  # "doesn't appear to support range requests"
            remote.close()
    spooled = cast(BinaryIO, tempfile.TemporaryFile(prefix="victor-"))  # noqa: SIM115 - returned open
    try:
        with system.open(url, "rb", block_size=0) as stream:
            shutil.copyfileobj(stream, spooled, 1 << 20)
        spooled.seek(0)
    except BaseException:
        spooled.close()
        raise
    return spooled


def first_bytes(path: str, n: int) -> bytes:
    """The first `n` bytes of a file, without fetching the rest of a remote one; errors as `open_file`'s."""
    if scheme(path) not in ("http", "https"):
        with open_file(path) as file:
            return file.read(n)
    system, inner = _remote(path)
    head = b""
    with _as_os_error(), system.open(inner, "rb", block_size=0) as stream:
        while len(head) < n and (part := stream.read(n - len(head))):
            head += part
    return head


def size_of(path: str) -> int | None:
    """Size in bytes, None where a server does not tell; OSError when there is no such file."""
    if scheme(path) is None:
        return os.stat(path).st_size
    system, inner = _remote(path)
    with _as_os_error():
        size = system.info(inner).get("size")
    return int(size) if size is not None else None


def is_directory(path: str) -> bool:
    """Whether the path is a local folder, or a prefix with files below it in a remote store."""
    name = scheme(path)
    if name is None:
        return os.path.isdir(path)
    if name in ("http", "https"):
        return False
    system, inner = _remote(path)
    with _as_os_error():
        return bool(system.isdir(inner))


def files_below(directory: str) -> list[str]:
    """All files below a folder, recursively, in a fixed order; hidden ones left out."""
    if scheme(directory) is None:
        return sorted(_local_files(directory))
    system, inner = _remote(directory)
    with _as_os_error():
        return sorted(system.unstrip_protocol(name) for name in system.find(inner))


def _local_files(directory: str) -> Iterator[str]:
    def refuse(error: OSError) -> None:
        raise error

    for folder, folders, names in os.walk(directory, onerror=refuse, followlinks=False):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (os.path.join(folder, name) for name in names if not name.startswith("."))


def matching(pattern: str) -> list[str]:
    """The files a glob matches, in a fixed order (`**` matches folders of any depth)."""
    if scheme(pattern) is None:
        import glob

        return sorted(glob.glob(pattern, recursive=True))
    system, inner = _remote(pattern)
    with _as_os_error():
        return sorted(system.unstrip_protocol(name) for name in system.glob(inner))
