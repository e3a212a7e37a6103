"""Templates on Spark: mined from shards by site, the same however they are cut into tasks, and applied."""

import random
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from tests.spark.crawl import Outcome, Response, Victor, page, rows, write_warc
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
    """The memory of both sides is held down in tests/templates/test_sample.py; here is the whole way."""
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
