"""The tables that victor-spark writes, as Arrow schemas and as Spark DDL.

A schema's version stands in its metadata. Spark writes Parquet footers of its own and drops that, but keeps a
column's metadata: there the version is in the metadata of the column `id` (`schema_version` reads both).
"""

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from victor_spark.blocks import COLUMNS, DECISIVE, LABELS, ROWS, STORED

VERSION_KEY: Final = "victor_spark.schema_version"
VERSION_COLUMN: Final = "id"
GROUPING_KEY: Final = "victor_spark.grouping"
"""How the pages of a table about sites were grouped (hosts.GROUPINGS)."""
PAGES_VERSION: Final = "4"
"""4: METADATA and `text_hash`; 3: `url_host_registered_domain` follows the private public suffixes."""
_SPARK_FOOTER: Final = b"org.apache.spark.sql.parquet.row.metadata"

_STORED: Final = [
    (name, pa.from_numpy_dtype(column.dtype)) for name, column in COLUMNS.items() if STORED in column.notes
]
_SCORES: Final = [(f"p_{label}", pa.float64()) for label in LABELS]
_NAMES: Final = [(name, pa.string()) for name in ("text", "label", "role")]
BLOCK: Final = pa.struct([*_STORED[:2], *_NAMES, *_SCORES, *_STORED[2:]])
"""One block: the stored columns of `Blocks`, its text, and the cleaner's label and probabilities."""

_METADATA: Final = [
    ("authors", pa.list_(pa.string()), "names of the authors"),
    ("date", pa.string(), "ISO 8601: a day, or a time if the page states one"),
    ("date_modified", pa.string(), "the last change, in the same form"),
    ("site_name", pa.string(), "name of the site, as the page states it"),
    ("description", pa.string(), "summary, as the page states it"),
    ("canonical_url", pa.string(), "the address that the page states as its own, absolute"),
]
METADATA: Final = tuple(name for name, _, _ in _METADATA)
"""The columns that are fields of `Metadata`."""

_PAGES: Final = [
    ("id", pa.string(), "WARC-Record-ID"),
    ("url", pa.string(), "address of the record"),
    ("url_host_name", pa.string(), "host of the address"),
    ("url_host_registered_domain", pa.string(), "registered domain in ASCII; null: IP address, bare suffix"),
    ("warc_filename", pa.string(), "the shard as the input names it, without credentials"),
    ("warc_record_offset", pa.int64(), "position of the record in the shard, in bytes as stored"),
    ("warc_record_length", pa.int64(), "length of the record in the shard, in bytes as stored"),
    ("fetch_time", pa.timestamp("us", tz="UTC"), "WARC-Date"),
    ("fetch_status", pa.int32(), "HTTP status"),
    ("content_digest", pa.string(), "WARC-Payload-Digest, as in the archive"),
    ("content_mime_type", pa.string(), "declared media type; text/html if the body looks like html"),
    ("content_charset", pa.string(), "charset of the text; if the page was not decoded, the declared one"),
    ("content_truncated", pa.string(), "why the end of the record is missing (length, time, unspecified, …)"),
    ("language", pa.string(), "ISO 639 code of the text; null if there is too little text"),
    ("language_score", pa.float64(), "confidence in the language"),
    ("title", pa.string(), "text of the title element"),
    *_METADATA,
    ("text", pa.string(), "kept text, paragraphs separated by newlines; null unless the status is ok"),
    ("text_hash", pa.string(), "32 hexadecimal digits, equal for equal words"),
    ("n_blocks", pa.int32(), "text blocks of the page"),
    ("n_kept_blocks", pa.int32(), "text blocks that were kept"),
    ("p_content", pa.float64(), "mean probability that the kept text is content, weighted by characters"),
    ("expected_f1", pa.float64(), "word F1 that the model expects of this text; low for doubtful pages"),
    ("cleaner", pa.string(), "name of the cleaner"),
    ("status", pa.string(), "ok, or why the page was dropped"),
    ("reason", pa.string(), "details of the status, such as the exception or what was repaired"),
]
PAGES: Final = pa.schema([(name, kind) for name, kind, _ in _PAGES], metadata={VERSION_KEY: PAGES_VERSION})
"""One row per HTML record, also for those dropped; a shard that can't be read is one row without offset."""

SITE: Final = "site"
_BY_SITE: Final = [
    (SITE, pa.string(), "with --by-site: what pages are grouped by; null where the address has no host"),
    ("n_site_pages", pa.int64(), "with --by-site: pages of the site that a cleaner saw, this one included"),
    ("n_added_by_site", pa.int32(), "with --by-site: blocks kept because of the site's other pages"),
    ("n_removed_by_site", pa.int32(), "with --by-site: blocks dropped because of the site's other pages"),
]
BY_SITE: Final = tuple(name for name, _, _ in _BY_SITE)
"""The columns that say what `--by-site` changed."""

_ON_REQUEST: Final = [
    ("markdown", pa.string(), "with --markdown: the kept text as Markdown; null unless the status is ok"),
    (
        "html",
        pa.binary(),
        "with --html: the page as fetched, without transfer and content encodings, in its own charset",
    ),
    (
        "crawl",
        pa.string(),
        "with `--partition-by crawl`: from the shard's path, otherwise isPartOf of its first record",
    ),
    ("blocks", pa.list_(BLOCK), "with --blocks: every block, its text, label, role and probabilities"),
    *_BY_SITE,
]
"""Columns that the pages table has on request, in their order."""

MEANINGS: Final = {name: meaning for name, _, meaning in (*_PAGES, *_ON_REQUEST)}
"""The meaning of each column of the pages table; docs/output.md is made from it."""

RECORDS: Final = pa.schema(
    [PAGES.field(name) for name in PAGES.names[: PAGES.names.index("language")]]
    + [PAGES.field("status"), PAGES.field("reason"), ("html", pa.binary())]
)
"""One row per HTML record that is not cleaned; `status` is ok if it could be."""

_STRINGS: Final = [(name, pa.string()) for name in ("repairs", "text")]
_BYTES: Final = [(name, pa.binary()) for name in ("html", "columns", "sums")]
SCORED: Final = pa.field("scored", pa.struct([*_STRINGS, *_BYTES]))
"""Block rows between the passes of `victor clean --by-site`; null for a page that no cleaner got.

`html` is what plain text needs of it (`rendering.parts`), or all of it if options need more; `columns` are
packed; `sums` is what the page adds to those of its site (`sites.evidence`).
"""

_TYPES: Final[dict[str, np.dtype[Any]]] = {
    **{name: column.dtype for name, column in COLUMNS.items() if name != "points"},
    "probabilities": np.dtype(np.float64),
    "p_other": np.dtype(np.float32),
    "kept": np.dtype(np.bool_),
}
_OFFSETS: Final = ("start", "end", "text_start", "text_end", "gap_ends")
_LARGE: Final = (*_OFFSETS, *(name for name in ROWS if "content" in COLUMNS[name].notes))
_SMALL: Final = ("paragraph", *(name for name in ROWS if name not in ("paragraph", *_LARGE)))
_COUNTS: Final = ((_OFFSETS, _LARGE), (("paragraph",), _SMALL))
"""Groups of columns of counts: each group is packed in as few bytes per count as its largest count needs.

Of a group, the first columns rise from block to block: these are packed as differences.
"""
_OF_WIDTH: Final = {1: np.uint8, 2: np.uint16, 4: np.int32}
_OTHERS: Final = sorted(_TYPES.keys() - {*_LARGE, *_SMALL}, key=lambda name: (-_TYPES[name].itemsize, name))
_IN_ORDER: Final = (*_OTHERS, *_LARGE, *_SMALL)
PACKED: Final = tuple(name for name, column in COLUMNS.items() if DECISIVE in column.notes)
PACKED_WHOLE: Final = tuple(name for name in COLUMNS if name != "points")
"""The columns of `Blocks` that decisions and plain text need, and those for all options."""


def pack(columns: Mapping[str, npt.NDArray[Any]]) -> bytes:
    """Scores and columns of a page's blocks as bytes: their sizes, 0 if missing; bytes a count; the numbers.

    Parquet takes three times as long for a list in each column.
    """
    sizes = [columns[name].size if name in columns else 0 for name in _IN_ORDER]
    others = [columns[name].astype(_TYPES[name], copy=False) for name in _OTHERS if name in columns]
    groups, widths = [], []
    for rising, names in _COUNTS:
        rows = np.stack([columns[name] for name in names if name in columns])
        n_rising = sum(name in columns for name in rising)
        rows[:n_rising, 1:] = np.diff(rows[:n_rising])
        highest = int(rows.view(np.uint32).max(initial=0))  # a negative number needs all bytes
        widths.append(1 if highest < 1 << 8 else 2 if highest < 1 << 16 else 4)
        groups.append(rows.astype(_OF_WIDTH[widths[-1]]))
    return b"".join(column.tobytes() for column in (np.array([*sizes, *widths]), *others, *groups))


def unpack(packed: bytes) -> dict[str, npt.NDArray[Any]]:
    """The columns that are not empty, each in one dimension; ValueError if they are damaged."""
    *sizes, large, small = np.frombuffer(packed, np.int64, len(_IN_ORDER) + len(_COUNTS)).tolist()
    size_of = {name: size for name, size in zip(_IN_ORDER, sizes, strict=True) if size}
    place, found = 8 * (len(sizes) + len(_COUNTS)), dict[str, npt.NDArray[Any]]()
    for name in filter(size_of.__contains__, _OTHERS):
        found[name] = np.frombuffer(packed, _TYPES[name], size_of[name], place)
        place += found[name].nbytes
    for (rising, names), width in zip(_COUNTS, (large, small), strict=True):
        if there := [name for name in names if name in size_of]:
            n = len(there) * size_of[there[0]]
            values = np.frombuffer(packed, _OF_WIDTH.get(width, np.int64), n, place)
            place += values.nbytes
            rows, n_rising = values.reshape(len(there), -1).astype(np.int32), len({*rising} & size_of.keys())
            rows[:n_rising] = np.cumsum(rows[:n_rising], axis=1)
            found |= zip(there, rows, strict=True)
    if place != len(packed):
        raise ValueError(f"packed columns of {len(packed)} bytes instead of {place}")
    return found


ON_REQUEST: Final = {name: pa.field(name, kind) for name, kind, _ in _ON_REQUEST} | {"scored": SCORED}
"""The fields of all columns on request, with the block rows."""

_DDL_NAMES: Final = {
    pa.string(): "string",
    pa.binary(): "binary",
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.bool_(): "boolean",
    pa.timestamp("us", tz="UTC"): "timestamp",
}


def pages(*on_request: str) -> pa.Schema:
    """The schema of the pages table with columns of `ON_REQUEST`; the version is the same."""
    added = [field for name, field in ON_REQUEST.items() if name in on_request]
    return pa.schema([*PAGES, *added], PAGES.metadata)


def ddl(schema: Iterable[pa.Field]) -> str:
    """The columns of `schema` as Spark DDL: `id string, warc_record_offset bigint, …`."""
    return ", ".join(f"{field.name} {_ddl_type(field.type)}" for field in schema)


def _ddl_type(kind: pa.DataType) -> str:
    if pa.types.is_list(kind) or pa.types.is_fixed_size_list(kind):
        return f"array<{_ddl_type(kind.value_type)}>"
    if pa.types.is_struct(kind):
        return f"struct<{', '.join(f'{field.name}: {_ddl_type(field.type)}' for field in kind)}>"
    return _DDL_NAMES[kind]


def schema_version(schema: pa.Schema, key: str = VERSION_KEY, column: str = VERSION_COLUMN) -> str | None:
    """The version a table was written with, from its Arrow schema (`pyarrow.parquet.read_schema`)."""
    metadata = schema.metadata or {}
    with suppress(LookupError, TypeError, ValueError):  # no version, or a damaged footer
        if version := metadata.get(key.encode()):
            return str(version.decode())
        fields = json.loads(metadata[_SPARK_FOOTER])["fields"]
        return str({field["name"]: field["metadata"] for field in fields}[column][key])
    return None
