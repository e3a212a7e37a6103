"""What the arguments mean: archives, pages, folders, globs and lists of these, all to shards."""

import glob
import hashlib
import os
import urllib.parse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from victor_spark.errors import InputError
from victor_spark.warc import coordinates, kinds, manifests, opening, resync

_MAX_DEPTH: Final = 8  # of lists that name lists


@dataclass(frozen=True, slots=True)
class Shard:
    """One file, or a byte range of one, to be read by one task; it pickles.

    `path` opens from any working directory and may hold credentials; `name` is the file as the input
    named it, and becomes, without these, `warc_filename`. `size` is the file's in bytes, None where a server
    was not asked. `kind` "warc" covers gzip, zstd, lz4 and plain WARC, "html" a single page. Of a range
    [start, end) the records belong to the shard whose first byte lies in it; `end` None is the file's end.
    `aligned` says that a record is known to begin at `start`. `etag` identifies the content (opening.about):
    another one can't be read.
    `records`, where there are any, are the only ones wanted: (offset, length) of each, in order.
    """

    path: str
    size: int | None
    kind: Literal["warc", "arc", "html"]
    name: str = ""
    start: int = 0
    end: int | None = None
    etag: str | None = None
    aligned: bool = False
    records: tuple[tuple[int, int], ...] = ()

    @property
    def filename(self) -> str:
        """The name rows carry."""
        return opening.public(self.name or self.path, self.path)

    @property
    def n_bytes(self) -> int | None:
        """Bytes to be read; None where the file's size is not known and no range says it."""
        if self.records:
            return sum(length for _, length in self.records)
        end = self.size if self.end is None else min(self.end, self.end if self.size is None else self.size)
        return None if end is None else max(end - self.start, 0)


def resolve(inputs: Sequence[str], *, base_url: str | None = None) -> tuple[Shard, ...]:
    """The shards that `inputs` stand for, in the order of the inputs, each file once.

    A table of coordinates stands for the records it names, each once, file by file. Folders give the archives
    below them, or else such tables, or html pages; folders and globs are sorted by path. Relative paths in a
    list or table belong to `base_url`, else to its folder, else to the working directory.

    Raises InputError, one clear line, for whatever is missing, unreadable or holds no archive.
    """
    shards = tuple(found(inputs, base_url=base_url))
    if all(shard.size == 0 for shard in shards):
        raise InputError(f"{shards[0].filename}: empty file")
    return shards


def found(inputs: Sequence[str], *, base_url: str | None = None) -> Iterator[Shard]:
    """`resolve` one shard after the other, for lists too long to be held; empty files are no error."""
    if not inputs:
        raise InputError("no input given")
    seen: set[bytes] = set()
    picked = Picks()
    for text in inputs:
        for shard in _expand(_local(os.fspath(text)), base_url, depth=0):
            identity = _identity(shard.path)
            new = picked.without_known(shard, identity)
            if new and (new.records or identity not in seen):
                seen.add(identity)
                yield new
    if not seen:
        raise InputError(f"{inputs[0]}: holds no archive")


class Picks:
    """Remembers which records tables have named so far, and which files were named as a whole."""

    def __init__(self) -> None:
        self._offsets: dict[bytes, list[npt.NDArray[np.int64]]] = {}
        self._whole: set[bytes] = set()

    def without_known(self, shard: Shard, identity: bytes) -> Shard | None:
        """The shard without the records that are known, None when nothing is left of it.

        Raises InputError for a file that is named as a whole and by some of its records.
        """
        if not shard.records:
            self._whole.add(identity)
        if identity in self._whole and (shard.records or identity in self._offsets):
            raise InputError(f"{shard.filename}: named as a whole, and by a table of its records")
        if not shard.records:
            return shard
        offsets = np.array([offset for offset, _ in shard.records], dtype=np.int64)
        known = self._offsets.setdefault(identity, [])
        for others in known:
            offsets = offsets[~np.isin(offsets, others)]
        if not len(offsets):
            return None
        known.append(offsets)
        if len(offsets) == len(shard.records):
            return shard
        left = set(offsets.tolist())
        return replace(shard, records=tuple(record for record in shard.records if record[0] in left))


def _local(text: str) -> str:
    """file:// URLs as paths; everything else as it is."""
    if not text.lower().startswith("file://"):
        return text
    return urllib.parse.unquote(urllib.parse.urlsplit(text).path)


def _identity(path: str) -> bytes:
    """What all names of a file have in common, in the room that millions of them leave."""
    real = os.path.realpath(path) if opening.scheme(path) is None else path
    return hashlib.blake2b(real.encode("utf-8", "surrogateescape"), digest_size=16).digest()


def _expand(text: str, base_url: str | None, *, depth: int) -> Iterator[Shard]:
    """The shards of one argument or of one line of a list."""
    if not text.strip():
        raise InputError("an input is an empty string")
    try:
        if _is_glob(text):
            yield from _of_many(text, opening.matching(text), base_url, depth=depth)
        elif opening.is_directory(text):
            yield from _of_directory(text, base_url, depth=depth)
        elif opening.scheme(text) is None and (odd := opening.oddity(text)):
            raise InputError(f"{opening.printable(text)}: {odd}")
        else:
            yield from _of_file(text, base_url, depth=depth)
    except OSError as error:
        reason = "no such file" if isinstance(error, FileNotFoundError) else opening.one_line(error)
        raise InputError(f"{opening.printable(text)}: {reason}") from None


def _is_glob(text: str) -> bool:
    scheme = opening.scheme(text)
    if scheme in ("http", "https") or not glob.has_magic(text):
        return False
    return not (os.path.lexists(text) if scheme is None else opening.is_file(text))


def _of_directory(directory: str, base_url: str | None, *, depth: int) -> Iterator[Shard]:
    paths = opening.files_below(directory)
    for names in (kinds.ARCHIVE_NAMES, coordinates.PARQUET_NAMES, kinds.PAGE_NAMES):
        if chosen := [path for path in paths if path.lower().endswith(names)]:
            yield from _of_many(directory, chosen, base_url, depth=depth)
            return
    raise InputError(f"{directory}: no archive in this folder")


def _of_many(origin: str, paths: list[str], base_url: str | None, *, depth: int) -> Iterator[Shard]:
    """Files that a folder or a glob names; the names decide where the content can't."""
    if not paths:
        raise InputError(f"{origin}: matches nothing")
    tables = [path for path in paths if path.lower().endswith(coordinates.NAMES)]
    if tables:
        yield from _of_tables(tables, base_url)
    for path in sorted(set(paths) - set(tables)):
        if opening.is_directory(path):
            yield from _of_directory(path, base_url, depth=depth)
        elif shard := _by_name(path):
            yield shard
        else:
            yield from _of_file(path, base_url, depth=depth)


def _by_name(path: str) -> Shard | None:
    """The shard that a known name promises; the reader finds out whether the promise is kept."""
    named = kinds.by_name(path)
    if named not in ("warc", "arc", "html"):
        return None
    if opening.scheme(path) is not None:
        return Shard(path, None, named)
    try:
        seen = kinds.kind_of(opening.first_bytes(path, kinds.HEAD_LENGTH))
    except OSError:  # the reader fails on it, too, and its shard is counted
        seen = named
    return _shard(path, seen if seen in ("warc", "arc") else named)


def _shard(path: str, kind: Literal["warc", "arc", "html"]) -> Shard:
    absolute = os.path.abspath(path) if opening.scheme(path) is None else path
    return Shard(absolute, opening.size_of(path), kind, path)


def _of_file(path: str, base_url: str | None, *, depth: int) -> Iterator[Shard]:
    """One file: its content decides what it is; a broken archive or page is what its name says."""
    head = opening.first_bytes(path, kinds.HEAD_LENGTH)
    kind = kinds.kind_of(head)
    named = kinds.by_name(path)
    is_parquet = head.startswith(coordinates.PARQUET_MAGIC)
    if is_parquet or (kind in ("manifest", "unknown") and coordinates.is_table(path, head)):
        yield from _of_tables([path], base_url)
        return
    if kind == "manifest" and named == "unknown" and manifests.is_list(path, head, base_url):
        yield from _of_manifest(path, base_url, depth=depth)
        return
    if kind not in ("warc", "arc") and named != "unknown":
        kind = named
    elif kind == "empty" or (kind == "unknown" and _holds_archive(path)):
        kind = "warc"
    if kind not in ("warc", "arc", "html"):
        what = kinds.described(head)
        raise InputError(f"{path} is {what}, not an archive, an html page or a list of paths")
    yield _shard(path, kind)


def _holds_archive(path: str) -> bool:
    with opening.open_file(path) as file:
        return resync.holds_archive(file)


def _of_tables(paths: Sequence[str], base_url: str | None) -> Iterator[Shard]:
    """The records that tables name, as shards that hold some of a file's records."""
    locate = [partial(_located, table=path, base_url=base_url) for path in paths]
    for some in coordinates.picked([coordinates.read(path) for path in paths], locate):
        kind: Literal["warc", "arc"] = "arc" if kinds.by_name(some.path) == "arc" else "warc"
        offset, length = some.records[-1]
        bounds = some.records[0][0], offset + length
        yield Shard(some.path, None, kind, some.name, *bounds, records=some.records)


def _located(name: str, *, table: str, base_url: str | None) -> str:
    """The path that a table's filename stands for."""
    path = _local(manifests.located(name, table, base_url))
    return os.path.abspath(path) if opening.scheme(path) is None else path


def _of_manifest(path: str, base_url: str | None, *, depth: int) -> Iterator[Shard]:
    if depth >= _MAX_DEPTH:
        raise InputError(f"{path}: lists that name lists, more than {_MAX_DEPTH} deep")
    lines = manifests.lines(path)
    if not lines:
        raise InputError(f"{path}: a list without a single path")
    for number, line in lines:
        target = _local(manifests.located(line, path, base_url))
        try:
            yield from _of_line(line, target, base_url, depth=depth + 1)
        except InputError as error:
            raise InputError(f"{path}, line {number}: {error}") from None


def _of_line(line: str, target: str, base_url: str | None, *, depth: int) -> Iterator[Shard]:
    """A list's entry; a remote one with a known name is not opened: a crawl's list has 90,000 of them."""
    kind = kinds.by_name(target)
    if opening.scheme(target) is None or kind not in ("warc", "arc", "html"):
        for shard in _expand(target, base_url, depth=depth):
            yield replace(shard, name=line) if shard.name == target else shard
    else:
        yield Shard(target, None, kind, line)
