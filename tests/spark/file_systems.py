"""Requirements for every file system that a run may write to."""

from victor_spark.spark.files import Files


def begins_empty_and_keeps_what_is_written_last(files: Files) -> None:
    """An output that isn't there yet; one file, written twice."""
    files.probe()
    assert files.names() is None
    assert files.read("_run/run.json") is None
    files.write("_run/run.json", "první".encode())
    files.write("_run/run.json", "druhý".encode())
    assert files.read("_run/run.json") == "druhý".encode()
    assert files.names() == ["_run"]
