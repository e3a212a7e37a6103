"""Opens, looks up and lists files: local, http(s):// (`http_files`), s3://, hdfs:// and others of fsspec.

Remote reads are retried with back-off (`remote_files`); a file that changes while it is read is an error.
"""

import errno
import glob
import logging
import os
import re
import stat
from collections.abc import Iterator, Sequence
from itertools import dropwhile
from pathlib import Path
from typing import BinaryIO, Final
from urllib.parse import unquote

from victor_spark.errors import InputError, one_line
from victor_spark.redaction import redacted
from victor_spark.warc import remote_files
from victor_spark.warc.remote_files import Window

_BUFFER: Final = 256 << 10
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
_FILE: Final = re.compile(r"file:(?://(?:localhost(?=/))?([^/]*)|(?=/))", re.IGNORECASE)
_WEB: Final = ("http", "https")
_SPECIAL: Final = {
    stat.S_IFIFO: "FIFO",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "device",
    stat.S_IFBLK: "device",
}
CONFIG_OF_RUN: Final = "_run/config.json"  # below a folder that is the output of a run
_VERSIONS: Final = ("ETag", "etag", "LastModified", "mtime", "modification_time", "modificationTime")
"""The names that file systems use for the version of a file, or for the time of its last change."""

_LOGGER = logging.getLogger(__name__)


def scheme(path: str) -> str | None:
    """The URL scheme of a remote path, None for a local one."""
    found = _SCHEME.match(path)
    return found[1].lower() if found else None


def local(text: str) -> str:
    """The path of a file:// address, of which `#` and `?` are part; everything else as it is."""
    if (found := _FILE.match(text)) is None:
        return text
    if found[1]:
        raise InputError(f"{text}: {found[1]} is a host; write file:///FOLDER")
    return unquote(text[found.end() :]) or "/"


def absolute(path: str) -> str:
    """A local path as tasks need it, because they run in other working directories; others unchanged."""
    return os.path.abspath(path) if scheme(path) is None else path


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
        return open(path, "rb", _BUFFER)
    if name in _WEB:
        from victor_spark.warc import http_files

        return http_files.open_file(path, windows)
    return remote_files.open_file(path, windows)


def first_bytes(path: str, n: int) -> bytes:
    """The first `n` bytes of a file, without fetching the rest of a remote one; errors as `open_file`'s."""
    if scheme(path) in _WEB:
        from victor_spark.warc import http_files

        return http_files.first_bytes(path, n)
    with open_file(path, [(0, n)]) as file:
        return file.read(n)


def about(path: str) -> tuple[int | None, str | None]:
    """Size in bytes and identity of the content (etag, or time of the last change), in one request.

    Each is None where a server does not report it; OSError when there is no such file.
    """
    name = scheme(path)
    if name is None:
        found = os.stat(path)
        return found.st_size, f"mtime:{found.st_mtime_ns}"
    if name in _WEB:
        from victor_spark.warc import http_files

        return http_files.about(path)
    info = remote_files.call(path, "info")
    if info.get("type") == "directory":
        raise FileNotFoundError(path)
    size = info.get("size")
    changed = next((info[key] for key in _VERSIONS if info.get(key)), None)
    return (int(size) if size is not None else None), (str(changed) if changed is not None else None)


def is_directory(path: str) -> bool:
    """Whether the path is a local folder, or a prefix with files below it in a remote store."""
    name = scheme(path)
    if name is None:
        return os.path.isdir(path)
    return name not in _WEB and bool(remote_files.call(path, "isdir"))


def is_pattern(path: str) -> bool:
    """Whether a path is a glob and not the name of a file; web addresses never are."""
    name = scheme(path)
    if name in _WEB or not glob.has_magic(path):
        return False
    return not (os.path.lexists(path) if name is None else bool(remote_files.call(path, "isfile")))


def unusable(path: str) -> str | None:
    """The reason why a local path cannot be an input; None for files and folders."""
    try:
        os.path.abspath(path).encode()
        mode = os.stat(path).st_mode
    except ValueError as error:
        return "a name that is not UTF-8" if isinstance(error, UnicodeError) else one_line(error)
    except FileNotFoundError:
        return "a broken link" if os.path.islink(path) else "no such file"
    except OSError as error:
        return one_line(error)
    if kind := _SPECIAL.get(stat.S_IFMT(mode)):
        return f"a {kind}, not a regular file"
    if os.path.islink(path) and Path(path).parent.resolve().is_relative_to(os.path.realpath(path)):
        return "a link to a folder around it"
    run, config = os.path.split(CONFIG_OF_RUN)
    folder = os.path.join(path, run) if stat.S_ISDIR(mode) else os.path.dirname(path)
    is_output = os.path.basename(folder) == run and os.path.exists(os.path.join(folder, config))
    found = "the output of a run" if is_output else None
    return found if os.access(path, os.R_OK) else os.strerror(errno.EACCES)


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
        found += filter(_is_usable, paths)
    return sorted(found)


def matching(pattern: str) -> list[str]:
    """The files a glob matches, sorted (`**` matches folders of any depth); unusable ones are logged."""
    if scheme(pattern) is not None:
        return _listed(pattern, "glob")
    return sorted(filter(_is_usable, _locally_matching(pattern)))


def _is_usable(path: str) -> bool:
    """Whether a path can be an input; if not, logs the reason."""
    if reason := unusable(path):
        _log_skipped(path, reason)
    return reason is None


def _log_skipped(path: str, reason: str) -> None:
    _LOGGER.warning("skipped %s: %s", printable(path), reason)


def _walked(top: str) -> Iterator[tuple[str, list[str]]]:
    """Each folder from `top` on with its files; links to folders, which may form loops, are not followed."""

    def refuse(error: OSError) -> None:
        if error.filename == top:
            raise error
        _log_skipped(error.filename, one_line(error))

    for folder, folders, names in os.walk(top, onerror=refuse):
        folders[:] = [name for name in folders if name[0] != "." and _is_usable(os.path.join(folder, name))]
        for path in filter(os.path.islink, (os.path.join(folder, name) for name in folders)):
            _log_skipped(path, "a link to a folder, not followed")
        yield folder, names


def _locally_matching(pattern: str) -> set[str]:
    """The files that a local glob matches; unlike Python's `**`, it does not follow links to folders."""
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


def _listed(path: str, method: str) -> list[str]:
    """The sorted URLs, of the same scheme, of the files that "find" or "glob" finds."""
    _, inner = remote_files.file_system(path)
    whole, inner = path.rstrip("/"), inner.rstrip("/")
    has_host = whole.endswith(inner) and inner[:1] in ("", "/")  # of a NameNode
    root = whole.removesuffix(inner) if has_host else f"{path[: path.index('://')]}://"
    names = remote_files.call(path, method)
    if not has_host:
        names = [name.lstrip("/") for name in names]
    return sorted(name if "://" in name else f"{root}{name}" for name in names)
