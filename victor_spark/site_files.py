"""Tables in Parquet files that are sorted by site: the rows of a site are read when it is asked for.

Processes get the names of the files, not their rows; each opens the files itself.
"""

import errno
import json
import os
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from victor_spark import tables
from victor_spark.errors import InputError, TableError, one_line
from victor_spark.hosts import REGISTERED_DOMAIN, check_grouping
from victor_spark.warc import storage

SITE: Final = "site"
N_CACHED: Final = 16
"""The most spans of row groups of which a process keeps the rows."""
_FOOTER_END: Final = 8
"""Bytes after the footer of a Parquet file: its length, and four letters."""


class Kind(NamedTuple):
    """What a table is: its name, the command that writes it, and whether it is a folder of files.

    `check` gets the schema and the path of a file; InputError if it is of another kind or version.
    """

    name: str
    command: str
    is_folder: bool
    check: Callable[[pa.Schema, str], object]

    @property
    def unreadable(self) -> str:
        """The beginning of the message for a damaged table."""
        return f"{self.name} can't be read"


def listing(location: str, kind: Kind) -> bytes:
    """The names of a table's files, with sizes and hashes of their footers, which identify its content.

    InputError if there are none, or if they can't be read.
    """
    root = location.rstrip("/")
    try:
        paths = [location]
        if kind.is_folder:
            paths = storage.files_below(location) if storage.is_directory(location) else []
        names = [path[len(root) :] for path in paths if not kind.is_folder or path.endswith(".parquet")]
        files = {name: _identity(root + name) for name in names if "/" not in name[1:]}
    except OSError as error:
        raise InputError(f"{location}: {one_line(error)}") from error
    if not files:
        raise InputError(f"{location}: no {kind.name} (`{kind.command}` makes one)")
    return json.dumps(files).encode()


def _identity(path: str) -> tuple[int, str]:
    """The size of a file and a hash of its footer: two tables of one size differ in statistics of columns."""
    with storage.open_file(path) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - _FOOTER_END, 0))
        end = file.read()
        n_bytes = int.from_bytes(end[:4], "little") if end[4:] == b"PAR1" else 0
        file.seek(max(size - _FOOTER_END - n_bytes, 0))
        return size, sha256(file.read()).hexdigest()


@contextmanager
def reading(kind: Kind, path: str) -> Iterator[None]:
    """Turns errors of reading a table's file into TableError; MemoryError counts as an error of the page."""
    try:
        yield
    except MemoryError:
        raise
    except (OSError, pa.ArrowException) as error:
        if isinstance(error, OSError) and error.errno == errno.ENOMEM:
            raise MemoryError(one_line(error)) from error
        raise TableError(f"{kind.unreadable}: {path}: {one_line(error)}") from error


class SiteFiles:
    """The files of a table; at first, only their footers are read.

    `listed`: what `listing` gave. InputError for damaged files and other tables.
    """

    def __init__(self, location: str, kind: Kind, listed: bytes | None = None) -> None:
        self.listing = listed or listing(location, kind)
        self.paths = [location.rstrip("/") + name for name in json.loads(self.listing)]
        self.grouping = REGISTERED_DOMAIN
        self._kind = kind
        self._metadata = {path: self._opened(path) for path in self.paths}
        self.n_rows = sum(metadata.num_rows for metadata in self._metadata.values())
        self._groups = sorted(self.bounds(SITE))
        self._firsts, self._lasts = [first for first, *_ in self._groups], [one[1] for one in self._groups]
        if any(last > first for last, first in zip(self._lasts, self._firsts[1:], strict=False)):
            raise InputError(f"{location}: its rows are not sorted by site, or are of two tables")

    def _opened(self, path: str) -> pq.FileMetaData:
        """The footer of a file, checked."""
        with reading(self._kind, path), storage.open_file(path) as file:
            found = pq.ParquetFile(file)
            schema = found.schema_arrow
        self._kind.check(schema, path)
        own = tables.schema_version(schema, tables.GROUPING_KEY, SITE) or REGISTERED_DOMAIN
        if path != self.paths[0] and own != self.grouping:
            raise InputError(f"{path}: grouped by {own}, other files by {self.grouping}")
        self.grouping = check_grouping(own)
        return found.metadata

    def bounds(self, column: str) -> Iterator[tuple[str, str, str, int]]:
        """The least and the largest value of a column of strings in each row group, its path and number."""
        for path, metadata in self._metadata.items():
            place = metadata.schema.names.index(column)
            for number in range(metadata.num_row_groups):
                if metadata.row_group(number).num_rows == 0:
                    continue
                found = metadata.row_group(number).column(place).statistics
                if found is not None and found.has_min_max and isinstance(found.min, str):
                    yield found.min, found.max, path, number
                    continue
                # of names of thousands of characters
                both = pc.min_max(self._read(path, number, pa.schema([(column, pa.string())]))[column])
                if not both["min"].is_valid:
                    raise InputError(f"{self._kind.unreadable}: {path}: null in {column}")
                yield both["min"].as_py(), both["max"].as_py(), path, number

    def __len__(self) -> int:
        """The number of row groups; `read` gets their numbers, by site."""
        return len(self._groups)

    def rows(self, site: str, schema: pa.Schema) -> pa.Table:
        """The rows of a site."""
        found = self.read(*self.span(site), schema)
        return found.filter(pc.equal(found[SITE], site))

    def span(self, site: str) -> tuple[int, int]:
        """The row groups that may hold a site: the first, and the end."""
        first, end = bisect_left(self._lasts, site), bisect_right(self._firsts, site)
        return first, max(first, end)

    def read(self, first: int, end: int, schema: pa.Schema) -> pa.Table:
        """The columns of `schema` of some row groups; TableError if they can't be read."""
        parts = (self._read(path, number, schema) for _, _, path, number in self._groups[first:end])
        return pa.concat_tables([schema.empty_table(), *parts])

    def _read(self, path: str, number: int, schema: pa.Schema) -> pa.Table:
        with reading(self._kind, path), storage.open_file(path) as opened:
            file = pq.ParquetFile(opened, metadata=self._metadata[path])
            found = file.read_row_group(number, schema.names, use_threads=False)
            return found.select(schema.names).cast(schema)
