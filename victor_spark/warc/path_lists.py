"""Lists of paths: a text file, also gzipped, with one path or URL per line."""

import glob
import gzip
import os
import zlib
from typing import Final
from urllib.parse import urljoin

from victor_spark.errors import InputError
from victor_spark.warc import file_types, storage
from victor_spark.warc.compression import compression_of, unpacked

_MAX_LENGTH: Final = 64 << 20
_MAX_LINE: Final = 8192
_N_TRIED: Final = 100


def lines(path: str) -> list[tuple[int, str]]:
    """The entries with their line numbers; blank lines and # comments are left out."""
    text = _content(path).decode("utf-8-sig", "surrogateescape")
    numbered = ((number, line.strip()) for number, line in enumerate(text.split("\n"), 1))
    kept = [(number, line) for number, line in numbered if line and not line.startswith("#")]
    for number, line in kept:
        if len(line) > _MAX_LINE or "\x00" in line:
            raise InputError(f"{path}: not an archive, an html page or a list of paths (line {number})")
    return kept


def is_list(path: str, head: bytes, base_url: str | None) -> bool:
    """Whether at least half of the first lines of a text name a file, or there are none."""
    start = unpacked(head).decode("utf-8-sig", "surrogateescape")
    lines = [line.strip() for line in start.split("\n")[:_N_TRIED]]
    entries = [line for line in lines if line and not line.startswith("#")]
    n_named = sum(_names_file(line, path, base_url) for line in entries)
    return 2 * n_named >= len(entries)


def _names_file(line: str, manifest: str, base_url: str | None) -> bool:
    """Whether a line is a URL, an existing path, or looks like the path of an input."""
    target = located(line, manifest, base_url)
    remote = storage.scheme(target) is not None
    if storage.scheme(line) is not None or (not remote and os.path.lexists(target)):
        return True
    known = remote or file_types.by_name(line) != "unknown" or ("/" in line and glob.has_magic(line))
    return known and not any(char.isspace() for char in line)


def _content(path: str) -> bytes:
    with storage.open_file(path) as file:
        packed = compression_of(file.read(4)) == "gzip"
        file.seek(0)
        try:
            content = (
                gzip.GzipFile(fileobj=file).read(_MAX_LENGTH + 1) if packed else file.read(_MAX_LENGTH + 1)
            )
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise InputError(f"{path}: a damaged list of paths ({storage.one_line(error)})") from None
    if len(content) > _MAX_LENGTH:
        raise InputError(f"{path}: a list of paths longer than {_MAX_LENGTH >> 20} MiB")
    return content


def located(line: str, manifest: str, base_url: str | None) -> str:
    """The path of a list's entry: URLs and absolute paths as they are, others resolved.

    Relative ones belong to `base_url` if given, else to the list's folder when they exist there, else to
    the working directory.
    """
    if storage.scheme(line) is not None or os.path.isabs(line):
        return line
    if base_url is not None:
        return base_url.rstrip("/") + "/" + line.removeprefix("./")
    if storage.scheme(manifest) in ("http", "https"):
        return urljoin(manifest, line)
    folder = manifest.rpartition("/")[0]
    beside = f"{folder}/{line}" if folder else line
    if storage.scheme(manifest) is not None:
        return beside
    exists = os.path.lexists(beside) or any(mark in line for mark in "*?[")
    return beside if exists else line
