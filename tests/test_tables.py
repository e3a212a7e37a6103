"""The pages table is as documented, and Spark's schema is derived from Arrow's."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from victor_spark import tables

CONTRACT = [
    "id",
    "url",
    "url_host_name",
    "url_host_registered_domain",
    "warc_filename",
    "warc_record_offset",
    "warc_record_length",
    "fetch_time",
    "fetch_status",
    "content_digest",
    "content_mime_type",
    "content_charset",
    "content_truncated",
    "language",
    "language_score",
    "title",
    "authors",
    "date",
    "date_modified",
    "site_name",
    "description",
    "canonical_url",
    "text",
    "text_hash",
    "n_blocks",
    "n_kept_blocks",
    "p_content",
    "expected_f1",
    "cleaner",
    "status",
    "reason",
]


def test_the_columns_are_the_contracts_in_its_order() -> None:
    assert tables.PAGES.names == CONTRACT
    assert tables.pages("blocks").names == [*CONTRACT, "blocks"]


def test_offsets_hold_more_than_two_gigabytes() -> None:
    assert tables.PAGES.field("warc_record_offset").type == pa.int64()


def test_both_schemas_carry_the_version() -> None:
    for columns in ((), ("blocks",), tables.ON_REQUEST):
        assert tables.schema_version(tables.pages(*columns)) == tables.PAGES_VERSION


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {tables.VERSION_KEY: b"\xff"},
        *({tables._SPARK_FOOTER: footer} for footer in (b"{", b"\xff", b"[]", b'{"fields": [{}]}')),
        {tables._SPARK_FOOTER: b'{"fields": [{"name": "id", "metadata": 1}]}'},
    ],
)
def test_a_table_of_someone_else_or_with_a_damaged_footer_has_no_version(metadata: dict[Any, Any]) -> None:
    assert tables.schema_version(pa.schema([("id", pa.string())], metadata)) is None


def test_ddl_names_every_column_with_sparks_type() -> None:
    ddl = tables.ddl(tables.pages("blocks"))
    assert ddl.startswith("id string, url string, ")
    assert "warc_record_offset bigint" in ddl
    assert "fetch_time timestamp" in ddl
    assert "n_blocks int" in ddl
    assert "authors array<string>, date string" in ddl
    assert ddl.endswith(
        "blocks array<struct<start: int, end: int, text: string, label: string, role: string, "
        "p_header: double, p_text: double, p_other: double, template_share: float>>"
    )


@given(st.sets(st.sampled_from(sorted(tables._TYPES))), st.integers(0, 9), st.integers(1, 30))
def test_packed_columns_are_unpacked_as_they_were(names: set[str], n: int, n_bits: int) -> None:
    """Empty ones are left out: they are those that a page without them has."""
    chance = np.random.default_rng(n)
    columns, counts, rising = {}, {*tables._LARGE, *tables._SMALL}, {*tables._OFFSETS, "paragraph"}
    for name in {*names, "start", "paragraph"}:
        size = n if name in counts else chance.integers(0, 9) * n
        numbers = chance.integers(0, 2, size) << (n_bits if name in counts else 0)
        if name in rising:
            numbers.sort()
        elif name in counts:
            numbers -= chance.integers(0, 2)
        columns[name] = numbers.astype(tables._TYPES[name])
    before = {name: column.tolist() for name, column in columns.items()}
    found = tables.unpack(tables.pack(columns))
    assert {name: column.tolist() for name, column in columns.items()} == before
    assert found.keys() == {name for name, column in columns.items() if column.size}
    for name, column in found.items():
        assert column.dtype == columns[name].dtype
        assert column.flags.aligned
        assert column.tolist() == columns[name].tolist()


def test_damaged_packed_columns_raise_an_error() -> None:
    packed = tables.pack(
        {"kept": np.ones(9, bool), "start": np.arange(9, dtype=np.int32), "paragraph": np.zeros(9, np.int32)}
    )
    for damaged in (*(packed[:end] for end in (0, 7, len(packed) // 2, len(packed) - 1)), packed + b"."):
        with pytest.raises(ValueError, match=r"buffer|bytes instead of"):
            tables.unpack(damaged)
