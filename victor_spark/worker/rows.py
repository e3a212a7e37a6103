"""The rows of the pages table: reads the records of shards, cleans them, and gathers rows into batches."""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from mmap import mmap
from typing import Any, Final, Generic, TypeVar

import numpy as np
import pyarrow as pa

from victor_spark import pipeline, tables
from victor_spark.blocks import LABELS, OTHER, TEXT, Float32, Float64
from victor_spark.document import BlockSequence, Document
from victor_spark.errors import ShardError
from victor_spark.hosts import host_name, registered_domain, site
from victor_spark.html.tags import GROUPS
from victor_spark.preparation import handed_over
from victor_spark.rendering.parts import parts
from victor_spark.rendering.plain import plain_text
from victor_spark.rendering.structure import NAMES_OF_TEXT
from victor_spark.request import FIRST_PASS, CleanRequest
from victor_spark.roles import GROUPS_OF_HEADLINE, ROLES
from victor_spark.sites.evidence import contributions
from victor_spark.warc import file_types, reading
from victor_spark.warc.records import Record
from victor_spark.warc.shard import FIRST, Attempt, Shard

STAGES: Final = {
    "read": "read and inflate",
    "canonical": "canonical html",
    "segment": "segment",
    "language": "language",
    "decide": "features and decoding",
    "render": "render text",
    "rows": "metadata, Markdown, rows",
    "hand_over": "write rows, or hand them to Spark",
}
"""The stages of a page, and their names in the report."""

_SLOTS: Final = {stage: number for number, stage in enumerate(STAGES)}

T = TypeVar("T")
Row = dict[str, Any]

FLUSH_BYTES: Final = 8 << 20
"""Larger batches aren't faster, and the JVM side of every task holds a few of them."""

_ROW_BYTES: Final = 200  # a row's other columns, about
_BLOCK_BYTES: Final = 60
_INT32_MAX: Final = 2**31 - 1


class RowBatch:
    """Rows waiting to leave as one Arrow batch; `full` once they hold `flush_bytes`."""

    def __init__(self, schema: pa.Schema, *, flush_bytes: int = FLUSH_BYTES) -> None:
        self._schema, self._names = schema, schema.names
        self._flush_bytes = flush_bytes
        self._rows: list[Row] = []
        self._n_bytes = 0

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def full(self) -> bool:
        """Whether it is time to `take` the batch."""
        return self._n_bytes >= self._flush_bytes

    def add(self, row: Row) -> None:
        """Keeps the columns of the schema; in strings, half a surrogate pair becomes a question mark."""
        kept = {name: row.get(name) for name in self._names}
        for name, value in kept.items():
            if isinstance(value, str):
                kept[name] = encoded = value.encode("utf-8", "replace")
                self._n_bytes += len(encoded)
            elif isinstance(value, bytes):
                self._n_bytes += len(value)
        if scored := kept.get("scored"):
            self._n_bytes += sum(len(part or b"") for part in scored.values())
        self._n_bytes += _ROW_BYTES + _BLOCK_BYTES * len(kept.get("blocks") or ())
        self._rows.append(kept)

    def take(self) -> pa.RecordBatch:
        """The rows so far, which are removed."""
        rows, self._rows, self._n_bytes = self._rows, [], 0
        columns = list[pa.Array]()
        for name, kind in zip(self._names, self._schema.types, strict=True):
            values = [row[name] for row in rows]
            columns.append(_block_lists(values) if name == "blocks" else pa.array(values, kind))
        return pa.RecordBatch.from_arrays(columns, schema=self._schema)


_COPIED: Final = tuple(each.name for each in fields(Record) if each.name in tables.MEANINGS)
_OF_DOCUMENT: Final = ("language", "language_score", "title", "n_blocks", "cleaner")
_OF_DECISION: Final = ("status", "reason", "n_kept_blocks", "p_content", "expected_f1")


def record_row(record: Record, *, status: str, reason: str | None) -> Row:
    """The columns that need no cleaning, of any record; RowBatch keeps those that its schema has."""
    host = host_name(record.url)
    return {
        **{name: getattr(record, name) for name in _COPIED},
        "url_host_name": host,
        "url_host_registered_domain": registered_domain(host),
        "fetch_status": record.fetch_status if abs(record.fetch_status or 0) <= _INT32_MAX else None,
        "content_charset": record.http_charset,
        "html": record.payload,
        "status": status,
        "reason": reason,
    }


def document_row(record: Record, document: Document, on_request: Collection[str] = ()) -> Row:
    """All columns of a record that was cleaned."""
    row = record_row(record, status=document.status, reason=document.reason)
    if document.status == "ok":
        row.update(stated(document))
    row.update(
        content_charset=document.charset or record.http_charset,
        **{name: getattr(document, name) for name in _OF_DOCUMENT},
        **decided(document, on_request),
    )
    return row


def stated(document: Document) -> Row:
    """The columns of metadata."""
    found = document.some_metadata(tables.METADATA)
    return {name: getattr(found, name) or None for name in tables.METADATA}


def decided(document: Document, on_request: Collection[str] = ()) -> Row:
    """The columns that depend on which blocks are kept; texts only where the status is ok."""
    is_ok = document.status == "ok"
    return {
        **{name: getattr(document, name) for name in _OF_DECISION},
        "text": document.text if is_ok else None,
        "text_hash": document.text_hash if is_ok else None,
        "markdown": document.render("markdown") if is_ok and "markdown" in on_request else None,
        "blocks": document.blocks if "blocks" in on_request else None,
    }


def shard_row(warc_filename: str, *, reason: str) -> Row:
    """The row of a shard that can't be read to its end: without an offset, with the reason."""
    crawl = file_types.crawl_of_path(warc_filename)
    return {"warc_filename": warc_filename, "crawl": crawl, "status": "error", "reason": reason}


def row_batches(
    shards: Iterable[Shard],
    schema: pa.Schema,
    *,
    read: Callable[[Shard], Iterable[T]],
    row: Callable[[T], Row],
) -> Iterator[pa.RecordBatch]:
    """The rows of all records of some shards, and one with the reason for a shard not read to its end."""
    waiting = RowBatch(schema)
    for shard in shards:
        try:
            for record in read(shard):
                waiting.add(row(record))
                if waiting.full:
                    yield waiting.take()
        except ShardError as error:
            waiting.add(shard_row(shard.filename, reason=str(error)))
    if len(waiting):
        yield waiting.take()


def _block_lists(pages: Sequence[BlockSequence | None]) -> pa.ListArray:
    """The blocks of all rows as one list column, filled by columns; null where there was no page."""
    lengths = [0 if page is None else len(page) for page in pages]
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int32)
    structs = [_block_structs(page) for page in pages if page is not None and len(page)]
    joined = pa.concat_arrays(structs or [pa.array([], tables.BLOCK)])
    return pa.ListArray.from_arrays(offsets, joined, mask=pa.array([page is None for page in pages]))


def _block_structs(page: Any) -> pa.StructArray:
    if not isinstance(page, BlockSequence):  # the first pass of --by-site made them
        return pa.array(page, tables.BLOCK)
    columns = page.blocks
    texts = [text.encode("utf-8", "replace") for text in columns.texts()]
    labels = [LABELS[label] for label in page.labels.tolist()]
    scores = {f"p_{label}": scores for label, scores in zip(LABELS, page.probabilities.T, strict=True)}
    roles = [ROLES[role] for role in page.roles.tolist()]
    values = {"text": texts, "label": labels, "role": roles, **scores}
    arrays = [
        pa.array(values[field.name] if field.name in values else getattr(columns, field.name), field.type)
        for field in tables.BLOCK
    ]
    return pa.StructArray.from_arrays(arrays, fields=list(tables.BLOCK))


def _scored(page: Document, *, is_whole: bool) -> Row:
    """A scored page; unless it must be whole, with the parts of its html that plain text needs."""
    blocks, probabilities, html = page.columns, page.scores.probabilities, page.html
    columns = {name: getattr(blocks, name) for name in (tables.PACKED_WHOLE if is_whole else tables.PACKED)}
    if is_whole:
        columns["probabilities"] = probabilities
    else:
        html, columns["start"], columns["end"] = parts(blocks, html)
        columns["hints"] = blocks.hints[STORED_HINTS]
        columns["name_words"] = np.intersect1d(blocks.name_words, NAMES_OF_TEXT)
        columns["p_other"] = probabilities[:, OTHER].astype(np.float32)
        probabilities = with_other(columns["p_other"])
    return {
        "repairs": page.repairs,
        "text": blocks.text.encode("utf-8", "replace"),
        "html": html.encode("utf-8", "replace"),
        "columns": tables.pack({**columns, "kept": page.kept}),
        "sums": contributions(blocks, probabilities).to_bytes(),
    }


STORED_HINTS: Final = [GROUPS.index(name) for name in ("hidden", *GROUPS_OF_HEADLINE)]
"""The rows of `Blocks.hints` that decisions and plain text need."""


def with_other(other: Float32) -> Float64:
    """The probabilities of blocks of which P(other) is known."""
    found = np.zeros((len(other), len(LABELS)))
    found[:, OTHER] = other
    found[:, TEXT] = 1.0 - found[:, OTHER]
    return found


class StageTimer:
    """Seconds by stage, summed in memory that a process shares with the children it forks later.

    Calling it with a stage's name adds the time since the last call to that stage. It is wall-clock time, so
    waiting for a busy processor is included.
    """

    def __init__(self) -> None:
        self._sums = np.frombuffer(mmap(-1, 8 * len(STAGES)), np.float64)
        self._last = time.perf_counter()

    def __call__(self, stage: str) -> None:
        """Ends a stage."""
        now = time.perf_counter()
        self.add(stage, now - self._last)
        self._last = now

    def add(self, stage: str, seconds: float) -> None:
        """Adds seconds to a stage; no two processes may add to one stage at the same time."""
        self._sums[_SLOTS[stage]] += seconds

    def seconds(self) -> dict[str, float]:
        """The sums so far."""
        return dict(zip(STAGES, self._sums.tolist(), strict=True))

    def reading(self, records: Iterator[T]) -> Iterator[T]:
        """The records; the time to get each one counts as the stage `read`."""
        while True:
            self._last = time.perf_counter()  # the time since the last call is left out
            record = next(records, None)
            self("read")
            if record is None:
                return
            yield record


@dataclass(frozen=True, slots=True)
class Work(Generic[T]):
    """The functions for shards: `read` gives records, `row` a record's row, `lost` that of a failed one.

    `n_bytes`: the size of a record's page, for its time limit; None if its row is final as it was read.
    """

    schema: pa.Schema
    read: Callable[[Shard, Attempt], Iterator[T]]
    row: Callable[[T], Row]
    lost: Callable[[T, str, str], Row]
    n_bytes: Callable[[T], int | None]
    timer: StageTimer = field(default_factory=StageTimer)

    def batches(self, shards: Iterable[Shard]) -> Iterator[pa.RecordBatch]:
        """The rows of all records, made in this process without limits; a page that crashes ends it."""
        return row_batches(shards, self.schema, read=lambda shard: self.read(shard, FIRST), row=self.row)


def page_bytes(record: Record) -> int | None:
    """The size of a record's page; None if it is not cleaned."""
    return len(record.payload or b"") if record.status is None else None


def page_work(request: CleanRequest, models: Mapping[str, bytes]) -> Work[Record]:
    """The work of `victor clean`; loads the models, and makes the tables that a first page needs."""
    timer = StageTimer()
    is_partly = request.passing == FIRST_PASS and not request.cleaning.templates
    write = pipeline.telling_text if is_partly else plain_text
    clean = pipeline.cleaning(request.cleaning, models, timer, write)
    schema, is_whole = request.schema, request.is_whole

    def read(shard: Shard, attempt: Attempt) -> Iterator[Record]:
        return timer.reading(reading.read(shard, request.reading, attempt))

    def row(record: Record) -> Row:
        if record.status is not None:
            made = record_row(record, status=record.status, reason=record.reason)
        else:
            document = clean(record)
            if request.passing == FIRST_PASS and document.scores.expected_f1 is not None:
                scored = replace(document, text="", markup=None)  # the second pass makes it anew
                made = document_row(record, scored)
                made |= {**stated(document), "text": None, "scored": _scored(scored, is_whole=is_whole)}
            else:
                made = document_row(record, document, schema.names)
        if request.passing == FIRST_PASS:
            made[tables.SITE] = site(record.url, request.sites.grouping)
        timer("rows")
        return made

    first = RowBatch(schema)  # without an address: no table of sites is opened before the child is forked
    first.add(row(handed_over(b"<title>A ferry</title><p>It leaves at seven, while the fog lies.", None)))
    first.take()
    registered_domain("a.example")  # reads the public suffix list

    def lost(record: Record, status: str, reason: str) -> Row:
        return document_row(record, pipeline.dropped(record, request.cleaning, status, reason))

    return Work(schema, read, row, lost, page_bytes, timer)
