"""The pages table is the contract's, and Spark's idea of it is derived from Arrow's."""

import pyarrow as pa

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


def test_a_table_of_someone_else_has_no_version() -> None:
    assert tables.schema_version(pa.schema([("id", pa.string())])) is None


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
