"""The second pass of `victor clean --by-site`: judged pages and what is known of their sites → rows of pages."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from victor_spark import pipeline
from victor_spark.extractors import victor
from victor_spark.sites import decision, evidence
from victor_spark.sites.evidence import Known
from victor_spark.spark import judged
from victor_spark.spark.request import CleanRequest
from victor_spark.spark.rows import Row, Work, decided
from victor_spark.warc import storage
from victor_spark.warc.records import Record
from victor_spark.warc.shard import Attempt, Place, Shard


_SUMS: Final = [(name, pa.int64()) for name in evidence.SUMS]
KEYED: Final = [("site", pa.string()), ("kind", pa.int32()), ("key", pa.int64())]
SUMS: Final = pa.schema([("file", pa.string()), *KEYED, *_SUMS])
"""A key of a site in a file of judged pages: sums over the pages of the file, later over all pages."""



@dataclass(frozen=True, slots=True)
class StoredPage(Record):
    """A row of the first pass; `status` is set where it is final."""

    row: Row = field(default_factory=dict)


def work(request: CleanRequest, models: Mapping[str, bytes]) -> Work:
    """The work of the second pass; a shard is a file of judged pages, its name the folder of its sums."""
    decide = pipeline.deciding(request.cleaning, models)
    site_model = decision.from_bytes(models[decision.MODEL])

    def read(shard: Shard, attempt: Attempt) -> Iterator[StoredPage]:
        sites = SitesOfFile(shard.name, shard.path)
        for number, row in enumerate(judged.stored(shard)):
            attempt.begin(Place(0, number))
            known = sites.of(row["site"])
            row["n_site_pages"] = known.n_pages if known else 1
            status = row["status"] if row["judged"] is None else None
            yield StoredPage(
                None, row["url"], row["warc_filename"], 0, 0, None, status=status, row={**row, "known": known}
            )

    def row(record: Record) -> Row:
        stored = record.row
        if stored["judged"] is None:
            return stored
        before, page, known = stored["judged"]["kept"], judged.page(stored), stored["known"]
        if known is not None:
            blocks = page.page.blocks
            found = decision.revised(site_model, blocks, page.scores.probabilities, known)
            page = replace(page, scores=victor.scores(found, blocks))
        document = decide(page)
        return {
            **stored,
            **decided(document),
            "n_added_by_site": int((document.kept & ~before).sum()),
            "n_removed_by_site": int((before & ~document.kept).sum()),
        }

    def lost(record: Record, status: str, reason: str) -> Row:
        return {**record.row, "status": status, "reason": reason, "text": None}

    return Work(request.schema, read, row, lost)


class SitesOfFile:
    """What the whole crawl knows of the sites in one file of judged pages."""

    def __init__(self, folder: str, path: str) -> None:
        found = storage.files_below(f"{folder}/file={stem(path)}")
        tables_ = []
        for name in found:
            if name.endswith(".parquet"):
                with storage.open_file(name) as file:
                    tables_.append(pq.ParquetFile(file).read())
        table = pa.concat_tables(tables_) if tables_ else SUMS.empty_table().drop_columns(["file"])
        sites = table["site"].combine_chunks().dictionary_encode()
        self._rows: dict[str, tuple[int, int]] = {}
        codes = sites.indices.to_numpy() if len(sites) else np.zeros(0, dtype=np.int32)
        bounds = np.flatnonzero(np.diff(codes, prepend=-1, append=-1))
        for first, last in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            self._rows[sites.dictionary[int(codes[first])].as_py()] = (first, last)
        self._kind = table["kind"].to_numpy()
        self._key = table["key"].to_numpy().view(np.uint64)
        self._sums = np.array([table[name].to_numpy() for name in evidence.SUMS], dtype=np.int64)

    def of(self, site: str | None) -> Known | None:
        """What is known of a site; None where it has one page only."""
        if site is None or site not in self._rows:
            return None
        rows = slice(*self._rows[site])
        return Known(self._kind[rows], self._key[rows], self._sums[:, rows])


def stem(path: str) -> str:
    """The name of a file of judged pages, as that of the folder with its sums."""
    return path.rpartition("/")[2].partition(".")[0]
