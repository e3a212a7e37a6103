"""Tables of sites: the sums of one crawl are used in the next, in one pass or in two."""

import json
import re
import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

import victor_spark
from tests.spark.crawl import Response, Victor, rows, write_warc
from tests.spark.test_by_site import FOOT, SENTENCES, chapter
from victor_spark import pipeline, tables
from victor_spark.errors import OutputError, TableError, UsageError
from victor_spark.pipeline import PageCleaner
from victor_spark.preparation import handed_over
from victor_spark.request import CleanRequest, SiteOptions, SparkOptions
from victor_spark.settings import Settings
from victor_spark.sites import table
from victor_spark.sites.table import SITES, SUMS, SiteTable
from victor_spark.spark import site_sums, waves
from victor_spark.spark.ledger import LEDGER
from victor_spark.spark.run import run
from victor_spark.worker.second_pass import OF_FILES

pytestmark = pytest.mark.spark

HOSTILE = "<script>alert(1)</script>\x1b[31m\u202e" + "x" * 500
PROSE = chapter(99, SENTENCES, foot=SENTENCES[0])
"""A page whose footer is kept as long as its site is unknown."""

Clean = Callable[..., Path]


def of_tales(numbers: range) -> list[Response]:
    """Chapters of one site that has one layout."""
    pages = [(n, chapter(n, [f"{n} {sentence}" for sentence in SENTENCES] * 3)) for n in numbers]
    return [Response(f"http://tales.example/{n}", html) for n, html in pages]


@pytest.fixture(scope="module")
def clean(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Clean:
    """Cleans responses, and gives the folder of the run."""
    assert spark

    def cleaned(responses: list[Response], **options: Any) -> Path:
        folder = tmp_path_factory.mktemp("run")
        shards = [write_warc(folder / f"{n}.warc.gz", responses[n::2]) for n in range(min(2, len(responses)))]
        request = CleanRequest(
            inputs=tuple(map(str, shards)),
            output=str(folder / "out"),
            spark=SparkOptions(split_bytes=4 << 10),
        )
        run(replace(request, **options))
        return folder / "out"

    return cleaned


KEEPING = SiteOptions(by_site=True, keep_blocks=True)


@pytest.fixture(scope="module")
def march(clean: Clean) -> Path:
    """A run with block rows: twelve chapters, two pages with a hostile text, and two lone pages."""
    odd = [
        Response(f"http://odd.example/{n}", chapter(n, [f"{n} {SENTENCES[0]}", HOSTILE.replace("<", "&lt;")]))
        for n in range(2)
    ]
    alone = [Response(f"http://alone{n}.example/", chapter(n, SENTENCES)) for n in range(2)]
    return clean([*of_tales(range(12)), *odd, *alone], sites=KEEPING)


@pytest.fixture(scope="module")
def known(march: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The table of sites of that run."""
    target = tmp_path_factory.mktemp("table") / "sites"
    site_sums.write_sites([str(march)], str(target))
    return target


def opened(folder: Path) -> SiteTable:
    return SiteTable(str(folder))


def sums(folder: Path) -> dict[tuple[str, int], tuple[int, int]]:
    """(site, key) → (pages, log-odds) of all rows."""
    found = pq.read_table(folder).to_pylist()
    return {(row["site"], row["key"]): (row["n_pages"], row["log_odds"]) for row in found}


def test_a_table_has_the_sums_of_each_site_without_keys_of_single_pages(known: Path) -> None:
    found = pq.read_table(known)
    assert set(found["site"].to_pylist()) == {"tales.example", "odd.example"}
    of_sites = found.filter(pc.equal(found["key"], table.OF_SITE))
    assert dict(zip(*of_sites.select(["site", "n_pages"]).to_pydict().values(), strict=True)) == {
        "tales.example": 12,
        "odd.example": 2,
    }
    assert min(found["n_pages"].to_pylist()) > 1
    assert len(sums(known)) == len(found)
    assert "Terms" in " ".join(filter(None, found["example"].to_pylist()))


def test_a_single_page_of_a_later_crawl_is_decided_with_the_table(clean: Clean, known: Path) -> None:
    """In one pass, in two, and without Spark: each drops the foot, which all pages of the site dropped."""
    single = [Response("http://tales.example/99", PROSE)]
    elsewhere = [Response("http://other.example/99", PROSE)]
    with_table = Settings(sites=str(known))

    def texts(**options: Any) -> dict[str, int]:
        found = rows(clean([*single, *elsewhere], **options))
        return {row["url"]: row["text"].count(SENTENCES[0]) for row in found}

    kept, dropped = {"http://other.example/99": 2}, {"http://tales.example/99": 1}
    assert texts() == {"http://tales.example/99": 2} | kept
    assert texts(cleaning=with_table) == dropped | kept
    assert texts(cleaning=with_table, sites=SiteOptions(by_site=True)) == dropped | kept
    page = victor_spark.clean(PROSE, "http://tales.example/99", sites=known)
    assert page.text.count(SENTENCES[0]) == 1
    assert victor_spark.clean(PROSE, sites=known).text == victor_spark.clean(PROSE).text


def test_a_page_without_an_address_needs_no_table(known: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such a page is cleaned before a task's process is forked, which must not have opened anything."""
    settings, found = Settings(sites=str(known)), []
    models = pipeline.models(settings)
    monkeypatch.setattr(table, "SiteTable", lambda *arguments: found.append(arguments) or opened(known))
    clean = pipeline.cleaning(settings, models)
    assert clean(handed_over(PROSE, None)).status == "ok"
    assert not found


def test_two_passes_add_the_table_to_the_pages_of_the_crawl(clean: Clean, known: Path) -> None:
    out = clean(of_tales(range(12, 15)), sites=KEEPING, cleaning=Settings(sites=str(known)))
    assert {row["n_site_pages"] for row in rows(out)} == {15}
    first_pass = pq.read_table(out / "_run/first_pass/pages")
    assert len(first_pass) == 3
    alone = pq.read_table(clean(of_tales(range(12, 15)), sites=KEEPING) / "_run/first_pass/pages")
    scored = [found.sort_by("url").select(["url", "scored"]).to_pylist() for found in (first_pass, alone)]
    assert scored[0] == scored[1], "the table counts once, in the second pass"


def test_tables_of_two_crawls_add_up_to_that_of_both(
    clean: Clean, known: Path, march: Path, tmp_path: Path, victor: Victor
) -> None:
    april = clean(of_tales(range(12, 15)), sites=KEEPING)
    for sources, name in (([april], "april"), ([march, april], "both"), ([known, tmp_path / "april"], "sum")):
        outcome = victor("sites", "write", *sources, "--output", tmp_path / name)
        n_pages = sum(n for (_, key), (n, *_) in sums(tmp_path / name).items() if key == table.OF_SITE)
        assert (outcome.code, f" of {n_pages} pages written to " in outcome.lines[-1]) == (0, True)
    both, added = sums(tmp_path / "both"), sums(tmp_path / "sum")
    assert added.items() <= both.items()  # a key that one page of each crawl has is in neither table
    assert added["tales.example", table.OF_SITE][0] == 15
    assert {key for key, (n_pages, _) in both.items() if n_pages > 3} <= added.keys()
    outcome = victor("sites", "write", known, "--output", tmp_path / "sum")
    assert (outcome.code, "exists; choose another --output" in outcome.lines[-1]) == (2, True)


def test_a_person_sees_which_layouts_are_kept_and_hostile_text_stays_text(
    known: Path, tmp_path: Path, victor: Victor, capfd: pytest.CaptureFixture[str]
) -> None:
    def shown(*arguments: object) -> str:
        from victor_spark.cli import main

        capfd.readouterr()
        assert main(["sites", "show", str(known), *map(str, arguments)]) == 0
        return capfd.readouterr().out

    assert [line.split()[-1] for line in shown().splitlines()] == ["tales.example", "odd.example"]
    lines = shown("tales.example").splitlines()
    assert lines[0].startswith("P: probability of content, %: share"), "what the columns mean"
    sentence = next(line for line in lines if max(SENTENCES, key=len)[:40] in line)
    assert sentence.startswith("+ ")
    foot = next(line for line in lines if FOOT[:20] in line)
    assert foot.startswith("- ")
    assert foot.split()[4] == "p"
    assert lines.index(sentence) < lines.index(foot)
    for text in (shown("odd.example"), shown("--html", tmp_path / "page.html")):
        assert not {"\x1b", "\u202e"} & set(text)
    html = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "&lt;script&gt;" in html
    assert re.findall(r"<h2><bdi>([a-z.]+):", html) == ["tales.example", "odd.example"]
    index = re.findall(r'<li><a href="#(\d)"><bdi>([a-z.]+)<', html)
    assert index == re.findall(r'<a id="(\d)"></a>\n<h2><bdi>([a-z.]+):', html)
    assert len(index) == 2
    assert not {"\x1b", "\u202e"} & set(html)
    assert "<script" not in html
    assert "http" not in html.replace("http-equiv", "")  # self-contained
    assert victor("sites", "show", known, "none.example").code == 2


def test_a_table_that_vanishes_ends_the_run_and_no_page_and_the_run_resumes(
    clean: Clean, known: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second of two waves, with a page of another site, begins after the table's files were removed."""
    sites = str(copied(known, tmp_path / "table", lambda found: found))
    request: dict[str, Any] = {"cleaning": Settings(sites=sites), "output": str(tmp_path / "out")}
    pages = [Response(f"http://{name}.example/9", chapter(9, SENTENCES)) for name in ("tales", "odd")]
    shards = [write_warc(tmp_path / f"{n}.warc.gz", [page]) for n, page in enumerate(pages)]
    request |= {"inputs": tuple(map(str, shards)), "spark": SparkOptions(wave_bytes=1, split_bytes=4 << 10)}
    real = waves.clean

    def cleaned(writing: Any, wave: int) -> Any:
        if wave > 0:
            latest = time.monotonic() + 60
            while not list((tmp_path / "out" / LEDGER).glob("*.json")):  # the first one is entered
                assert time.monotonic() < latest
                time.sleep(0.05)
            shutil.rmtree(sites)
        return real(writing, wave)

    monkeypatch.setattr(waves, "clean", cleaned)
    with pytest.raises(OutputError, match=r"table of sites can't be read: .*; the same command resumes"):
        clean([], **request)
    monkeypatch.undo()
    copied(known, tmp_path / "table", lambda found: found)
    clean([], **request)
    assert [row["status"] for row in rows(tmp_path / "out")] == ["ok", "ok"]


def test_a_page_that_is_cleaned_without_spark_raises_the_error_of_its_table(
    known: Path, tmp_path: Path
) -> None:
    shutil.copytree(known, tmp_path / "table")
    page, url = chapter(1, SENTENCES), "http://tales.example/1"
    clean = PageCleaner(Settings(sites=str(tmp_path / "table")))
    shutil.rmtree(tmp_path / "table")
    with pytest.raises(TableError, match="table of sites can't be read"):
        clean(page, url)


def copied(known: Path, target: Path, change: Callable[[pa.Table], pa.Table]) -> Path:
    """The table with a change, as one file."""
    target.mkdir()
    parts = [pq.ParquetFile(path).read() for path in sorted(known.glob("*.parquet"))]
    pq.write_table(change(pa.concat_tables(parts)), target / "part.parquet", row_group_size=2)
    return target


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda found: found.replace_schema_metadata({table.VERSION_KEY: "9"}), "of sites of version 9, not"),
        (lambda found: found.replace_schema_metadata().cast(SITES), "is no table of sites"),
        (lambda found: found.drop_columns(["log_odds"]), "with other columns"),
        (lambda found: found.take([0, len(found) - 1] * 2), "not sorted by site, or are of two tables"),
    ],
    ids=["version", "none", "columns", "unsorted"],
)
def test_other_tables_are_refused_in_one_line_before_the_first_page(
    known: Path, tmp_path: Path, victor: Victor, change: Callable[[pa.Table], pa.Table], complaint: str
) -> None:
    write_warc(tmp_path / "a.warc.gz", of_tales(range(1)))
    wrong = copied(known, tmp_path / "wrong", change)
    outcome = victor("clean", tmp_path / "a.warc.gz", "--sites", wrong, "--output", tmp_path / "out")
    assert outcome.code == 2
    assert complaint in outcome.lines[-1]
    assert not (tmp_path / "out").exists()


def test_block_rows_with_layouts_of_another_version_make_no_table(
    march: Path, tmp_path: Path, victor: Victor
) -> None:
    shutil.copytree(march / "_run/first_pass", tmp_path / "out/_run/first_pass")
    path = tmp_path / "out/_run/first_pass/_run/config.json"
    config = json.loads(path.read_bytes())
    assert config["sites"].pop("version") == table.VERSION
    path.write_text(json.dumps(config))
    of_one_pass = tmp_path / "of_one_pass"
    (of_one_pass / "_run").mkdir(parents=True)
    for run_folder in (tmp_path / "out", of_one_pass):
        outcome = victor("sites", "write", run_folder, "--output", tmp_path / "sites")
        assert outcome.code == 2
        assert "kept no block rows of this version" in outcome.lines[-1]
    assert not (tmp_path / "sites").exists()


def test_damaged_rows_are_an_error_of_one_line(known: Path, tmp_path: Path, victor: Victor) -> None:
    whole = next(iter(sorted(known.glob("*.parquet"))))
    for name, content in (("garbled", b"?" * 99), ("cut", whole.read_bytes()[:-40])):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.parquet").write_bytes(content)
        outcome = victor("sites", "show", tmp_path / name)
        assert outcome.code == 2
        assert "table of sites can't be read" in outcome.lines[-1]
    middle = bytearray(whole.read_bytes())
    middle[4 : len(middle) // 2] = b"?" * (len(middle) // 2 - 4)
    (tmp_path / "middle").mkdir()
    (tmp_path / "middle/a.parquet").write_bytes(middle)
    outcome = victor("sites", "write", tmp_path / "middle", "--output", tmp_path / "more")
    assert outcome.code == 2
    assert "table of sites can't be read" in outcome.lines[-1]
    assert not (tmp_path / "more").exists()
    assert victor("sites", "show", tmp_path / "nowhere").code == 2


@pytest.mark.parametrize(
    ("column", "value", "shown"),
    [
        ("n_pages", None, ()),
        ("n_pages", 0, ()),
        ("log_odds", 1 << 60, ("tales.example",)),
        ("site", None, ()),
        ("site", b"\xff", ()),
        ("example", b"\xff", ("tales.example",)),
    ],
)
def test_damaged_values_are_an_error_of_one_line(
    known: Path,
    tmp_path: Path,
    victor: Victor,
    column: str,
    value: int | bytes | None,
    shown: tuple[str, ...],
) -> None:
    def damaged(found: pa.Table) -> pa.Table:
        place = found.schema.get_field_index(column)
        kind = pa.binary() if isinstance(value, bytes) else SITES.field(column).type
        values = pa.array([value] * len(found), kind).view(SITES.field(column).type)
        return found.set_column(place, found.schema.field(column), values)

    outcome = victor("sites", "show", copied(known, tmp_path / "damaged", damaged), *shown)
    assert outcome.code == 2
    assert "table of sites can't be read" in outcome.lines[-1]


def test_only_the_rows_of_the_sites_asked_for_are_read(tmp_path: Path, row_groups_read: list[int]) -> None:
    """A million rows in groups of a thousand: one site costs one group, however many sites there are."""
    names = [f"site{n:04}.example" for n in range(1000)]
    keys = [*range(1, 1000), table.OF_SITE]
    found = pa.table(
        {
            "site": pa.array([name for name in names for _ in keys]),
            "key": pa.array(keys * len(names), pa.int64()),
            "n_pages": pa.array([9] * len(keys) * len(names), pa.int64()),
            "log_odds": pa.array([0] * len(keys) * len(names), pa.int64()),
            "example": pa.nulls(len(keys) * len(names), pa.string()),
            "element": pa.nulls(len(keys) * len(names), pa.string()),
            "position": pa.nulls(len(keys) * len(names), pa.float32()),
        }
    ).replace_schema_metadata({table.VERSION_KEY: table.VERSION, tables.GROUPING_KEY: "registered-domain"})
    pq.write_table(found, tmp_path / "a.parquet", row_group_size=1000)
    of_sites = opened(tmp_path)
    row_groups_read.clear()
    for _ in range(3):
        of_site = of_sites.of("site0500.example")
        assert of_site is not None
        assert (of_site.n_pages, len(of_site.of_keys)) == (9, 1000)
        assert of_sites.of("none.example") is None
    assert row_groups_read == [500]
    assert of_sites.of(None) is None


@pytest.mark.parametrize("has_statistics", [True, False])
def test_a_site_that_fills_several_row_groups_is_read_whole(tmp_path: Path, has_statistics: bool) -> None:
    """Parquet files have no statistics of names of thousands of characters."""
    length = 1 if has_statistics else 5000
    names = [name * length for name in "aabbbbbc"]
    columns = {
        "site": names,
        "key": [1, -1, 1, 2, 3, 4, -1, -1],
        **{name: [2] * 8 for name in SUMS.names[2:]},
    }
    found = pa.table(columns | {name: pa.nulls(8) for name in table.EXAMPLE.names})
    metadata = {table.VERSION_KEY: table.VERSION, tables.GROUPING_KEY: "host"}
    found = found.cast(SITES).replace_schema_metadata(metadata)
    pq.write_table(found, tmp_path / "a.parquet", row_group_size=3, write_statistics=has_statistics)
    sites = opened(tmp_path)
    assert sites.files.grouping == "host"
    for name, n_keys in (("a", 2), ("b", 5), ("c", 1)):
        of_site = sites.of(name * length)
        assert of_site is not None
        assert len(of_site.of_keys) == n_keys


def test_a_row_group_that_is_not_sorted_is_damaged_and_loses_no_sums_in_silence(tmp_path: Path) -> None:
    """Its statistics are those of a sorted one."""
    columns = {"site": ["a", "b", "a", "b"], **{name: [2] * 4 for name in SUMS.names[1:]}}
    found = pa.table(columns | {name: pa.nulls(4) for name in table.EXAMPLE.names}).cast(SITES)
    pq.write_table(found.replace_schema_metadata({table.VERSION_KEY: table.VERSION}), tmp_path / "a.parquet")
    with pytest.raises(TableError, match="its rows are not sorted by site"):
        opened(tmp_path).of("a")


def write_empty_table(path: Path, grouping: str) -> None:
    """A table of sites without rows."""
    rows = pa.table({name: pa.nulls(0) for name in SITES.names}).cast(SITES)
    metadata = {table.VERSION_KEY: table.VERSION, tables.GROUPING_KEY: grouping}
    pq.write_table(rows.replace_schema_metadata(metadata), path)


def test_files_of_different_groupings_are_no_table(tmp_path: Path) -> None:
    write_empty_table(tmp_path / "a.parquet", "host")
    write_empty_table(tmp_path / "b.parquet", "path-prefix:1")
    with pytest.raises(TableError, match=r"b\.parquet: grouped by path-prefix:1, other files by host"):
        opened(tmp_path)


def test_an_earlier_table_of_another_grouping_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    write_empty_table(tmp_path / "a.parquet", "host")
    request = CleanRequest(
        inputs=("nowhere",),
        output=str(tmp_path / "out"),
        cleaning=Settings(sites=str(tmp_path)),
        sites=SiteOptions(by_site=True),
    )
    with pytest.raises(UsageError, match="has the grouping host: give it as --group-by"):
        run(request)
    assert not (tmp_path / "out").exists()


KEYS = st.tuples(st.integers(-2, 2), st.integers(-(2**63), 2**63 - 1) | st.integers(0, 3))
SUMS_OF_FILE = st.dictionaries(KEYS, st.tuples(st.integers(1, 9), st.integers(-(2**40), 2**40)), min_size=1)


@given(st.lists(SUMS_OF_FILE, min_size=1, max_size=4), st.booleans(), st.integers(1, 5))
def test_the_sums_of_each_file_are_those_over_all_files_whatever_the_number_of_buckets(
    of_files: list[dict[tuple[int, int], tuple[int, int]]], is_table: bool, n_buckets: int
) -> None:
    """With `is_table`, the last file is a table of sites: its sums are added, and it gets none back."""
    total: dict[tuple[int, int], np.ndarray] = {}
    packed = []
    files = [*range(len(of_files) - is_table), *[None] * is_table]
    for file, of_file in zip(files, of_files, strict=True):
        for key, sums in of_file.items():
            total[key] = total.get(key, 0) + np.array(sums)
        of_rows = np.array([(*key, *sums) for key, sums in of_file.items()], np.int64).T.copy()
        packed.append(site_sums._in_buckets(of_rows, file, n_buckets))

    def shuffled(batches: list[pa.RecordBatch], name: str) -> list[pa.RecordBatch]:
        table_ = pa.Table.from_batches(batches, site_sums._PACKED).sort_by(name)
        return [*table_.to_batches(max_chunksize=2)]

    added = list(site_sums._added_up(shuffled(packed, "bucket")))
    found = pa.Table.from_batches(site_sums._unpacked(shuffled(added, "file")), OF_FILES)
    expected = [
        (file, *key, *total[key].tolist())
        for file, of_file in zip(files, of_files, strict=True)
        for key in sorted(of_file)
        if file is not None and total[key][0] > 1
    ]
    assert list(zip(*found.to_pydict().values(), strict=True)) == expected
