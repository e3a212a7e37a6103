"""The published table: its schema has a version, a second crawl updates it, nothing is lost."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from tests.templates.test_mine import site
from victor_spark.errors import InputError, TableError
from victor_spark.templates import patterns, table
from victor_spark.templates.mine import MiningSettings, mine
from victor_spark.templates.patterns import is_cheap

MONDAY = datetime(2024, 5, 6, tzinfo=UTC)
LATER = MONDAY + timedelta(days=30)


def rows(pages: list[str], when: datetime = MONDAY, name: str = "heron.example") -> pa.Table:
    return table.rows(mine(name, pages), when)


def update(old: pa.Table, new: pa.Table, *, is_without: bool = False) -> pa.Table:
    """The update of a table with one site."""
    found = table.update(old.to_pylist(), new.to_pylist(), is_without=is_without)
    return pa.Table.from_pylist(found, schema=table.TEMPLATES)


@pytest.fixture(scope="module")
def first() -> pa.Table:
    return rows(site(10))


def test_a_table_is_read_as_it_was_written(tmp_path: Path, first: pa.Table) -> None:
    path = tmp_path / "templates.parquet"
    pq.write_table(first, path)
    assert table.read(path).equals(first)


def test_another_version_is_refused_in_clear_words(tmp_path: Path, first: pa.Table) -> None:
    path = tmp_path / "templates.parquet"
    pq.write_table(first.replace_schema_metadata({table.VERSION_KEY: "7"}), path)
    with pytest.raises(InputError, match="a table of templates of version 7, not 2"):
        table.read(path)


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda path, _: path.write_bytes(b"PAR?"), "table of templates can't be read"),
        (lambda path, _: pq.write_table(pa.table({"a": [1]}), path), "is no table of templates"),
        (
            lambda path, good: pq.write_table(good.drop_columns("regex"), path),
            'other columns: \'Field "regex"',
        ),
        (lambda *_: None, "No such file"),
    ],
)
def test_what_is_no_templates_table_is_refused(
    tmp_path: Path, first: pa.Table, make: object, complaint: str
) -> None:
    path = tmp_path / "templates.parquet"
    make(path, first)  # type: ignore[operator]
    with pytest.raises(InputError, match=re.escape(complaint)) as caught:
        table.read(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("column", "value"),
    [("site", None), ("document_frequency", None), ("site", b"\xff"), ("example", b"\xff")],
)
def test_damaged_values_are_refused(
    tmp_path: Path, first: pa.Table, column: str, value: bytes | None
) -> None:
    field = first.schema.field(column)
    kind = field.type if value is None else pa.binary()
    values = pa.array([value] * len(first), kind).view(field.type)
    place = first.schema.get_field_index(column)
    pq.write_table(first.set_column(place, field, values), tmp_path / "t.parquet")
    with pytest.raises(TableError, match="table of templates can't be read"):
        table.read(tmp_path / "t.parquet")


def test_a_second_crawl_adds_up(first: pa.Table) -> None:
    second = rows(site(12, seed=5), LATER)
    both = update(first, second)
    assert sorted(both["regex"].to_pylist()) == sorted(first["regex"].to_pylist())
    assert set(both["n_pages"].to_pylist()) == {22}
    assert set(both["document_frequency"].to_pylist()) == {22}
    assert set(both["first_seen"].to_pylist()) == {MONDAY}
    assert set(both["last_seen"].to_pylist()) == {LATER}
    assert not any(both["vanished"].to_pylist())


def test_what_a_second_crawl_no_longer_has_is_kept_and_marked(first: pa.Table) -> None:
    renewed = [page.replace("Write to us about anything", "Send us a postcard") for page in site(12, seed=5)]
    both = update(first, rows(renewed, LATER))
    gone = both.filter(both["vanished"])
    assert all("Write to us" in example for example in gone["example"].to_pylist())
    assert gone.num_rows
    assert set(gone["last_seen"].to_pylist()) == {MONDAY}
    assert set(gone["document_frequency"].to_pylist()) == {10}
    new = both.filter(pc.equal(both["first_seen"], pa.scalar(LATER, both.schema.field("first_seen").type)))
    assert any("postcard" in example for example in new["example"].to_pylist())
    changes = table.diff(first, both)
    assert set(changes["change"].to_pylist()) == {"added", "vanished", "kept"}
    back = update(both, rows(site(11, seed=6), LATER + timedelta(days=30)))
    assert not any(row["vanished"] for row in back.to_pylist() if "Write to us" in row["example"])


def test_a_template_whose_text_new_ones_cover_is_seen_again(first: pa.Table) -> None:
    old = [row | {"regex": f"(?:{row['regex']})", "vanished": True} for row in first.to_pylist()]
    both = table.update(old, rows(site(12, seed=5), LATER).to_pylist())
    again = [row for row in both if row["regex"].startswith("(?:")]
    assert len(again) == len(old)
    assert {(row["vanished"], row["first_seen"], row["last_seen"]) for row in again} == {
        (False, MONDAY, LATER)
    }


def test_a_site_without_new_templates_stays_as_it_is_unless_it_was_mined(first: pa.Table) -> None:
    nothing = first.slice(0, 0)
    assert sorted(map(repr, update(first, nothing).to_pylist())) == sorted(map(repr, first.to_pylist()))
    assert all(update(first, nothing, is_without=True)["vanished"].to_pylist())
    assert update(nothing, first).num_rows == first.num_rows


def test_a_site_that_was_not_mined_has_no_rows() -> None:
    assert table.rows(mine("a.example", site(2)), MONDAY).num_rows == 0


def test_an_idiom_of_many_sites_goes_and_lines_of_many_sites_stay(first: pa.Table) -> None:
    row = first.slice(0, 1).to_pylist()[0]
    made = [
        row | {"site": f"{n}.example", "regex": regex, "whole_lines": whole, "n_sites_seen": n_sites}
        for n in range(8)
        for regex, whole, n_sites in (
            ("According to", 0.1, 8),
            ("Read more", 0.9, 8),
            (f"own {n}", 0.1, 1),
        )
    ]
    left = [row["regex"] for row in made if not table.is_idiom(row, 8)]
    assert "According to" not in left
    assert left.count("Read more") == 8
    assert "own 3" in left
    assert not any(table.is_idiom(row, 1000) for row in made)


def tampered(first: pa.Table, column: str, value: object) -> pa.Table:
    """A table like the first one, but for a value in its last row."""
    values = [*first[column].to_pylist()[:-1], value]
    number = first.schema.get_field_index(column)
    return first.set_column(
        number, first.schema.field(number), pa.array(values, first.schema.field(number).type)
    )


@pytest.mark.parametrize(
    "token",
    [
        "(a+)+b",
        "(?:a+)+b",
        "(?:(?:a+)+b)",
        "(?:(?:a|a)*b)",
        "(?:(?:a|aa)+b)",
        "(?:(?:a*)*b)",
        "(?:(?:a?){50}a{50})",
        f"(?:{'a?' * 30}{'a' * 30})",
        "(?:a*a*b)",
        "(?:a*a*a*a*a*b)",
        "(?:(?![^\\s<>]{257})(?:a*a*a*a*b))",
        "(?:(?![^\\s<>]{257})(?:a)|(?:(a*)*b))",
        "(?:(?:a{0,200}){0,200})",
        "(?:(?=a*a*a*b)x)",
        r"(?:(?:a)(?:b)\1)",
        "(?:(?P<name>a)b)",
        "(?:a)|(?:b)",
        "(?:.*)",
        "(?:a b)",
        "(?:)",
        "(?:(?i:a)",
        "(?:" + "a" * 2000 + ")",
        "two words",
        r"two\ words",
        "unescaped.",
        "",
        None,
    ],
)
def test_a_table_with_an_expression_that_no_miner_writes_is_refused(
    tmp_path: Path, first: pa.Table, token: str | None
) -> None:
    tokens = first["tokens"].to_pylist()[-1]
    path = tmp_path / "templates.parquet"
    pq.write_table(tampered(first, "tokens", [token, *tokens[1:]]), path)
    with pytest.raises(InputError, match="that victor-spark did not write") as caught:
        table.read(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("regex", ["(a+)+b", "", None, "x"])
def test_the_whole_expression_must_be_the_one_of_its_tokens(first: pa.Table, regex: str | None) -> None:
    for column in ("regex", "view"):
        with pytest.raises(TableError, match="rows that victor-spark did not write"):
            table.refuse_faults(tampered(first, column, regex), "t")


def test_a_table_of_too_many_mutable_patterns_is_refused(first: pa.Table) -> None:
    many = tampered(first, "tokens", [patterns.mutable(f"a{n}[0-9]+") for n in range(200)])
    with pytest.raises(TableError, match=r"20\d mutable patterns"):
        table.refuse_faults(many, "t")


@pytest.mark.parametrize("view", ["text", "html", "cleaned"])
@pytest.mark.parametrize(
    "expression",
    [
        "sid=[0-9a-f]{32}",
        r"[A-Z]+-\d+",
        r"\w+@\w+\.\w+",
        "(?:draft|final)-v?[0-9]{1,3}",
        "x*",
        r"(?:\d{1,3}\.){3}\d",
    ],
)
def test_what_is_mined_with_patterns_of_ones_own_can_be_read(view: str, expression: str) -> None:
    expression = expression if not re.fullmatch(expression, "") else f"x{expression}"
    found = mine("heron.example", site(10), MiningSettings(view=view, patterns=(("own", expression),)))
    made = table.rows(found, MONDAY)
    table.refuse_faults(made, "t")
    own = patterns.mutable(patterns.patterns((("own", expression),)).expressions[0])
    assert is_cheap(own.removeprefix("(?:").removesuffix(")"))


def test_a_table_without_rows_is_read(tmp_path: Path, first: pa.Table) -> None:
    pq.write_table(first.slice(0, 0), tmp_path / "t.parquet")
    assert table.read(tmp_path / "t.parquet").num_rows == 0
