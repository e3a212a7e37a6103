"""Real archives, intact and damaged, give exactly the html records that they are known to hold."""

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest
from warcio.archiveiterator import ArchiveIterator

from victor_spark.errors import InputError, ShardError
from victor_spark.warc.inputs import resolve
from victor_spark.warc.reading import read
from victor_spark.warc.records import Record
from victor_spark.warc.shard import ReadOptions

EVERYTHING: Final = ReadOptions(record_types=("response", "resource"), max_bytes=1 << 30)

# Files of which the index, made with warcio, knows fewer html records than there are.
KNOWN_BETTER: Final = {
    "archivesunleashed+aut/badexample.arc.gz": 2,  # one gzip stream: warcio stops at once
    "webrecorder+warcio/example-bad-non-chunked.warc.gz": 1,  # the same
    "webrecorder+warcio/example-bad.warc.gz.bad": 2,  # the same
    "iipc+webarchive-commons/IAH-20080430204825-00000-blackbook-truncated.arc": 2,  # a wrong length early on
    "iipc+webarchive-commons/link-extraction-test.warc": 7,  # wrong lengths throughout
    "richardlehane+webarchive/hello-world2.arc": 1,  # ARC version 2
    "oduwsdl+ipwb/1memento_noContentType.warc": 1,  # no Content-Type, but html
    "chatnoir-eu+chatnoir-resiliparse/warcfile.warc.lz4": 16,  # warcio knows no lz4
}


@pytest.fixture(scope="module")
def archives(annotated: Path) -> dict[str, tuple[Path, dict[str, Any]]]:
    """The archives that are there, with what the index says of each."""
    folder = annotated / "warc"
    entries = json.loads((folder / "index.json").read_text())
    return {
        entry["file"]: (folder / entry["file"], entry)
        for entry in entries
        if "file" in entry and (folder / entry["file"]).exists()
    }


def records(path: Path) -> list[Record]:
    """The records of a file, up to an error that is allowed."""
    found: list[Record] = []
    with suppress(InputError, ShardError):
        found.extend(record for shard in resolve([str(path)]) for record in read(shard, EVERYTHING))
    return found


def test_every_html_record_of_every_archive_is_found(
    archives: dict[str, tuple[Path, dict[str, Any]]],
) -> None:
    found, expected = {}, {}
    for name, (path, entry) in archives.items():
        found[name] = sum(record.content_mime_type is not None for record in records(path))
        expected[name] = KNOWN_BETTER.get(name, entry["html_responses"])
    assert found == expected


def test_every_offset_is_there_once(archives: dict[str, tuple[Path, dict[str, Any]]]) -> None:
    for path, _ in archives.values():
        offsets = [record.warc_record_offset for record in records(path)]
        assert len(offsets) == len(set(offsets))


def _by_warcio(path: Path) -> Iterator[tuple[int, bytes]]:
    """Offset and payload of each response, as far as warcio gets."""
    with path.open("rb") as file:
        iterator = ArchiveIterator(file)
        try:
            for record in iterator:
                payload = record.content_stream().read() if record.rec_type == "response" else None
                offset = iterator.get_record_offset()
                if payload is not None:
                    yield offset, payload
        except Exception:  # noqa: BLE001 - it gives up on these files in many ways
            return


# Files in which warcio loses a payload: wrong chunks, and a head without an empty line.
LOST_BY_WARCIO: Final = {
    "webrecorder+warcio/example-wrong-chunks.warc.gz",
    "richardlehane+webarchive/hello-world.arc",
}


def test_payloads_equal_those_of_another_reader(archives: dict[str, tuple[Path, dict[str, Any]]]) -> None:
    n_compared = 0
    for name, (path, entry) in archives.items():
        ours = {r.warc_record_offset: r.payload for r in records(path) if r.payload is not None}
        if not ours or name in LOST_BY_WARCIO or entry["bytes"] > 1 << 20:
            continue
        for offset, payload in _by_warcio(path):
            if offset in ours:
                assert ours[offset] == payload, (name, offset)
                n_compared += 1
    assert n_compared > 150
