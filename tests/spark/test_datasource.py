"""spark.read.format("warc"): the reader's records for any division into tasks, and its example."""

import contextlib
import io
import pickle
import re
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from victor_spark import tables
from victor_spark.errors import UsageError
from victor_spark.spark import datasource
from victor_spark.spark.datasource import WarcDataSource, WarcReader
from victor_spark.warc.inputs import resolve
from victor_spark.warc.reading import read
from victor_spark.warc.shard import ReadOptions


def reader(*names: str, **options: str) -> WarcReader:
    return WarcReader(names or tables.RECORDS.names, options)


def found(reading: WarcReader) -> list[tuple[str, int]]:
    rows = [
        row
        for part in reading.partitions()
        for batch in pickle.loads(pickle.dumps(reading)).read(pickle.loads(pickle.dumps(part)))
        for row in batch.to_pylist()
    ]
    return [(row["warc_filename"], row["warc_record_offset"]) for row in rows]


def test_its_records_are_the_readers_however_the_shards_are_divided(crawl: Path) -> None:
    shards = resolve([str(crawl)])
    records = [record for shard in shards for record in read(shard)]
    expected = [(record.warc_filename, record.warc_record_offset) for record in records]
    for size, n_partitions in (("1G", 1), (6000, 2), (1000, 9)):
        reading = reader(path=str(crawl), splitBytes=str(size))
        assert len(reading.partitions()) >= n_partitions
        assert found(reading) == expected


def test_the_session_reads_them_with_their_html(spark: SparkSession, crawl: Path) -> None:
    datasource.register(spark)
    rows = spark.read.format("warc").option("statuses", "200,404").load(str(crawl)).collect()
    options = ReadOptions(statuses=(200, 404))
    records = {r.id: r for shard in resolve([str(crawl)]) for r in read(shard, options)}
    assert len(rows) == len(records) == 17
    for row in rows:
        record = records[row.id]
        payload = None if row.html is None else bytes(row.html)
        assert (payload, row.url, row.status) == (record.payload, record.url, record.status or "ok")
        assert (row.fetch_status, row.reason) == (record.fetch_status, record.reason)
        assert row.fetch_time.isoformat().startswith("2025-03-01T12:30:00")
    few = (
        spark.read.format("warc")
        .schema("url string")
        .load([str(crawl / "a.warc.gz"), str(crawl / "c.warc.gz")])
    )
    assert few.columns == ["url"]
    assert few.count() == 11


def test_a_shard_that_cannot_be_read_is_a_row(tmp_path: Path) -> None:
    (tmp_path / "bad.warc.gz").write_bytes(b"\x1f\x8b\x08\x00" + b"not gzip at all " * 100)
    reading = reader(path=str(tmp_path))
    (batch,) = (batch for part in reading.partitions() for batch in reading.read(part))
    (row,) = batch.to_pylist()
    assert (row["status"], row["warc_record_offset"], row["html"]) == ("error", None, None)
    assert "bad.warc.gz" in row["reason"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"path": "x", "status": "200"}, "has no option status "),
        ({"path": "x", "maxBytes": "many"}, "the option maxbytes can't be 'many'"),
        ({"path": "x", "splitBytes": "64Q"}, "the option splitbytes can't be '64Q'"),
        ({"path": "x", "statuses": "2xx"}, "the option statuses can't be '2xx'"),
    ],
)
def test_options_that_make_no_sense_are_named(options: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        WarcDataSource(options).reader(StructType())


def test_columns_and_inputs_that_are_not_there_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no column text"):
        reader("url", "text", path="x")
    with pytest.raises(UsageError, match="nothing to read"):
        reader().partitions()


def test_the_session_names_a_missing_file(spark: SparkSession, tmp_path: Path) -> None:
    datasource.register(spark)
    with pytest.raises(AnalysisException, match=r"gone\.warc\.gz: no such file"):
        spark.read.format("warc").load(str(tmp_path / "gone.warc.gz")).count()


def test_the_example_of_the_documentation_runs(spark: SparkSession, root: Path) -> None:
    assert spark
    text = (root / "docs" / "exploring.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    example = example.replace('("sample', f'("{root}/sample')  # Spark's workers may be in another folder
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(example, "exploring.md", "exec"), {})
    assert "url_host_name" in printed.getvalue()
    columns = set(re.findall(r"`(\w+)`", text))
    assert {"html", "status", "reason"} <= columns
    options = {name.lower() for name in re.findall(r"^\| `(\w+)`", text, re.MULTILINE)} | {"paths"}
    assert options == {*datasource._OPTIONS}
