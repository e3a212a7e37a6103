"""Record and Document → a row of the pages table, gathered into Arrow batches by size."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

from victor_spark import tables
from victor_spark.hosts import host_name, registered_domain
from victor_spark.page import LABELS, BlockSequence, Document, Record
from victor_spark.warc import file_types

Row = dict[str, Any]

FLUSH_BYTES: Final = 8 << 20
"""Of text and markup offsets; more doesn't get faster, and every task's JVM side holds a few batches."""

_ROW_BYTES: Final = 200  # a row's other columns, about
_BLOCK_BYTES: Final = 60
_INT32_MAX: Final = 2**31 - 1


class RowBatch:
    """Rows waiting to leave as one Arrow batch; `full` once they hold `FLUSH_BYTES`."""

    def __init__(self, schema: pa.Schema, *, flush_bytes: int = FLUSH_BYTES) -> None:
        self._schema = schema
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
        """Keeps one row, with Arrow's idea of a string: no half of a surrogate pair survives."""
        for name, value in row.items():
            if isinstance(value, str):
                row[name] = encoded = value.encode("utf-8", "replace")
                self._n_bytes += len(encoded)
            elif isinstance(value, bytes):
                self._n_bytes += len(value)
        self._n_bytes += _ROW_BYTES + _BLOCK_BYTES * len(row.get("blocks") or ())
        self._rows.append(row)

    def take(self) -> pa.RecordBatch:
        """The rows so far, which then are forgotten."""
        rows, self._rows, self._n_bytes = self._rows, [], 0
        columns = [
            _block_lists(rows) if field.name == "blocks" else _column(rows, field) for field in self._schema
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self._schema)


def _column(rows: Sequence[Row], field: pa.Field) -> pa.Array:
    return pa.array([row.get(field.name) for row in rows], field.type)


def record_row(record: Record, *, status: str, reason: str | None) -> Row:
    """What the archive alone says of a record, and why it came to nothing."""
    host = host_name(record.url)
    return {
        "id": record.id,
        "url": record.url,
        "url_host_name": host,
        "url_host_registered_domain": registered_domain(host),
        "warc_filename": record.warc_filename,
        "warc_record_offset": record.warc_record_offset,
        "warc_record_length": record.warc_record_length,
        "fetch_time": record.fetch_time,
        "fetch_status": _int32(record.fetch_status),
        "content_digest": record.content_digest,
        "content_mime_type": record.content_mime_type,
        "content_charset": record.http_charset,
        "content_truncated": record.content_truncated,
        "crawl": record.crawl,
        "status": status,
        "reason": reason,
    }


def document_row(record: Record, document: Document, *, blocks: bool) -> Row:
    """A record's row once it was cleaned; `text` only where the status is ok."""
    row = record_row(record, status=document.status, reason=document.reason)
    row.update(
        content_charset=document.charset or record.http_charset,
        language=document.language,
        language_score=document.language_score,
        title=document.title,
        text=document.text if document.status == "ok" else None,
        n_blocks=document.n_blocks,
        n_kept_blocks=document.n_kept_blocks,
        p_content=document.p_content,
        expected_f1=document.expected_f1,
        cleaner=document.cleaner,
    )
    if blocks:
        row["blocks"] = document.blocks
    return row


def shard_row(warc_filename: str, *, reason: str) -> Row:
    """The row of a shard that can't be read (on): no offset, and nothing known but the reason."""
    crawl = file_types.crawl_of_path(warc_filename)
    return {"warc_filename": warc_filename, "crawl": crawl, "status": "error", "reason": reason}


def _int32(value: int | None) -> int | None:
    return value if value is not None and abs(value) <= _INT32_MAX else None


def _block_lists(rows: Sequence[Row]) -> pa.ListArray:
    """The blocks of all rows as one list column, filled by columns; null where there was no page."""
    pages: list[BlockSequence | None] = [row.get("blocks") for row in rows]
    lengths = [0 if page is None else len(page) for page in pages]
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int32)
    filled = [page for page in pages if isinstance(page, BlockSequence) and len(page)]
    structs = [_block_structs(page) for page in filled] or [pa.array([], tables.BLOCK)]
    missing = pa.array([page is None for page in pages])
    return pa.ListArray.from_arrays(offsets, pa.concat_arrays(structs), mask=missing)


def _block_structs(page: BlockSequence) -> pa.StructArray:
    columns = page.blocks
    bounds = zip(columns.text_start.tolist(), columns.text_end.tolist(), strict=True)
    texts = [columns.text[start:end].encode("utf-8", "replace") for start, end in bounds]
    labels = [LABELS[label] for label in page.labels.tolist()]
    scores = (*page.probabilities.T, columns.template_share)
    values = [columns.start, columns.end, texts, labels, *scores]
    arrays = [pa.array(value, field.type) for value, field in zip(values, tables.BLOCK, strict=True)]
    return pa.StructArray.from_arrays(arrays, fields=list(tables.BLOCK))
