"""The job's rows equal those of single pages, on either engine; the record of the run counts them."""

import json
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import victor_spark
from tests.spark.crawl import CZECH, FETCHED, PARAGRAPH, Response, Victor, page, rows, write_warc
from victor_spark import tables
from victor_spark.spark.ledger import literal
from victor_spark.spark.run_record import of_files

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]


@pytest.fixture(scope="module")
def cleaned(spark: SparkSession, crawl: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The crawl, cleaned with block rows, into a path that is hard on globs and on ASCII."""
    from victor_spark.request import CleanRequest, RowOptions
    from victor_spark.spark.run import run

    output = tmp_path_factory.mktemp("out") / "výstup [1] a*b"
    run(CleanRequest(inputs=(str(crawl),), output=str(output), rows=RowOptions(blocks=True)))
    return output


def test_every_record_is_a_row_with_its_status(cleaned: Path) -> None:
    found = [(Path(row["warc_filename"]).name, row["status"]) for row in rows(cleaned)]
    assert found == [
        *[("a.warc.gz", "ok")] * 8,
        ("a.warc.gz", "http_status"),
        *[("b.warc.gz", "ok")] * 6,
        ("c.warc.gz", "empty"),
        ("c.warc.gz", "not_html"),
    ]


def test_text_is_null_unless_ok_and_a_dropped_page_has_its_reason(cleaned: Path) -> None:
    for row in rows(cleaned):
        assert (row["text"] is not None) == (row["status"] == "ok")
        assert (row["reason"] is None) == (row["status"] == "ok")


def test_rows_say_what_the_page_alone_gives(cleaned: Path) -> None:
    row = rows(cleaned)[2]
    html = page("Ferry 2", *[PARAGRAPH] * 3).encode()
    document = victor_spark.clean(html, url="http://www.harbour.example.co.uk/2")
    assert PARAGRAPH in row["text"]
    assert row["text"] == document.text
    assert row["title"] == document.title == "Ferry 2"
    assert row["n_blocks"] == document.n_blocks == len(row["blocks"])
    assert row["n_kept_blocks"] == document.n_kept_blocks
    assert row["p_content"] == pytest.approx(document.p_content)
    assert [block["text"] for block in row["blocks"]] == [block.text for block in document.blocks]
    assert [document.html[block["start"] : block["end"]] for block in row["blocks"]][-1] == "Privacy"


def test_rows_say_where_the_page_came_from(cleaned: Path, crawl: Path) -> None:
    row = rows(cleaned)[9]
    assert row["id"].startswith("urn:uuid:")
    assert row["url_host_name"] == "přívoz.example.cz"
    assert row["url_host_registered_domain"] == "example.cz"
    assert row["warc_filename"] == str(crawl / "b.warc.gz")
    assert row["fetch_time"] == FETCHED
    assert row["fetch_status"] == 200
    assert row["content_mime_type"] == "text/html"
    assert row["content_charset"] == "utf-8"
    assert row["content_digest"].startswith("sha1:")
    assert CZECH in row["text"]


def test_offset_and_length_find_the_record_again(cleaned: Path, crawl: Path) -> None:
    from gzip import decompress

    row = rows(cleaned)[4]
    with (crawl / "a.warc.gz").open("rb") as file:
        file.seek(row["warc_record_offset"])
        member = decompress(file.read(row["warc_record_length"]))
    assert b"WARC-Target-URI: http://www.harbour.example.co.uk/4\r\n" in member


def test_parquet_is_the_contracts_with_its_version(cleaned: Path) -> None:
    files = sorted((cleaned / "pages").glob("*.parquet"))
    schema = pq.read_schema(files[0])  # type: ignore[no-untyped-call]
    metadata = pq.read_metadata(files[0])  # type: ignore[no-untyped-call]
    assert tables.schema_version(schema) == tables.PAGES_VERSION
    assert schema.names == tables.pages("blocks").names
    assert schema.types[:-1] == tables.PAGES.types
    assert metadata.row_group(0).column(0).compression == "ZSTD"


def test_run_json_counts_the_rows(cleaned: Path) -> None:
    record = json.loads((cleaned / "_run" / "run.json").read_text())
    assert record["n_rows"] == record["n_pages"] == len(rows(cleaned)) == 17
    assert record["statuses"] == {"ok": 14, "http_status": 1, "empty": 1, "not_html": 1}
    assert record["n_failed_shards"] == 0
    assert list(record["reasons"]["http_status"].values()) == [1]
    assert record["pages_per_second"] > 0
    assert {"python", "pyspark", "victor-spark", "resiliparse"} <= record["versions"].keys()
    assert record["config"]["models"]


def test_tasks_count_what_spark_finds_in_their_files(cleaned: Path, spark: SparkSession) -> None:
    report = json.loads((cleaned / "_run" / "run.json").read_text())
    found = vars(of_files(spark.read.parquet(literal(str(cleaned / "pages")))))
    assert found.pop("n_failures") == 0
    assert found.pop("failed_shards") == {}
    assert found == {name: report[name] for name in found}


def test_the_rdd_engine_gives_the_same_rows(
    cleaned: Path, crawl: Path, tmp_path: Path, victor: Victor
) -> None:
    outcome = victor("clean", crawl, "--output", tmp_path / "out", "--engine", "rdd", "--blocks")
    assert outcome.code == 0
    assert rows(tmp_path / "out") == rows(cleaned)


def test_a_shard_that_cannot_be_read_is_a_row_and_the_others_go_on(
    crawl: Path, tmp_path: Path, victor: Victor
) -> None:
    broken = tmp_path / "broken.warc.gz"
    broken.write_bytes(b"\x1f\x8b\x08\x00" + b"not gzip at all " * 100)
    outcome = victor("clean", tmp_path, crawl / "b.warc.gz", "--output", tmp_path / "out")
    assert outcome.code == 0
    failed = [row for row in rows(tmp_path / "out") if row["warc_record_offset"] is None]
    assert [row["warc_filename"] for row in failed] == [str(broken)]
    assert failed[0]["status"] == "error"
    assert "broken.warc.gz" in failed[0]["reason"]
    assert json.loads((tmp_path / "out/_run/run.json").read_text())["n_failed_shards"] == 1
    assert any("1 shard couldn't be read" in line for line in outcome.lines)
    assert any("victor: 6 pages in " in line and line.endswith(": ok 6") for line in outcome.lines)
    assert len(rows(tmp_path / "out")) == 7


def test_the_summary_says_how_many_what_and_where(crawl: Path, tmp_path: Path, victor: Victor) -> None:
    outcome = victor("clean", crawl, "--output", tmp_path / "out", "--partitions", 2)
    assert "cleaning 3 shards in 1 wave on local[2]" in outcome.lines[0]
    assert outcome.lines[-2].startswith("victor: 17 pages in ")
    assert "ok 14" in outcome.lines[-2]
    assert str(tmp_path / "out" / "pages") in outcome.lines[-1]
    assert len(list((tmp_path / "out" / "pages").glob("*.parquet"))) == 2


def test_options_reach_the_pages(tmp_path: Path, victor: Victor) -> None:
    gone = Response("http://example.com/", page("Gone", PARAGRAPH, PARAGRAPH).encode(), "410 Gone")
    long = Response("http://example.com/long", page("Long", *[PARAGRAPH] * 200).encode())
    shard = write_warc(tmp_path / "a.warc.gz", [gone, long])
    victor("clean", shard, "--output", tmp_path / "all", "--all-statuses", "--threshold", 0)
    victor("clean", shard, "--output", tmp_path / "some", "--status", "404,410", "--max-bytes", 20_000)
    assert [row["status"] for row in rows(tmp_path / "all")] == ["empty", "empty"]
    assert [row["status"] for row in rows(tmp_path / "some")] == ["ok", "http_status"]


def test_a_list_that_names_shards_twice_with_spaces_and_beyond_ascii_gives_each_record_once(
    crawl: Path, tmp_path: Path, victor: Victor
) -> None:
    folder = tmp_path / "sklad č 1"
    folder.mkdir()
    names = ("přívoz jedna #1.warc.gz", "100% [ferry] two.warc.gz")
    for shard, name in zip(("a", "b"), names, strict=True):
        shutil.copy(crawl / f"{shard}.warc.gz", folder / name)
    lines = [*names, str(folder / names[0]), (folder / names[1]).as_uri(), f"./{names[0]}", names[0], ""]
    (folder / "seznam.paths").write_text("\n".join(lines), encoding="utf-8")
    output = tmp_path / "výstup 1"
    assert victor("clean", folder / "seznam.paths", folder / names[0], "--output", output).code == 0
    found = [(Path(row["warc_filename"]).name, row["warc_record_offset"]) for row in rows(output)]
    assert len(found) == len(set(found)) == 15
    assert {name for name, _ in found} == set(names)
    assert json.loads((output / "_run" / "run.json").read_text())["n_shards"] == 2


def test_a_table_of_coordinates_gives_the_rows_of_its_records(
    cleaned: Path, crawl: Path, tmp_path: Path, victor: Victor
) -> None:
    wanted = [row for row in rows(cleaned) if row["warc_filename"].endswith(("a.warc.gz", "b.warc.gz"))][::2]
    names = ("warc_filename", "warc_record_offset", "warc_record_length")
    lines = [",".join(names), *(",".join(str(row[name]) for name in names) for row in reversed(wanted))]
    (tmp_path / "records.csv").write_text("\n".join(lines))
    outcome = victor("clean", tmp_path / "records.csv", "--output", tmp_path / "out", "--blocks")
    assert outcome.code == 0
    assert rows(tmp_path / "out") == wanted
