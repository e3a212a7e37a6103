"""Resolves arguments to shards: archives, pages, folders, globs, lists of paths, tables of coordinates."""

import glob
import gzip
import hashlib
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Final
from urllib.parse import urljoin

from victor_spark.errors import InputError, one_line
from victor_spark.warc import boundaries, coordinates, file_types, storage
from victor_spark.warc.compression import HEAD_LENGTH, compression_of, unpacked
from victor_spark.warc.shard import Shard
from victor_spark.warc.source import Source

_MAX_DEPTH: Final = 8  # of lists that name lists
_MAX_LIST: Final = 64 << 20
_MAX_LINE: Final = 8192
_N_LINES_TRIED: Final = 100
_N_THREADS: Final = 32
_N_SHARDS_AT_A_TIME: Final = 4096


def resolve(inputs: Sequence[str], *, base_url: str | None = None) -> tuple[Shard, ...]:
    """The shards of `inputs`, in their order, each file once.

    A table of coordinates yields the records it names, each once, file by file. Folders yield the archives
    below them, or else such tables, or html pages; folders and globs are sorted by path. Relative paths in a
    list or table belong to `base_url`, else to its folder, else to the working directory.

    Raises InputError, one line, for an input that is missing, unreadable or holds no archive.
    """
    shards = tuple(found(inputs, base_url=base_url))
    if all(shard.size == 0 for shard in shards):
        raise InputError(f"{shards[0].filename}: empty file")
    return shards


def found(inputs: Sequence[str], *, base_url: str | None = None) -> Iterator[Shard]:
    """`resolve` as a generator, for lists that do not fit in memory; empty files are no error."""
    if not inputs:
        raise InputError("no input given")
    known = _Known()
    for text in inputs:
        for shard in _expand(storage.local(os.fspath(text)), base_url, depth=0):
            if (new := known.new_part(shard)) is not None:
                yield new


def checked(shards: Iterable[Shard]) -> Iterator[tuple[Shard, str | None]]:
    """The shards in order with size and etag, looked up in parallel, and the problem where that failed."""
    waiting = iter(shards)
    with ThreadPoolExecutor(_N_THREADS, "victor-look-up") as pool:
        while some := list(islice(waiting, _N_SHARDS_AT_A_TIME)):
            yield from pool.map(_look_up, some)


def _look_up(shard: Shard) -> tuple[Shard, str | None]:
    if shard.aligned or shard.etag is not None:  # one of many records of a file, or known already
        return shard, None
    try:
        size, etag = storage.about(shard.path)
    except (OSError, InputError) as error:
        reason = "no such file" if isinstance(error, FileNotFoundError) else one_line(error)
        return shard, f"{shard.filename}: {reason.removeprefix(f'{shard.path}: ')}"
    return replace(shard, size=shard.size if size is None else size, etag=etag), None


class _Known:
    """The files found as a whole so far, and the records found of other files."""

    def __init__(self) -> None:
        self._whole: set[bytes] = set()
        self._offsets: dict[bytes, set[int]] = {}

    def new_part(self, shard: Shard) -> Shard | None:
        """The shard without the records found before, None when nothing is left of it.

        Raises InputError for a file that is named as a whole and by some of its records.
        """
        real = os.path.realpath(shard.path) if storage.scheme(shard.path) is None else shard.path
        # A hash, because there may be millions of files.
        identity = hashlib.blake2b(real.encode("utf-8", "surrogateescape"), digest_size=16).digest()
        if identity in (self._whole if shard.records else self._offsets):
            raise InputError(f"{shard.filename}: is an input twice: as a file, and in a table of records")
        if not shard.records:
            is_new = identity not in self._whole
            self._whole.add(identity)
            return shard if is_new else None
        known = self._offsets.setdefault(identity, set())
        left = tuple(one for one in shard.records if one[0] not in known)
        known.update(offset for offset, _ in left)
        return replace(shard, records=left) if left else None


def _expand(text: str, base_url: str | None, *, depth: int) -> Iterator[Shard]:
    """The shards of one argument or of one line of a list."""
    if not text.strip():
        raise InputError("an input is an empty string")
    try:
        if storage.is_pattern(text):
            yield from _of_many(text, storage.matching(text), base_url, depth=depth)
        elif storage.is_directory(text):
            yield from _of_directory(text, base_url, depth=depth)
        elif storage.scheme(text) is None and (why := storage.unusable(text)):
            raise InputError(f"{storage.printable(text)}: {why}")
        else:
            yield from _of_file(text, base_url, depth=depth)
    except OSError as error:
        reason = "no such file" if isinstance(error, FileNotFoundError) else one_line(error)
        raise InputError(f"{storage.printable(text)}: {reason}") from None


def _of_directory(directory: str, base_url: str | None, *, depth: int) -> Iterator[Shard]:
    paths = storage.files_below(directory)
    for names in (file_types.ARCHIVE_NAMES, coordinates.PARQUET_NAMES, file_types.PAGE_NAMES):
        if chosen := [path for path in paths if path.lower().endswith(names)]:
            yield from _of_many(directory, chosen, base_url, depth=depth)
            return
    raise InputError(f"{directory}: no archive in this folder")


def _of_many(origin: str, paths: list[str], base_url: str | None, *, depth: int) -> Iterator[Shard]:
    """Files of a folder or a glob; if the content does not show the kind of a file, its name does."""
    if not paths:
        raise InputError(f"{origin}: matches no file")
    tables = [path for path in paths if path.lower().endswith(coordinates.NAMES)]
    if tables:
        yield from _of_tables(tables, base_url)
    for path in sorted(set(paths) - set(tables)):
        named = file_types.by_name(path)
        if storage.is_directory(path):
            yield from _of_directory(path, base_url, depth=depth)
        elif named is not None and storage.scheme(path) is not None:
            yield Shard(path, None, named)
        else:
            try:
                yield from _of_file(path, base_url, depth=depth)
            except OSError as error:
                if named is None:
                    raise InputError(f"{storage.printable(path)}: {one_line(error)}") from None
                yield _shard(path, named)  # the reader fails on it, too, and it is counted


def _shard(path: str, kind: file_types.ShardKind) -> Shard:
    return Shard(storage.absolute(path), storage.about(path)[0], kind, path)


def _of_file(path: str, base_url: str | None, *, depth: int) -> Iterator[Shard]:
    """One file. Its content shows its kind; for a damaged archive or page, its name does."""
    head = storage.first_bytes(path, HEAD_LENGTH)
    kind = file_types.kind_of(head)
    named = file_types.by_name(path)
    is_parquet = head.startswith(coordinates.PARQUET_MAGIC)
    if is_parquet or (kind in ("manifest", "unknown") and coordinates.is_table(path, head)):
        yield from _of_tables([path], base_url)
        return
    if kind == "manifest" and named is None and _is_list(path, head, base_url):
        yield from _of_list(path, base_url, depth=depth)
        return
    if kind not in ("warc", "arc") and named is not None:
        kind = named
    elif kind == "empty":
        kind = "warc"
    elif kind == "unknown":  # it may hold an archive that other bytes precede
        with storage.open_file(path) as file:
            kind = "unknown" if boundaries.syntax_within(Source(file)) is None else "warc"
    if kind not in ("warc", "arc", "html"):
        what = file_types.described(head)
        raise InputError(f"{path} is {what}, not an archive, an html page or a list of paths")
    yield _shard(path, kind)


def _of_tables(paths: Sequence[str], base_url: str | None) -> Iterator[Shard]:
    def located(name: str, table: str) -> str:
        return storage.absolute(storage.local(_located(name, table, base_url)))

    tables = [coordinates.read(path) for path in paths]
    if not any(table.num_rows for table in tables):
        raise InputError(f"{paths[0]}: the table has no rows")
    return coordinates.shards(tables, [partial(located, table=path) for path in paths])


def _of_list(path: str, base_url: str | None, *, depth: int) -> Iterator[Shard]:
    if depth >= _MAX_DEPTH:
        raise InputError(f"{path}: lists that name lists, more than {_MAX_DEPTH} levels deep")
    lines = list_entries(path)
    if not lines:
        raise InputError(f"{path}: a list without any path")
    for number, line in lines:
        target = storage.local(_located(line, path, base_url))
        kind = file_types.by_name(target)
        if storage.scheme(target) is not None and kind is not None:
            yield Shard(target, None, kind, line)  # not opened: a crawl's list has 90,000 of them
            continue
        try:
            for shard in _expand(target, base_url, depth=depth + 1):
                yield replace(shard, name=line) if shard.name == target else shard
        except InputError as error:
            raise InputError(f"{path}, line {number}: {error}") from None


def list_entries(path: str) -> list[tuple[int, str]]:
    """The entries of a list of paths with their line numbers; blank lines and # comments are left out.

    A list is a text file, also gzipped, with one path or URL per line; InputError for an invalid one.
    """
    with storage.open_file(path) as file:
        is_packed = compression_of(file.read(4)) == "gzip"
        file.seek(0)
        try:
            content = (gzip.GzipFile(fileobj=file) if is_packed else file).read(_MAX_LIST + 1)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise InputError(f"{path}: a damaged list of paths ({one_line(error)})") from None
    if len(content) > _MAX_LIST:
        raise InputError(f"{path}: a list of paths longer than {_MAX_LIST >> 20} MiB")
    kept = _entries(content.decode("utf-8-sig", "surrogateescape").split("\n"))
    for number, line in kept:
        if len(line) > _MAX_LINE or "\x00" in line:
            raise InputError(f"{path}: not an archive, an html page or a list of paths (line {number})")
    return kept


def _entries(lines: list[str]) -> list[tuple[int, str]]:
    stripped = ((number, line.strip()) for number, line in enumerate(lines, 1))
    return [(number, line) for number, line in stripped if line and not line.startswith("#")]


def _is_list(path: str, head: bytes, base_url: str | None) -> bool:
    """Whether at least half of the first lines of a text, if it has any, name a file.

    Such a line is a URL, an existing path, or looks like the path of an input.
    """
    entries = _entries(unpacked(head).decode("utf-8-sig", "surrogateescape").split("\n")[:_N_LINES_TRIED])
    n_named = 0
    for _, line in entries:
        target = _located(line, path, base_url)
        is_remote = storage.scheme(target) is not None
        exists = storage.scheme(line) is not None or (not is_remote and os.path.lexists(target))
        like = is_remote or file_types.by_name(line) is not None or ("/" in line and glob.has_magic(line))
        n_named += exists or (like and not any(char.isspace() for char in line))
    return 2 * n_named >= len(entries)


def _located(line: str, manifest: str, base_url: str | None) -> str:
    """The path of a list's entry: URLs and absolute paths as they are, others resolved.

    Others are below `base_url`, else in the list's folder if they exist there, else in the working folder.
    """
    if storage.scheme(line) is not None or os.path.isabs(line):
        return line
    if base_url is not None:
        return base_url.rstrip("/") + "/" + line.removeprefix("./")
    if storage.scheme(manifest) in ("http", "https"):
        return urljoin(manifest, line)
    beside = manifest[: manifest.rfind("/") + 1] + line
    is_there = storage.scheme(manifest) is not None or os.path.lexists(beside) or glob.has_magic(line)
    return beside if is_there else line
