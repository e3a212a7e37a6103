"""Pages that tasks write themselves, on a disk or to an object store: only reported files count."""

import itertools
import json
import resource
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from tests.spark import file_systems
from tests.warc import storage
from victor_spark import tables
from victor_spark.errors import OutputError
from victor_spark.spark import ledger
from victor_spark.spark.files import CloudFiles, LocalFiles, output_errors
from victor_spark.spark.run_record import Counts, Entry
from victor_spark.spark.tasks import Target, write_partition

ROWS: list[dict[str, Any]] = [
    {
        "id": "1",
        "language": "cs",
        "status": "ok",
        "text": "jedna",
        "url_host_name": "přívoz.example",
        "warc_record_offset": 1,
    },
    {"id": "2", "language": "en", "status": "ok", "text": "two", "warc_record_offset": 2},
    {"id": "3", "language": None, "status": "http_status", "reason": "404", "warc_record_offset": 3},
    {"id": "4", "language": None, "status": "http_status", "reason": "404", "warc_record_offset": 4},
    {"status": "error", "reason": "gone", "warc_filename": "x.warc.gz"},
]


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """A client of an S3 on this machine, with a bucket `outs`."""
    with storage.s3() as client:
        client.create_bucket(Bucket="outs")
        yield client


def batches(rows: list[dict[str, Any]]) -> Iterator[pa.RecordBatch]:
    for row in rows:
        yield pa.RecordBatch.from_pylist([row], tables.PAGES.remove_metadata())


def written(rows: Iterator[pa.RecordBatch], target: Target) -> dict[str, Any]:
    (batch,) = write_partition(rows, target=target)
    report: dict[str, Any] = json.loads(batch.column("report")[0].as_py())
    return report


Place = Callable[[str], LocalFiles | CloudFiles]


@pytest.fixture(params=["disk", "store"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """An output directory of a name, on a disk and in a store."""
    if request.param == "disk":
        return lambda name: LocalFiles(str(tmp_path / name))
    request.getfixturevalue("client")
    return lambda name: CloudFiles(f"s3://outs/{name}")


@pytest.mark.parametrize("partition_by", [(), ("language",)])
def test_a_task_tells_its_files_and_what_their_rows_say(place: Place, partition_by: tuple[str, ...]) -> None:
    files = place(f"told č 50% {partition_by}")
    report = written(batches(ROWS), Target(files.location, tables.PAGES, partition_by))
    assert report["files"] == files.below("")
    assert {name.rpartition("/")[0] for name in report["files"]} == (
        {"language=cs", "language=en", "language=__HIVE_DEFAULT_PARTITION__"} if partition_by else {""}
    )
    assert report["counts"] == {
        "n_rows": 5,
        "n_failures": 1,
        "statuses": {"ok": 2, "http_status": 2, "error": 1},
        "reasons": {"http_status": {"404": 2}, "error": {"gone": 1}},
        "failed_shards": {"x.warc.gz": "gone"},
        "languages": {"cs": 1, "en": 1},
        "sites": {"přívoz.example": 1},
        "lengths": {"4": 1, "2": 1},
        "n_changed_by_site": 0,
    }
    found: list[dict[str, Any]] = []
    for name in report["files"]:
        table = pq.read_table(pa.BufferReader(files.read(name) or b""))
        assert tables.schema_version(table.schema) == tables.PAGES_VERSION
        assert ("language" in table.schema.names) is (not partition_by)
        found += table.to_pylist()
    texts = sorted((row["id"] or "", row["text"]) for row in found)
    assert texts == sorted((row.get("id", ""), row.get("text")) for row in ROWS)


def test_any_value_can_be_a_folder_and_is_read_back(tmp_path: Path) -> None:
    """An export may have a folder for each name that pages give their site."""
    values = ["CC/2024", "50%", "a=b", "100%2F", "přívoz: 1", "..", "x?y#z", None]
    rows = [{"id": str(n), "site_name": value, "status": "ok"} for n, value in enumerate(values)]
    files = LocalFiles(str(tmp_path / "out"))
    report = written(batches(rows), Target(files.location, tables.PAGES, ("site_name",)))
    assert files.below("") == report["files"]
    assert all(name.count("/") == 1 for name in report["files"])
    partitioning = ds.partitioning(pa.schema([("site_name", pa.string())]), flavor="hive")
    found = ds.dataset(tmp_path / "out", partitioning=partitioning).to_table().sort_by("id")
    assert found["site_name"].to_pylist() == values


def test_a_task_that_fails_leaves_no_file(place: Place) -> None:
    def failing() -> Iterator[pa.RecordBatch]:
        yield from batches(ROWS)
        raise RuntimeError("executor lost")

    files = place("failed")
    with pytest.raises(RuntimeError, match="executor lost"):
        written(failing(), Target(files.location, tables.PAGES, ("language",)))
    assert files.below("") == {}


def test_a_task_that_finds_no_room_says_so_and_leaves_no_file(tmp_path: Path) -> None:
    files = LocalFiles(str(tmp_path / "narrow"))
    allowed = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, allowed[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            written(batches(ROWS), Target(files.location, tables.PAGES))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, allowed)
    assert files.below("") == {}


def test_the_first_task_writes_a_file_though_it_has_no_page(place: Place) -> None:
    files = place("empty")
    (name,) = written(iter([]), Target(files.location, tables.PAGES))["files"]
    table = pq.read_table(pa.BufferReader(files.read(name) or b""))
    assert table.num_rows == 0
    assert table.schema == tables.PAGES
    assert written(iter([]), Target(files.location, tables.PAGES, ("language",)))["files"] == {}


def test_what_no_task_told_is_not_published(place: Place) -> None:
    files = place("run")
    staged = ledger.staged("run-1", 3)
    target = Target(f"{files.location}/{staged}", tables.PAGES, ("language",))
    written(batches(ROWS[:2]), target)  # an attempt that Spark had given up
    report = written(batches(ROWS[:2]), target)
    assert len(files.below(staged)) == 4
    moved = ledger.publish(files, "run-1", 3, report["files"])
    assert files.below("pages") == moved
    assert sorted(name.partition("/")[0] for name in moved) == ["language=cs", "language=en"]
    assert files.below(staged) == {}


def test_what_spark_writes_beside_its_files_is_not_published(place: Place) -> None:
    files = place("of spark")
    staged, part = ledger.staged("run-1", 3), "part-0.parquet"
    for name in ("_SUCCESS", "._SUCCESS.crc", f"language=cs/.{part}.crc", f"language=cs/{part}"):
        files.write(f"{staged}/{name}", b"1234")
    moved = ledger.publish(files, "run-1", 3)
    assert files.below("pages") == moved == {f"language=cs/wave-00003-{part}": 4}
    assert files.below(staged) == {}


def test_a_wave_that_is_done_has_no_failure(place: Place) -> None:
    files = place("failed once")
    for wave in (3, 4):
        ledger.note_failure(files, wave, "executor lost")
    ledger.enter(files, Entry(3, {"x.parquet": 1}, 1, 1, Counts()))
    assert ledger.failures(files) == {4: "executor lost"}
    assert [entry.wave for entry in ledger.entries(files)] == [3]


def test_a_tree_that_is_still_written_to_is_removed_once_that_ends(tmp_path: Path) -> None:
    files = LocalFiles(str(tmp_path))
    ends = time.monotonic() + 1.0
    folder = tmp_path / "staged" / "language=cs"

    def write_on() -> None:
        for number in itertools.count():
            if time.monotonic() > ends:
                return
            with suppress(FileNotFoundError, FileExistsError):  # of a folder that is just removed
                folder.mkdir(parents=True, exist_ok=True)
                (folder / f"{number}").touch()

    writer = threading.Thread(target=write_on)
    writer.start()
    while not folder.exists():
        time.sleep(0.01)
    files.remove("staged")
    writer.join()
    files.remove("staged")
    assert files.names("") == []


def test_it_does_for_files_what_the_local_one_does(client: Any) -> None:
    files = CloudFiles("s3a://outs/deep/out/")
    file_systems.begins_empty_and_keeps_what_is_written_last(files)
    files.move("_run/run.json", "pages/a=1/x")
    assert files.below("") == {"pages/a=1/x": 6}
    files.remove("pages")
    files.remove("pages")
    assert files.names() is None
    files.write("x", b"")
    assert CloudFiles("s3://outs/deep/out/x").is_file()
    assert not files.is_file()


def test_where_nothing_can_be_written_is_named(
    client: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with (
        pytest.raises(OutputError, match=r"^s3://nowhere/out: can't write there: no such bucket \("),
        output_errors("s3://nowhere/out"),
    ):
        ledger.check(CloudFiles("s3://nowhere/out"))
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    storage.fresh()
    with (
        pytest.raises(OutputError, match="set AWS_ACCESS_KEY_ID"),
        output_errors("s3://outs/out"),
    ):
        ledger.check(CloudFiles("s3://outs/out"))
    storage.fresh()
