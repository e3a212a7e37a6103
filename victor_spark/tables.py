"""The tables that victor-spark writes, as Arrow schemas and as Spark DDL.

A schema's version stands in its metadata. Spark writes Parquet footers of its own and drops that, but keeps a
column's metadata: there the version is in the metadata of the column `id` (`schema_version` reads both).
"""

import json
from typing import Final

import pyarrow as pa

from victor_spark.blocks import COLUMNS, LABELS, STORED

VERSION_KEY: Final = "victor_spark.schema_version"
VERSION_COLUMN: Final = "id"
PAGES_VERSION: Final = "3"
"""3: `url_host_registered_domain` follows the private part of the public suffix list."""
_SPARK_FOOTER: Final = b"org.apache.spark.sql.parquet.row.metadata"

_STORED: Final = [
    (name, pa.from_numpy_dtype(column.dtype)) for name, column in COLUMNS.items() if STORED in column.notes
]
_SCORES: Final = [(f"p_{label}", pa.float64()) for label in LABELS]
_NAMES: Final = [(name, pa.string()) for name in ("text", "label", "role")]
BLOCK: Final = pa.struct([*_STORED[:2], *_NAMES, *_SCORES, *_STORED[2:]])
"""One block: the columns of `Blocks` that are stored, its text, and what the cleaner says of it."""

PAGES: Final = pa.schema(
    [
        ("id", pa.string()),
        ("url", pa.string()),
        ("url_host_name", pa.string()),
        ("url_host_registered_domain", pa.string()),
        ("warc_filename", pa.string()),
        ("warc_record_offset", pa.int64()),
        ("warc_record_length", pa.int64()),
        ("fetch_time", pa.timestamp("us", tz="UTC")),
        ("fetch_status", pa.int32()),
        ("content_digest", pa.string()),
        ("content_mime_type", pa.string()),
        ("content_charset", pa.string()),
        ("content_truncated", pa.string()),
        ("language", pa.string()),
        ("language_score", pa.float64()),
        ("title", pa.string()),
        ("text", pa.string()),
        ("n_blocks", pa.int32()),
        ("n_kept_blocks", pa.int32()),
        ("p_content", pa.float64()),
        ("expected_f1", pa.float64()),
        ("cleaner", pa.string()),
        ("status", pa.string()),
        ("reason", pa.string()),
    ],
    metadata={VERSION_KEY: PAGES_VERSION},
)
"""One row per HTML record, also for those dropped; a shard that can't be read is one row without offset."""

HTML: Final = pa.field("html", pa.binary())
"""A record's payload: decoded from transfer and content encodings, and otherwise as the server sent it."""

RECORDS: Final = pa.schema(
    [PAGES.field(name) for name in PAGES.names[: PAGES.names.index("language")]]
    + [PAGES.field("status"), PAGES.field("reason"), HTML]
)
"""One row per HTML record, not cleaned; `status` is ok where it can be."""

CRAWL: Final = pa.field("crawl", pa.string())
"""The crawl a shard belongs to, where its path or its first record names it."""

ON_REQUEST: Final = {"html": HTML, "crawl": CRAWL, "blocks": pa.field("blocks", pa.list_(BLOCK))}
"""Columns that the pages table has if they are asked for, in their order."""

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
    return pa.schema(
        [*PAGES, *(field for name, field in ON_REQUEST.items() if name in on_request)], PAGES.metadata
    )


def ddl(schema: pa.Schema) -> str:
    """The columns of `schema` as Spark DDL: `id string, warc_record_offset bigint, …`."""
    return ", ".join(f"{field.name} {_ddl_type(field.type)}" for field in schema)


def _ddl_type(kind: pa.DataType) -> str:
    if pa.types.is_list(kind) or pa.types.is_fixed_size_list(kind):
        return f"array<{_ddl_type(kind.value_type)}>"
    if pa.types.is_struct(kind):
        return f"struct<{', '.join(f'{field.name}: {_ddl_type(field.type)}' for field in kind)}>"
    return _DDL_NAMES[kind]


def schema_version(
    schema: pa.Schema, key: str = VERSION_KEY, version_column: str = VERSION_COLUMN
) -> str | None:
    """The version a table was written with, from its Arrow schema (`pyarrow.parquet.read_schema`)."""
    metadata = schema.metadata or {}
    if version := metadata.get(key.encode()):
        return str(version.decode())
    if footer := metadata.get(_SPARK_FOOTER):
        columns = {column["name"]: column["metadata"] for column in json.loads(footer)["fields"]}
        found: str | None = columns.get(version_column, {}).get(key)
        return found
    return None
