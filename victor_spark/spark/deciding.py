"""The second pass of `victor clean --by-site`: judged pages, and what is known of their sites → rows."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from victor_spark import pipeline, tables
from victor_spark.extractors import victor
from victor_spark.model.decision import n_words
from victor_spark.sites import decision, evidence
from victor_spark.sites.evidence import Contributions, Known
from victor_spark.spark import judged
from victor_spark.spark.request import CleanRequest
from victor_spark.spark.rows import Row, Work, decided
from victor_spark.warc import storage
from victor_spark.warc.records import Record
from victor_spark.warc.shard import Attempt, Place, Shard

MODEL: Final = "sites/model.json"

KEYED: Final = ("site", "key")
SUMS: Final = pa.schema(
    [("file", pa.string()), ("site", pa.string()), ("key", pa.int64())]
    + [(name, pa.int64()) for name in evidence.SUMS]
)
"""A key of a site in a file of judged pages: sums over the pages of the file, later over all pages."""

OF_SITE: Final = -1
"""The key of a site's pages; no other is as large, without its sign."""


@dataclass(frozen=True, slots=True)
class StoredPage(Record):
    """A row of the first pass; `status` is set where it is final."""

    row: Row = field(default_factory=dict)
    known: Known | None = None


def work(request: CleanRequest, models: Mapping[str, bytes]) -> Work:
    """The work of the second pass; a shard is a file of judged pages, its name the folder of its sums."""
    decide = pipeline.deciding(request.cleaning, models)
    site_model, schema = decision.from_bytes(models[MODEL]), request.schema

    def read(shard: Shard, attempt: Attempt) -> Iterator[StoredPage]:
        sites = SitesOfFile(shard.name, shard.path)
        for number, row in enumerate(judged.stored(shard)):
            attempt.begin(Place(0, number))
            known = sites.of(row["site"])
            row["n_site_pages"] = known.n_pages if known else 1
            status = row["status"] if row["judged"] is None else None
            yield StoredPage(
                None, row["url"], shard.filename, 0, 0, None, status=status, row=row, known=known
            )

    def row(record: Record) -> Row:
        assert isinstance(record, StoredPage)
        stored, known = record.row, record.known
        if stored["judged"] is None:
            return stored
        before, page = stored["judged"]["kept"], judged.page(stored)
        if known is not None:
            blocks, own = page.page.blocks, page.scores.probabilities
            found = evidence.evidence(blocks, own, known)
            revised = decision.revised(site_model, own, n_words(blocks), found)
            page = replace(page, scores=victor.scores(revised, blocks))
        elif "probabilities" not in stored["judged"]:  # stored roughly: the first pass's decision is final
            page = replace(page, kept=before)
        document = decide(page)
        now = decided(document, schema.names)
        if page.kept is not None:
            now = {name: now[name] for name in ("text", "text_hash")} if stored["status"] == "ok" else {}
        if now.get("status", stored["status"]) != "ok":
            now |= {name: None for name, _ in tables.METADATA}
        return {
            **stored,
            **now,
            "n_added_by_site": int((document.kept & ~before).sum()),
            "n_removed_by_site": int((before & ~document.kept).sum()),
        }

    def lost(record: Record, status: str, reason: str) -> Row:
        assert isinstance(record, StoredPage)
        return {**record.row, "status": status, "reason": reason, "text": None}

    return Work(schema, read, row, lost)


class SitesOfFile:
    """What the whole crawl knows of the sites in one file of judged pages."""

    def __init__(self, folder: str, path: str) -> None:
        parts = [SUMS.empty_table().drop_columns(["file"])]
        folder = f"{folder}/file={stem(path)}"
        for name in storage.files_below(folder) if storage.is_directory(folder) else ():
            if name.endswith(".parquet"):
                with storage.open_file(name) as file:
                    parts.append(pq.ParquetFile(file).read().select(parts[0].schema.names))
        table = pa.concat_tables(parts)
        sites = pc.run_end_encode(table["site"].combine_chunks())
        ends = [0, *sites.run_ends.to_pylist()]
        self._rows = dict(zip(sites.values.to_pylist(), map(slice, ends, ends[1:]), strict=True))
        self._key = table["key"].to_numpy()
        self._sums = np.array([table[name].to_numpy() for name in evidence.SUMS], dtype=np.int64)
        self._known: dict[str, Known] = {}

    def of(self, site: str | None) -> Known | None:
        """What is known of a site; None where it has one page only."""
        if site is None or site not in self._rows:
            return None
        if site not in self._known:
            rows = self._rows[site]
            key, first = np.unique(self._key[rows].view(np.uint64), return_index=True)  # some are there twice
            sums = self._sums[:, rows][:, first]
            n_pages = int(sums[0][-1])  # OF_SITE is the largest key without a sign
            self._known[site] = Known(n_pages, Contributions(key, sums))
        return self._known[site]


def stem(path: str) -> str:
    """The name of a file of judged pages, as that of the folder with its sums."""
    return path.rpartition("/")[2].partition(".")[0]
