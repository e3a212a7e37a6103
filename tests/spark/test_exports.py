"""Folders of exports, without Spark; tests/versions/test_export.py exports whole runs."""

from pathlib import Path

import pyarrow as pa
import pytest

from victor_spark import tables
from victor_spark.errors import OutputError
from victor_spark.spark.files import output_errors
from victor_spark.spark.request import ExportRequest
from victor_spark.spark.sinks import SINKS, Export, PlainText, Sink


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
    assert names == {"first.txt", "_export.json", "_SUCCESS"}
    assert SINKS["text"](request.destination, export) is None, "the run is there"


def test_plain_text_separates_pages_by_an_empty_line(tmp_path: Path) -> None:
    """Empty lines of a page are left out."""
    with (tmp_path / "a.txt").open("wb") as file:
        writer = PlainText(file, tables.PAGES)
        writer.write_table(pa.table({"text": ["one\n\ntwo", "přívoz"]}))
        writer.close()
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == "one\ntwo\n\npřívoz\n\n"
