"""Cleaning with a table of templates of many sites: only rows of sites that come are read and checked."""

import pickle
import re
import shutil
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from victor_spark import pipeline, tables
from victor_spark.blocks import Page
from victor_spark.document import Document
from victor_spark.errors import InputError, TableError
from victor_spark.pipeline import PageCleaner
from victor_spark.preparation import handed_over
from victor_spark.settings import Settings
from victor_spark.site_files import SiteFiles
from victor_spark.templates import patterns, table
from victor_spark.templates.site import SiteTemplates
from victor_spark.templates.table import Mined, Template
from victor_spark.templates.tokens import TOKENISERS

FOG = "The fog lies on the water all morning, and the ferry waits at the quay until noon."
WHEN = datetime(2025, 3, 1, tzinfo=UTC)


def of_site(number: int, n: int = 3, *, view: str = "text") -> pa.Table:
    """Templates that only this site has."""
    found = []
    for phrase in (f"Notice {letter} of paper {number}" for letter in "abcdefgh"[:n]):
        tokens = tuple(map(re.escape, phrase.split()))
        regex = patterns.glue(tokens, 0, TOKENISERS[view])
        found.append(Template(regex, tokens, len(tokens), 12, 12, 1.0, phrase))
    mined = Mined(f"paper{number:04}.example", view, "ok", None, 12 + number, 12 + number, 5, tuple(found))
    return table.rows(mined, WHEN)


def written(path: Path, parts: Sequence[pa.Table], **options: Any) -> str:
    """A table of these sites in a file."""
    pq.write_table(pa.concat_tables(parts), path, **options)
    return str(path)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A table of 400 sites, in row groups of four sites."""
    path = tmp_path_factory.mktemp("many") / "t.parquet"
    return written(path, [of_site(n) for n in range(400)], row_group_size=12)


def html(number: int) -> str:
    """A page of paper `number`, with the notices of it and of the next one."""
    notices = (f"<p>Notice {letter} of paper {n}</p>" for n in (number, number + 1) for letter in "abc")
    return f"<h1>News</h1>{''.join(notices)}<p>{FOG}</p>"


def cleaner(path: str, name: str = "template") -> Callable[[int], Document]:
    """Cleans the page of a paper; unlike a PageCleaner, it has nothing in common with others."""
    settings = Settings(name, templates=path)
    clean = pipeline.cleaning(settings, pipeline.models(settings))
    return lambda number: clean(handed_over(html(number).encode(), f"http://www.paper{number:04}.example/1"))


def test_only_the_row_groups_of_the_sites_that_come_are_read(many: str, row_groups_read: list[int]) -> None:
    """Each is read once for pages of neighbouring sites, and none for a site beyond the table."""
    clean = cleaner(many)
    assert row_groups_read == []
    for number in (200, 200, 201, 203, 7):
        assert "Notice a of paper" in clean(number).text
    clean(9999)
    assert row_groups_read == [50, 1]


@pytest.mark.parametrize("name", ["template", "template+kimatu", "victor"])
def test_documents_are_those_of_a_table_of_one_site_alone(many: str, name: str, tmp_path: Path) -> None:
    """However the table is cut: in small row groups, in a single one, or in a table of the site alone."""
    whole = cleaner(written(tmp_path / "w.parquet", [of_site(n) for n in range(400)]), name)
    small = cleaner(many, name)
    for number in (0, 3, 4, 77, 398, 399, 400):
        own = of_site(number) if number < 400 else of_site(1)
        alone = cleaner(written(tmp_path / f"{number}.parquet", [own]), name)
        found = [clean(number) for clean in (small, whole, alone)]
        assert len({(document.text, document.status, document.reason) for document in found}) == 1
        shares = [document.columns.template_share.tolist() for document in found]
        assert shares[0] == shares[1] == shares[2]
        assert any(shares[0]) == (number < 400)


def test_the_number_of_pages_is_that_of_the_page_s_site(many: str) -> None:
    templates = SiteTemplates(many)
    pages = [cleaner(many)(number) for number in (0, 5, 400)]
    counts = [templates.n_pages(Page(each.html, each.columns, each.url)) for each in pages]
    assert counts == [12, 17, 0]


def test_a_site_in_several_row_groups_is_read_whole(tmp_path: Path) -> None:
    path = written(tmp_path / "t.parquet", [of_site(n, 8) for n in range(3)], row_group_size=3)
    document = PageCleaner(Settings("template", templates=path))(
        "".join(f"<p>Notice {letter} of paper 1</p>" for letter in "abcdefgh") + f"<p>{FOG}</p>",
        "http://paper0001.example/",
    )
    assert document.text == FOG


def test_what_is_sent_to_processes_does_not_grow_with_the_number_of_sites(tmp_path: Path) -> None:
    sizes = []
    for n in (10, 5000):
        path = written(
            tmp_path / "t.parquet", [of_site(number, 1) for number in range(n)], row_group_size=100
        )
        sizes.append(len(pickle.dumps(pipeline.models(Settings(templates=path)))))
    assert abs(sizes[1] - sizes[0]) < 10


def test_two_tables_of_one_size_are_told_apart(tmp_path: Path) -> None:
    """So that a run is not resumed with another table: mined at another time, it has other statistics."""
    one = of_site(1)
    other = one.set_column(
        one.schema.get_field_index("mined_at"), "mined_at", pa.array([datetime(2025, 3, 2, tzinfo=UTC)] * 3)
    ).cast(one.schema)
    paths = [written(tmp_path / f"{n}.parquet", [found]) for n, found in enumerate((one, other))]
    assert Path(paths[0]).stat().st_size == Path(paths[1]).stat().st_size
    listings = [SiteFiles(path, table.KIND).listing for path in paths]
    assert listings[0] != listings[1]
    assert listings[0] == SiteFiles(shutil.copy(paths[0], str(tmp_path / "copy.parquet")), table.KIND).listing


def test_a_page_without_an_address_opens_no_table(many: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such a page is cleaned before a task's process is forked, which must not have opened anything."""
    settings = Settings("kimatu", templates=many)
    clean = pipeline.cleaning(settings, pipeline.models(settings))
    monkeypatch.setattr(SiteFiles, "__init__", None)
    assert clean(handed_over(html(1).encode(), None)).status == "ok"


def test_a_table_that_vanishes_or_changes_ends_the_run_and_not_a_page(many: str, tmp_path: Path) -> None:
    path = Path(shutil.copy(many, tmp_path / "t.parquet"))
    gone, changed = cleaner(str(path), "kimatu"), cleaner(str(path))
    written(path, [of_site(n) for n in range(40)])
    with pytest.raises(TableError, match=r"table of templates can't be read: .*t.parquet: it changed since"):
        changed(7)
    path.unlink()
    with pytest.raises(TableError, match=r"table of templates can't be read: .*t.parquet: No such file"):
        gone(7)


def test_after_such_an_error_the_next_page_is_cleaned_with_the_new_table(many: str, tmp_path: Path) -> None:
    """In a process that lives long, such as a notebook, in which the table is mined again."""
    path = shutil.copy(many, tmp_path / "t.parquet")
    clean = PageCleaner(Settings("template", templates=str(path)))
    assert "paper 2" in clean(html(1), "http://paper0001.example/").text
    path.unlink()
    with pytest.raises(TableError):
        clean(html(7), "http://paper0007.example/")
    written(path, [of_site(7, 1)])
    assert "Notice b of paper 7" in clean(html(7), "http://paper0007.example/").text


def test_damage_is_found_at_the_first_page_of_a_site_there(many: str, tmp_path: Path) -> None:
    path = Path(shutil.copy(many, tmp_path / "t.parquet"))
    clean, content = cleaner(str(path)), bytearray(path.read_bytes())
    group = pq.read_metadata(path).row_group(50)
    columns = [group.column(n) for n in range(group.num_columns)]
    start = columns[0].dictionary_page_offset
    n_bytes = sum(column.total_compressed_size for column in columns)
    content[start : start + n_bytes] = b"?" * n_bytes
    path.write_bytes(content)
    assert clean(7).status == "ok"
    with pytest.raises(TableError, match="table of templates can't be read") as caught:
        clean(200)
    assert "\n" not in str(caught.value)


def test_an_expression_that_no_miner_writes_is_refused_when_its_site_comes(tmp_path: Path) -> None:
    hostile = of_site(2).to_pylist()
    hostile[1]["regex"] = "(a+)+b"
    parts = [of_site(1), pa.Table.from_pylist(hostile, schema=table.TEMPLATES), of_site(3)]
    clean = cleaner(written(tmp_path / "t.parquet", parts))
    assert clean(1).status == clean(3).status == "ok"
    with pytest.raises(TableError, match=r"victor-spark did not write: '\(a\+\)\+b'"):
        clean(2)


@pytest.mark.parametrize(
    ("parts", "complaint"),
    [
        ([of_site(1), of_site(3), of_site(2)], "not sorted by site"),
        ([of_site(1), of_site(2, view="html")], "templates of several views"),
    ],
    ids=["unsorted", "views"],
)
def test_tables_that_cannot_be_read_by_site_are_refused_at_the_start(
    tmp_path: Path, parts: list[pa.Table], complaint: str
) -> None:
    path = written(tmp_path / "t.parquet", parts, row_group_size=6)
    with pytest.raises(InputError, match=complaint):
        pipeline.models(Settings("template", templates=path))


def test_a_row_group_that_is_not_sorted_is_refused_when_it_is_read(tmp_path: Path) -> None:
    clean = cleaner(written(tmp_path / "t.parquet", [of_site(2), of_site(1), of_site(2)]))
    with pytest.raises(TableError, match="not sorted by site"):
        clean(1)


def test_a_site_is_what_the_metadata_of_the_table_says(tmp_path: Path) -> None:
    by_host = of_site(1).replace_schema_metadata({table.VERSION_KEY: "2", tables.GROUPING_KEY: "host"})
    clean = cleaner(written(tmp_path / "t.parquet", [by_host]))
    assert "Notice a of paper 1" in clean(1).text  # of the host www.paper0001.example
