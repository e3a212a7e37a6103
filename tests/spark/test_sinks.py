"""Layouts of the output: folders by language or crawl, files of a given size, and the column html."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from tests.spark.crawl import CZECH, PARAGRAPH, Victor, rows
from tests.warc import flaky, making
from tests.warc.flaky import Site, cut_after, status
from victor_spark import tables
from victor_spark.errors import UsageError
from victor_spark.request import RowOptions
from victor_spark.spark.ledger import literal
from victor_spark.spark.waves import rebalanced, write
from victor_spark.warc.inputs import resolve
from victor_spark.warc.reading import read

pytestmark = pytest.mark.spark

UNKNOWN = "__HIVE_DEFAULT_PARTITION__"


def folders(output: Path) -> dict[str, int]:
    """The folders of pages/ and how many Parquet files each has."""
    return {
        path.name: len(list(path.glob("*.parquet"))) for path in (output / "pages").iterdir() if path.is_dir()
    }


def test_a_folder_for_every_language_with_html_read_from_a_server_that_fails(
    spark: SparkSession, crawl: Path, tmp_path: Path, victor: Victor
) -> None:
    assert spark
    site = Site({"/a.warc.gz": (crawl / "a.warc.gz").read_bytes()})
    with flaky.served(site):
        # One look at the file, one for its size: what fails is the task's reading.
        site.faults = [None, None, status(503), cut_after(500), status(429)]
        inputs = (f"{site.url}/a.warc.gz", crawl / "b.warc.gz", crawl / "c.warc.gz")
        outcome = victor(
            "clean", *inputs, "--output", tmp_path / "out", "--html", "--partition-by", "language"
        )
        assert outcome.code == 0
        assert not site.faults
        payloads = {r.id: r.payload for shard in resolve([str(one) for one in inputs]) for r in read(shard)}
    assert folders(tmp_path / "out") == {"language=cs": 1, "language=en": 1, f"language={UNKNOWN}": 1}
    written = rows(tmp_path / "out")
    assert {row["id"]: row["html"] for row in written} == payloads
    assert [row["language"] for row in written].count(None) == 3
    assert {row["status"] for row in written if row["language"] is None} == {
        "http_status",
        "empty",
        "not_html",
    }
    frame = pd.read_parquet(tmp_path / "out" / "pages", partitioning=ds.partitioning(flavor="hive"))
    assert frame["language"].isna().sum() == 3, "as docs/output.md says"


def test_a_folder_for_every_crawl_and_texts_of_wet_files(
    spark: SparkSession, tmp_path: Path, victor: Victor
) -> None:
    assert spark
    named = tmp_path / "CC-MAIN-2024-10" / "wet"
    named.mkdir(parents=True)
    texts = [f"{CZECH}\n{CZECH} číslo {n}" for n in range(3)] + [PARAGRAPH]
    wet = [
        making.warc(text.encode(), number=n, kind="conversion", content_type="text/plain")
        for n, text in enumerate(texts)
    ]
    (named / "x.warc.wet.gz").write_bytes(making.shard(wet).content)
    (tmp_path / "y.warc.gz").write_bytes(making.shard(making.responses(2)).content)
    outcome = victor(
        "clean", tmp_path, "--output", tmp_path / "out", "--partition-by", "crawl", "--lang", "cs"
    )
    assert outcome.code == 0
    assert set(folders(tmp_path / "out")) == {"crawl=CC-MAIN-2024-10", f"crawl={UNKNOWN}"}
    found = [row for row in rows(tmp_path / "out") if row["crawl"] is not None]
    assert [row["status"] for row in found] == ["ok", "ok", "ok", "wrong_language"]
    assert [row["text"] for row in found] == [*texts[:3], None]
    assert {row["cleaner"] for row in found} == {"none"}


@pytest.mark.parametrize("name", ["a[1]b", "a{b,c}", "a*?", "a\\b", "[]{}*?\\"])
def test_spark_reads_a_folder_whose_name_is_a_pattern_and_no_other(
    spark: SparkSession, tmp_path: Path, name: str
) -> None:
    for folder, number in (("a1b", 0), ("ab", 1), ("ac", 2), ("a*x", 3), ("a", 4), (name, 5)):
        (tmp_path / folder).mkdir()
        pq.write_table(pa.table({"number": [number]}), tmp_path / folder / "part.parquet")
    found = spark.read.parquet(literal(f"file://{tmp_path}/{name}")).collect()
    assert [row.number for row in found] == [5]


WORDS = [f"{random.Random(n).randrange(1 << 32):x}" for n in range(5000)]


def invented(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """A page for every number, of words that don't compress to nothing; one in four has no language."""
    for batch in batches:
        pages: list[dict[str, Any]] = []
        for number in batch.column(0).to_pylist():
            source = random.Random(number)
            language = (None, "cs", "en", "en")[number % 4]
            pages.append(
                {"id": str(number), "language": language, "text": " ".join(source.choices(WORDS, k=250))}
            )
        yield pa.RecordBatch.from_pylist(pages, tables.PAGES)


@pytest.mark.parametrize(("partition_by", "n_tasks"), [(None, 2), ("language", 8)])
def test_files_have_about_the_size_that_was_asked_for(
    spark: SparkSession, tmp_path: Path, partition_by: str | None, n_tasks: int
) -> None:
    pages = spark.range(0, 3000, 1, n_tasks).mapInArrow(invented, tables.ddl(tables.PAGES))
    asked = 192 << 10
    # Rows go from task to task in blocks. So few rows in many blocks would be mostly the blocks' own bytes.
    n_blocks = "spark.sql.adaptive.coalescePartitions.initialPartitionNum"
    spark.conf.set(n_blocks, "64")
    folders = [partition_by] if partition_by else []
    write(rebalanced(pages, asked, folders), str(tmp_path / "out"), folders)
    spark.conf.unset(n_blocks)
    sizes: dict[Path, list[int]] = {}
    for path in (tmp_path / "out").rglob("*.parquet"):
        sizes.setdefault(path.parent, []).append(path.stat().st_size)
    assert len(sizes) == (3 if partition_by else 1)
    assert sum(map(sum, sizes.values())) > 6 * asked
    for folder in sizes.values():
        assert max(folder) < 2 * asked, sizes
        assert min(sorted(folder)[1:] or folder) > asked / 2.5, sizes  # but for what is left over
    assert spark.read.parquet(str(tmp_path / "out")).select("id").distinct().count() == 3000


def test_a_layout_that_makes_no_sense_is_named() -> None:
    with pytest.raises(UsageError, match="partitioned by language or crawl, not by host"):
        RowOptions(partition_by="host")
