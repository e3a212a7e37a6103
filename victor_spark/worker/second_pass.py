"""The second pass of `victor clean --by-site`: makes rows from scored pages and the sums of their sites.

The first pass leaves block rows (`tables.SCORED`): of a page that a cleaner has seen, its text and the packed
columns of `Blocks`. All other pages have none; their rows are final.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from victor_spark import pipeline, tables
from victor_spark.blocks import COLUMNS, LABELS, Blocks, Page, Scores, zeros
from victor_spark.document import Document
from victor_spark.errors import OutputError, one_line
from victor_spark.extractors import victor
from victor_spark.html.tags import GROUPS
from victor_spark.kernels.num import ELEMENTS, NAMED_ELEMENTS, NO_HINT
from victor_spark.pipeline import Scored
from victor_spark.request import CleanRequest
from victor_spark.sites import evidence
from victor_spark.sites.evidence import Known
from victor_spark.sites.table import KEYED, SUMS, Sites
from victor_spark.tables import SITE
from victor_spark.warc import storage
from victor_spark.warc.shard import Attempt, Place, Shard
from victor_spark.worker.rows import STORED_HINTS, Row, StageTimer, Work, decided, with_other

_N_ROWS: Final = {"elements": len(ELEMENTS), "named_elements": len(NAMED_ELEMENTS)}
"""How many rows columns have that are tables, not one per block; packed, the rows follow each other."""

_N_PAGES: Final = 64
_BATCH_BYTES: Final = 32 << 20
"""The most pages, and bytes of them, that are read at a time."""

UNREADABLE: Final = "scored pages can't be read"


def rows(batch: pa.RecordBatch) -> Iterator[dict[str, Any]]:
    """The rows of a batch; `scored` is a mapping of arrays and texts, or None."""
    column = batch.column("scored")
    for number, row in enumerate(batch.drop_columns(["scored"]).to_pylist()):
        row["scored"] = scored = column[number].as_py()
        if scored is not None and "columns" in scored:
            scored |= tables.unpack(scored.pop("columns"))
        yield row


def page_of(row: Mapping[str, Any]) -> Scored:
    """The scored page of a row that has one; columns that were not stored are 0, hints NO_HINT."""
    stored = row["scored"]
    text, n = stored["text"] or "", len(stored["kept"])
    columns = {}
    for name in COLUMNS.keys() & stored.keys():
        values, n_rows = stored[name], _N_ROWS.get(name)
        columns[name] = values.reshape(n_rows, -1) if n_rows else values
    hints = np.full((len(GROUPS), n), NO_HINT, dtype=np.uint8)
    hints[slice(None) if "probabilities" in stored else STORED_HINTS] = stored["hints"].reshape(-1, n)
    columns |= {"hints": hints, "points": np.frombuffer(text.encode("utf-32-le"), np.uint32)}
    blocks = Blocks(**{**zeros(n), **columns}, text=text, title=row["title"])
    if "probabilities" in stored:
        scores = victor.scores(stored["probabilities"].reshape(-1, len(LABELS)), blocks)
    else:
        scores = Scores(with_other(stored["p_other"]), stored["kept"], row.get("expected_f1"))
    return Scored(
        Page((stored.get("html") or b"").decode(), blocks, row["url"], row["title"], row["language"]),
        scores,
        row["language_score"],
        row["content_charset"],
        stored.get("repairs"),
    )


@contextmanager
def _reading(path: str) -> Iterator[None]:
    """OutputError for a damaged file of the first pass: the task fails, and Spark repeats it."""
    try:
        yield
    except (OSError, ValueError, LookupError, pa.ArrowException) as error:
        raise OutputError(f"{UNREADABLE}: {path}: {one_line(error)}") from error


def stored_rows(shard: Shard, columns: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
    """The rows of a file of scored pages, or of these columns of it. OutputError if it is damaged."""
    with _reading(shard.path), storage.open_file(shard.path) as opened:
        file = pq.ParquetFile(opened)
        version = tables.schema_version(file.schema_arrow)
        if version != tables.PAGES_VERSION:
            raise OutputError(f"{UNREADABLE}: {shard.path}: they are of version {version}")
        if file.schema_arrow.field("scored").type != tables.SCORED.type:
            raise OutputError(f"{UNREADABLE}: {shard.path}: another version wrote them")
        for group in range(file.num_row_groups):
            n = _n_pages(file.metadata.row_group(group))
            for batch in file.iter_batches(n, row_groups=[group], columns=columns, use_threads=False):
                yield from rows(batch)


def _n_pages(group: Any) -> int:
    """The number of pages of a row group that are read at a time, so that they take few megabytes."""
    n_values = sum(group.column(number).num_values for number in range(group.num_columns))
    of_page = (8 * n_values + group.total_byte_size) // max(group.num_rows, 1)
    return int(max(1, min(_N_PAGES, _BATCH_BYTES // max(of_page, 1))))


_OF_FILE: Final = SUMS.set(0, pa.field(KEYED[0], pa.int64()))
OF_FILES: Final = pa.schema([("file", pa.int64()), *_OF_FILE])
"""A key of a site in a file of scored pages: sums over the pages of the file, later over all pages.

`file` and `site` are hashes of their names: rows that consist of whole numbers can be packed as bytes.
"""


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A row of the first pass, final where it has no block rows (`scored`), and the sums of its site."""

    row: Row
    known: Known | None = None


def work(request: CleanRequest, models: Mapping[str, bytes]) -> Work[StoredPage]:
    """The work of the second pass; a shard is a file of scored pages."""
    schema, timer = request.schema, StageTimer()
    decide = pipeline.deciding(request.cleaning, models, timer)
    site_model = evidence.model_from_bytes(models[victor.SITE_MODEL])

    def made(record: StoredPage) -> Row:
        page, stored = page_of(record.row), record.row["scored"]
        if record.known is not None:
            page = replace(page, scores=victor.revised(page.page, page.scores, record.known, site_model))
        elif "probabilities" not in stored:  # stored roughly: the first pass's decision is final
            page = replace(page, kept=stored["kept"])
        return _decided(record, page, decide(page), schema)

    def row(record: StoredPage) -> Row:
        if record.row["scored"] is None:
            return record.row
        found = pipeline.guarded(partial(made, record), partial(_lost, record))
        timer("rows")
        return found

    def read(shard: Shard, attempt: Attempt) -> Iterator[StoredPage]:
        return timer.reading(_read(shard, attempt, folder=request.known))

    return Work(schema, read, row, _lost, _n_bytes, timer)


def _read(shard: Shard, attempt: Attempt, *, folder: str) -> Iterator[StoredPage]:
    """The rows of a file; `folder` has the sums of sites."""
    sites, skip = sites_of_file(folder, shard.path), attempt.skip
    for number, row in enumerate(stored_rows(shard)):
        if skip is not None and number < skip.place.position:
            continue
        attempt.begin(Place(0, number))
        if skip is not None and number == skip.place.position:
            lost = _lost(StoredPage(row), skip.status, skip.reason)
            yield StoredPage({**lost, "scored": None, "n_site_pages": None})
        elif row["scored"] is None:
            yield StoredPage({**row, "n_site_pages": None})
        else:
            known = None if row[SITE] is None else sites.of(hashed(row[SITE]))
            row["n_site_pages"] = 1 if known is None else known.n_pages
            yield StoredPage(row, known)


def _n_bytes(record: StoredPage) -> int | None:
    scored = record.row["scored"]
    return None if scored is None else len(scored["text"] or "") + len(scored.get("html") or "")


def _decided(record: StoredPage, page: Scored, document: Document, schema: pa.Schema) -> Row:
    stored, now = record.row, decided(document, schema.names)
    if page.kept is not None:
        kept = ("text", "text_hash", *(() if document.text else ("status", "reason")))
        now = {name: now[name] for name in kept} if stored["status"] == "ok" else {}
    if now.get("status", stored["status"]) != "ok":
        now |= dict.fromkeys(tables.METADATA)
    before = stored["scored"]["kept"]
    return {
        **stored,
        **now,
        "n_added_by_site": int((document.kept & ~before).sum()),
        "n_removed_by_site": int((before & ~document.kept).sum()),
    }


def _lost(record: StoredPage, status: str, reason: str) -> Row:
    unknown = dict.fromkeys((*decided(Document(status)), *tables.METADATA))
    return {**record.row, **unknown, "status": status, "reason": reason}


def sites_of_file(folder: str, path: str) -> Sites:
    """The sums over the whole crawl for the sites in one file of scored pages, by the hashes of these."""
    parts = [_OF_FILE.empty_table()]
    folder = f"{folder}/file={hashed(stem(path))}"
    for name in storage.files_below(folder) if storage.is_directory(folder) else ():
        if name.endswith(".parquet"):
            with _reading(name), storage.open_file(name) as file:
                parts.append(pq.ParquetFile(file).read().select(_OF_FILE.names))
    return Sites(pa.concat_tables(parts).sort_by([(name, "ascending") for name in KEYED]))


def stem(path: str) -> str:
    """The name of a file of scored pages without its ending."""
    return path.rpartition("/")[2].partition(".")[0]


def hashed(name: str) -> int:
    """A hash of a name, of 64 bits: tasks send it instead of the name."""
    return int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), signed=True)
