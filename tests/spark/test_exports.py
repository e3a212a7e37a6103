"""Folders of exports, without Spark; tests/versions/test_export.py exports whole runs."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from victor_spark import tables
from victor_spark.errors import OutputError, UsageError
from victor_spark.request import ExportRequest
from victor_spark.spark import ledger
from victor_spark.spark.export import SINKS, Export, PlainText, Sink
from victor_spark.spark.files import output_errors


def test_of_two_exports_to_one_folder_readers_see_the_first(tmp_path: Path) -> None:
    """Both began before the folder was there; the second ends with an error of one line."""
    request = ExportRequest(output=str(tmp_path / "out"), destination=str(tmp_path / "new"), to="text")
    export = Export("run", tables.PAGES, request, {})

    def begun(name: str) -> Sink:
        sink = SINKS["text"](request.destination, export)
        assert sink is not None
        draft = Path(sink.location.removeprefix("file://"))
        draft.mkdir()
        (draft / name).write_text(name)
        return sink

    first, second = begun("first.txt"), begun("second.txt")
    first.commit({"first.txt": 9}, 1)
    with pytest.raises(OutputError, match=r"new: can't write there: "), output_errors(request.destination):
        second.commit({"second.txt": 10}, 1)
    names = {path.name for path in (tmp_path / "new").iterdir()}
    assert names == {"first.txt", "_SUCCESS"}
    assert SINKS["text"](request.destination, export) is None, "the run is there"


@pytest.mark.parametrize(
    ("to", "name"), [("parquet", "a.parquet"), ("jsonl", "a.jsonl.zst"), ("text", "a.txt")]
)
def test_a_folder_is_read_as_a_whole_by_readers_that_pass_over_names_with_an_underscore(
    to: str, name: str, tmp_path: Path
) -> None:
    """Spark, pyarrow and pandas read all other files; `datasets` counts the endings of their names."""
    finished = {"versions": {}, "n_pages": 2, "n_shards": 1, "finished_at": "2025-03-01T12:30:00+00:00"}
    request = ExportRequest(output=str(tmp_path / "out"), destination=str(tmp_path / "new"), to=to)
    sink = SINKS[to](request.destination, Export("run", tables.PAGES, request, finished))
    assert sink is not None
    draft = Path(sink.location.removeprefix("file://"))
    draft.mkdir()
    pq.write_table(pa.Table.from_pylist([{"text": "one"}], schema=tables.PAGES), draft / name)
    sink.commit({name: 1}, 1)
    others = {path.name for path in (tmp_path / "new").iterdir()} - {name}
    assert others == {"_SUCCESS", *(["_README.md"] if to == "parquet" else [])}
    if to == "parquet":
        assert pq.read_table(tmp_path / "new")["text"].to_pylist() == ["one"]
        assert "1 page, of 2 records in 1 shard," in (tmp_path / "new" / "_README.md").read_text()


def test_a_file_of_another_program_that_says_success_is_no_export(tmp_path: Path) -> None:
    (tmp_path / "_SUCCESS").write_text("made by a committer")
    request = ExportRequest(output=str(tmp_path / "out"), destination=str(tmp_path), to="text")
    with pytest.raises(OutputError, match="holds another export or other files"):
        SINKS["text"](request.destination, Export("run", tables.PAGES, request, {}))


def test_plain_text_separates_pages_by_an_empty_line(tmp_path: Path) -> None:
    """Empty lines of a page are left out."""
    with (tmp_path / "a.txt").open("wb") as file:
        writer = PlainText(file, tables.PAGES)
        writer.write_table(pa.table({"text": ["one\n\ntwo", "přívoz"]}))
        writer.close()
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == "one\ntwo\n\npřívoz\n\n"


@pytest.mark.parametrize(
    ("columns", "complaint"),
    [
        (("language", "day", "language"), "language: the column is given twice"),
        *(
            ((name,), f"{name}: its values can't be")
            for name in ("authors", "blocks", "html", "text", "markdown")
        ),
    ],
)
def test_columns_that_cannot_be_folders_are_refused_before_spark_starts(
    columns: tuple[str, ...], complaint: str
) -> None:
    with pytest.raises(UsageError, match=f"^--partition-by {complaint}"):
        ExportRequest(output="out", destination="new", to="text", partition_by=columns)


def test_columns_of_short_values_can_be_folders() -> None:
    columns = ("language", "day", "http_status", "warc_record_offset", "expected_f1", "crawl", "url")
    ExportRequest(output="out", destination="new", to="text", partition_by=columns)


@pytest.mark.parametrize("now", [(), ("language",)])
def test_an_export_that_is_finished_is_there(now: tuple[str, ...], tmp_path: Path) -> None:
    request = ExportRequest(
        output=str(tmp_path / "out"), destination=str(tmp_path), to="text", partition_by=now
    )
    record = {"run": "run", "to": "text", "where": None, "unique": None, "partition_by": list(now)}
    (tmp_path / "_SUCCESS").write_bytes(ledger.dumped(record))
    assert SINKS["text"](request.destination, Export("run", tables.PAGES, request, {})) is None
    other = replace(request, partition_by=("day",))
    with pytest.raises(OutputError, match="holds another export"):
        SINKS["text"](request.destination, Export("run", tables.PAGES, other, {}))
