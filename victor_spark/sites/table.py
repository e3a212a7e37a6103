"""Tables of sites: the sums of many sites by key, in Parquet files that are sorted by site and key.

The sums of two tables of the same grouping add up. Keys that a single page has are left out.
"""

import errno
import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from victor_spark import tables
from victor_spark.blocks import OTHER
from victor_spark.errors import InputError, TableError, one_line
from victor_spark.hosts import check_grouping
from victor_spark.sites import evidence
from victor_spark.sites.evidence import Contributions, Known, SiteModel
from victor_spark.warc import storage

VERSION_KEY: Final = "victor_spark.sites_version"
VERSION: Final = "3"

KEYED: Final = ("site", "key")
SUMS: Final = pa.schema([("site", pa.string()), *((name, pa.int64()) for name in ("key", *evidence.SUMS))])
"""A key of a site, with the sums over its pages; hashes are stored as signed numbers."""

EXAMPLE: Final = pa.schema([("example", pa.string()), ("element", pa.string()), ("position", pa.float32())])
"""A text with the key, the beginning of the longest, the tag around it, and its place in its page, 0 to 1."""
SITES: Final = pa.schema([*SUMS, *EXAMPLE])

OF_SITE: Final = -1
"""The key of a site's pages; no other is as large, without its sign."""

UNREADABLE: Final = "table of sites can't be read"

_N_CACHED: Final = 16
_MOST_PAGES: Final = 1 << 40


class Sites:
    """The sums of each site in some rows (columns of `SUMS`), which are sorted by site, or by its hash."""

    def __init__(self, rows: pa.Table) -> None:
        sites = pc.run_end_encode(rows["site"].combine_chunks())
        ends = [0, *sites.run_ends.to_pylist()]
        self._rows = dict(zip(sites.values.to_pylist(), map(slice, ends, ends[1:]), strict=True))
        self._key = rows["key"].to_numpy().view(np.uint64)
        self._sums = np.array([rows[name].to_numpy() for name in evidence.SUMS], dtype=np.int64)
        self._known: dict[str | int, Known] = {}

    def of(self, site: str | int | None) -> Known | None:
        """The sums of a site; None if it has no rows."""
        if site is None or site not in self._rows:
            return None
        if site not in self._known:
            rows = self._rows[site]
            key, first = np.unique(self._key[rows], return_index=True)  # some are there twice
            sums = self._sums[:, rows][:, first]
            n_pages = int(sums[0][-1])  # OF_SITE is the largest key without a sign
            self._known[site] = Known(n_pages, Contributions(key, sums))
        return self._known[site]


def listing(folder: str) -> bytes:
    """The names and sizes of a table's files, which identify its content; InputError if there are none."""
    try:
        paths = storage.files_below(folder) if storage.is_directory(folder) else []
        names = [path[len(folder.rstrip("/")) + 1 :] for path in paths if path.endswith(".parquet")]
        names = [name for name in names if "/" not in name]
        sizes = {name: storage.about(f"{folder.rstrip('/')}/{name}")[0] for name in names}
    except OSError as error:
        raise InputError(f"{folder}: {one_line(error)}") from error
    if not sizes:
        raise InputError(f"{folder}: no table of sites (`victor sites write` makes one)")
    return json.dumps(sizes).encode()


def batches(path: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The rows of a table's file as columns of `schema`, null where it has none; InputError if damaged."""
    with reading(path), storage.open_file(path) as file:
        for batch in pq.ParquetFile(file).iter_batches(use_threads=False):
            if any(batch[name].null_count for name in SUMS.names):
                raise InputError(f"{UNREADABLE}: {path}: null sums")
            n_pages, log_odds = (batch[name].to_numpy() for name in evidence.SUMS)
            if not ((n_pages > 0) & (n_pages < _MOST_PAGES) & (abs(log_odds) < n_pages << 16)).all():
                raise InputError(f"{UNREADABLE}: {path}: impossible sums")
            nulls = {field.name: pa.nulls(len(batch), field.type) for field in schema}
            columns = [batch[name] if name in SITES.names else nulls[name] for name in schema.names]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Turns errors of reading a table's file into TableError; MemoryError counts as an error of the page."""
    try:
        yield
    except MemoryError:
        raise
    except (OSError, pa.ArrowException) as error:
        if isinstance(error, OSError) and error.errno == errno.ENOMEM:
            raise MemoryError(one_line(error)) from error
        raise TableError(f"{UNREADABLE}: {path}: {one_line(error)}") from error


class SiteTable:
    """A table of sites in a folder. The rows of a site are read when it is asked for.

    `files` are their names, as `listing` gives them. InputError for damaged files and other tables.
    """

    def __init__(self, folder: str, files: bytes) -> None:
        self.paths = [f"{folder.rstrip('/')}/{name}" for name in json.loads(files)]
        self.grouping = ""
        self._metadata: dict[str, pq.FileMetaData] = {}
        self._groups = sorted(group for path in self.paths for group in self._row_groups(path))
        self.n_rows = sum(metadata.num_rows for metadata in self._metadata.values())
        self._firsts, self._lasts = [first for first, *_ in self._groups], [one[1] for one in self._groups]
        if any(last > first for last, first in zip(self._lasts, self._firsts[1:], strict=False)):
            raise InputError(f"{folder}: its rows are not sorted by site, or are of two tables")
        self._cached = lru_cache(_N_CACHED)(lambda a, b: Sites(self._read(a, b, SUMS.names).drop_null()))

    def _row_groups(self, path: str) -> Iterator[tuple[str, str, str, int]]:
        """The row groups of a file: first and last site, path, number."""
        with reading(path), storage.open_file(path) as file:
            found = pq.ParquetFile(file)
            self._metadata[path] = found.metadata
            schema = found.schema_arrow
            version = tables.schema_version(schema, VERSION_KEY, KEYED[0])
            if version != VERSION:
                which = f"is a table of sites of version {version}, not {VERSION}"
                raise InputError(f"{path}: {'is no table of sites' if version is None else which}")
            if [(field.name, field.type) for field in schema] != [(f.name, f.type) for f in SITES]:
                raise InputError(f"{path}: a table of sites with other columns: {', '.join(schema.names)}")
            grouping = check_grouping(tables.schema_version(schema, tables.GROUPING_KEY, KEYED[0]) or "")
            if self.grouping not in ("", grouping):
                raise InputError(f"{path}: grouped by {grouping}, other files by {self.grouping}")
            self.grouping = grouping
            for number in range(found.num_row_groups):
                if found.metadata.row_group(number).num_rows == 0:
                    continue
                statistics = found.metadata.row_group(number).column(0).statistics
                if statistics is not None and statistics.has_min_max:
                    yield statistics.min, statistics.max, path, number
                else:  # of names of thousands of characters
                    sites = found.read_row_group(number, [KEYED[0]], use_threads=False)[0]
                    yield sites[0].as_py(), sites[-1].as_py(), path, number

    def of(self, site: str | None) -> Known | None:
        """The sums of a site; None if the table doesn't have it."""
        return None if site is None else self._cached(*self._span(site)).of(site)

    def rows(self, site: str) -> pa.Table:
        """All columns of the rows of a site."""
        found = self._read(*self._span(site), SITES.names)
        return found.filter(pc.equal(found["site"], site))

    def sizes(self) -> Iterator[pa.Table]:
        """The number of pages of each site, part by part: `site`, `n_pages`."""
        for number in range(len(self._groups)):
            rows = self._read(number, number + 1, SUMS.names)
            yield rows.filter(pc.equal(rows["key"], OF_SITE)).select(["site", "n_pages"])

    def _span(self, site: str) -> tuple[int, int]:
        """The row groups that may hold a site."""
        first, end = bisect_left(self._lasts, site), bisect_right(self._firsts, site)
        return first, max(first, end)

    def _read(self, first: int, end: int, columns: Sequence[str]) -> pa.Table:
        parts = [pa.schema([SITES.field(name) for name in columns]).empty_table()]
        for _, _, path, number in self._groups[first:end]:
            with reading(path), storage.open_file(path) as opened:
                file = pq.ParquetFile(opened, metadata=self._metadata[path])
                parts.append(file.read_row_group(number, columns, use_threads=False))
        return pa.concat_tables(part.select(columns).replace_schema_metadata() for part in parts)


_KEPT: Final = 0.5


class Part(NamedTuple):
    """A layout or a text: the share of the site's pages, an example in an element; P(content) of a layout."""

    share: float
    example: str
    element: str
    p: float
    is_kept: bool


class Site(NamedTuple):
    """A site with its parts, the layouts in the order of a page and the most frequent texts first."""

    name: str
    n_pages: int
    layouts: list[Part]
    texts: list[Part]


def of_site(rows: pa.Table, model: SiteModel) -> Site:
    """The site of these rows (columns of `table.SITES`)."""
    key, n_pages, log_odds = (rows[name].to_numpy() for name in ("key", *evidence.SUMS))
    n_site = int(n_pages[key == OF_SITE].sum())
    share = np.minimum(n_pages / max(n_site, 1), 1.0)
    mean = evidence.mean_log_odds(log_odds, n_pages)
    found = np.zeros((len(evidence.EVIDENCE), len(key)), np.float32)
    found[[evidence.CONSENSUS, evidence.N_PAGES, evidence.SHARE]] = mean, n_pages, share
    own = 1.0 / (1.0 + np.exp(-mean))
    own = np.stack([np.zeros_like(own), own, 1.0 - own], axis=1)
    p = 1.0 - evidence.revised(model, own, np.ones(len(key)), found)[:, OTHER]
    examples, elements = ([each or "" for each in rows[name].to_pylist()] for name in ("example", "element"))
    parts = list(map(Part, share.tolist(), examples, elements, p.tolist(), (p >= _KEPT).tolist()))
    position, is_text = rows["position"].to_numpy(), key & 1 == evidence.OF_TEXT
    layouts = sorted(np.flatnonzero(~is_text).tolist(), key=lambda row: (position[row], row))
    texts = [parts[row] for row in np.flatnonzero(is_text & (key != OF_SITE)).tolist()]
    return Site(rows["site"][0].as_py(), n_site, [parts[row] for row in layouts], sorted(texts, reverse=True))
