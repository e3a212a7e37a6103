"""Files in object stores and other file systems that fsspec knows: s3://, gs://, hdfs:// and the like."""

import errno
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO, Final, cast

from victor_spark.errors import InputError
from victor_spark.redaction import redacted_message
from victor_spark.warc.remote import LARGEST_FETCH, RemoteFile, Window
from victor_spark.warc.retrying import TransientError, persistently

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


def file_system(path: str, scheme: str) -> tuple[Any, str]:
    """The fsspec file system of a URL, and the path within it; InputError when what it needs is missing."""
    name = ALIASES.get(scheme, scheme)
    try:
        import fsspec

        # Listings are asked for anew: what came or went since the last one matters.
        with translated(path, name):
            system, inner = fsspec.core.url_to_fs(name + path[path.index("://") :], use_listings_cache=False)
    except ImportError:
        extra = (
            f"pip install 'victor-spark[{EXTRAS[name]}]'"
            if name in EXTRAS
            else f"what fsspec needs for {name}"
        )
        raise InputError(f"{path}: reading {name}:// needs an extra: {extra}") from None
    if name == "s3":
        system.retries = 1  # we count the tries, above botocore's own (AWS_MAX_ATTEMPTS)
    return system, inner


class CloudRanges:
    """A file of a file system that fsspec knows, as byte ranges; it must not change while it is read."""

    def __init__(self, system: Any, inner: str, *, path: str, scheme: str) -> None:
        self._system, self._path, self._scheme = system, path, scheme
        with translated(path, scheme):
            self._file = system.open(inner, "rb", block_size=LARGEST_FETCH, cache_type="none")
        self.size = int(self._file.size)

    def fetch(self, start: int, end: int) -> Iterator[bytes]:
        """The bytes [start, end); TransientError where another try may help."""
        with translated(self._path, self._scheme):
            self._file.seek(start)
            part = self._file.read(end - start)
        yield part

    def close(self) -> None:
        """Closes the file."""
        self._file.close()


def open_cloud(path: str, scheme: str, windows: Sequence[Window] = ()) -> BinaryIO:
    """A seekable file; OSError when it can't be opened. `windows`: all that will be read of it."""
    system, inner = file_system(path, scheme)
    if scheme == "hdfs":  # Hadoop's client retries by itself, and knows the next replica
        with translated(path, scheme):
            return cast(BinaryIO, system.open(inner, "rb"))
    ranges = persistently(lambda: CloudRanges(system, inner, path=path, scheme=scheme))
    return cast(BinaryIO, RemoteFile(ranges, windows))


def asked(path: str, scheme: str, method: str) -> Any:
    """What a method of the file system ("info", "isdir", "find", "glob") says of a path."""
    system, inner = file_system(path, scheme)

    def ask() -> Any:
        with translated(path, scheme):
            return getattr(system, method)(inner)

    return persistently(ask)


def about(path: str, scheme: str) -> tuple[int | None, str | None]:
    """Size in bytes and etag or time of change, None for what the file system does not tell."""
    info = asked(path, scheme, "info")
    if info.get("type") == "directory":
        raise FileNotFoundError(path)
    size = info.get("size")
    changed = next((info[key] for key in ("ETag", "etag", "LastModified", "mtime") if info.get(key)), None)
    return (int(size) if size is not None else None), (str(changed) if changed is not None else None)


def named(system_path: str, path: str) -> str:
    """A path within the file system of `path` as a URL again, of the same scheme."""
    scheme = path[: path.index("://")]
    return f"{scheme}://{system_path.lstrip('/')}" if "://" not in system_path else system_path


@contextmanager
def translated(path: str, scheme: str) -> Iterator[None]:
    """What a client raises, as OSError or InputError: the libraries share no base class.

    TransientError for what no other try is known to be useless for.
    """
    try:
        yield
    except (ImportError, InputError, TransientError):
        raise
    except Exception as error:
        raise _meaning(error, path, ALIASES.get(scheme, scheme)) from error


def _meaning(error: Exception, path: str, scheme: str) -> Exception:
    said = one_line(error)
    kind = type(error).__name__
    if "Credential" in kind or "Unable to locate credentials" in said or "libhdfs" in said:
        return InputError(f"{path}: {_ADVICE.get(scheme, said)}")
    if isinstance(error, ValueError) and "Protocol not known" in said:
        return InputError(f"{path}: {said}")
    if kind == "FileExpired":
        return OSError("the file changed while it was read")
    if isinstance(error, PermissionError):
        return PermissionError(f"access denied ({said})")
    if isinstance(error, _PERMANENT):
        return error
    code = error.errno if isinstance(error, OSError) else None
    useless = code in _PERMANENT_CODES or isinstance(error, ValueError | TypeError | NotImplementedError)
    return OSError(said) if useless else TransientError(said)


def one_line(error: BaseException) -> str:
    """What an exception says, as one short line without the path that OSError repeats, nor credentials."""
    if isinstance(error, OSError) and error.strerror:
        return redacted_message(error.strerror)
    first = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    return redacted_message(first)[:200] or type(error).__name__
