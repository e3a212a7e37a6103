"""Tables in Parquet files that are sorted by site: the rows of a site are read when it is asked for.

Processes get the names of the files, not their rows; each opens the files itself.
"""

import errno
import json
import os
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from types import SimpleNamespace
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from victor_spark import tables
from victor_spark.errors import InputError, TableError, one_line
from victor_spark.hosts import REGISTERED_DOMAIN, check_grouping
from victor_spark.tables import SITE
from victor_spark.warc import storage

N_CACHED: Final = 16
"""The most spans of row groups of which a process keeps the rows."""


class Kind(NamedTuple):
    """The name of a kind of table, the command that writes it, and its version."""

    name: str
    command: str
    version_key: str
    version: str
    schema: pa.Schema

    @property
    def unreadable(self) -> str:
        """The beginning of the message for a damaged table."""
        return f"{self.name} can't be read"


@contextmanager
def reading(kind: Kind, path: str) -> Iterator[None]:
    """Turns errors of reading a table's file into TableError; MemoryError counts as an error of the page."""
    try:
        yield
    except (MemoryError, InputError):
        raise
    except (OSError, ValueError, pa.ArrowException) as error:
        if isinstance(error, OSError) and error.errno == errno.ENOMEM:
            raise MemoryError(one_line(error)) from error
        raise TableError(f"{kind.unreadable}: {path}: {one_line(error)}") from error


class SiteFiles:
    """The files of a table; at first, only their footers are read. TableError for damaged and other files.

    `listing`: the names of the files, with sizes and hashes of their footers, which identify the content.
    Other processes give it as `listed`.
    """

    def __init__(self, location: str, kind: Kind, listed: bytes | None = None) -> None:
        with reading(kind, location):
            names = json.loads(listed) if listed else [""]  # the ends of the paths; "" for a file
            if listed is None and storage.is_directory(location):
                below = (path[len(location.rstrip("/")) :] for path in storage.files_below(location))
                names = [name for name in below if name.endswith(".parquet") and "/" not in name[1:]]
        if not names:
            raise TableError(f"{location}: no {kind.name} (`{kind.command}` makes one)")
        self.paths = [location.rstrip("/") + name for name in names]
        self.location, self.grouping, self._kind = location, "", kind
        self._metadata: dict[str, pq.FileMetaData] = {}
        self.listing = json.dumps(dict(zip(names, map(self._opened, self.paths), strict=True))).encode()
        if listed not in (None, self.listing):
            raise TableError(f"{kind.unreadable}: {location}: it changed since this command began")
        self.n_rows = sum(metadata.num_rows for metadata in self._metadata.values())
        self._groups = sorted(self.bounds(SITE))
        self._firsts, self._lasts = [first for first, *_ in self._groups], [one[1] for one in self._groups]
        if any(last > first for last, first in zip(self._lasts, self._firsts[1:], strict=False)):
            raise TableError(f"{location}: its rows are not sorted by site, or are of two tables")

    def _opened(self, path: str) -> tuple[int, str]:
        """Checks a file; returns its size, and a hash of its footer, which has statistics of the columns."""
        kind = self._kind
        with reading(kind, path), storage.open_file(path) as file:
            found = pq.ParquetFile(file)
            self._metadata[path], schema = found.metadata, found.schema_arrow
            size = file.seek(0, os.SEEK_END)
            file.seek(size - found.metadata.serialized_size)
            footer = sha256(file.read()).hexdigest()
        version = tables.schema_version(schema, kind.version_key, SITE)
        if version != kind.version:
            which = f"is a {kind.name} of version {version}, not {kind.version}"
            raise TableError(f"{path}: {f'is no {kind.name}' if version is None else which}")
        try:
            schema.empty_table().select(kind.schema.names).cast(kind.schema)
        except (KeyError, pa.ArrowException) as error:
            raise TableError(f"{path}: a {kind.name} with other columns: {one_line(error)}") from error
        grouping = tables.schema_version(schema, tables.GROUPING_KEY, SITE) or REGISTERED_DOMAIN
        if self.grouping not in ("", grouping):
            raise TableError(f"{path}: grouped by {grouping}, other files by {self.grouping}")
        self.grouping = check_grouping(grouping)
        return size, footer

    def bounds(self, column: str) -> Iterator[tuple[str, str, str, int]]:
        """For each row group: the least and the largest value of a column of strings, its path and number."""
        for path, metadata in self._metadata.items():
            for number in range(metadata.num_row_groups):
                with reading(self._kind, path):
                    place = metadata.schema.names.index(column)
                    found = metadata.row_group(number).column(place).statistics
                    if found is None or not found.has_min_max:  # none are stored for very long names
                        values = self._read(path, number, self._kind.schema)[column]
                        found = SimpleNamespace(**pc.min_max(values).as_py())
                    least, most = found.min, found.max
                if least is not None:
                    yield least, most, path, number

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
            found = found.select(schema.names).cast(schema)
            found.validate(full=True)
        if found[SITE].null_count or pc.any(pc.greater(found[SITE][:-1], found[SITE][1:])).as_py():
            raise TableError(f"{self._kind.unreadable}: {path}: its rows are not sorted by site")
        return found


def by_site(rows: pa.Table) -> dict[str, slice]:
    """The places of the rows of each site; they are sorted by site."""
    sites = pc.run_end_encode(rows[SITE].combine_chunks())
    ends = [0, *sites.run_ends.to_pylist()]
    return dict(zip(sites.values.to_pylist(), map(slice, ends, ends[1:]), strict=True))
