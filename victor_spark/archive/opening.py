"""One way to open a file, wherever it lies: local, http(s)://, s3://, hdfs:// and what else fsspec knows.

Everything remote passes through here, and is tried again with back-off when a server is busy or a line
breaks (`retrying`); a file that changes while it is read is an error.
"""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from typing import BinaryIO, Final

from victor_spark.archive import cloud
from victor_spark.archive.remote import Window

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
one_line: Final = cloud.one_line
_WEB: Final = ("http", "https")


def scheme(path: str) -> str | None:
    """The URL scheme of a remote path, None for a local one."""
    found = _SCHEME.match(path)
    return found[1].lower() if found else None


def open_file(path: str, windows: Sequence[Window] = ()) -> BinaryIO:
    """A seekable binary file; OSError when it can't be opened, InputError when an extra is missing.

    `windows`: the byte ranges that will be read, sorted; of a remote file no others are fetched.
    """
    name = scheme(path)
    if name is None:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise IsADirectoryError(None, "not a regular file")
        return open(path, "rb")
    if name in _WEB:
        from victor_spark.archive import web

        return web.open_url(path, windows)
    return cloud.open_cloud(path, name, windows)


def first_bytes(path: str, n: int) -> bytes:
    """The first `n` bytes of a file, without fetching the rest of a remote one; errors as `open_file`'s."""
    if scheme(path) in _WEB:
        from victor_spark.archive import web

        return web.first_bytes(path, n)
    with open_file(path, [(0, n)]) as file:
        return file.read(n)


def about(path: str) -> tuple[int | None, str | None]:
    """Size in bytes and what identifies the content (etag, or time of the last change), in one request.

    None for what a server does not tell; OSError when there is no such file.
    """
    name = scheme(path)
    if name is None:
        found = os.stat(path)
        return found.st_size, f"mtime:{found.st_mtime_ns}"
    if name in _WEB:
        from victor_spark.archive import web

        return web.about(path)
    return cloud.about(path, name)


def size_of(path: str) -> int | None:
    """Size in bytes, None where a server does not tell; OSError when there is no such file."""
    return about(path)[0]


def identity(path: str) -> str | None:
    """What tells this content of a file from another, None where a server does not tell."""
    return about(path)[1]


def is_file(path: str) -> bool:
    """Whether there is a file of exactly this name."""
    name = scheme(path)
    if name is None:
        return os.path.isfile(path)
    if name in _WEB:
        return True
    return bool(cloud.asked(path, name, "isfile"))


def is_directory(path: str) -> bool:
    """Whether the path is a local folder, or a prefix with files below it in a remote store."""
    name = scheme(path)
    if name is None:
        return os.path.isdir(path)
    return name not in _WEB and bool(cloud.asked(path, name, "isdir"))


def files_below(directory: str) -> list[str]:
    """All files below a folder, recursively, in a fixed order; hidden ones left out."""
    name = scheme(directory)
    if name is None:
        return sorted(_local_files(directory))
    return sorted(cloud.named(path, directory) for path in cloud.asked(directory, name, "find"))


def _local_files(directory: str) -> Iterator[str]:
    def refuse(error: OSError) -> None:
        raise error

    for folder, folders, names in os.walk(directory, onerror=refuse, followlinks=False):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (os.path.join(folder, name) for name in names if not name.startswith("."))


def matching(pattern: str) -> list[str]:
    """The files a glob matches, in a fixed order (`**` matches folders of any depth)."""
    name = scheme(pattern)
    if name is None:
        import glob

        return sorted(glob.glob(pattern, recursive=True))
    return sorted(cloud.named(path, pattern) for path in cloud.asked(pattern, name, "glob"))
