"""The request of `victor clean`: one object from the command line to the tasks.

A field that doesn't influence the rows is declared with `compare=False`. So equal requests give equal rows
for the same records: executors keep the models of a request for the next equal one, and config.json holds the
fields that are compared, except those that tell the two passes of a run apart.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Final

import pyarrow as pa

from victor_spark import tables
from victor_spark.configuration import Size, n_bytes, positive, seconds, setting
from victor_spark.errors import UsageError
from victor_spark.extractors import victor
from victor_spark.hosts import GROUPINGS, REGISTERED_DOMAIN, check_grouping
from victor_spark.settings import Settings
from victor_spark.statuses import FAILURES
from victor_spark.warc.shard import ReadOptions

PARTITION_COLUMNS: Final = ("language", "crawl")
EXPORTS: Final = ("jsonl", "parquet", "text", "iceberg", "delta")
"""The formats of `victor export`."""
ENGINES: Final = ("arrow", "rdd")

FILE_BYTES: Final = 256 << 20
"""Size of the files with --partition-by: without a size, every task would write a file into every folder."""

WALL_FACTOR: Final = 30
"""The wall-clock limit is this multiple of the CPU limit, so that machine load causes no timeouts."""

OPEN_FACTOR: Final = 30
"""The first record of a shard must be found within this multiple of a page's CPU limit."""

REMOTE_SECONDS: Final = 30.0
"""The least time for reading a record of a remote shard, so that a slow server causes no timeouts."""


@dataclass(frozen=True, slots=True)
class RowOptions:
    """The columns on request, and the files of the rows.

    `partition_by`: a column whose values become folders; `target_file_size`: bytes; None: one file per task.
    """

    blocks: bool = setting(
        False, "--blocks", "add the column blocks: every block and its label", None, heading="rows"
    )
    markdown: bool = setting(False, "--markdown", "add the column markdown: the kept text as Markdown", None)
    html: bool = setting(False, "--html", "add the column html: the page as fetched", None)
    partition_by: str | None = setting(
        None, "--partition-by", "one folder per value (Hive partitions)", choices=PARTITION_COLUMNS
    )
    target_file_size: Size | None = setting(
        None, "--target-file-size SIZE", "such as 256M (default: one file per task)", n_bytes, compare=False
    )

    def __post_init__(self) -> None:
        if self.partition_by not in (None, *PARTITION_COLUMNS):
            known = " or ".join(PARTITION_COLUMNS)
            raise UsageError(f"pages can be partitioned by {known}, not by {self.partition_by}")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of `tables.ON_REQUEST` that are asked for."""
        switches = [one.name for one in fields(self) if getattr(self, one.name) is True]
        return (*switches, *self.folders)

    @property
    def folders(self) -> tuple[str, ...]:
        """The columns whose values become folders."""
        return (self.partition_by,) if self.partition_by else ()

    @property
    def file_bytes(self) -> int | None:
        """The size that files should have; None: one file per task, of any size."""
        return self.target_file_size or (FILE_BYTES if self.partition_by else None)


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a page, which are enforced only in a child process (`sandbox`).

    `page_seconds` is CPU time; each megabyte of the page adds as much again. Every annotated page takes less
    than a hundredth of the default (bench/deadline.py), so most pages that reach it would never end. Reading
    a record, html or not, has the same limit, by the bytes of the shard that are read for it.
    `page_memory` is address space beyond what the process had before its first page.
    """

    page_seconds: float = setting(
        20.0,
        "--page-seconds S",
        "CPU seconds, and as many more per megabyte; beyond: status timeout",
        seconds,
        heading="limits per page of an archive (pages are cleaned in a child process)",
    )
    page_memory: Size = setting(
        1 << 30,
        "--page-memory SIZE",
        "such as 512M (a bare number is megabytes); beyond: status out_of_memory (default: 1G)",
        lambda text: n_bytes(f"{text}M" if text.isdecimal() else text),
    )
    sandbox: bool = setting(True, "--no-sandbox", "no limits: a page that crashes fails the run", None)

    def __post_init__(self) -> None:
        if not 0 < self.page_seconds < 1e6:
            raise UsageError(f"--page-seconds must be between 0 and 1e6, not {self.page_seconds:g}")
        if not 64 << 20 <= self.page_memory < 1 << 40:  # less is too little to read records and send rows
            raise UsageError(f"--page-memory must be between 64M and 1T, not {self.page_memory} bytes")

    def seconds(self, n_bytes: int) -> float:
        """CPU seconds for a page, or for reading a record, of that size."""
        return self.page_seconds * (1.0 + n_bytes / 1e6)


@dataclass(frozen=True, slots=True)
class Budget:
    """The shards and pages that may fail: a share (1%, 0.01), a count, or "1% or 20", whichever allows more.

    The count after "or" is for small runs; it never allows all shards or pages to fail.
    """

    max_failed_shards: str = setting(
        "1% or 1",
        "--max-failed-shards N",
        "shards that cannot be read",
        heading="failure budget: a share such as 1%, a count, or '1% or 20' (the larger of both); beyond it, "
        "exit code 3",
    )
    max_failed_pages: str = setting("5% or 20", "--max-failed-pages N", f"pages: {', '.join(FAILURES)}")

    def __post_init__(self) -> None:
        allowed(self.max_failed_shards, 0)
        allowed(self.max_failed_pages, 0)


def allowed(budget: str, total: float) -> int:
    """The number out of `total` that may fail; UsageError if the text is not a failure budget."""
    first, either, second = budget.strip().partition(" or ")
    try:
        if either:
            return max(allowed(first, total), min(int(second), math.ceil(total) - 1))
        if first.isdecimal():
            return int(first)
        share = float(first[:-1]) / 100 if first.endswith("%") else float(first)
        if 0 <= share <= 1:
            return math.floor(share * total + 1e-9)
    except ValueError:
        pass
    example = "a share or a count, such as 1%, 0.01, 20 or '1% or 20'"
    raise UsageError(f"a failure budget is {example}, not {budget!r}")


@dataclass(frozen=True, slots=True)
class SparkOptions:
    """How the work is divided. None: by Spark's configuration (`master`), or by the size of the input.

    `partitions`: tasks of a wave; `wave_bytes`: input committed together; `split_bytes`: input that a task
    reads at a time; `engine`: one of ENGINES.
    """

    master: str | None = setting(
        None, "--master URL", "default: spark-defaults.conf, else local[*]", heading="Spark"
    )
    partitions: int | None = setting(
        None, "--partitions N", "tasks per wave; each writes a file (default: by the input)", positive
    )
    wave_bytes: int | None = setting(
        None, "--wave-bytes SIZE", "input of a wave, such as 500M (default: 1G per core, or 2G)", n_bytes
    )
    split_bytes: int | None = setting(
        None, "--split-bytes SIZE", "input per task, such as 64M (default: by the input)", n_bytes
    )
    engine: str = setting(
        ENGINES[0],
        "--engine",
        "mapInArrow (default) or mapPartitions; the rows are the same",
        choices=ENGINES,
    )


@dataclass(frozen=True, slots=True)
class SiteOptions:
    """Whether a page's site helps to decide, what a site is, and whether its block rows are kept."""

    by_site: bool = setting(
        False,
        "--by-site",
        "decide each page with the other pages of its site, which should be in INPUT",
        None,
        heading="decisions by site (two passes)",
    )
    grouping: str = setting(
        REGISTERED_DOMAIN, "--group-by SITE", f"a site is: {', '.join(GROUPINGS)}", check_grouping
    )
    keep_blocks: bool = setting(
        False,
        "--keep-blocks",
        "keep OUT/_run/first_pass, which `victor sites write` reads",
        None,
        compare=False,
    )

    def __post_init__(self) -> None:
        check_grouping(self.grouping)
        if not self.by_site and (self.keep_blocks or self.grouping != REGISTERED_DOMAIN):
            raise UsageError(f"--{'keep-blocks' if self.keep_blocks else 'group-by'} needs --by-site")


FIRST_PASS: Final = "first"
SECOND_PASS: Final = "second"
"""Passes of a run with `--by-site` (others: ""): the first leaves the scored pages, the second decides."""


@dataclass(frozen=True, kw_only=True)
class CleanRequest:
    """The request of `victor clean`; `output` is "" if one page is printed.

    The groups `cleaning`, `reading`, `rows` (as "output"), `limits` and `budget` are tables of
    conf/cleaning.toml. `passing`: which pass of the run this is; `known`: where the second one finds the sums
    of sites.
    """

    inputs: tuple[str, ...] = field(default=(), compare=False)
    base_url: str | None = setting(
        None, "--input-base-url URL", "prefix of relative paths in a list", compare=False
    )
    output: str = field(default="", compare=False)
    cleaning: Settings = Settings()
    reading: ReadOptions = ReadOptions()
    rows: RowOptions = RowOptions()
    limits: Limits = Limits()
    budget: Budget = field(default=Budget(), compare=False)
    spark: SparkOptions = field(default=SparkOptions(), compare=False)
    sites: SiteOptions = SiteOptions()
    passing: str = ""
    known: str = ""

    def __post_init__(self) -> None:
        if self.sites.by_site and self.cleaning.cleaner != victor.NAME:
            raise UsageError(f"--by-site needs the cleaner {victor.NAME}, not {self.cleaning.cleaner}")

    @property
    def schema(self) -> pa.Schema:
        """The pages table that this run, or this pass of it, writes."""
        names = set(self.rows.columns)
        if self.passing == FIRST_PASS:
            names |= {"site", "crawl", "scored"}
        elif self.sites.by_site:
            names |= set(tables.BY_SITE)
        return tables.pages(*names)

    @property
    def is_whole(self) -> bool:
        """Whether the second pass looks at more of a page than its text and layout."""
        options = (self.cleaning.without, self.cleaning.including, self.cleaning.templates)
        return any(options) or not {"blocks", "markdown"}.isdisjoint(self.rows.columns)


@dataclass(frozen=True, kw_only=True)
class ExportRequest:
    """The request of `victor export`: a run `output`, a format `to`, a condition `where` in SQL."""

    output: str
    destination: str
    to: str
    where: str | None = None
    unique: bool | None = None
    partition_by: Sequence[str] = ()
    target_file_size: int | None = None
    master: str | None = None

    def __post_init__(self) -> None:
        for number, name in enumerate(self.partition_by):
            if name in self.partition_by[:number]:
                raise UsageError(f"--partition-by {name}: the column is given twice")
            kind = next((one.type for one in tables.pages(*tables.ON_REQUEST) if one.name == name), pa.null())
            if name in ("text", "markdown") or pa.types.is_nested(kind) or pa.types.is_binary(kind):
                raise UsageError(f"--partition-by {name}: its values can't be names of folders")
