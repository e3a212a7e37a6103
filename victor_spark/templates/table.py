"""The published artefact: a Parquet table of templates, one row each; its history over crawls."""

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Final

import pyarrow as pa

from victor_spark.templates.matcher import Matcher
from victor_spark.templates.template import Mined

VERSION_KEY: Final = b"victor_spark.templates_version"
VERSION: Final = "1"

TEMPLATES: Final = pa.schema(
    [
        ("site", pa.string()),
        ("view", pa.string()),
        ("regex", pa.string()),
        ("tokens", pa.list_(pa.string())),
        ("n_tokens", pa.int32()),
        ("document_frequency", pa.int32()),  # distinct pages, over all crawls
        ("n_occurrences", pa.int32()),
        ("whole_lines", pa.float32()),
        ("n_pages", pa.int32()),  # distinct pages that were mined, over all crawls
        ("cut_off", pa.int32()),
        ("n_sites_seen", pa.int32()),
        ("example", pa.string()),
        ("mined_at", pa.timestamp("us", tz="UTC")),
        ("first_seen", pa.timestamp("us", tz="UTC")),
        ("last_seen", pa.timestamp("us", tz="UTC")),
        ("vanished", pa.bool_()),  # the last crawl of the site didn't have it
        ("histogram", pa.list_(pa.int32())),  # the site's, on its first row only
    ],
    metadata={VERSION_KEY: VERSION.encode()},
)

SITES: Final = pa.schema(
    [
        ("site", pa.string()),
        ("view", pa.string()),
        ("status", pa.string()),
        ("reason", pa.string()),
        ("n_seen", pa.int32()),
        ("n_pages", pa.int32()),
        ("n_templates", pa.int32()),
    ]
)
"""One row per site, also for those that were not mined."""


def rows(mined: Mined, mined_at: datetime, n_sites_seen: int = 1) -> pa.Table:
    """The rows of one site's templates (none where it was not mined)."""
    raise NotImplementedError


def sites(mined: Iterable[Mined]) -> pa.Table:
    """One row a site: whether it was mined, and if not, why."""
    raise NotImplementedError


def read(path: str | Path) -> pa.Table:
    """A templates table; InputError where it is none, or of another schema version."""
    raise NotImplementedError


def from_bytes(source: bytes, name: str = "templates") -> pa.Table:
    """The same from the bytes of the file, for tables that were broadcast."""
    raise NotImplementedError


def write(table: pa.Table, path: str | Path) -> None:
    """Writes the table, whole or not at all."""
    raise NotImplementedError


def update(old: pa.Table, new: pa.Table) -> pa.Table:
    """The table after a second crawl: what vanished stays, marked; frequencies add up."""
    raise NotImplementedError


def diff(old: pa.Table, new: pa.Table) -> pa.Table:
    """Rows site, view, regex, change (added | vanished | kept), old and new document frequency."""
    raise NotImplementedError


class Matchers:
    """The matcher of each site in a table, built when it is first asked for; the last used are kept."""

    def __init__(self, table: pa.Table, view: str = "text", *, n_kept: int = 256) -> None:
        raise NotImplementedError

    def of(self, site: str) -> Matcher | None:
        """The site's matcher; None where the table has no template of it. Vanished templates count."""
        raise NotImplementedError
