"""`victor clean --by-site`: two passes, and the evidence of a site's pages for one of them."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from tests.spark.crawl import CZECH, PARAGRAPH, Response, Victor, rows, write_warc
from victor_spark.errors import OutputError, UsageError
from victor_spark.request import CleanRequest, RowOptions, SiteOptions, SparkOptions
from victor_spark.settings import Settings
from victor_spark.spark import status
from victor_spark.spark.run import run
from victor_spark.tables import BY_SITE, VERSION_KEY
from victor_spark.warc.shard import Attempt, Place, Shard, Skip
from victor_spark.worker import second_pass
from victor_spark.worker.rows import STAGES

pytestmark = pytest.mark.spark

SENTENCES = [f"{sentence}." for sentence in PARAGRAPH.rstrip(".").split(". ")]
FOOT = "Copyright 2019. All rights reserved. Terms. Privacy."
Run = Callable[..., list[dict[str, Any]]]


def chapter(number: int, paragraphs: list[str], foot: str = FOOT) -> bytes:
    """A page of a site with one layout."""
    menu = "".join(f'<li><a href="/{name}">{name}</a></li>' for name in ("home", "news", "contact"))
    body = "".join(f'<div class="line"><span class="words">{text}</span></div>' for text in paragraphs)
    return (
        f'<html><head><title>Chapter {number}</title></head><body><ul class="menu">{menu}</ul>'
        f'<div class="story"><h1>Chapter {number}</h1>{body}</div>'
        f'<div class="foot"><p>{foot}</p></div></body></html>'
    ).encode()


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """12 chapters of one site, one with prose in its foot, and five sites of one page."""
    folder = tmp_path_factory.mktemp("shards") / "CC-MAIN-2025-05"
    folder.mkdir()
    long = [chapter(n, [f"{n} {sentence}" for sentence in SENTENCES] * 3) for n in range(11)]
    of_site = [Response(f"http://tales.example/{n}", html) for n, html in enumerate(long)]
    prose = Response("http://tales.example/prose", chapter(11, SENTENCES, foot=SENTENCES[0]))
    alone = [Response(f"http://alone{n}.example/", chapter(n, [PARAGRAPH, CZECH][: n + 1])) for n in range(4)]
    links = [f'<a href="/{n}">Ferry number {n} runs again</a>' for n in range(9)]
    alone[3] = Response("http://alone3.example/", chapter(3, links))
    cells = "".join(f"<tr><td>Pier {n}</td><td>{n} metres</td><td>{n} boats</td></tr>" for n in range(6))
    table = f"<table><tr><th>Pier</th><th>Depth</th><th>Boats</th></tr>{cells}</table>"
    alone.append(Response("http://table.example/", chapter(5, [PARAGRAPH, table, PARAGRAPH])))
    empty = Response(
        "http://hollow.example/", b"<html><head><title>Hollow</title></head><body></body></html>"
    )
    write_warc(folder / "a.warc.gz", [*of_site[:6], *alone[:2]])
    write_warc(folder / "b.warc.gz", [*of_site[6:], prose, *alone[2:], empty])
    return folder


@pytest.fixture(scope="module")
def clean(spark: SparkSession, shards: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Cleans the shards, and gives the rows in the order of the crawl."""
    assert spark

    def cleaned(output: Path | None = None, /, **options: Any) -> list[dict[str, Any]]:
        request = CleanRequest(
            inputs=(str(shards),),
            output=str(output or tmp_path_factory.mktemp("run") / "out"),
            spark=SparkOptions(wave_bytes=20 << 10, split_bytes=4 << 10),
        )
        request = replace(request, **options)
        run(request)
        return sorted(
            rows(Path(request.output)), key=lambda row: (row["warc_filename"], row["warc_record_offset"])
        )

    return cleaned


@pytest.fixture(scope="module")
def one_pass(clean: Run) -> list[dict[str, Any]]:
    return clean()


TWO = SiteOptions(by_site=True)
KEEPING = replace(TWO, keep_blocks=True)
Whole = tuple[Path, list[dict[str, Any]]]
"""The output of a run and its rows."""


@pytest.fixture(scope="module")
def two_passes(clean: Run, tmp_path_factory: pytest.TempPathFactory) -> Whole:
    output = tmp_path_factory.mktemp("two") / "out"
    return output, clean(output, sites=TWO)


@pytest.fixture(scope="module")
def kept(clean: Run, tmp_path_factory: pytest.TempPathFactory) -> Whole:
    """As two_passes, with what lies between the passes; who changes anything copies it."""
    output = tmp_path_factory.mktemp("kept") / "out"
    return output, clean(output, sites=KEEPING)


def without(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in BY_SITE}


def of_one_page(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [without(row) for row in found if "tales" not in row["url"]]


def test_sites_of_one_page_get_the_rows_of_one_pass(
    two_passes: Whole, one_pass: list[dict[str, Any]]
) -> None:
    _, found = two_passes
    assert len(found) == len(one_pass) == 18
    assert any("\t" in (row["text"] or "") for row in one_pass)  # of a table
    assert of_one_page(found) == of_one_page(one_pass)
    scored = [row for row in found if "hollow" not in row["url"]]
    assert {row["n_site_pages"] for row in scored if "tales" not in row["url"]} == {1}
    assert [row["n_site_pages"] for row in found if "hollow" in row["url"]] == [None]
    assert {row["n_site_pages"] for row in found if "tales" in row["url"]} == {12}
    assert {row["site"] for row in found if "tales" in row["url"]} == {"tales.example"}


def test_the_other_pages_of_a_site_decide_with(two_passes: Whole, one_pass: list[dict[str, Any]]) -> None:
    """By itself, a page is kept with the prose in its foot; all other pages of the site drop their foot."""

    def odd(found: list[dict[str, Any]]) -> dict[str, Any]:
        return next(row for row in found if row["url"].endswith("/prose"))

    assert odd(one_pass)["text"].count(SENTENCES[0]) == 2
    changed = odd(two_passes[1])
    assert changed["text"].count(SENTENCES[0]) == 1
    assert (changed["n_added_by_site"], changed["n_removed_by_site"]) == (0, 1)


def test_run_and_report_say_what_sites_changed_and_count_the_time_of_both_passes(two_passes: Whole) -> None:
    output, found = two_passes
    stated = json.loads((output / "_run/run.json").read_bytes())
    changed = [row for row in found if row["n_added_by_site"] or row["n_removed_by_site"]]
    assert stated["n_changed_by_site"] == len(changed) > 0
    report = (output / "_run/report.html").read_text()
    assert f"<b>{len(changed)}</b><span>changed by their sites" in report
    of_first = {name for name, seconds in stated["first_pass"]["stages"].items() if seconds}
    assert of_first
    assert not [STAGES[name] for name in of_first if STAGES[name] not in report]


def test_sites_that_are_odd_lose_no_page(spark: SparkSession, tmp_path: Path) -> None:
    """A layout that changes in mid-crawl, one page many times, a host of 5,000 characters, and none."""
    assert spark
    new = [
        chapter(n, [PARAGRAPH]).replace(b'"story"', b'"tale"').replace(b"<span", b"<b><i") for n in range(9)
    ]
    pages = [Response(f"http://tales.example/{n}", chapter(n, SENTENCES)) for n in range(9)]
    pages += [Response(f"http://tales.example/new/{n}", html) for n, html in enumerate(new)]
    pages += [Response(f"http://same.example/{n}", chapter(1, [PARAGRAPH])) for n in range(120)]
    pages += [Response(f"http://{'a.' * 2500}example/{n}", chapter(n, [PARAGRAPH])) for n in range(2)]
    nowhere = [Response(f"urn:{n}", chapter(n, [SENTENCES[0], PARAGRAPH])) for n in range(3)]
    pages = [nowhere[0], *pages[:5], nowhere[1], *pages[5:], nowhere[2]]
    write_warc(tmp_path / "odd.warc.gz", pages)
    request = CleanRequest(inputs=(str(tmp_path / "odd.warc.gz"),), output=str(tmp_path / "one"))
    run(request)
    run(replace(request, output=str(tmp_path / "two"), sites=TWO))
    one, two = ({row["id"]: row for row in rows(tmp_path / name)} for name in ("one", "two"))
    assert one.keys() == two.keys()
    assert len(two) == len(pages)
    assert {row["status"] for row in two.values()} == {"ok"}
    for name, row in two.items():
        if row["url"].startswith("urn:"):  # it has no site: its row is that of one pass
            assert (row["site"], row["n_site_pages"]) == (None, 1)
            assert {column: row[column] for column in one[name]} == one[name]
    assert all(SENTENCES[0] in row["text"] for row in two.values())
    same = {row["text"] for row in two.values() if "same.example" in row["url"]}
    assert same == {row["text"] for row in one.values() if "same.example" in row["url"]}


@pytest.mark.parametrize(
    "options",
    [
        {"spark": SparkOptions(engine="rdd"), "rows": RowOptions(blocks=True, html=True, markdown=True)},
        {"rows": RowOptions(partition_by="crawl"), "cleaning": Settings(threshold=0.3)},
        {"cleaning": Settings(without=("heading",), including=("title",), fail_below=0.7)},
        {"cleaning": Settings(languages=("cs",), fail_below=0.7), "rows": RowOptions(blocks=True)},
    ],
    ids=["columns", "threshold", "roles", "languages"],
)
def test_every_option_gives_sites_of_one_page_the_rows_of_one_pass(
    clean: Run, options: dict[str, Any]
) -> None:
    for two, one in zip(of_one_page(clean(sites=TWO, **options)), of_one_page(clean(**options)), strict=True):
        assert two == one


def test_a_page_that_is_a_list_of_links_is_dropped_by_both_passes(clean: Run) -> None:
    cleaning = Settings(max_list_share=0.5, threshold=1.0)
    one, two = clean(cleaning=cleaning), clean(sites=TWO, cleaning=cleaning)
    lists = [row["url"] for row in one if (row["reason"] or "").endswith("is a list of links")]
    assert lists == ["http://alone3.example/"]
    assert of_one_page(two) == of_one_page(one)


def test_what_lies_between_the_passes_goes_unless_it_is_to_be_kept(
    clean: Run, two_passes: Whole, kept: Whole, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert sorted(path.name for path in (two_passes[0] / "_run/first_pass").iterdir()) == ["_run"]
    assert len(list((kept[0] / "_run/first_pass/pages").glob("*.parquet"))) > 1
    assert kept[1] == two_passes[1]
    capfd.readouterr()
    clean(two_passes[0], sites=KEEPING)  # what is gone can't be kept
    assert "this run kept no block rows: for --keep-blocks" in capfd.readouterr().err
    clean(kept[0], sites=KEEPING)
    assert "kept no block rows" not in capfd.readouterr().err
    killed = shutil.copytree(kept[0], tmp_path / "killed")  # when it was complete, before they went
    assert clean(killed, sites=TWO) == kept[1]
    assert sorted(path.name for path in (killed / "_run/first_pass").iterdir()) == ["_run"]


def test_all_files_of_a_run_are_in_its_output_whatever_its_name_holds(
    clean: Run, kept: Whole, tmp_path: Path
) -> None:
    """Escapes, fragments and queries are of addresses: in a path they are characters like others."""
    output = tmp_path / "out%20a#b?c"
    assert clean(output, sites=KEEPING) == kept[1]
    assert [path.name for path in tmp_path.iterdir()] == [output.name]
    assert list((output / "_run/first_pass/pages").glob("*.parquet"))


def test_a_run_goes_on_in_the_pass_where_it_stopped(
    clean: Run, kept: Whole, tmp_path: Path, victor: Victor
) -> None:
    """A run that was killed in the first pass, between the passes, or in the second pass resumes there."""
    output, (before, whole) = tmp_path / "out", kept
    shutil.copytree(before, output)
    first_pass = output / "_run/first_pass"

    (output / "_run/run.json").unlink()  # killed in the second pass
    for entry in (output / "_run/ledger").iterdir():
        entry.unlink()
    for sums in first_pass.glob("known-*/file=*"):  # and lost the sums
        shutil.rmtree(sums)
    assert victor("status", output).code == 4
    assert clean(output, sites=KEEPING) == whole

    for name in ("run.json", "config.json", "plan.json", "manifest.parquet"):  # before it began
        (output / "_run" / name).unlink()
    shutil.rmtree(output / "_run/ledger")
    shutil.rmtree(output / "pages")
    (first_pass / "known.json").unlink()  # while the sums were made
    assert status.status(str(output))["passing"] == "first"
    with pytest.raises(OutputError, match="was written with --by-site: repeat"):  # by one pass
        clean(output)
    assert clean(output, sites=KEEPING) == whole

    for name in ("run.json", "config.json", "plan.json", "manifest.parquet"):
        (output / "_run" / name).unlink()
    shutil.rmtree(output / "_run/ledger")
    shutil.rmtree(output / "pages")
    (first_pass / "_run/run.json").unlink()  # in the first pass
    max((first_pass / "_run/ledger").iterdir()).unlink()
    assert clean(output, sites=KEEPING) == whole
    assert json.loads((output / "_run/run.json").read_bytes())["first_pass"]["n_bytes"] > 0


def test_pages_that_a_complete_run_lost_are_decided_again(
    clean: Run, two_passes: Whole, kept: Whole, tmp_path: Path, victor: Victor
) -> None:
    """With the scored pages that it kept, or from the first pass on."""
    for name, options in (("two", TWO), ("kept", KEEPING)):
        output = Path(shutil.copytree({"two": two_passes, "kept": kept}[name][0], tmp_path / name))
        next((output / "pages").glob("*.parquet")).unlink()
        assert clean(output, sites=options) == kept[1]
        assert victor("status", output).code == 0


def test_a_second_pass_begins_anew_where_the_first_pass_is_made_again(
    clean: Run, kept: Whole, tmp_path: Path
) -> None:
    """Its plan and its waves are of scored pages in other files."""
    output = Path(shutil.copytree(kept[0], tmp_path / "out"))
    (output / "_run/run.json").unlink()
    max((output / "_run/ledger").iterdir()).unlink()
    shutil.rmtree(output / "_run/first_pass/pages")
    sizes = SparkOptions(wave_bytes=20 << 10, split_bytes=4 << 10, partitions=1)
    assert clean(output, sites=KEEPING, spark=sizes) == kept[1]


def test_a_complete_run_is_complete_without_its_first_pass(
    clean: Run, two_passes: Whole, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The first pass is of no use any more: a user may remove it."""
    output = Path(shutil.copytree(two_passes[0], tmp_path / "out"))
    shutil.rmtree(output / "_run/first_pass")
    capfd.readouterr()
    assert clean(output, sites=TWO) == two_passes[1]
    assert "already done" in capfd.readouterr().err


def test_damaged_scored_pages_end_the_run_and_lose_no_rows(clean: Run, kept: Whole, tmp_path: Path) -> None:
    """The failure budget doesn't cover a damaged file of block rows: the run stops."""
    output, (before, whole) = tmp_path / "out", kept
    shutil.copytree(before, output)
    for name in ("run.json", "config.json", "plan.json", "manifest.parquet"):
        (output / "_run" / name).unlink()
    shutil.rmtree(output / "_run/ledger")
    shutil.rmtree(output / "pages")
    victim = max((output / "_run/first_pass/pages").glob("*.parquet"))
    victim.write_bytes(b"?" * victim.stat().st_size)
    with pytest.raises(
        OutputError, match=r"scored pages can't be read: .*; to make .* remove _run/first_pass"
    ):
        clean(output, sites=KEEPING)
    assert not (output / "_run/run.json").exists()
    shutil.rmtree(output / "_run")
    shutil.rmtree(output / "pages", ignore_errors=True)
    assert clean(output, sites=KEEPING) == whole


def test_a_second_pass_that_finds_fewer_pages_than_were_scored_is_not_done(
    clean: Run, kept: Whole, tmp_path: Path
) -> None:
    output = Path(shutil.copytree(kept[0], tmp_path / "out"))
    (output / "_run/run.json").unlink()
    shutil.rmtree(output / "_run/ledger")
    entry = min((output / "_run/first_pass/_run/ledger").iterdir())
    stated = json.loads(entry.read_text())
    name = next(iter(stated["files"]))
    victim = output / "_run/first_pass/pages" / name
    pq.write_table(pq.read_table(victim)[1:], victim)
    stated["files"][name] = victim.stat().st_size
    entry.write_text(json.dumps(stated))
    with pytest.raises(OutputError, match="18 rows were scored, and 17 decided; remove _run/first_pass"):
        clean(output, sites=KEEPING)
    assert not (output / "_run/run.json").exists()


def test_scored_pages_of_another_version_are_refused(kept: Whole, tmp_path: Path) -> None:
    table = pq.read_table(min((kept[0] / "_run/first_pass/pages").glob("*.parquet")))
    older = tmp_path / "older.parquet"
    pq.write_table(table.replace_schema_metadata({VERSION_KEY: "1"}), older)
    with pytest.raises(OutputError, match=r"scored pages can't be read: .*older.*: they are of version 1"):
        next(second_pass.stored_rows(Shard(str(older), 1, "scored")))
    place = table.schema.get_field_index("scored")
    lists = pa.array([{"start": [0]}] * len(table))
    pq.write_table(table.set_column(place, "scored", lists), older)
    with pytest.raises(OutputError, match=r"scored pages can't be read: .*older.*: another version wrote"):
        next(second_pass.stored_rows(Shard(str(older), 1, "scored")))


def test_damaged_sums_of_sites_are_told_as_damaged_scored_pages_are(kept: Whole, tmp_path: Path) -> None:
    shutil.copytree(kept[0] / "_run/first_pass", tmp_path / "first")
    (known,) = (tmp_path / "first").glob("known-*")
    (page, *_) = (tmp_path / "first/pages").glob("*.parquet")
    assert second_pass.sites_of_file(str(known), str(page))
    for sums in known.glob("file=*/*.parquet"):
        sums.write_bytes(b"?" * sums.stat().st_size)
    with pytest.raises(OutputError, match=r"scored pages can't be read: .*known-.*parquet"):
        second_pass.sites_of_file(str(known), str(page))


def test_a_scored_page_that_cannot_be_read_has_its_row_and_those_behind_it_have_theirs(kept: Whole) -> None:
    """The process that read it died. Rows before it have arrived, and are not read again."""
    path = max((kept[0] / "_run/first_pass/pages").glob("*.parquet"), key=lambda path: path.stat().st_size)
    shard, (known,) = Shard(str(path), 1, "scored"), (kept[0] / "_run/first_pass").glob("known-*")
    whole = list(second_pass._read(shard, Attempt(), folder=str(known)))
    assert len(whole) > 3
    for number, page in enumerate(whole):
        skip = Skip(Place(0, number), "crash", "SIGABRT, while it was read")
        lost, *rest = second_pass._read(shard, Attempt(skip=skip), folder=str(known))
        assert (lost.row["url"], lost.row["status"], lost.row["reason"]) == (
            page.row["url"], "crash", "SIGABRT, while it was read"
        )  # fmt: skip
        assert {lost.row[name] for name in ("text", "scored", "n_site_pages")} == {None}
        assert [one.row["url"] for one in rest] == [one.row["url"] for one in whole[number + 1 :]]
        assert [one.row["n_site_pages"] for one in rest] == [
            one.row["n_site_pages"] for one in whole[number + 1 :]
        ]


def test_large_scored_pages_are_read_few_at_a_time(tmp_path: Path) -> None:
    def n_read(n_values: int) -> int:
        lists = pa.array([np.arange(n_values, dtype=np.int32)] * 8)
        pq.write_table(pa.table({"rows": lists}), tmp_path / "scored.parquet")
        return second_pass._n_pages(pq.read_metadata(tmp_path / "scored.parquet").row_group(0))

    assert n_read(10) == second_pass._N_PAGES
    assert n_read(200_000) * 200_000 * 8 < second_pass._BATCH_BYTES < n_read(200_000) * 200_000 * 20
    assert n_read(8_000_000) == 1


def test_options_of_two_passes_need_two_passes() -> None:
    with pytest.raises(UsageError, match="--group-by needs --by-site"):
        SiteOptions(grouping="host")
    with pytest.raises(UsageError, match="--keep-blocks needs --by-site"):
        SiteOptions(keep_blocks=True)
    with pytest.raises(UsageError, match="--by-site needs the cleaner victor, not kimatu"):
        CleanRequest(cleaning=Settings("kimatu"), sites=TWO)


def test_an_output_that_tasks_cannot_read_stops_the_run_before_its_first_page(
    clean: Run, spark: SparkSession, tmp_path: Path
) -> None:
    """Spark writes to a view of a disk, which Python can't read, as hdfs:// without libhdfs."""
    hadoop = spark.sparkContext._jsc.hadoopConfiguration()  # type: ignore[union-attr]
    hadoop.set("fs.viewfs.mounttable.crawls.link./clean", tmp_path.as_uri())
    with pytest.raises(OutputError, match=r"^viewfs://crawls/clean/out/_run/first_pass: .*viewfs"):
        clean(output="viewfs://crawls/clean/out", sites=TWO)
    assert not list(tmp_path.rglob("*.parquet"))
