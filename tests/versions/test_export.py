"""A finished run exported to each format, and read by pyiceberg, deltalake, DuckDB, fsspec and Spark."""

import json
import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any, Final

import pytest

from tests.conftest import ROOT
from tests.spark.crawl import CZECH, PARAGRAPH, Response, page, rows, write_warc
from tests.versions.environments import FOLDER, OURS, UnavailableError, made
from tests.versions.test_versions import NEWEST, Version, version
from victor_spark.spark.files import LocalFiles

pytestmark = [pytest.mark.versions, pytest.mark.timeout(600)]

DOMAIN: Final = "url_host_registered_domain"
READ: Final = """
import glob, json, os, sys
import deltalake, duckdb, fsspec
from pyiceberg.catalog import load_catalog
out = sys.argv[1]
table = load_catalog("lake").load_table("web.pages")
lines = []
for path in glob.glob(f"{out}/lines/*.jsonl.zst"):
    with fsspec.open(path, "rt", compression="zstd", encoding="utf-8") as file:
        lines += [json.loads(line) for line in file]
found = {
    "iceberg": [table.scan().to_arrow().sort_by("url")["text"].to_pylist(), table.schema().column_names],
    "czech": table.scan(row_filter="language = 'cs'").to_arrow().num_rows,
    "snapshots": len(table.metadata.snapshots),
    "metadata": table.metadata_location,
    "delta": [deltalake.DeltaTable(f"{out}/delta").to_pyarrow_table().sort_by("url")["text"].to_pylist(),
              deltalake.DeltaTable(f"{out}/delta").metadata().partition_columns],
    "lines": lines,
    "parquet": duckdb.sql(
        f"SELECT url_host_registered_domain, count(*) FROM read_parquet('{out}/dataset/**/*.parquet')"
        " GROUP BY 1 ORDER BY 1"
    ).fetchall(),
    "text": "".join(open(path, encoding="utf-8").read() for path in glob.glob(f"{out}/text/*.txt")),
}
print(json.dumps(found))
"""

READ_BY_SPARK: Final = """
import json, sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[1]").getOrCreate()
tables = {name: spark.read.format(name).load(path) for name, path in zip(("iceberg", "delta"), sys.argv[1:])}
found = {name: [row.text for row in table.orderBy("url").collect()] for name, table in tables.items()}
groups = tables["iceberg"].groupBy("language", "day").count().collect()
print(json.dumps([found, [row["count"] for row in groups]]))
"""
RUNTIMES: Final = (
    "org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:1.10.1",
    "io.delta:delta-spark_2.13:4.0.0",
)
DELTA: Final = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.sql.shuffle.partitions": "1",
}

WORK: Final = """
import json, sys
from victor_spark.cli import main
from victor_spark.spark.session import session
with session(master="local[2]"):
    print(json.dumps([main(command) for command in json.load(sys.stdin)]))
"""

AT_ONCE: Final = """
import json, sys
from pathlib import Path
import deltalake, pyarrow as pa, pyarrow.parquet as pq
from pyiceberg.catalog import load_catalog
from victor_spark import tables
from victor_spark.request import ExportRequest
from victor_spark.spark.export import SINKS, Export
for format, table in (("iceberg", "lake.web.shared"), ("delta", sys.argv[1])):
    request, begun = ExportRequest(output="out", destination=table, to=format), []
    for run in ("one", "two"):
        sink = SINKS[format](table, Export(run, tables.PAGES, request, {}))
        path = Path(sink.location.removeprefix("file://")) / "a.parquet"
        path.parent.mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist([{"text": run}], schema=tables.PAGES), path)
        begun.append((sink, path.stat().st_size))
    for sink, size in begun:
        sink.commit({"a.parquet": size}, 1)
found = [load_catalog("lake").load_table("web.shared").scan().to_arrow(),
         deltalake.DeltaTable(sys.argv[1]).to_pyarrow_table()]
print(json.dumps([sorted(one["text"].to_pylist()) for one in found]))
"""


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> tuple[Version, Path]:
    """An environment with the libraries of tables, and a folder with a catalog."""
    try:
        found = version(made(NEWEST, OURS, "pyiceberg[sql-sqlite]", "deltalake", "duckdb"))
    except UnavailableError as error:
        pytest.skip(str(error))
    folder = tmp_path_factory.mktemp("lake")
    (folder / "warehouse").mkdir()
    catalog = {
        "TYPE": "sql",
        "URI": f"sqlite:///{folder}/catalog.db",
        "WAREHOUSE": f"file://{folder}/warehouse",
    }
    of_catalog = {f"PYICEBERG_CATALOG__LAKE__{name}": value for name, value in catalog.items()}
    return Version(found.python, {**found.variables, **of_catalog}), folder


LEFT = "\nimport os, sys\nsys.stdout.flush()\nos._exit(0)\n"
"""Ends a program at once: the libraries' threads sometimes abort a Python that waits for them."""


def run(lake: Version, script: str, *arguments: object, stdin: object = None) -> tuple[Any, list[str]]:
    """The JSON that a program prints, and our lines on stderr."""
    done = subprocess.run(
        [lake.python, "-c", script + LEFT, *map(str, arguments)],
        env=lake.variables,
        cwd=ROOT,
        input=json.dumps(stdin),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-6000:]
    return json.loads(done.stdout), [line for line in done.stderr.splitlines() if "victor: " in line]


@pytest.fixture(scope="module")
def outputs(lake: tuple[Version, Path]) -> tuple[Path, Path]:
    """Two runs: English, Czech, a page twice and a 404; and a second crawl with blocks."""
    version, folder = lake
    english = [
        Response(f"http://a.example/{n}", page(f"Ferry {n}", *[PARAGRAPH] * (n + 1)).encode())
        for n in range(4)
    ]
    twice = [Response(f"http://b.example/{n}", page("Ferry", PARAGRAPH, CZECH).encode()) for n in range(2)]
    czech = [Response(f"http://c.example/{n}", page(f"Přívoz {n}", CZECH, CZECH).encode()) for n in range(3)]
    gone = Response("http://a.example/gone", page("Gone", PARAGRAPH).encode(), "404 Not Found")
    first = write_warc(folder / "first.warc.gz", [*english, *twice, gone])
    second = write_warc(folder / "second.warc.gz", czech)
    commands = [
        ["clean", str(first), "--output", str(folder / "first")],
        ["clean", str(second), "--output", str(folder / "second"), "--blocks"],
    ]
    assert run(version, WORK, stdin=commands)[0] == [0, 0]
    return folder / "first", folder / "second"


@pytest.fixture(scope="module")
def exported(lake: tuple[Version, Path], outputs: tuple[Path, Path]) -> tuple[list[str], dict[str, Any]]:
    """Both runs in each format: our lines, and what readers find."""
    version, folder = lake
    first, second = map(str, outputs)
    iceberg = ["lake.web.pages", "--to", "iceberg", "--partition-by", "language,day"]
    delta = [str(folder / "delta"), "--to", "delta", "--partition-by", "language,day"]
    lines = [str(folder / "lines"), "--to", "jsonl", "--where", "n_kept_blocks > 2", "--unique"]
    commands = [
        ["export", first, *iceberg],
        ["export", first, *iceberg],  # the table has it already
        ["export", second, *iceberg],  # with one column more
        ["export", first, *delta],
        ["export", first, *delta],
        ["export", second, *delta],
        ["export", first, *lines],
        ["export", first, *lines],
        ["export", first, str(folder / "dataset"), "--to", "parquet", "--partition-by", DOMAIN],
        ["export", first, str(folder / "text"), "--to", "text"],
    ]
    codes, messages = run(version, WORK, stdin=commands)
    assert codes == [0] * len(commands), messages
    return messages, run(version, READ, folder)[0]


def all_ok(outputs: tuple[Path, Path]) -> list[dict[str, Any]]:
    """The pages of both runs that are exported, in the order of their addresses."""
    ok = (row for row in [*rows(outputs[0]), *rows(outputs[1])] if row["status"] == "ok")
    return sorted(ok, key=lambda row: row["url"])


def test_each_format_holds_the_pages_that_are_ok_once(
    lake: tuple[Version, Path], outputs: tuple[Path, Path], exported: tuple[list[str], dict[str, Any]]
) -> None:
    (_, folder), (messages, found), ok = lake, exported, all_ok(outputs)
    assert [line.partition("holds this run")[1] != "" for line in messages] == [
        False, True, False, False, True, False, False, True, False, False,
    ]  # fmt: skip
    assert len(ok) == 9
    assert found["iceberg"][0] == found["delta"][0] == [row["text"] for row in ok]
    assert found["iceberg"][1][-1] == "blocks", "a column that the table lacked"
    assert found["czech"] == sum(row["language"] == "cs" for row in ok) > 0
    assert found["snapshots"] == 2
    assert found["delta"][1] == ["language", "day"]
    mine = [row for row in rows(outputs[0]) if row["status"] == "ok"]
    chosen = {row["text"]: row for row in reversed(mine) if row["n_kept_blocks"] > 2}
    assert {line["id"] for line in found["lines"]} == {row["id"] for row in chosen.values()}
    assert 0 < len(chosen) < len(mine) - 1, "both the condition and the duplicate matter"
    (line,) = [line for line in found["lines"] if line["url"] == "http://b.example/0"]
    assert line.keys() == {"id", "text", "url", "date", "language", "metadata"}
    assert line["date"] == "2025-03-01T12:30:00+00:00"
    assert line["metadata"]["url_host_name"] == "b.example"
    assert dict(found["parquet"]) == Counter(row[DOMAIN] for row in mine)
    assert len(list((folder / "dataset").glob(f"{DOMAIN}=*"))) == len(found["parquet"]) > 1
    assert sorted(found["text"].removesuffix("\n\n").split("\n\n")) == sorted(row["text"] for row in mine)
    card = (folder / "dataset" / "_README.md").read_text()
    assert "6 pages, of 7 records in 1 shard," in card
    assert not [name for name in os.listdir(folder) if name.startswith(".")], "no draft is left"


def test_spark_reads_the_tables_by_the_runtimes_of_iceberg_and_delta(
    lake: tuple[Version, Path], outputs: tuple[Path, Path], exported: tuple[list[str], dict[str, Any]]
) -> None:
    try:
        spark = version(made("==4.0.*", "3.12"))
    except UnavailableError as error:
        pytest.skip(str(error))
    conf = {"spark.jars.ivy": FOLDER / "ivy", "spark.ui.enabled": "false", **DELTA}
    flags = [f"--conf {name}={value}" for name, value in conf.items()]
    submit = " ".join([*flags, "--packages", ",".join(RUNTIMES), "pyspark-shell"])
    reader = Version(spark.python, {**spark.variables, "PYSPARK_SUBMIT_ARGS": submit})
    metadata = exported[1]["metadata"].removeprefix("file://")
    try:
        (found, groups), _ = run(reader, READ_BY_SPARK, metadata, lake[1] / "delta")
    except AssertionError as error:
        if "unresolved dependency" in str(error):
            pytest.skip("the runtimes of Iceberg and Delta cannot be downloaded")
        raise
    texts = [row["text"] for row in all_ok(outputs)]
    assert found == {"iceberg": texts, "delta": texts}
    assert sum(groups) == len(texts)
    assert len(groups) == 2, "by language and day"


def test_of_two_runs_exported_at_once_a_table_gets_both(lake: tuple[Version, Path]) -> None:
    """Both begin before the table has either run; two exports of one run exclude each other by a lock."""
    version, folder = lake
    assert run(version, AT_ONCE, folder / "shared")[0] == [["one", "two"], ["one", "two"]]


def test_what_cannot_be_exported_is_refused_in_one_line_and_leaves_nothing(
    lake: tuple[Version, Path], outputs: tuple[Path, Path], tmp_path: Path
) -> None:
    version, _ = lake
    first = str(outputs[0])
    stopped, other = tmp_path / "stopped", tmp_path / "other"
    shutil.copytree(first, stopped)
    (stopped / "_run" / "run.json").unlink()
    shutil.copytree(first, tmp_path / "torn")
    next((tmp_path / "torn" / "pages").glob("*.parquet")).unlink()
    other.mkdir()
    (other / "file").touch()
    new = str(tmp_path / "new")
    make = "import sys, pyarrow, deltalake as d; d.write_deltalake(sys.argv[1], pyarrow.table({'text': [1]}))"
    run(version, f"{make}; print(1)", tmp_path / "numbers")
    iceberg = "from pyiceberg.catalog import load_catalog as c; import pyarrow as pa; lake = c('lake')"
    make = "lake.create_table('web.numbers', pa.schema([('text', pa.int64())]))"
    run(version, f"{iceberg}; lake.create_namespace_if_not_exists('web'); {make}; print(1)")
    cases = {
        "the run is incomplete; the same `victor clean` command resumes it": [
            str(stopped),
            new,
            "--to",
            "jsonl",
        ],
        "holds no run of victor clean": [str(tmp_path / "nothing"), new, "--to", "jsonl"],
        "torn: the run is incomplete": [str(tmp_path / "torn"), new, "--to", "jsonl"],
        "choose a new folder": [first, str(other), "--to", "parquet"],
        "is no Delta table": [first, str(other), "--to", "delta"],
        "its column text has another type": [first, str(tmp_path / "numbers"), "--to", "delta"],
        "ValidationError: ": [first, "lake.web.numbers", "--to", "iceberg"],
        "CATALOG.NAMESPACE.TABLE": [first, "pages", "--to", "iceberg"],
        "`nope` cannot be resolved": [first, new, "--to", "jsonl", "--where", "nope > 1"],
        "Syntax error at": [first, new, "--to", "jsonl", "--where", "> 1"],
        "has no such column": [first, new, "--to", "jsonl", "--partition-by", "nope"],
        "another run is writing there": [str(outputs[1]), new, "--to", "jsonl"],
        "can't write there": [first, str(tmp_path / "no" / "folder"), "--to", "jsonl"],
    }
    lock = LocalFiles(str(outputs[1])).lock
    assert lock.acquire()
    try:
        codes, messages = run(version, WORK, stdin=[["export", *words] for words in cases.values()])
    finally:
        lock.release()
    assert codes == [2] * len(cases), messages
    for line, expected in zip(messages, cases, strict=True):
        assert expected in line
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"stopped", "torn", "other", "numbers"}
    assert [path.name for path in other.iterdir()] == ["file"]
