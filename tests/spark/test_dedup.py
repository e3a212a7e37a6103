"""Duplicates of a run: equal to those by brute force, for any division into tasks; and dropped."""

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from warcio.warcwriter import WARCWriter

from tests.spark.crawl import Victor, rows, write_warc
from victor_spark import minhash
from victor_spark.errors import OutputError
from victor_spark.spark import dedup
from victor_spark.spark.files import check_outside
from victor_spark.words import words

pytestmark = pytest.mark.spark

SYLLABLES = ("ha", "ro", "fe", "ni", "ka", "lu", "mo", "ti", "ber", "gal", "sto", "pin", "wei", "dor")
WORDS = [f"{first}{second}{third}" for first in SYLLABLES for second in SYLLABLES for third in SYLLABLES]
Page = tuple[str, str]
"""Address and text."""


def story(chance: random.Random, n: int) -> list[str]:
    return chance.choices(WORDS, k=n)


def edited(chance: random.Random, text: Sequence[str], n: int) -> list[str]:
    """The text with `n` words replaced."""
    changed = list(text)
    for place in chance.sample(range(len(changed)), n):
        changed[place] = chance.choice(WORDS)
    return changed


def write_wet(path: Path, pages: Sequence[Page]) -> Path:
    """Pages as a WET file; its texts pass through `victor clean` unchanged. Each is a minute younger."""
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        for url, text in pages:
            minute = int(url.rpartition("/")[2])
            date = {
                "WARC-Date": f"2025-03-{1 + minute // 1440:02}T{minute // 60 % 24:02}:{minute % 60:02}:00Z"
            }
            record = writer.create_warc_record(
                url,
                "conversion",
                payload=BytesIO(text.encode()),
                warc_content_type="text/plain",
                warc_headers_dict=date,
            )
            writer.write_record(record)
            record.raw_stream.close()  # a temporary file by now
    return path


def numbered(texts: Sequence[Sequence[str]], n_sites: int = 40) -> list[Page]:
    return [(f"http://s{n % n_sites}.example/{n}", " ".join(text)) for n, text in enumerate(texts)]


def marks(table: Path) -> dict[str, tuple[Any, ...]]:
    """By address: cluster, whether kept, address of the page that is kept for it, similarity."""
    return {
        row["url"]: (
            row["duplicate_cluster"],
            row["is_kept"],
            row["duplicate_of"] and row["duplicate_of"]["url"],
            row["duplicate_similarity"],
        )
        for row in pq.read_table(table).to_pylist()
    }


@pytest.fixture(scope="module", autouse=True)
def few_partitions(spark: SparkSession) -> Iterator[None]:
    """Three partitions a shuffle: enough for tables as small as these."""
    spark.conf.set("spark.sql.shuffle.partitions", "3")
    yield
    spark.conf.unset("spark.sql.shuffle.partitions")


@pytest.fixture(scope="module")
def texts() -> list[list[str]]:
    """5,000 pages: stories with up to four edited copies, one page 600 times, one with a counter, a chain."""
    chance = random.Random(7)
    found = [story(chance, 80)] * 600
    notice = story(chance, 90)
    found += [[*notice[:45], f"visitor{n}", *notice[45:]] for n in range(150)]
    link = story(chance, 120)
    for n in range(60):
        link = [*link[: 2 * n], *story(chance, 2), *link[2 * n + 2 :]]
        found.append(link)
    while len(found) < 5000:
        first = story(chance, chance.randint(3, 120))
        copies = [
            edited(chance, first, chance.randint(0, len(first) // 20)) for _ in range(chance.randrange(5))
        ]
        found += [first, *copies]
    chance.shuffle(found)
    return found[:5000]


def brute_force(texts: Sequence[str], n: int = 5) -> dict[tuple[int, int], float]:
    """Pairs of pages that share a run of words, and their exact Jaccard similarity."""
    runs = []
    for text in texts:
        of_text = words(text)
        size = min(n, len(of_text))
        runs.append({tuple(of_text[first : first + size]) for first in range(len(of_text) - size + 1)})
    shared, holders = Counter[tuple[int, int]](), defaultdict[tuple[str, ...], list[int]](list)
    for page, of_page in enumerate(runs):
        for run in of_page:
            shared.update((other, page) for other in holders[run])
            holders[run].append(page)
    return {(a, b): n_both / (len(runs[a]) + len(runs[b]) - n_both) for (a, b), n_both in shared.items()}


def test_duplicates_are_those_of_brute_force(texts: list[list[str]], tmp_path: Path, victor: Victor) -> None:
    """Of all pairs at the threshold at least 99 % are in one cluster, and clusters hold nothing else."""
    pages = numbered(texts)
    assert (
        victor("clean", write_wet(tmp_path / "a.warc.wet.gz", pages), "--output", tmp_path / "out").code == 0
    )
    outcome = victor("dedup", tmp_path / "out")
    assert outcome.code == 0, outcome.lines
    found = marks(tmp_path / "out" / "duplicates")
    cluster = {int(url.rpartition("/")[2]): mark[0] for url, mark in found.items()}
    distinct = sorted({text: page for page, (_, text) in reversed(list(enumerate(pages)))}.values())
    exact = brute_force([pages[page][1] for page in distinct])
    similar = {
        (distinct[a], distinct[b]): similarity for (a, b), similarity in exact.items() if similarity >= 0.8
    }
    together = [a in cluster and cluster[a] == cluster.get(b) for a, b in similar]
    assert len(similar) > 12_000
    assert sum(together) >= 0.99 * len(together)
    above = list(range(len(pages)))

    def root(page: int) -> int:
        while above[page] != page:
            above[page] = above[above[page]]
            page = above[page]
        return page

    for a, b in similar:
        above[root(a)] = root(b)
    of_text = {pages[page][1]: root(page) for page in distinct}
    components = defaultdict(set)
    for page, name in cluster.items():
        components[name].add(of_text[pages[page][1]])
    assert all(len(names) == 1 for names in components.values())
    assert max(Counter(cluster.values()).values()) == 600
    numbers = {page: index for index, page in enumerate(distinct)}
    by_text = {text: page for page, (_, text) in reversed(list(enumerate(pages)))}
    for url, (_, is_kept, kept, similarity) in found.items():
        if is_kept:
            assert (kept, similarity) == (None, None)
            continue
        one, other = (numbers[by_text[pages[int(each.rpartition("/")[2])][1]]] for each in (url, kept))
        expected = 1.0 if one == other else exact.get((min(one, other), max(one, other)), 0.0)
        assert similarity == pytest.approx(expected, abs=1e-9)
    summary = next(line for line in outcome.lines if " duplicates in " in line)
    assert f"{sum(not mark[1] for mark in found.values()):,} duplicates" in summary


@pytest.fixture(scope="module")
def article() -> list[str]:
    return story(random.Random(3), 60)


@pytest.fixture(scope="module")
def small(article: list[str]) -> list[Page]:
    """An article, its copies on three sites, a longer one; a Chinese text and its copy; two other pages."""
    text = " ".join(article)
    chinese = (
        "渡船早上七点开往岛上，那时水面上还笼罩着雾，晚上六点回来。冬天完全不开，岛民们储存面粉和煤。" * 2
    )
    return [
        ("http://www.gazette.example/3", text),
        ("http://gazette.example/1", text.upper().replace(" ", "\n", 9)),
        ("http://wire.example/2", f"{text} from the wire service"),
        ("http://mirror.example/5", text),
        ("http://mirror.example/4", text),
        ("http://jiangnan.example/7", chinese),
        ("http://jiangnan.example/6", f"{chinese}岛上"),
        ("http://own.example/8", "ferry"),
        ("http://own.example/9", " ".join(story(random.Random(4), 50))),
    ]


@pytest.fixture(scope="module")
def cleaned(small: list[Page], tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> Path:
    """A run over the small crawl, in two shards."""
    from victor_spark.cli import main

    folder = tmp_path_factory.mktemp("small")
    write_wet(folder / "a.warc.wet.gz", small[:4])
    write_wet(folder / "b.warc.wet.gz", small[4:])
    assert spark
    assert main(["clean", str(folder), "--output", str(folder / "out")]) == 0
    return folder / "out"


@pytest.fixture(scope="module")
def found(cleaned: Path) -> dict[str, tuple[Any, ...]]:
    """The marks of the small crawl's pages, found without options."""
    from victor_spark.cli import main

    assert main(["dedup", str(cleaned)]) == 0
    return marks(cleaned / "duplicates")


def test_the_first_page_is_kept_and_all_others_name_it(found: dict[str, tuple[Any, ...]]) -> None:
    assert {url: kept for url, (_, _, kept, _) in found.items()} == {
        "http://gazette.example/1": None,
        "http://wire.example/2": "http://gazette.example/1",
        "http://www.gazette.example/3": "http://gazette.example/1",
        "http://mirror.example/4": "http://gazette.example/1",
        "http://mirror.example/5": "http://gazette.example/1",
        "http://jiangnan.example/6": None,
        "http://jiangnan.example/7": "http://jiangnan.example/6",
    }
    assert found["http://mirror.example/4"][3] == 1.0
    assert found["http://wire.example/2"][3] == pytest.approx(56 / 60)
    assert len({mark[0] for mark in found.values()}) == 2


def test_other_shards_and_partitions_give_the_same_and_links_united_by_spark(
    found: dict[str, tuple[Any, ...]],
    small: list[Page],
    spark: SparkSession,
    tmp_path: Path,
    victor: Victor,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dedup, "_FEW_LINKS", 0)
    for n, page in enumerate(reversed(small)):
        write_wet(tmp_path / f"{n}.warc.wet.gz", [page])
    assert victor("clean", tmp_path, "--output", tmp_path / "out", "--partitions", 5).code == 0
    spark.conf.set("spark.sql.shuffle.partitions", "7")
    try:
        assert victor("dedup", tmp_path / "out").code == 0
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", "3")
    assert marks(tmp_path / "out" / "duplicates") == found


def test_the_longest_page_of_each_site_is_kept_and_the_others_are_dropped(
    cleaned: Path, tmp_path: Path, victor: Victor
) -> None:
    output = tmp_path / "unique"
    options = ("--keep", "longest", "--per-site", "--output", output, "--drop", "--threshold", "0.7")
    before = rows(cleaned)
    outcome = victor("dedup", cleaned, *options)
    assert outcome.code == 0, outcome.lines
    table = pq.read_table(output)
    kept = {row["url"]: row for row in table.to_pylist()}
    assert sorted(int(url.rpartition("/")[2]) for url in kept) == [1, 2, 4, 6, 8, 9]
    for row in before:
        if row["url"] in kept:
            assert {name: kept[row["url"]][name] for name in row} == row
    assert rows(cleaned) == before
    assert (
        kept["http://mirror.example/4"]["duplicate_cluster"]
        == kept["http://wire.example/2"]["duplicate_cluster"]
    )
    assert kept["http://own.example/8"]["duplicate_cluster"] is None
    assert not [path for path in tmp_path.iterdir() if path != output]
    assert {path.name for path in (cleaned / "_run").iterdir()} >= {"duplicates.json"}
    assert not (cleaned / "_run" / "dedup").exists()


def test_the_pages_table_is_written_with_marks(
    cleaned: Path, tmp_path: Path, victor: Victor, capfd: pytest.CaptureFixture[str]
) -> None:
    outcome = victor("dedup", cleaned, "--output", tmp_path / "marked")
    assert outcome.code == 0
    assert outcome.lines[-1].endswith(f"written to {cleaned}/duplicates, pages to {tmp_path}/marked")
    record = json.loads((cleaned / "_run" / "duplicates.json").read_text())
    assert (record["per_site"], record["drop"]) == (False, False)
    assert "All paths were ignored" not in capfd.readouterr().err
    assert not [*tmp_path.rglob(".*"), *(cleaned / "duplicates").rglob(".*")], "no checksums of Hadoop"
    found = {row["url"]: row for row in pq.read_table(tmp_path / "marked").to_pylist()}
    assert len(found) == 9
    assert found["http://mirror.example/5"]["duplicate_of"]["url"] == "http://gazette.example/1"
    assert found["http://mirror.example/5"]["duplicate_similarity"] == 1.0
    assert found["http://own.example/9"]["duplicate_of"] is None
    outcome = victor("dedup", cleaned, "--output", tmp_path / "marked")
    assert outcome.code == 2
    assert "marked: exists" in outcome.lines[-1]


def test_what_a_killed_command_left_is_removed_and_one_that_runs_is_left_alone(
    cleaned: Path, root: Path, tmp_path: Path, victor: Victor
) -> None:
    """It is killed when it has read the pages; the folder of its draft is there from the start."""
    target, hidden = tmp_path / "marked", tmp_path / ".marked.draft"
    other = shutil.copytree(cleaned, tmp_path / "other")
    script = (
        "import sys, time; from victor_spark import cli, logs; from victor_spark.spark import dedup\n"
        "dedup.log = lambda line: (print(line, flush=True), time.sleep(600))\n"
        f"cli.main(['dedup', {str(cleaned)!r}, '--output', {str(target)!r}, '--master', 'local[1]'])"
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYSPARK_")}
    environment["PYTHONPATH"] = str(root)
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline().endswith(" read\n")
        (hidden / "marked").mkdir()
        (hidden / "marked" / "part-of-a-killed-run").touch()
        refused = victor("dedup", other, "--output", target)
        assert refused.lines[-1].endswith("another command is writing there")
        assert [*(hidden / "marked").iterdir()]
        process.kill()
    assert victor("dedup", other, "--output", target).code == 0
    assert not [*tmp_path.glob(".*")]
    assert not [*target.glob("part-of*")]


def test_what_cannot_be_done_is_one_line_and_changes_nothing(
    cleaned: Path, tmp_path: Path, victor: Victor
) -> None:
    assert "holds no run of victor clean" in victor("dedup", tmp_path).lines[-1]
    assert "--drop needs --output" in victor("dedup", cleaned, "--drop").lines[-1]
    assert "between 0 and 1" in victor("dedup", cleaned, "--threshold", "1.5").lines[-1]
    assert "no folder" in victor("dedup", cleaned, "--output", tmp_path / "no" / "folder").lines[-1]
    lines = ("export", cleaned, tmp_path / "lines", "--to", "jsonl", "--where")
    refused = {
        "nosuch=1": "A column, ",
        "> 1": "Syntax error",
        "text = 5": "The value ",
        "1/0 = 1": "Division by",
    }
    for where, reason in refused.items():
        outcome = victor(*lines, where)
        assert f"--where {where}: {reason}" in outcome.lines[-1]
        assert "SQLSTATE" not in outcome.lines[-1]
        assert outcome.code == 2
        assert not [path for path in tmp_path.iterdir() if "lines" in path.name]
    (tmp_path / "link").symlink_to(cleaned)
    for place in (cleaned, f"{cleaned}/", cleaned / "pages" / "x", tmp_path / "link" / "x"):
        before = sorted(cleaned.rglob("*"))
        for command in (["dedup", cleaned, "--output", place], ["export", cleaned, place, "--to", "jsonl"]):
            outcome = victor(*command)
            assert outcome.code == 2
            assert "is in the output of the run" in outcome.lines[-1]
        assert sorted(cleaned.rglob("*")) == before
    config = cleaned / "_run" / "config.json"
    good = config.read_text()
    config.write_text(good.replace('"schema_version": "', '"schema_version": "0'))
    assert "pages have schema version 0" in victor("dedup", cleaned).lines[-1]
    config.write_text(good)
    done = cleaned / "_run" / "run.json"
    done.rename(done.with_name("run.gone"))
    of_dedup, of_export = (victor(*command).lines[-1] for command in (["dedup", cleaned], [*lines, "true"]))
    assert of_dedup == of_export
    assert "the run is incomplete; the same `victor clean` command resumes it" in of_dedup
    done.with_name("run.gone").rename(done)


@pytest.mark.parametrize(
    ("place", "is_refused"),
    [("s3://b/out", True), ("s3a://b/out/x/", True), ("s3://b/y/../out/x", True), ("s3://b/out2", False),
     ("s3://c/out", False), ("hdfs://b/out", False), ("out", False)],
)  # fmt: skip
def test_a_place_in_the_output_of_a_run_is_known_in_a_store_too(place: str, is_refused: bool) -> None:
    with pytest.raises(OutputError) if is_refused else nullcontext():
        check_outside(place, "s3://b/out")


def test_a_run_without_pages_to_compare_has_no_duplicates(tmp_path: Path, victor: Victor) -> None:
    pages = [("http://a.example/1", "..."), ("http://a.example/2", "ferry")]
    write_wet(tmp_path / "a.warc.wet.gz", pages)
    for language in ("und", "cs"):
        output = tmp_path / language
        options = ["--lang", "cs"] if language == "cs" else []
        assert victor("clean", tmp_path / "a.warc.wet.gz", "--output", output, *options).code == 0
        outcome = victor("dedup", output, "--threshold", "1")
        assert outcome.code == 0, outcome.lines
        assert outcome.lines[-1].startswith("victor: 0 duplicates in 0 clusters")
        assert marks(output / "duplicates") == {}


def test_hosts_without_a_domain_are_sites_and_pages_without_a_date_are_the_last(spark: SparkSession) -> None:
    hosts = [
        ("192.0.2.1", None),
        ("192.0.2.1", "2025-03-02"),
        ("192.0.2.1", "2025-03-01"),
        ("192.0.2.2", None),
    ]
    found = [
        (str(number), f"http://{host}/{number}", "a.warc", number, b"text", "a text", date, host, None)
        for number, (host, date) in enumerate(hosts)
    ]
    columns = "id string, url string, warc_filename string, warc_record_offset long, text_hash binary"
    columns += ", text string, fetch_time string, url_host_name string, url_host_registered_domain string"
    request = dedup.DedupRequest(
        location="", threshold=0.8, shingle_words=5, keep="first", per_site=True, target=None, drop=False,
        master=None,
    )  # fmt: skip
    members = spark.createDataFrame([], "text_hash binary, cluster binary")
    clustered = dedup._clustered(spark.createDataFrame(found, columns), members, request)
    assert {row.id: row.kept.id for row in clustered.collect()} == {"0": "2", "1": "2", "2": "2", "3": "3"}


def test_a_bucket_of_ten_thousand_texts_makes_few_pairs(spark: SparkSession) -> None:
    signed = spark.range(10_000).selectExpr("unhex(md5(string(id))) AS text_hash", "array(1L, 2L) AS buckets")
    assert dedup._candidates(signed).count() == 9_999


def test_duplicates_are_found_among_pages_that_share_two_thirds_of_their_text(spark: SparkSession) -> None:
    """Such pages share many buckets by chance, in which the smallest text is seldom the duplicate."""
    chance, rows_of_band = random.Random(13), minhash.rows_of_band(0.8)
    shared = story(chance, 300)
    pages = [[*shared, *story(chance, 75)] for _ in range(400)]
    pages += [edited(chance, page, 3) for page in pages]
    signed = [
        (number.to_bytes(2, "big"), minhash.buckets(minhash.shingles(page, 5), rows_of_band).tolist())
        for number, page in enumerate(pages)
    ]
    schema = "text_hash binary, buckets array<bigint>"
    found = dedup._candidates(spark.createDataFrame(signed, schema)).collect()
    pairs = {(int.from_bytes(row.other, "big"), int.from_bytes(row.text_hash, "big")) for row in found}
    assert sum((number, number + 400) in pairs for number in range(400)) >= 390
    assert len(pairs) < 20 * len(pages)


def test_many_links_are_united_by_spark_as_few_are_by_the_driver(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A chain of a thousand texts, along which the smallest label would have to travel, and small trees."""
    chance = random.Random(5)
    names = [bytes([number >> 8, number & 255]) for number in range(2000)]
    pairs = [*pairwise(names[:1000]), *(chance.sample(names[1000:], 2) for _ in range(600))]
    links = spark.createDataFrame(
        [(max(pair), min(pair)) for pair in pairs], "text_hash binary, other binary"
    )
    few = {
        bytes(text): bytes(cluster) for text, cluster in dedup._members(links, 1600, str(tmp_path)).collect()
    }
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr(dedup, "_FEW_LINKS", 1599)
    many = dedup._members(links, 1600, str(tmp_path)).collect()
    assert {bytes(row.text_hash): bytes(row.cluster) for row in many} == few
    assert len(many) == len(few)
    assert len(list(tmp_path.glob("round-*"))) <= 15
    assert few.keys() == {name for pair in pairs for name in pair}
    assert {few[name] for name in names[:1000]} == {names[0]}
    assert all(few[one] == few[other] for one, other in pairs)
    assert len(set(few.values())) > 50


@pytest.mark.parametrize("wait", [60.0, 0.0])
def test_rows_are_counted_by_another_job_where_the_count_of_the_write_does_not_come(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wait: float
) -> None:
    monkeypatch.setattr(dedup, "_LONGEST_WAIT", wait)
    if not wait:  # as if Spark's queue of events had overflowed
        monkeypatch.setattr(dedup.Observation, "get", property(lambda _: time.sleep(60)))
    stored, counts = dedup._written(
        spark.range(7).toDF("n"), str(tmp_path / "rows"), n="count(1)", most="max(n)"
    )
    assert (counts, stored.count()) == ({"n": 7, "most": 6}, 7)


def test_pairs_at_the_threshold_share_a_bucket() -> None:
    chance = random.Random(11)
    rows_of_band = minhash.rows_of_band(0.8)
    n_shared, n_pairs = 0, 0
    for _ in range(1500):
        text = story(chance, 150)
        one, other = (minhash.shingles(each, 5) for each in (text, edited(chance, text, 3)))
        exact = len({*one.tolist()} & {*other.tolist()}) / len({*one.tolist()} | {*other.tolist()})
        assert minhash.similarity(minhash.sketch(one), minhash.sketch(other)) == exact
        if 0.8 <= exact < 0.84:
            buckets = [set(minhash.buckets(each, rows_of_band).tolist()) for each in (one, other)]
            n_shared, n_pairs = n_shared + bool(buckets[0] & buckets[1]), n_pairs + 1
    assert n_pairs > 200
    assert n_shared >= 0.98 * n_pairs


def test_long_texts_are_compared_by_estimate_and_empty_ones_not() -> None:
    chance = random.Random(12)
    text = story(chance, 20_000)
    one, other = (minhash.shingles(each, 5) for each in (text, edited(chance, text, 700)))
    exact = len({*one.tolist()} & {*other.tolist()}) / len({*one.tolist()} | {*other.tolist()})
    assert minhash.similarity(minhash.sketch(one), minhash.sketch(other)) == pytest.approx(exact, abs=0.05)
    nothing = minhash.shingles([], 5)
    assert len(minhash.buckets(nothing, 6)) == 0
    assert minhash.similarity(minhash.sketch(nothing), minhash.sketch(nothing)) == 0.0
    assert len(minhash.shingles(["a", "b"], 5)) == 1


def test_a_run_in_folders_by_language_that_has_no_page_is_exported_and_has_no_duplicates(
    tmp_path: Path, victor: Victor
) -> None:
    """As of a WAT file: OUT/pages then has no Parquet file that states the columns; the results have one."""
    archive, output = write_warc(tmp_path / "a.warc.gz", []), tmp_path / "out"
    outcome = victor("clean", archive, "--output", output, "--partition-by", "language")
    assert outcome.code == 0
    assert any(line.endswith("the inputs hold no html records") for line in outcome.lines)
    assert victor("dedup", output, "--output", tmp_path / "unique").code == 0
    options = ("--to", "parquet", "--partition-by", "language")
    assert victor("export", output, tmp_path / "pages", *options).code == 0
    assert victor("export", output, tmp_path / "lines", "--to", "jsonl").code == 0
    for folder in ("unique", "pages"):
        found = pq.read_table(tmp_path / folder)
        assert (found.num_rows, found.schema.names[:2]) == (0, ["id", "url"])
