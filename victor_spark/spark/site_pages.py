"""Shards → a sample of each site's pages: what a task sends on, and what gathers it again.

A task cleans its records as the main job does and sends on the texts that may be in the sample of their site,
with the site's counts at its end. Neither side holds more of a site than its sample; which task read what,
and in which order, changes nothing.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

import pyarrow as pa

from victor_spark.html.canonical import canonical
from victor_spark.spark.clean_partition import CleanTask, clean_partition
from victor_spark.spark.rows import RowBatch
from victor_spark.templates import sites, tokens

SITE_PAGES: Final = pa.schema(
    [
        ("site", pa.string()),
        ("key", pa.binary()),
        ("text", pa.string()),
        ("problem", pa.string()),
        ("n_pages", pa.int64()),
        ("first_seen", pa.timestamp("us", tz="UTC")),
        ("last_seen", pa.timestamp("us", tz="UTC")),
    ]
)
"""A page's text; or, without a key, the counts of a site; or, without a site, records that are no pages."""

_UNJUDGED: Final = frozenset({"ok", "empty", "wrong_language"})
"""Statuses of pages whose blocks are as good as any, whatever was kept of them."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How pages become sites and samples of these."""

    view: str = tokens.TEXT
    grouping: str = sites.REGISTERED_DOMAIN
    max_pages: int = sites.MAX_PAGES
    max_characters: int = sites.MAX_CHARACTERS


@dataclass(slots=True)
class Counts:
    """How many pages of a site there were, and when they were fetched."""

    n_pages: int = 0
    first_seen: datetime | None = None
    last_seen: datetime | None = None

    def add(self, n_pages: int, first_seen: datetime | None, last_seen: datetime | None) -> None:
        """Counts more pages."""
        self.n_pages += n_pages
        times = [time for time in (self.first_seen, self.last_seen, first_seen, last_seen) if time]
        self.first_seen, self.last_seen = (min(times), max(times)) if times else (None, None)


@dataclass(slots=True)
class _Site:
    smallest: sites.Smallest
    counts: Counts = field(default_factory=Counts)


def sample_partition(
    batches: Iterable[pa.RecordBatch], *, task: CleanTask, sampling: Sampling
) -> Iterator[pa.RecordBatch]:
    """Batches of shards → batches of SITE_PAGES; `task` keeps block rows, for `html` also the html."""
    found: dict[str, _Site] = {}
    problems: dict[str, int] = {}
    waiting = RowBatch(SITE_PAGES)
    for row in _rows(clean_partition(batches, task=task)):
        problem, site = _problem(row), sites.site(row["url"], sampling.grouping)
        if problem or site is None:
            name = problem or "no site: its address has no host"
            problems[name] = problems.get(name, 0) + 1
            continue
        known = found.setdefault(site, _new_site(sampling))
        known.counts.add(1, row["fetch_time"], row["fetch_time"])
        text = sites.ends(_text(row, sampling.view))
        key = sites.key(text)
        if known.smallest.take(key, len(text))[0]:
            waiting.add({"site": site, "key": key, "text": text})
        if waiting.full:
            yield waiting.take()
    for row in _count_rows(found, problems):
        waiting.add(row)
    if len(waiting):
        yield waiting.take()


def _new_site(sampling: Sampling) -> _Site:
    return _Site(sites.Smallest(sampling.max_pages, sampling.max_characters))


def _rows(batches: Iterable[pa.RecordBatch]) -> Iterator[dict[str, Any]]:
    for batch in batches:
        columns = batch.select([name for name in batch.schema.names if name in _LOOKED_AT])
        for row in range(len(columns)):  # one page's blocks as Python objects at a time
            yield columns.slice(row, 1).to_pylist()[0]


_LOOKED_AT: Final = frozenset(
    {"url", "fetch_time", "warc_record_offset", "content_charset", "status", "reason", "blocks", "html"}
)


def _problem(row: dict[str, Any]) -> str | None:
    if row["warc_record_offset"] is None:
        return f"shard: {row['reason']}"
    return None if row["status"] in _UNJUDGED else str(row["status"])


def _text(row: dict[str, Any], view: str) -> str:
    """The page in a view, as `coverage.view` has it."""
    if view == tokens.HTML:
        return canonical(row["html"] or b"", http_charset=row["content_charset"]).html
    blocks = row["blocks"] or []
    if view == tokens.CLEANED:
        blocks = [block for block in blocks if block["label"] != "other"]
    return "".join([f"{block['text']}\n" for block in blocks])


def _count_rows(found: dict[str, _Site], problems: dict[str, int]) -> Iterator[dict[str, Any]]:
    for site, known in found.items():
        counts = known.counts
        yield {
            "site": site,
            "n_pages": counts.n_pages,
            "first_seen": counts.first_seen,
            "last_seen": counts.last_seen,
        }
    for problem, n in problems.items():
        yield {"problem": problem, "n_pages": n}


@dataclass(frozen=True, slots=True)
class SiteSample:
    """The sample of a site, in an order of its own, and the counts over all of its pages."""

    texts: list[str]
    counts: Counts


def gathered(batches: Iterable[pa.RecordBatch], sampling: Sampling) -> SiteSample:
    """The sample of one site from what all tasks sent; holds no more than the sample."""
    counts = Counts()

    def texts() -> Iterator[str]:
        for batch in batches:
            for row in batch.to_pylist():
                if row["key"] is None:
                    counts.add(row["n_pages"], row["first_seen"], row["last_seen"])
                else:
                    yield row["text"]

    return SiteSample(sites.sample(texts(), sampling.max_pages, sampling.max_characters), counts)
