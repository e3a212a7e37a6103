"""Shards → a sample of each site's pages → templates: the two kinds of tasks of the mining job.

A task of the first kind cleans its records as the main job does, and sends the texts that may be in the
sample of their site, and at its end the site's counts. The second kind mines the sample of one site. Neither
holds more of a site than its sample. The result doesn't depend on which task read which shard.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

import pyarrow as pa

from victor_spark.errors import ANSWERED
from victor_spark.html.canonical import canonical
from victor_spark.spark.rows import RowBatch
from victor_spark.spark.tasks import CleanTask, clean_partition
from victor_spark.templates import sites, table, tokens
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
"""A page's text; without a key, the counts of a site; without a site, a problem of records."""

MINED: Final = pa.schema(
    [
        *table.TEMPLATES,
        ("status", pa.string()),
        ("reason", pa.string()),
        ("n_seen", pa.int64()),
    ]
)
"""A template; without a regex, a site; without a site, the number of records with a problem."""

_NEEDED: Final = frozenset(
    {"url", "fetch_time", "warc_record_offset", "content_charset", "status", "reason", "blocks", "html"}
)


@dataclass(frozen=True, slots=True)
class Sampling:
    """What a site is, and how large its sample may be."""

    grouping: str = sites.REGISTERED_DOMAIN
    max_pages: int = sites.MAX_PAGES
    max_characters: int = sites.MAX_CHARACTERS


@dataclass(slots=True)
class Seen:
    """How many pages of a site there were, and when they were fetched."""

    n_pages: int = 0
    first_seen: datetime | None = None
    last_seen: datetime | None = None

    def add(self, n_pages: int, first_seen: datetime | None, last_seen: datetime | None) -> None:
        """Counts more pages."""
        self.n_pages += n_pages
        times = [time for time in (self.first_seen, self.last_seen, first_seen, last_seen) if time]
        self.first_seen, self.last_seen = (min(times), max(times)) if times else (None, None)


def sample_partition(
    batches: Iterable[pa.RecordBatch], *, task: CleanTask, sampling: Sampling, view: str
) -> Iterator[pa.RecordBatch]:
    """Batches of shards → batches of SITE_PAGES; `task` keeps block rows, for `html` also the html."""
    found: dict[str, tuple[sites.Smallest, Seen]] = {}
    problems = Counter[str]()
    waiting = RowBatch(SITE_PAGES)
    for row in _rows(clean_partition(batches, task=task)):
        site = sites.site(row["url"], sampling.grouping)
        if row["warc_record_offset"] is None:
            problems[f"shard: {row['reason']}"] += 1
            continue
        if site is None or row["status"] not in ANSWERED:
            answered = row["status"] in ANSWERED
            problems["no site: its address has no host" if answered else row["status"]] += 1
            continue
        if site not in found:
            found[site] = sites.Smallest(sampling.max_pages, sampling.max_characters), Seen()
        smallest, seen = found[site]
        seen.add(1, row["fetch_time"], row["fetch_time"])
        text = sites.ends(_text(row, view))
        key = sites.key(text)
        if smallest.take(key, len(text))[0]:
            waiting.add({"site": site, "key": key, "text": text})
        if waiting.full:
            yield waiting.take()
    for site, (_, seen) in found.items():
        waiting.add({"site": site, **asdict(seen)})
    for problem, n in problems.items():
        waiting.add({"problem": problem, "n_pages": n})
    if len(waiting):
        yield waiting.take()


def _rows(batches: Iterable[pa.RecordBatch]) -> Iterator[dict[str, Any]]:
    for batch in batches:
        columns = batch.select([name for name in batch.schema.names if name in _NEEDED])
        for row in range(len(columns)):  # one page's blocks as Python objects at a time
            yield columns.slice(row, 1).to_pylist()[0]


def _text(row: dict[str, Any], view: str) -> str:
    """The page in a view, as `coverage.view` has it."""
    if view == tokens.HTML:
        return canonical(row["html"] or b"", http_charset=row["content_charset"]).html
    blocks = row["blocks"] or []
    if view == tokens.CLEANED:
        blocks = [block for block in blocks if block["label"] != "other"]
    return "".join([f"{block['text']}\n" for block in blocks])


def miner(
    mining: MiningSettings, sampling: Sampling, mined_at: datetime
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function that mines sites from their pages, sorted by site (columns of `SITE_PAGES`).

    It yields rows of `MINED`: batches in Arrow's IPC format, so that the driver gets them as they are.
    """

    def mine_site(site: str | None, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        if site is None:
            for batch in batches:
                rows = [{"reason": row["problem"], "n_seen": row["n_pages"]} for row in batch.to_pylist()]
                yield pa.RecordBatch.from_pylist(rows, schema=MINED)
            return
        seen = Seen()
        texts = sites.sample(_texts(batches, seen), sampling.max_pages, sampling.max_characters)
        found = replace(mine(site, texts, mining), n_seen=seen.n_pages)
        times = {"first_seen": seen.first_seen or mined_at, "last_seen": seen.last_seen or mined_at}
        same = ("view", "status", "reason", "n_seen", "n_pages", "cut_off")
        of_site = {name: getattr(found, name) for name in same}
        of_site |= {"site": site, "histogram": list(found.histogram), "mined_at": mined_at}
        rows = [{**row, **times} for row in table.rows(found, mined_at).to_pylist()]
        yield pa.RecordBatch.from_pylist([{**of_site, **times}, *rows], schema=MINED)

    def mine_sites(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for site, parts in groupby(_parts(batches), key=itemgetter(0)):
            for mined in mine_site(site, (part for _, part in parts)):
                yield pa.RecordBatch.from_pydict({"batch": [mined.serialize().to_pybytes()]})

    return mine_sites


def _parts(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[str | None, pa.RecordBatch]]:
    """Batches that are sorted by site, cut so that each part is of one site."""
    for batch in batches:
        begin = 0
        for site, run in groupby(batch.column("site").to_pylist()):
            n = sum(1 for _ in run)
            yield site, batch.slice(begin, n)
            begin += n


def _texts(batches: Iterable[pa.RecordBatch], seen: Seen) -> Iterator[str]:
    """The texts of one site from all tasks; adds up what was seen."""
    for batch in batches:
        for row in batch.to_pylist():
            if row["key"] is None:
                seen.add(row["n_pages"], row["first_seen"], row["last_seen"])
            else:
                yield row["text"]
