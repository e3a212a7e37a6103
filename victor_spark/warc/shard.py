"""The input of a task: a shard, the options that choose its records, and the state of one attempt."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from victor_spark.configuration import Size, n_bytes, names, numbers, setting
from victor_spark.errors import UsageError, choices
from victor_spark.warc import storage
from victor_spark.warc.file_types import ShardKind

STANDARD_TYPES: Final = (
    "response", "resource", "conversion", "request", "metadata", "revisit", "warcinfo", "continuation"
)  # fmt: skip
HTML_TYPES: Final = ("text/html", "application/xhtml+xml")
ALL_STATUSES: Final = tuple(range(100, 600))
"""HTTP statuses."""
MAX_PAGE_BYTES: Final = 10 << 20
"""The default limit of a payload, for fetching and for reading."""


@dataclass(frozen=True, slots=True)
class Shard:
    """One file, or a byte range of one, that one task reads; it pickles.

    `path` opens from any working directory and may hold credentials. `name` is the file as the input named
    it; without credentials it becomes `warc_filename`. `size` is the file's in bytes, None where no server
    was asked. `kind` "warc" covers gzip, zstd, lz4 and plain WARC, "html" is a single page. A range
    [start, end) owns the records whose first byte lies in it; `end` None is the file's end.
    `aligned`: a record is known to begin at `start`. `etag` identifies the content (`storage.about`); a file
    with another one is not read.
    `records`, unless empty, are the only records to read: (offset, length) of each, in order.
    """

    path: str
    size: int | None
    kind: ShardKind
    name: str = ""
    start: int = 0
    end: int | None = None
    etag: str | None = None
    aligned: bool = False
    records: tuple[tuple[int, int], ...] = ()

    @property
    def filename(self) -> str:
        """The name in the rows."""
        return storage.public(self.name or self.path, self.path)

    @property
    def n_bytes(self) -> int | None:
        """Bytes to read; None where neither the file's size nor the range's end is known."""
        if self.records:
            return sum(length for _, length in self.records)
        ends = [end for end in (self.size, self.end) if end is not None]
        return max(min(ends) - self.start, 0) if ends else None


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Which records become pages: HTTP statuses, declared MIME types, WARC types; the payload limit (bytes).

    A record of another HTTP status becomes a row with status "http_status"; one of another MIME type becomes
    no row. With "conversion" in `record_types`, texts of WET files are pages; these files have no others.
    """

    statuses: tuple[int, ...] = setting(
        (200,),
        "--status N,N",
        "HTTP statuses",
        numbers,
        heading="reading",
        instead=("--all-statuses", "pages of any HTTP status", ALL_STATUSES),
    )
    mime_types: tuple[str, ...] = setting(HTML_TYPES, "--mime TYPE,TYPE", "media types that are pages", names)
    record_types: tuple[str, ...] = setting(
        ("response",), "--record-types TYPE,TYPE", "WARC types of pages", names
    )
    max_bytes: Size = setting(MAX_PAGE_BYTES, "--max-bytes SIZE", "larger pages: status oversize", n_bytes)

    def __post_init__(self) -> None:
        for name in self.record_types:
            if name not in STANDARD_TYPES:
                raise UsageError(f"no WARC record type {name!r}{choices(name, STANDARD_TYPES)}")
        for name in self.mime_types:
            if "/" not in name:
                raise UsageError(f"{name!r} is not a media type such as text/html")
        for status in self.statuses:
            if not 100 <= status < 1000:
                raise UsageError(f"an HTTP status is a number between 100 and 999, not {status}")


class Place(NamedTuple):
    """Where a record begins: `position` in the decompressed member at offset `start` (0 if plain)."""

    start: int
    position: int


@dataclass(frozen=True, slots=True)
class Skip:
    """A record that cannot be read: reading begins at it and skips its block; its row gives the reason.

    `blind`: its header is not read either; reading resumes at the next record or member that a search finds.
    """

    place: Place
    status: str
    reason: str
    blind: bool = False


@dataclass(frozen=True, slots=True)
class Attempt:
    """How a shard is read: the first time, or after a record ended the process that read it.

    `begin` is called with the place of each record before it is read, `progress` with the number of bytes
    that were read for the first time.
    """

    begin: Callable[[Place], None] = lambda _: None
    progress: Callable[[int], None] = lambda _: None
    skip: Skip | None = None


FIRST: Final = Attempt()
