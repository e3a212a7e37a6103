"""Tables of sites: the sums of many sites by key, in Parquet files that are sorted by site and key.

The sums of two tables of the same grouping add up. Keys that a single page has are left out.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from victor_spark.blocks import OTHER
from victor_spark.errors import InputError
from victor_spark.kernels.sites import mean_log_odds
from victor_spark.site_files import N_CACHED, Kind, SiteFiles, by_site, reading
from victor_spark.sites import evidence
from victor_spark.sites.evidence import Contributions, Known, SiteModel
from victor_spark.tables import SITE
from victor_spark.warc import storage

VERSION_KEY: Final = "victor_spark.sites_version"
VERSION: Final = "3"

KEYED: Final = (SITE, "key")
SUMS: Final = pa.schema([(SITE, pa.string()), *((name, pa.int64()) for name in ("key", *evidence.SUMS))])
"""A key of a site, with the sums over its pages; hashes are stored as signed numbers."""

EXAMPLE: Final = pa.schema([("example", pa.string()), ("element", pa.string()), ("position", pa.float32())])
"""A text with the key, the beginning of the longest, the tag around it, and its place in its page, 0 to 1."""
SITES: Final = pa.schema([*SUMS, *EXAMPLE])

OF_SITE: Final = -1
"""The key of a site's pages; no other is as large, without its sign."""

_MOST_PAGES: Final = 1 << 40


class Sites:
    """The sums of each site in some rows (columns of `SUMS`), which are sorted by site, or by its hash."""

    def __init__(self, rows: pa.Table) -> None:
        self._rows = by_site(rows)
        self._key = rows["key"].to_numpy().view(np.uint64)
        self._sums = np.array([rows[name].to_numpy() for name in evidence.SUMS], dtype=np.int64)
        self._known: dict[str | int, Known] = {}

    def of(self, site: str | int) -> Known | None:
        """The sums of a site; None if it has no rows."""
        if site not in self._rows:
            return None
        if site not in self._known:
            rows = self._rows[site]
            key, first = np.unique(self._key[rows], return_index=True)  # some are there twice
            sums = np.ascontiguousarray(self._sums[:, rows][:, first])
            n_pages = int(sums[0][-1])  # OF_SITE is the largest key without a sign
            self._known[site] = Known(n_pages, Contributions(key, sums))
        return self._known[site]


KIND: Final = Kind("table of sites", "victor sites write", VERSION_KEY, VERSION, SITES)


def batches(path: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The rows of a table's file as columns of `schema`; InputError if it is damaged."""
    with reading(KIND, path), storage.open_file(path) as file:
        for batch in pq.ParquetFile(file).iter_batches(use_threads=False):
            batch.validate(full=True)
            check(batch, path)
            yield pa.RecordBatch.from_arrays([batch[name] for name in schema.names], schema=schema)


def check(rows: pa.RecordBatch | pa.Table, place: str) -> None:
    """InputError if these rows of a table have sums that no pages give."""
    n_pages, log_odds = (rows[name].fill_null(0).to_numpy() for name in evidence.SUMS)
    is_possible = (n_pages > 0) & (n_pages < _MOST_PAGES) & (abs(log_odds) < n_pages << 16)
    if not is_possible.all() or any(rows[name].null_count for name in SUMS.names):
        raise InputError(f"{KIND.unreadable}: {place}: impossible sums")


class SiteTable:
    """A table of sites in a folder; the arguments and errors are those of `SiteFiles`."""

    def __init__(self, folder: str, listed: bytes | None = None) -> None:
        self.files = SiteFiles(folder, KIND, listed)
        self._near = lru_cache(N_CACHED)(lambda a, b: Sites(self.files.read(a, b, SUMS).drop_null()))

    def of(self, site: str | None) -> Known | None:
        """The sums of a site; None if the table doesn't have it."""
        return None if site is None else self._near(*self.files.span(site)).of(site)

    def sizes(self) -> Iterator[tuple[int, str]]:
        """The number of pages and the name of each site."""
        for number in range(len(self.files)):
            rows = self.files.read(number, number + 1, SUMS)
            check(rows, self.files.location)
            counts = rows.filter(pc.equal(rows["key"], OF_SITE))
            yield from zip(counts["n_pages"].to_pylist(), counts[SITE].to_pylist(), strict=True)


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
    """The site of these rows (columns of `table.SITES`); InputError for sums that no pages give."""
    name = rows[SITE][0].as_py()
    check(rows, name)
    key, n_pages, log_odds = (rows[name].to_numpy() for name in ("key", *evidence.SUMS))
    n_site = int(n_pages[key == OF_SITE].sum())
    share = np.minimum(n_pages / max(n_site, 1), 1.0)
    mean = np.array([*map(mean_log_odds, log_odds.tolist(), n_pages.tolist())])
    found = np.zeros((len(evidence.EVIDENCE), len(key)), np.float32)
    found[[evidence.CONSENSUS, evidence.N_PAGES, evidence.SHARE]] = mean, n_pages, share
    own = 1.0 / (1.0 + np.exp(-mean))
    own = np.stack([np.zeros_like(own), own, 1.0 - own], axis=1)
    p = 1.0 - evidence.revised(model, own, np.ones(len(key)), found)[:, OTHER]
    examples, elements = ([each or "" for each in rows[name].to_pylist()] for name in ("example", "element"))
    parts = list(map(Part, share.tolist(), examples, elements, p.tolist(), (p >= _KEPT).tolist()))
    position, is_text = rows["position"].to_numpy(), key & evidence.OF_TEXT != 0
    layouts = sorted(np.flatnonzero(~is_text).tolist(), key=lambda row: (position[row], row))
    texts = [parts[row] for row in np.flatnonzero(is_text & (key != OF_SITE)).tolist()]
    return Site(name, n_site, [parts[row] for row in layouts], sorted(texts, reverse=True))
