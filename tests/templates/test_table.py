"""The published table: its schema has a version, a second crawl updates it, nothing is lost."""

import random
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from tests.templates.test_mine import prose, site
from victor_spark.errors import InputError
from victor_spark.templates import matcher, patterns, table
from victor_spark.templates.matcher import Matchers
from victor_spark.templates.mine import MiningSettings, mine
from victor_spark.templates.patterns import is_cheap

MONDAY = datetime(2024, 5, 6, tzinfo=UTC)
LATER = MONDAY + timedelta(days=30)


def rows(pages: list[str], when: datetime = MONDAY, name: str = "heron.example") -> pa.Table:
    return table.rows(mine(name, pages), when)


@pytest.fixture(scope="module")
def first() -> pa.Table:
    return rows(site(10))


def test_a_table_is_read_as_it_was_written(tmp_path: Path, first: pa.Table) -> None:
    path = tmp_path / "templates.parquet"
    path.write_bytes(table.to_bytes(first))
    assert table.read(path).equals(first)
    assert table.from_bytes(path.read_bytes()).equals(first)


def test_a_site_has_its_histogram_once(first: pa.Table) -> None:
    held = first["histogram"].to_pylist()
    assert len(held[0]) == 100
    assert not any(held[1:])


def test_another_version_is_refused_in_clear_words(tmp_path: Path, first: pa.Table) -> None:
    path = tmp_path / "templates.parquet"
    pq.write_table(first.replace_schema_metadata({table.VERSION_KEY: "7"}), path)
    with pytest.raises(InputError, match="schema version 7, and this is version 1"):
        table.read(path)


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda path, _: path.write_bytes(b"PAR?"), "not a templates table"),
        (lambda path, _: pq.write_table(pa.table({"a": [1]}), path), "not a templates table: the metadata"),
        (lambda path, good: pq.write_table(good.drop_columns("regex"), path), "without the column regex"),
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


def test_a_second_crawl_adds_up(first: pa.Table) -> None:
    second = rows(site(12, seed=5), LATER)
    both = table.update(first, second)
    assert sorted(both["regex"].to_pylist()) == sorted(first["regex"].to_pylist())
    assert set(both["n_pages"].to_pylist()) == {22}
    assert set(both["document_frequency"].to_pylist()) == {22}
    assert set(both["first_seen"].to_pylist()) == {MONDAY}
    assert set(both["last_seen"].to_pylist()) == {LATER}
    assert not any(both["vanished"].to_pylist())
    assert both["histogram"].to_pylist()[0] == second["histogram"].to_pylist()[0]


def test_what_a_second_crawl_no_longer_has_is_kept_and_marked(first: pa.Table) -> None:
    renewed = [page.replace("Write to us about anything", "Send us a postcard") for page in site(12, seed=5)]
    both = table.update(first, rows(renewed, LATER))
    gone = both.filter(both["vanished"])
    assert all("Write to us" in example for example in gone["example"].to_pylist())
    assert gone.num_rows
    assert set(gone["last_seen"].to_pylist()) == {MONDAY}
    assert set(gone["document_frequency"].to_pylist()) == {10}
    new = both.filter(pc.equal(both["first_seen"], pa.scalar(LATER, both.schema.field("first_seen").type)))
    assert any("postcard" in example for example in new["example"].to_pylist())
    changes = table.diff(first, both)
    assert set(changes["change"].to_pylist()) == {"added", "vanished", "kept"}
    back = table.update(both, rows(site(11, seed=6), LATER + timedelta(days=30)))
    assert not any(row["vanished"] for row in back.to_pylist() if "Write to us" in row["example"])


def test_a_site_that_was_not_crawled_again_stays_as_it_is(first: pa.Table) -> None:
    other = rows(site(5, seed=9), LATER, "other.example")
    both = table.update(first, other)
    mine_again = both.filter(pc.equal(both["site"], "heron.example"))
    assert sorted(mine_again["regex"].to_pylist()) == sorted(first["regex"].to_pylist())
    assert not any(mine_again["vanished"].to_pylist())
    nothing = table.update(first, other, mined_without=[("heron.example", "text")])
    assert all(row["vanished"] for row in nothing.to_pylist() if row["site"] == "heron.example")


def test_each_site_is_matched_with_its_own_templates(
    first: pa.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matcher, "N_MATCHERS", 1)
    both = pa.concat_tables(
        [first, rows(["a b\nc d\n" + "\n".join(prose(random.Random(n))) for n in range(5)], name="b.example")]
    )
    matchers = Matchers(both)
    heron, other = matchers.of("heron.example"), matchers.of("b.example")
    assert heron is not None
    assert other is not None
    assert len(heron.intervals("The Heron\nHome\nNews from town\n"))
    assert not len(other.intervals("The Heron\nHome\nNews from town\n"))
    assert matchers.of("unknown.example") is None
    assert Matchers(both, "html").of("heron.example") is None


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
    counted = pa.Table.from_pylist(made, schema=table.TEMPLATES)
    left = table.filter_across(counted, 8)["regex"].to_pylist()
    assert "According to" not in left
    assert left.count("Read more") == 8
    assert "own 3" in left
    assert "According to" in table.filter_across(counted, 1000)["regex"].to_pylist()


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
    with pytest.raises(InputError, match="did not write"):
        table.from_bytes(path.read_bytes())


@pytest.mark.parametrize("regex", ["(a+)+b", "", None, "x"])
def test_the_whole_expression_must_be_the_one_of_its_tokens(first: pa.Table, regex: str | None) -> None:
    with pytest.raises(InputError, match="did not write"):
        table.checked(tampered(first, "regex", regex), "t")
    with pytest.raises(InputError, match="did not write"):
        table.checked(tampered(first, "view", regex), "t")


def test_a_table_of_too_many_mutable_patterns_is_refused(first: pa.Table) -> None:
    many = tampered(first, "tokens", [patterns.mutable(f"a{n}[0-9]+") for n in range(200)])
    with pytest.raises(InputError, match=r"20\d mutable patterns"):
        table.checked(many, "t")


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
    assert table.from_bytes(table.to_bytes(made)).equals(table.checked(made, "t"))
    own = patterns.mutable(patterns.patterns((("own", expression),)).expressions[0])
    assert is_cheap(own.removeprefix("(?:").removesuffix(")"))


def test_a_table_without_rows_is_read(first: pa.Table) -> None:
    assert table.checked(first.slice(0, 0), "t").num_rows == 0
