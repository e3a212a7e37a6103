"""Shards → a sample of each site's pages: what a task sends on, and what gathers it again.

A task cleans its records as the main job does and sends on the texts that may be in the sample of their site,
with the site's counts at its end. Neither side holds more of a site than its sample; which task read what,
and in which order, changes nothing.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

import pyarrow as pa

from victor_spark.errors import ANSWERED
from victor_spark.html.canonical import canonical
from victor_spark.spark.rows import RowBatch
from victor_spark.spark.tasks import CleanTask, clean_partition
from victor_spark.templates import sample, sites, table, views
from victor_spark.templates.mine import MiningSettings, mine

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

MINED: Final = pa.schema(
    [
        *table.TEMPLATES,
        ("status", pa.string()),
        ("reason", pa.string()),
        ("n_seen", pa.int64()),
    ]
)
"""A template; or, without a regex, what became of a site; or, without a site, records that are no pages."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How pages become sites and samples of these."""

    view: str = views.TEXT
    grouping: str = sites.REGISTERED_DOMAIN
    max_pages: int = sample.MAX_PAGES
    max_characters: int = sample.MAX_CHARACTERS


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
    smallest: sample.Smallest
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
        text = sample.ends(_text(row, sampling.view))
        key = sample.key(text)
        if known.smallest.take(key, len(text))[0]:
            waiting.add({"site": site, "key": key, "text": text})
        if waiting.full:
            yield waiting.take()
    for row in _count_rows(found, problems):
        waiting.add(row)
    if len(waiting):
        yield waiting.take()


def _new_site(sampling: Sampling) -> _Site:
    return _Site(sample.Smallest(sampling.max_pages, sampling.max_characters))


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
    return None if row["status"] in ANSWERED else str(row["status"])


def _text(row: dict[str, Any], view: str) -> str:
    """The page in a view, as `views.view` has it."""
    if view == views.HTML:
        return canonical(row["html"] or b"", http_charset=row["content_charset"]).html
    blocks = row["blocks"] or []
    if view == views.CLEANED:
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

    return SiteSample(sample.sample(texts(), sampling.max_pages, sampling.max_characters), counts)


def miner(
    mining: MiningSettings, sampling: Sampling, mined_at: datetime
) -> Callable[[tuple[pa.Scalar, ...], Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function that mines one site from its pages (columns of `SITE_PAGES`) → rows of `MINED`."""

    # By these type hints, Spark passes the pages in batches, not a site at once.
    def mine_site(key: tuple[pa.Scalar, ...], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        site = key[0].as_py()
        if site is None:
            yield from _problem_rows(batches)
            return
        sampled = gathered(batches, sampling)
        found = replace(mine(site, sampled.texts, mining), n_seen=sampled.counts.n_pages)
        seen = {
            "first_seen": sampled.counts.first_seen or mined_at,
            "last_seen": sampled.counts.last_seen or mined_at,
        }
        of_site = {
            "site": site,
            "view": found.view,
            "status": found.status,
            "reason": found.reason,
            "n_seen": found.n_seen,
            "n_pages": found.n_pages,
            "cut_off": found.cut_off,
            "histogram": list(found.histogram),
            "mined_at": mined_at,
        }
        rows = [{**row, **seen} for row in table.rows(found, mined_at).to_pylist()]
        yield pa.RecordBatch.from_pylist([{**of_site, **seen}, *rows], schema=MINED)

    return mine_site


def _problem_rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        rows = [{"reason": row["problem"], "n_seen": row["n_pages"]} for row in batch.to_pylist()]
        yield pa.RecordBatch.from_pylist(rows, schema=MINED)
