"""The second pass of `victor clean --by-site`: judged pages, and what is known of their sites → rows."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from victor_spark import pipeline, tables
from victor_spark.document import Document
from victor_spark.extractors import by_site
from victor_spark.pipeline import Judged
from victor_spark.sites import decision
from victor_spark.sites.evidence import Known
from victor_spark.sites.table import KEYED, SUMS, Sites
from victor_spark.spark import judged
from victor_spark.spark.request import CleanRequest
from victor_spark.spark.rows import Row, Work, decided
from victor_spark.warc import storage
from victor_spark.warc.records import Record
from victor_spark.warc.shard import Attempt, Place, Shard

OF_FILES: Final = pa.schema([("file", pa.string()), *SUMS])
"""A key of a site in a file of judged pages: sums over the pages of the file, later over all pages."""

_DECIDED: Final = (
    *("text", "text_hash", "markdown", "blocks", "n_kept_blocks", "p_content", "expected_f1"),
    *tables.METADATA,
)
"""Columns that are null where the second pass loses a page."""


@dataclass(frozen=True, slots=True)
class StoredPage(Record):
    """A row of the first pass; `status` is set where it is final."""

    row: Row = field(default_factory=dict)
    known: Known | None = None


def work(request: CleanRequest, models: Mapping[str, bytes]) -> Work:
    """The work of the second pass; a shard is a file of judged pages."""
    schema = request.schema
    decide = pipeline.deciding(request.cleaning, models)
    site_model = decision.from_bytes(models[by_site.MODEL])

    def made(record: StoredPage) -> Row:
        page = _revised(judged.page(record.row), record, site_model)
        return _decided(record, page, decide, schema)

    def row(record: Record) -> Row:
        assert isinstance(record, StoredPage)
        if record.row["judged"] is None:
            return record.row
        return pipeline.guarded(partial(made, record), partial(_lost, record))

    return Work(schema, partial(_read, folder=request.known), row, _lost)


def _read(shard: Shard, attempt: Attempt, *, folder: str) -> Iterator[StoredPage]:
    """The rows of a file; `folder` has the sums of sites."""
    sites, skip = sites_of_file(folder, shard.path), attempt.skip
    for number, row in enumerate(judged.stored(shard)):
        if skip is not None and number < skip.place.position:
            continue
        attempt.begin(Place(0, number))
        record = StoredPage(None, row["url"], shard.filename, 0, 0, None, row=row)
        if skip is not None and number == skip.place.position:
            record = replace(record, row={**_lost(record, skip.status, skip.reason), "judged": None})
        if record.row["judged"] is None:
            yield replace(record, status=record.row["status"], row={**record.row, "n_site_pages": None})
            continue
        row["n_site_pages"] = 1
        if known := sites.of(row["site"]):
            row["n_site_pages"] = known.n_pages
        size = len(row["judged"]["text"] or "") + len(row["judged"].get("html") or "")
        yield replace(record, payload=bytes(size), known=known)  # as long as the page, for its time limit


def _revised(page: Judged, record: StoredPage, site_model: decision.SiteModel) -> Judged:
    """The page with the scores that its site suggests; without such, as the first pass decided."""
    stored = record.row["judged"]
    if record.known is not None:
        return replace(page, scores=by_site.revised(page.page, page.scores, record.known, site_model))
    if "probabilities" in stored:
        return page
    return replace(page, kept=stored["kept"])  # stored roughly: the first pass's decision is final


def _decided(
    record: StoredPage, page: Judged, decide: Callable[[Judged], Document], schema: pa.Schema
) -> Row:
    stored, document = record.row, decide(page)
    now = decided(document, schema.names)
    if page.kept is not None:
        now = {name: now[name] for name in ("text", "text_hash")} if stored["status"] == "ok" else {}
    if now.get("status", stored["status"]) != "ok":
        now |= dict.fromkeys(tables.METADATA)
    before = stored["judged"]["kept"]
    return {
        **stored,
        **now,
        "n_added_by_site": int((document.kept & ~before).sum()),
        "n_removed_by_site": int((before & ~document.kept).sum()),
    }


def _lost(record: Record, status: str, reason: str) -> Row:
    assert isinstance(record, StoredPage)
    return {**record.row, **dict.fromkeys(_DECIDED), "status": status, "reason": reason}


def sites_of_file(folder: str, path: str) -> Sites:
    """What the whole crawl knows of the sites in one file of judged pages."""
    parts = [SUMS.empty_table()]
    folder = f"{folder}/file={stem(path)}"
    for name in storage.files_below(folder) if storage.is_directory(folder) else ():
        if name.endswith(".parquet"):
            with storage.open_file(name) as file:
                parts.append(pq.ParquetFile(file).read().select(SUMS.names))
    return Sites(pa.concat_tables(parts).sort_by([(name, "ascending") for name in KEYED]))


def stem(path: str) -> str:
    """The name of a file of judged pages, as that of the folder with its sums."""
    return path.rpartition("/")[2].partition(".")[0]
