"""Files in object stores and other file systems of fsspec: s3://, gs://, hdfs:// and the like."""

import errno
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO, Final, cast

from victor_spark.errors import InputError
from victor_spark.redaction import redacted_message
from victor_spark.warc.remote_files import LARGEST_FETCH, RemoteFile, TransientError, Window, with_retries

EXTRAS: Final = {"s3": "s3", "gs": "gs", "gcs": "gs"}
"""File system → the extra of victor-spark that installs what fsspec needs for it."""

ALIASES: Final = {"s3a": "s3", "s3n": "s3"}

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


def _scheme(path: str) -> str:
    """The name of a URL's file system in fsspec."""
    scheme = path[: path.index("://")].lower()
    return ALIASES.get(scheme, scheme)


def file_system(path: str) -> tuple[Any, str]:
    """The fsspec file system of a URL, and the path within it; InputError when its library is missing."""
    name = _scheme(path)
    try:
        import fsspec

        # No cached listings: files may have come or gone since.
        with translated(path):
            system, inner = fsspec.core.url_to_fs(name + path[path.index("://") :], use_listings_cache=False)
    except ImportError:
        extra = (
            f"pip install 'victor-spark[{EXTRAS[name]}]'"
            if name in EXTRAS
            else f"what fsspec needs for {name}"
        )
        raise InputError(f"{path}: reading {name}:// needs an extra: {extra}") from None
    if name == "s3":
        system.retries = 1  # ours come on top of botocore's own (AWS_MAX_ATTEMPTS)
    return system, inner


class CloudRanges:
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


def open_file(path: str, windows: Sequence[Window] = ()) -> BinaryIO:
    """A seekable file; OSError when it can't be opened. `windows`: the only bytes that will be read."""
    system, inner = file_system(path)
    if _scheme(path) == "hdfs":  # Hadoop's client retries by itself, and knows the next replica
        with translated(path):
            return cast(BinaryIO, system.open(inner, "rb"))
    ranges = with_retries(lambda: CloudRanges(system, inner, path))
    return cast(BinaryIO, RemoteFile(ranges, windows))


def call(path: str, method: str) -> Any:
    """The result of a method of the file system ("info", "isdir", "find", "glob") for a path."""
    system, inner = file_system(path)

    def called() -> Any:
        with translated(path):
            return getattr(system, method)(inner)

    return with_retries(called)


def about(path: str) -> tuple[int | None, str | None]:
    """Size in bytes and etag or time of change, each None where the file system does not report it."""
    info = call(path, "info")
    if info.get("type") == "directory":
        raise FileNotFoundError(path)
    size = info.get("size")
    changed = next((info[key] for key in ("ETag", "etag", "LastModified", "mtime") if info.get(key)), None)
    return (int(size) if size is not None else None), (str(changed) if changed is not None else None)


def listed(path: str, method: str) -> list[str]:
    """The sorted URLs, of the same scheme, of the files that "find" or "glob" finds."""
    scheme = path[: path.index("://")]
    names = call(path, method)
    return sorted(name if "://" in name else f"{scheme}://{name.lstrip('/')}" for name in names)


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
        return InputError(f"{path}: {_ADVICE.get(_scheme(path), message)}")
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


def one_line(error: BaseException) -> str:
    """An exception's message as one short line, without credentials and without the path of an OSError."""
    if isinstance(error, OSError) and error.strerror:
        return redacted_message(error.strerror)
    first = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    return redacted_message(first)[:200] or type(error).__name__
