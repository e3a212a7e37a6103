"""Block rows: what the first pass of `victor clean --by-site` leaves of a page, and the page again.

A page that a cleaner has seen is a struct of lists, one a column of `Blocks` (`tables.JUDGED`). All other
pages have none; their rows are final.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from victor_spark import tables
from victor_spark.blocks import COLUMNS, LABELS, OTHER, Blocks, Page, Scores, zeros
from victor_spark.document import Document
from victor_spark.errors import OutputError, one_line
from victor_spark.extractors import victor
from victor_spark.html.tags import GROUPS
from victor_spark.pipeline import Judged
from victor_spark.rendering.plain import needs_html
from victor_spark.tables import JUDGED_SCORES, JUDGED_TEXTS
from victor_spark.warc import storage
from victor_spark.warc.shard import Shard

_N_ROWS: Final = {"hints": len(GROUPS), "elements": 2, "named_elements": 2}
"""How many rows columns have that are tables; in the lists the rows follow each other."""

_NEEDED: Final = ("site", "title", "url", "language", "language_score", "content_charset")
_N_PAGES: Final = 16

UNREADABLE: Final = "judged pages can't be read"

Array = npt.NDArray[Any]


def structs(documents: Sequence[Document | None], kind: pa.StructType) -> pa.StructArray:
    """The pages as rows of `tables.JUDGED`, or `JUDGED_WHOLE`; null for None."""
    there = [document for document in documents if document is not None]
    is_whole = kind.get_field_index("probabilities") >= 0
    arrays = [
        _texts(field.name, there, is_whole) if field.name in JUDGED_TEXTS else _lists(field.name, there)
        for field in kind
    ]
    found = pa.StructArray.from_arrays(arrays, fields=list(kind))
    places = np.cumsum([document is not None for document in documents]) - 1
    missing = np.array([document is None for document in documents], dtype=bool)
    return found.take(pa.array(places, mask=missing))


def _texts(name: str, documents: Sequence[Document], is_whole: bool) -> pa.Array:
    """Of a page without tables and formulas, the plain text needs no html."""
    if name == "repairs":
        return pa.array([document.repairs for document in documents], pa.string())
    texts = [document.columns.text for document in documents]
    if name == "html":
        texts = [each.html if is_whole or needs_html(each.columns, each.html) else "" for each in documents]
    return pa.array([text.encode("utf-8", "replace") for text in texts], pa.string())


def _lists(name: str, documents: Sequence[Document]) -> pa.ListArray:
    values = [_values(name, document).ravel() for document in documents]
    ends = np.cumsum([0, *map(len, values)], dtype=np.int32)
    dtype = _dtype(name)
    joined = np.concatenate([np.zeros(0, dtype), *values])
    return pa.ListArray.from_arrays(ends, joined if dtype.kind == "f" else joined.view(f"i{dtype.itemsize}"))


def _values(name: str, document: Document) -> Array:
    if name == "p_other":
        return document.scores.probabilities[:, OTHER].astype(np.float32)
    if name == "probabilities":
        return document.scores.probabilities
    return document.kept if name == "kept" else np.ascontiguousarray(getattr(document.columns, name))


def _dtype(name: str) -> np.dtype[Any]:
    return JUDGED_SCORES.get(name) or COLUMNS[name].dtype


def rows(batch: pa.RecordBatch) -> Iterator[dict[str, Any]]:
    """The rows of a batch; `judged` is a mapping of arrays and texts, or None."""
    column = batch.column("judged")
    parts = dict(zip([field.name for field in column.type], column.flatten(), strict=True))
    bounds = {name: part.offsets.to_numpy() for name, part in parts.items() if name not in JUDGED_TEXTS}
    values = {name: parts[name].values.to_numpy(zero_copy_only=False) for name in bounds}
    texts = {name: parts[name] for name in parts if name in JUDGED_TEXTS}
    there = column.is_valid().to_pylist()
    for number, row in enumerate(batch.drop_columns(["judged"]).to_pylist()):
        row["judged"] = None
        if there[number]:
            row["judged"] = {name: part[number].as_py() for name, part in texts.items()}
            for name, ends in bounds.items():
                dtype = _dtype(name)
                row["judged"][name] = values[name][ends[number] : ends[number + 1]].view(dtype)
        yield row


def page(row: Mapping[str, Any]) -> Judged:
    """The judged page of a row that has one; columns that were not stored are 0."""
    stored = row["judged"]
    text = stored.get("text") or ""
    columns = {name: _shaped(name, stored[name]) for name in COLUMNS if name in stored}
    columns["points"] = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    blocks = Blocks(**{**zeros(len(stored["kept"])), **columns}, text=text, title=row["title"])
    if "probabilities" in stored:
        scores = victor.scores(stored["probabilities"].reshape(-1, len(LABELS)), blocks)
    else:
        other = stored["p_other"].astype(np.float64)
        probabilities = np.stack([np.zeros_like(other), 1.0 - other, other], axis=1)
        scores = Scores(probabilities, stored["kept"], row.get("expected_f1"))
    return Judged(
        Page(stored.get("html") or "", blocks, row["url"], row["title"], row["language"]),
        scores,
        row["language_score"],
        row["content_charset"],
        stored.get("repairs"),
    )


def _shaped(name: str, values: Array) -> Array:
    n_rows = _N_ROWS.get(name)
    return np.ascontiguousarray(values.reshape(n_rows, -1) if n_rows else values)


def stored(shard: Shard, *, text: bool = True) -> Iterator[dict[str, Any]]:
    """The rows of a file of judged pages; without `text`, only what sums need. OutputError if damaged."""
    try:
        with storage.open_file(shard.path) as opened:
            file = pq.ParquetFile(opened)
            version = tables.schema_version(file.schema_arrow)
            if version != tables.PAGES_VERSION:
                raise OutputError(f"{UNREADABLE}: {shard.path}: they are of version {version}")
            kept = None if text else [*_NEEDED, *_without_texts(file.schema_arrow)]
            for group in range(file.num_row_groups):  # no batch crosses one, so that few pages are in memory
                for batch in file.iter_batches(_N_PAGES, row_groups=[group], columns=kept, use_threads=False):
                    yield from rows(batch)
    except (OSError, pa.ArrowException) as error:  # it is our own file: the task fails, and Spark repeats it
        raise OutputError(f"{UNREADABLE}: {shard.path}: {one_line(error)}") from error


def _without_texts(schema: pa.Schema) -> list[str]:
    names = [field.name for field in schema.field("judged").type]
    return [f"judged.{name}" for name in names if name not in JUDGED_TEXTS]
