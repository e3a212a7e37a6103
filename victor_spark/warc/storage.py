"""Opens, looks up and lists files: local, http(s):// (`http_files`), s3://, hdfs:// and others of fsspec.

Remote reads are retried with back-off when a server is busy or a connection breaks (`remote_files`); a file
that changes while it is read is an error.
"""

import errno
import glob
import logging
import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import dropwhile
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

from victor_spark.errors import InputError, one_line
from victor_spark.redaction import redacted
from victor_spark.warc.remote_files import LARGEST_FETCH, RemoteFile, TransientError, Window, with_retries

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
_WEB: Final = ("http", "https")
_SPECIAL: Final = {
    stat.S_IFIFO: "FIFO",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "device",
    stat.S_IFBLK: "device",
}

_EXTRAS: Final = {"s3": "s3", "gs": "gs", "gcs": "gs"}
"""File system → the extra of victor-spark that installs what fsspec needs for it."""

_ALIASES: Final = {"s3a": "s3", "s3n": "s3"}

_ADVICE: Final = {
    "s3": "no AWS credentials found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, "
    "or run where a role is attached; for a public bucket set FSSPEC_S3_ANON=true",
    "gs": "no Google credentials found: set GOOGLE_APPLICATION_CREDENTIALS; "
    "for a public bucket set FSSPEC_GS_TOKEN=anon",
    "hdfs": "no libhdfs found: set HADOOP_HOME, JAVA_HOME and CLASSPATH=$(hadoop classpath --glob), "
    "or read through WebHDFS: webhdfs://NAMENODE:9870/...",
}
_PERMANENT: Final = (FileNotFoundError, IsADirectoryError, NotADirectoryError)
_PERMANENT_CODES: Final = frozenset({errno.EINVAL, errno.EBADF, errno.ENOENT, errno.EACCES, errno.EPERM})

_LOGGER = logging.getLogger(__name__)


def scheme(path: str) -> str | None:
    """The URL scheme of a remote path, None for a local one."""
    found = _SCHEME.match(path)
    return found[1].lower() if found else None


def public(name: str, path: str) -> str:
    """The name of the file at `path` for outputs and messages: without credentials if it is remote."""
    return name if scheme(path) is None else redacted(name)


def open_file(path: str, windows: Sequence[Window] = ()) -> BinaryIO:
    """A seekable binary file; OSError when it can't be opened, InputError when an extra is missing.

    `windows`: the byte ranges that will be read, sorted; of a remote file no others are fetched.
    """
    name = scheme(path)
    if name is None:
        if not stat.S_ISREG(os.stat(path).st_mode):  # opening a FIFO would wait for a writer
            raise IsADirectoryError(None, unusable(path) or "not a regular file")
        return open(path, "rb")
    if name in _WEB:
        from victor_spark.warc import http_files

        return http_files.open_file(path, windows)
    system, inner = file_system(path)
    if name == "hdfs":  # Hadoop's client retries by itself, and knows the next replica
        with translated(path):
            return cast(BinaryIO, system.open(inner, "rb"))
    return cast(BinaryIO, RemoteFile(with_retries(lambda: _CloudRanges(system, inner, path)), windows))


def first_bytes(path: str, n: int) -> bytes:
    """The first `n` bytes of a file, without fetching the rest of a remote one; errors as `open_file`'s."""
    if scheme(path) in _WEB:
        from victor_spark.warc import http_files

        return http_files.first_bytes(path, n)
    with open_file(path, [(0, n)]) as file:
        return file.read(n)


def about(path: str) -> tuple[int | None, str | None]:
    """Size in bytes and what identifies the content (etag, or time of the last change), in one request.

    Each is None where a server does not report it; OSError when there is no such file.
    """
    name = scheme(path)
    if name is None:
        found = os.stat(path)
        return found.st_size, f"mtime:{found.st_mtime_ns}"
    if name in _WEB:
        from victor_spark.warc import http_files

        return http_files.about(path)
    info = _call(path, "info")
    if info.get("type") == "directory":
        raise FileNotFoundError(path)
    size = info.get("size")
    changed = next((info[key] for key in ("ETag", "etag", "LastModified", "mtime") if info.get(key)), None)
    return (int(size) if size is not None else None), (str(changed) if changed is not None else None)


def is_directory(path: str) -> bool:
    """Whether the path is a local folder, or a prefix with files below it in a remote store."""
    name = scheme(path)
    if name is None:
        return os.path.isdir(path)
    return name not in _WEB and bool(_call(path, "isdir"))


def is_pattern(path: str) -> bool:
    """Whether a path is a glob and not the name of a file; web addresses never are."""
    name = scheme(path)
    if name in _WEB or not glob.has_magic(path):
        return False
    return not (os.path.lexists(path) if name is None else bool(_call(path, "isfile")))


def unusable(path: str) -> str | None:
    """Why a local path cannot be an input; None for files, folders and remote paths."""
    if scheme(path) is not None:
        return None
    try:
        os.path.abspath(path).encode()
        mode = os.stat(path).st_mode
    except ValueError as error:
        return "a name that is not UTF-8" if isinstance(error, UnicodeError) else one_line(error)
    except FileNotFoundError:
        return "a link to nothing" if os.path.islink(path) else "no such file"
    except OSError as error:
        return one_line(error)
    why = None if os.access(path, os.R_OK) else os.strerror(errno.EACCES)
    if kind := _SPECIAL.get(stat.S_IFMT(mode)):
        why = f"a {kind}, not a regular file"
    elif os.path.islink(path) and Path(path).parent.resolve().is_relative_to(os.path.realpath(path)):
        why = "a link to a folder around it"
    return why


def printable(path: str) -> str:
    """A path as one line of valid text: bytes that are not UTF-8 and control characters escaped."""
    text = path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def files_below(directory: str) -> list[str]:
    """All files below a folder, recursively, sorted; hidden ones are left out, unusable ones logged."""
    if scheme(directory) is not None:
        return _listed(directory, "find")
    found: list[str] = []
    for folder, names in _walked(directory):
        paths = (os.path.join(folder, name) for name in names if not name.startswith("."))
        found += [path for path in paths if _is_usable(path, unusable(path))]
    return sorted(found)


def matching(pattern: str) -> list[str]:
    """The files a glob matches, sorted (`**` matches folders of any depth); unusable ones are logged."""
    if scheme(pattern) is not None:
        return _listed(pattern, "glob")
    return sorted(path for path in _locally_matching(pattern) if _is_usable(path, unusable(path)))


def _is_usable(path: str, why: str | None) -> bool:
    """Whether an entry of a folder is usable; logs the reason why it is skipped."""
    if why is not None:
        _LOGGER.warning("skipped %s: %s", printable(path), why)
    return why is None


def _walked(top: str) -> Iterator[tuple[str, list[str]]]:
    """Each folder from `top` on with its files; links to folders, which may form loops, are not followed."""

    def refuse(error: OSError) -> None:
        if error.filename == top:
            raise error
        _is_usable(error.filename, one_line(error))

    for folder, folders, names in os.walk(top, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for path in (os.path.join(folder, name) for name in folders):
            _is_usable(path, "a link to a folder, not followed" if os.path.islink(path) else None)
        yield folder, names


def _locally_matching(pattern: str) -> set[str]:
    """What a local glob matches. Python's `**` would follow links to folders, in two loops forever."""
    parts = pattern.split("/")
    if "**" not in parts:
        return set(glob.glob(pattern))
    number = parts.index("**")
    above = "/".join(parts[:number])
    below = "/".join(dropwhile(("**", "").__contains__, parts[number:])) or "*"
    found: set[str] = set()
    tops = glob.glob(above) if above else ["/" if pattern.startswith("/") else "."]
    for top in filter(os.path.isdir, tops):
        for folder, _ in _walked(top):
            found |= _locally_matching(os.path.join(glob.escape(folder), below))
    if parts[-1] in ("*", "**"):  # the files below a folder are matches themselves
        found = {path for path in found if not os.path.isdir(path)}
    return found if above or pattern.startswith("/") else {path.removeprefix("./") for path in found}


def _file_system_name(path: str) -> str:
    """The name of a URL's file system in fsspec."""
    name = path[: path.index("://")].lower()
    return _ALIASES.get(name, name)


def file_system(path: str) -> tuple[Any, str]:
    """The fsspec file system of a URL, and the path within it; InputError when its library is missing."""
    name = _file_system_name(path)
    try:
        import fsspec

        # No cached listings: files may have come or gone since.
        with translated(path):
            system, inner = fsspec.core.url_to_fs(name + path[path.index("://") :], use_listings_cache=False)
    except ImportError:
        extra = (
            f"pip install 'victor-spark[{_EXTRAS[name]}]'"
            if name in _EXTRAS
            else f"what fsspec needs for {name}"
        )
        raise InputError(f"{path}: reading {name}:// needs an extra: {extra}") from None
    if name == "s3":
        system.retries = 1  # ours come on top of botocore's own (AWS_MAX_ATTEMPTS)
    return system, inner


class _CloudRanges:
    """A file as byte ranges; it must not change while it is read."""

    def __init__(self, system: Any, inner: str, path: str) -> None:
        self._path = path
        with translated(path):
            self._file = system.open(inner, "rb", block_size=LARGEST_FETCH, cache_type="none")
        self.size = int(self._file.size)

    def fetch(self, start: int, end: int) -> Iterator[bytes]:
        """The bytes [start, end); TransientError where another try may help."""
        with translated(self._path):
            self._file.seek(start)
            part = self._file.read(end - start)
        yield part

    def close(self) -> None:
        """Closes the file."""
        self._file.close()


def _call(path: str, method: str) -> Any:
    """The result of a method of the file system ("info", "isdir", "find", "glob") for a path."""
    system, inner = file_system(path)

    def called() -> Any:
        with translated(path):
            return getattr(system, method)(inner)

    return with_retries(called)


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
        raise _meaning(error, path) from error


def _meaning(error: Exception, path: str) -> Exception:
    message = one_line(error)
    kind = type(error).__name__
    if "Credential" in kind or "Unable to locate credentials" in message or "libhdfs" in message:
        return InputError(f"{path}: {_ADVICE.get(_file_system_name(path), message)}")
    if isinstance(error, ValueError) and "Protocol not known" in message:
        return InputError(f"{path}: {message}")
    if kind == "FileExpired":
        return OSError("the file changed while it was read")
    if isinstance(error, PermissionError):
        return PermissionError(f"access denied ({message})")
    if isinstance(error, _PERMANENT):
        return error
    code = error.errno if isinstance(error, OSError) else None
    useless = code in _PERMANENT_CODES or isinstance(error, ValueError | TypeError | NotImplementedError)
    return OSError(message) if useless else TransientError(message)


def _listed(path: str, method: str) -> list[str]:
    """The sorted URLs, of the same scheme, of the files that "find" or "glob" finds."""
    scheme = path[: path.index("://")]
    names = _call(path, method)
    return sorted(name if "://" in name else f"{scheme}://{name.lstrip('/')}" for name in names)
