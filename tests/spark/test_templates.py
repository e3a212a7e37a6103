"""Templates on Spark: mined from shards by site, the same for any division into tasks, and applied."""

import random
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from tests.spark.crawl import Outcome, Response, Victor, page, rows, write_warc
from victor_spark.errors import OutputError
from victor_spark.site_files import SiteFiles
from victor_spark.spark import mine_templates, waves
from victor_spark.templates import table

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]

SYLLABLES = ("ha", "ro", "fe", "ni", "ka", "lu", "mo", "ti", "ber", "gal", "sto", "pin", "wei", "dor")
NOTICE = (
    "The Harbour Gazette is printed on the quay. Call 555 {n} before {n}:30 to have it brought to your door."
)
FOOT = "All rights reserved by the Harbour Gazette. Copying needs leave, given at the counter on weekdays."


def story(seed: int) -> str:
    """A paragraph that no other seed gives."""
    chance = random.Random(seed)
    words = ["".join(chance.choices(SYLLABLES, k=3)) for _ in range(40)]
    return f"{' '.join(words).capitalize()}."


def pages_of(host: str, n: int, *, first: int = 10, notice: str = NOTICE) -> list[Response]:
    return [
        Response(
            f"http://{host}/{seed}", page(f"Day {seed}", notice.format(n=seed), story(seed), FOOT).encode()
        )
        for seed in range(first, first + n)
    ]


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve pages of a gazette in two shards, two of a site, one page sixty times, and rubbish."""
    folder = tmp_path_factory.mktemp("sites")
    gazette = pages_of("www.gazette.example", 12)
    again = [
        Response(f"http://copies.example/?sid={n}", page("Copy", story(5), FOOT).encode()) for n in range(60)
    ]
    rubbish = [Response(f"http://rubbish.example/{n}", bytes(range(256)) * (n + 1)) for n in range(6)]
    gone = Response("http://www.gazette.example/gone", b"<p>gone</p>", "404 Not Found")
    write_warc(folder / "a.warc.gz", [*gazette[:7], *again, gone])
    write_warc(folder / "b.warc.gz", [*gazette[7:], *pages_of("small.example", 2, first=50), *rubbish])
    (folder / "c.warc.gz").write_bytes(b"\x1f\x8b\x08\x00" + b"no gzip " * 50)
    return folder


@pytest.fixture(scope="module")
def mined(spark: SparkSession, shards: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The templates of the shards, mined in one task."""
    assert spark
    output = tmp_path_factory.mktemp("mined") / "templates.parquet"
    assert mine(shards, output, partitions=1)
    return output


def mine(shards: Path, output: Path, **options: Any) -> bool:
    from victor_spark.cli import main

    words = ["templates", "mine", str(shards), "--output", str(output)]
    for name, value in options.items():
        words += [f"--{name.replace('_', '-')}", str(value)]
    return main(words) == 0


def report(output: Path) -> dict[str, dict[str, Any]]:
    path = output.with_name(output.name.replace(".parquet", ".report.parquet"))
    return {row["site"]: row for row in pq.read_table(path).to_pylist()}


def same(one: Path, other: Path) -> bool:
    """Whether two tables differ in nothing but the time they were mined at."""
    first, second = (table.read(path).drop_columns(["mined_at"]) for path in (one, other))
    return bool(first.equals(second))


def test_what_the_pages_of_a_site_repeat_is_found_with_its_numbers(mined: Path) -> None:
    found = [row for row in table.read(mined).to_pylist() if row["site"] == "gazette.example"]
    assert any("Harbour\\ Gazette" in row["regex"] or "Gazette" in row["regex"] for row in found)
    notice = next(row for row in found if "printed" in row["regex"])
    assert notice["document_frequency"] == notice["n_pages"] == 12
    assert "555 " in notice["example"]
    assert "\\d" in notice["regex"]
    assert not any(word in row["regex"] for row in found for word in story(11).split())


def test_every_site_is_reported_and_why_it_was_not_mined(mined: Path) -> None:
    found = report(mined)
    assert (found["gazette.example"]["status"], found["gazette.example"]["n_seen"]) == ("ok", 12)
    assert found["small.example"]["status"] == "too_few_pages"
    assert "2 distinct pages" in found["small.example"]["reason"]
    assert (found["copies.example"]["status"], found["copies.example"]["n_seen"]) == ("too_few_pages", 60)
    assert "1 distinct pages" in found["copies.example"]["reason"]
    assert found["gazette.example"]["n_templates"] == sum(
        row["site"] == "gazette.example" for row in table.read(mined).to_pylist()
    )


def test_pages_and_records_that_are_no_pages_are_counted(
    shards: Path, tmp_path: Path, victor: Victor
) -> None:
    outcome = victor("templates", "mine", shards, "--output", tmp_path / "t.parquet")
    pages, records, written = outcome.lines[-3:]
    assert "74 pages of 3 sites in " in pages
    assert pages.endswith("sites by status: too_few_pages 2, ok 1")
    assert records.startswith("victor: 8 records couldn't be used: broken_encoding 6, http_status 1, shard: ")
    assert "c.warc.gz: ends at byte 404, and holds no WARC" in records
    assert f"{len(table.read(tmp_path / 't.parquet'))} templates in {tmp_path / 't.parquet'}, " in written


def test_how_the_work_is_cut_changes_nothing(shards: Path, mined: Path, tmp_path: Path) -> None:
    assert mine(shards, tmp_path / "t.parquet", partitions=3)
    assert same(mined, tmp_path / "t.parquet")


def test_a_sample_does_not_depend_on_tasks_either(shards: Path, tmp_path: Path) -> None:
    for partitions in (1, 3):
        output = tmp_path / f"{partitions}.parquet"
        assert mine(shards, output, partitions=partitions, max_pages_per_site=5)
        assert report(output)["gazette.example"]["n_pages"] == 5
        assert report(output)["gazette.example"]["n_seen"] == 12
    assert same(tmp_path / "1.parquet", tmp_path / "3.parquet")


def test_n_sites_seen_counts_the_sites_that_have_the_same_expression(tmp_path: Path) -> None:
    hosts = [f"paper{n}.example" for n in range(3)]
    write_warc(tmp_path / "a.warc.gz", [each for host in hosts for each in pages_of(host, 6)])
    assert mine(tmp_path / "a.warc.gz", tmp_path / "t.parquet")
    found = table.read(tmp_path / "t.parquet")
    pairs = list(zip(found["view"].to_pylist(), found["regex"].to_pylist(), strict=True))
    assert found["n_sites_seen"].to_pylist() == [pairs.count(pair) for pair in pairs]
    assert 3 in found["n_sites_seen"].to_pylist()


def test_a_large_site_is_sampled_and_a_small_one_beside_it_is_not(tmp_path: Path) -> None:
    """tests/templates/test_sample.py checks the memory of both sides; this is the whole command."""
    tiny = [
        Response(f"http://huge.example/{n}", f"<p>{story(n)} {n}</p><div>{FOOT}</div>".encode())
        for n in range(600)
    ]
    write_warc(tmp_path / "a.warc.gz", [*tiny, *pages_of("gazette.example", 12)])
    assert mine(tmp_path / "a.warc.gz", tmp_path / "t.parquet", max_pages_per_site=40, partitions=2)
    found = report(tmp_path / "t.parquet")
    assert (found["huge.example"]["n_seen"], found["huge.example"]["status"]) == (600, "ok")
    assert found["huge.example"]["n_pages"] <= 40
    assert found["gazette.example"]["n_pages"] == 12


def test_apply_takes_templates_out_and_leaves_the_rest(
    shards: Path, mined: Path, tmp_path: Path, victor: Victor
) -> None:
    outcome = victor(
        "templates", "apply", shards, "--templates", mined, "--output", tmp_path / "out", "--blocks"
    )
    assert outcome.code == 0, outcome.lines
    found = rows(tmp_path / "out")
    gazette = [
        row for row in found if row["url_host_name"] == "www.gazette.example" and row["status"] == "ok"
    ]
    assert len(gazette) == 12
    for row in gazette:
        assert row["cleaner"] == "template"
        assert story(int(row["url"].rsplit("/", 1)[1])) in row["text"]
        assert "printed on the quay" not in row["text"]
        assert "All rights reserved" not in row["text"]
        shares = {block["text"]: block["template_share"] for block in row["blocks"]}
        assert shares[FOOT] == 1.0
        assert shares[story(int(row["url"].rsplit("/", 1)[1]))] == 0.0
    small = next(row for row in found if row["url_host_name"] == "small.example")
    assert FOOT in small["text"]


def test_another_table_refuses_to_mix_into_an_old_output(mined: Path, tmp_path: Path, victor: Victor) -> None:
    output, shards = tmp_path / "out", write_warc(tmp_path / "a.warc.gz", pages_of("gazette.example", 4))
    assert victor("templates", "apply", shards, "--templates", mined, "--output", output).code == 0
    assert mine(shards, tmp_path / "other.parquet")
    outcome = victor(
        "templates", "apply", shards, "--templates", tmp_path / "other.parquet", "--output", output
    )
    assert outcome.code == 2
    assert "was written with other models (templates)" in outcome.lines[-1]


def test_a_second_crawl_brings_the_table_up_to_date(mined: Path, tmp_path: Path, victor: Victor) -> None:
    later = pages_of("www.gazette.example", 10, first=100, notice="A new notice stands here since {n} May.")
    write_warc(tmp_path / "later.warc.gz", later)
    output = tmp_path / "t.parquet"
    assert mine(tmp_path / "later.warc.gz", output, update=mined)
    found = [row for row in table.read(output).to_pylist() if row["site"] == "gazette.example"]
    foot = next(row for row in found if "Copying" in row["regex"])
    assert (foot["document_frequency"], foot["n_pages"], foot["vanished"]) == (22, 22, False)
    old = next(row for row in found if "printed" in row["regex"])
    assert (old["document_frequency"], old["vanished"]) == (12, True)
    assert any("new" in row["regex"] and not row["vanished"] for row in found)
    stated: Outcome = victor("templates", "diff", mined, output)
    assert stated.code == 0


def test_other_views_are_mined_too(tmp_path: Path) -> None:
    shard = write_warc(tmp_path / "a.warc.gz", pages_of("gazette.example", 4))
    for view in ("html", "cleaned"):
        output = tmp_path / f"{view}.parquet"
        assert mine(shard, output, view=view)
        found = table.read(output).to_pylist()
        assert {row["view"] for row in found} == {view}
        assert any("<li>" in row["example"] or "<div>" in row["example"] for row in found) == (view == "html")


@pytest.fixture(scope="module")
def crawls(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two crawls: 12 sites, then 12 of which 6 are new, 2 have another notice, and one has no templates."""
    folder = tmp_path_factory.mktemp("crawls")
    march = [each for n in range(12) for each in pages_of(f"paper{n:02}.example", 4)]
    weekly = "Now it is printed on Mondays only, number {n}."
    april = [
        each
        for n in range(6, 18)
        for each in pages_of(f"paper{n:02}.example", 4, first=30, notice=NOTICE if n > 7 else weekly)
    ]
    bare = [Response(f"http://bare.example/{n}", f"<p>{story(n)}</p>".encode()) for n in range(10)]
    bare_before = [
        Response(f"http://bare.example/{n}", f"<p>{story(n)}</p><p>{FOOT}</p>".encode()) for n in range(4)
    ]
    write_warc(folder / "march.warc.gz", [*march, *bare_before])
    write_warc(folder / "april.warc.gz", [*april, *bare])
    return folder / "march.warc.gz", folder / "april.warc.gz"


@pytest.fixture(scope="module")
def march(crawls: tuple[Path, Path], spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The templates of the first crawl."""
    assert spark
    output = tmp_path_factory.mktemp("march") / "t.parquet"
    assert mine(crawls[0], output)
    return output


def test_an_update_on_spark_is_that_of_each_site(
    crawls: tuple[Path, Path], march: Path, tmp_path: Path
) -> None:
    """Compared with `table.update` of the rows of both whole tables, site by site."""
    alone, both = tmp_path / "alone.parquet", tmp_path / "both.parquet"
    assert mine(crawls[1], alone)
    assert mine(crawls[1], both, update=march)
    status = {name: row["status"] for name, row in report(alone).items()}
    assert status["bare.example"] == "no_templates"
    old, new = (table.read(path).to_pylist() for path in (march, alone))
    expected = []
    for site in sorted({row["site"] for row in old + new}):
        parts = ([row for row in rows if row["site"] == site] for rows in (old, new))
        expected += table.update(*parts, is_without=status.get(site) == "no_templates")
    drop = ("mined_at", "last_seen")  # the times of the runs
    made = table.read(both)
    assert made.drop_columns(drop).equals(
        pa.Table.from_pylist(expected, schema=table.TEMPLATES).drop_columns(drop)
    )
    assert {row["site"] for row in expected if row["vanished"]} == {
        "bare.example",
        "paper06.example",
        "paper07.example",
    }
    assert report(both) == report(alone)


def test_a_table_of_many_parts_is_the_same_and_has_row_groups_by_site(
    crawls: tuple[Path, Path], march: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert mine(crawls[1], tmp_path / "one.parquet", update=march)
    monkeypatch.setattr(mine_templates, "_PART", 4)
    monkeypatch.setattr(mine_templates, "_ROW_GROUP", 3)
    assert mine(crawls[1], tmp_path / "many.parquet", update=march)
    assert same(tmp_path / "one.parquet", tmp_path / "many.parquet")
    assert report(tmp_path / "one.parquet") == report(tmp_path / "many.parquet")
    files = SiteFiles(str(tmp_path / "many.parquet"), table.KIND)
    assert len(files) > 12
    footer = pq.read_metadata(tmp_path / "many.parquet").row_group(0)
    columns = [footer.column(n) for n in range(footer.num_columns)]
    bounded = [column.path_in_schema for column in columns if column.is_stats_set]
    assert bounded == ["site", "view", "mined_at"]


@pytest.mark.parametrize("fails", [False, True])
def test_pages_are_mined_once_and_nothing_stays_on_disk(
    crawls: tuple[Path, Path],
    tmp_path: Path,
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
    fails: bool,
) -> None:
    """Three steps read what was mined: the counts, the idioms and the tables."""
    log, real = str(tmp_path / "log"), mine_templates.mine_partition

    def counted(batches: Any, **options: Any) -> Any:
        for batch in real(batches, **options):
            with open(log, "a") as file:
                file.write(f"{batch['site'][0].as_py()}\n")
            yield batch

    def broken(*_: Any) -> None:
        raise OutputError("no")

    monkeypatch.setattr(mine_templates, "mine_partition", counted)
    if fails:
        monkeypatch.setattr(mine_templates, "_write", broken)
    before = spark.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch")
    assert mine(crawls[0], tmp_path / "t.parquet") is not fails
    assert sorted(Path(log).read_text().split()) == [
        "bare.example",
        *(f"paper{n:02}.example" for n in range(12)),
    ]
    assert spark.sparkContext._jsc.getPersistentRDDs().size() == 0  # type: ignore[union-attr]
    assert spark.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch") == before
    assert (tmp_path / "t.parquet").exists() is not fails


def hostile(march: Path, target: Path) -> Path:
    """The table with an expression for one site that needs exponential time."""
    found = table.read(march).to_pylist()
    next(row for row in found if row["site"] == "paper05.example")["regex"] = "(a+)+b"
    pq.write_table(pa.Table.from_pylist(found, schema=table.TEMPLATES), target)
    return target


def test_a_table_with_a_hostile_expression_ends_the_run_with_one_line(
    crawls: tuple[Path, Path], march: Path, tmp_path: Path, victor: Victor
) -> None:
    """An update with the table fails, too, and writes nothing. A crawl without that site is cleaned."""
    wrong, out = hostile(march, tmp_path / "wrong.parquet"), tmp_path / "out"
    outcome = victor("templates", "apply", crawls[0], "--templates", wrong, "--output", out)
    assert outcome.code == 2
    assert "table of templates can't be read: " in outcome.lines[-1]
    assert "did not write: '(a+)+b'; the same command resumes when that is mended" in outcome.lines[-1]
    outcome = victor("templates", "mine", crawls[1], "--update", wrong, "--output", tmp_path / "t.parquet")
    assert outcome.code == 2
    assert "did not write: '(a+)+b'" in outcome.lines[-1]
    assert not (tmp_path / "t.parquet").exists()
    assert (
        victor("templates", "apply", crawls[1], "--templates", wrong, "--output", tmp_path / "april").code
        == 0
    )


def test_a_table_that_vanishes_in_mid_run_ends_it_and_a_resumed_run_finds_it_unchanged(
    crawls: tuple[Path, Path], march: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, victor: Victor
) -> None:
    """It vanishes when the run is planned. A copy of the table is the same one, another table is not."""
    path, real = shutil.copy(march, tmp_path / "t.parquet"), waves.clean
    command = ("clean", *crawls, "--templates", path, "--cleaner", "kimatu", "--output", tmp_path / "out")

    def cleaned(writing: Any, wave: int) -> Any:
        path.unlink(missing_ok=True)
        return real(writing, wave)

    monkeypatch.setattr(waves, "clean", cleaned)
    outcome = victor(*command)
    assert outcome.code == 2
    assert "table of templates can't be read: " in outcome.lines[-1]
    assert "No such file or directory; the same command resumes" in outcome.lines[-1]
    monkeypatch.undo()
    shutil.copy(march, path)
    assert victor(*command).code == 0
    assert {row["status"] for row in rows(tmp_path / "out")} <= {"ok", "empty"}
