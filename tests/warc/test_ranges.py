"""The ranges of a shard, read one by one, give exactly the records of the shard, for any ranges."""

import gzip
import itertools
import random
from dataclasses import replace
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.warc import making
from victor_spark.errors import ShardError
from victor_spark.warc import reading, storage
from victor_spark.warc.reading import read
from victor_spark.warc.records import Record
from victor_spark.warc.shard import Shard

N = 24
RECORDS = making.responses(N)
ARC_RECORDS = [making.arc_head(), *(making.arc(making.http(making.page(n)), n) for n in range(N))]


def holed(parts: list[bytes], *victims: int) -> bytes:
    return b"".join(making.spoilt(part) if n in victims else part for n, part in enumerate(parts))


def within_a_page(archive: bytes) -> list[bytes]:
    """Records, the middle one of which is a page that holds a whole archive."""
    page = making.warc(making.http(b"<html><p>An archive:</p><pre>" + archive + b"</pre>"), number=99)
    return [*RECORDS[:9], page, *RECORDS[9:]]


def stored(records: list[bytes]) -> bytes:
    """One gzip member a record, not compressed: what it holds stands in it as it is."""
    return b"".join(gzip.compress(record, 0, mtime=0) for record in records)


GZIP = making.members(RECORDS, "gzip")
ZSTD = making.members(RECORDS, "zstd")
SHARDS = {
    "gzip": b"".join(GZIP),
    "plain": b"".join(RECORDS),
    "zstd": b"".join(ZSTD),
    "arc": b"".join(ARC_RECORDS),
    "arc-gzip": b"".join(making.members(ARC_RECORDS, "gzip")),
    "hole-in-a-member": holed(GZIP, 3, 4, 11),
    "hole-in-a-frame": holed(ZSTD, 3, 4, 11),
    "hole-in-the-first-member": holed(GZIP, 0),
    "clipped": b"".join(GZIP)[:-150],
    "clipped-plain": b"".join(RECORDS)[:-150],
    "clipped-member-within": b"".join([*GZIP[:7], GZIP[7][:-90], *GZIP[8:]]),
    "rubbish-between-members": b"".join([*GZIP[:7], b"rubbish\n" * 90, *GZIP[7:]]),
    "rubbish-between-records": b"".join([*RECORDS[:7], b"rubbish\n" * 90, *RECORDS[7:]]),
    "rubbish-first": b"rubbish\n" * 90 + b"".join(GZIP),
    "gzip-blocks": b"".join(making.blocks(RECORDS, "gzip", 2000)),
    "zstd-blocks": b"".join(making.blocks(RECORDS, "zstd", 2000)),
    "hole-in-blocks": holed(making.blocks(RECORDS, "gzip", 2000), 0, 4, 5),
    "records-then-blocks": b"".join([*GZIP, *making.blocks(RECORDS, "gzip", 2000)]),
    "empty-members-between": b"".join(part + gzip.compress(b"") for part in GZIP),
    "length-too-long": b"".join(
        [*RECORDS[:7], making.warc(making.http(making.page(50)), number=50, length=3000), *RECORDS[7:]]
    ),
    "one-gzip-stream": gzip.compress(b"".join(RECORDS), mtime=0),
    "one-zstd-frame": zstandard.compress(b"".join(RECORDS)),
    "several-records-a-member": b"".join(
        gzip.compress(b"".join(RECORDS[n : n + 5]), mtime=0) for n in range(0, N, 5)
    ),
    "one-stream-then-members": gzip.compress(b"".join(RECORDS[:12])) + b"".join(GZIP[12:]),
    "an-archive-in-a-page": stored(within_a_page(b"".join(GZIP))),
    "a-plain-archive-in-a-page": b"".join(within_a_page(b"".join(RECORDS))),
}


def whole(path: Path) -> list[Record | str]:
    return outcome(Shard(str(path), None, "arc" if "arc" in path.name.split(".")[1] else "warc"))


def outcome(shard: Shard) -> list[Record | str]:
    """The records, and the error after the last one."""
    found: list[Record | str] = []
    try:
        found.extend(read(shard))
    except ShardError as error:
        found.append(str(error))
    return found


def in_ranges(path: Path, cuts: list[int]) -> list[Record | str]:
    """The records of the ranges between the cuts, one range after the other."""
    shard = Shard(str(path), None, "warc")
    bounds = itertools.pairwise([0, *sorted(cuts), None])
    return [record for start, end in bounds for record in outcome(replace(shard, start=start or 0, end=end))]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all the shards."""
    folder = tmp_path_factory.mktemp("ranges")
    for name, content in SHARDS.items():
        (folder / f"{name}.warc").write_bytes(content)
    return folder


@pytest.fixture
def short_sight(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets the search begin so near that it has to go back even in these small files."""
    monkeypatch.setattr(reading, "LOOK_BACK", dict.fromkeys(reading.LOOK_BACK, 900))
    monkeypatch.setattr(reading, "TRUSTED", dict.fromkeys(reading.TRUSTED, 700))


@pytest.mark.parametrize("name", sorted(SHARDS))
@pytest.mark.parametrize("size", [300, 1000, 7001])
def test_ranges_of_any_size_give_the_records_of_the_whole_shard(folder: Path, name: str, size: int) -> None:
    path = folder / f"{name}.warc"
    assert in_ranges(path, list(range(size, len(SHARDS[name]), size))) == whole(path)


HEALTHY_PLACES = sorted(set(SHARDS) - {"an-archive-in-a-page", "a-plain-archive-in-a-page"})


@pytest.mark.usefixtures("short_sight")
@pytest.mark.parametrize("name", HEALTHY_PLACES)
@settings(max_examples=15)
@given(cuts=st.lists(st.floats(0, 1), max_size=6, unique=True))
def test_so_they_do_when_the_search_begins_near_the_range(folder: Path, name: str, cuts: list[float]) -> None:
    path = folder / f"{name}.warc"
    assert in_ranges(path, [int(cut * len(SHARDS[name])) for cut in cuts]) == whole(path)


def noise(n_bytes: int) -> bytes:
    """Bytes that nothing can pack."""
    return random.Random(n_bytes).randbytes(n_bytes)


def test_a_large_archive_within_a_page_is_not_taken_for_the_shard(tmp_path: Path) -> None:
    """The search begins within the inner archive, finds that the way breaks off, and begins before it."""
    inner = stored([making.warc(making.http(b"<html>" + noise(9000)), number=n) for n in range(200)])
    path = tmp_path / "outer.warc.gz"
    path.write_bytes(stored(within_a_page(inner)))
    n_bytes = len(inner)
    assert n_bytes > 3 * reading.LOOK_BACK["gzip"]
    expected = whole(path)
    assert len(expected) == N + 1
    assert in_ranges(path, list(range(n_bytes // 5, n_bytes, n_bytes // 5))) == expected


@pytest.mark.parametrize("name", ["gzip", "plain", "zstd", "arc"])
def test_a_range_that_is_known_to_begin_with_a_record_is_one_record(folder: Path, name: str) -> None:
    path = folder / f"{name}.warc"
    for record in read(Shard(str(path), None, "warc")):
        start = record.warc_record_offset
        known = Shard(
            str(path), None, "warc", start=start, end=start + record.warc_record_length, aligned=True
        )
        assert list(read(known)) == [record]


def test_damage_where_a_record_is_known_to_begin_is_reported(folder: Path) -> None:
    path = folder / "gzip.warc"
    (found,) = read(Shard(str(path), None, "warc", start=5, end=100, aligned=True))
    assert (found.status, found.warc_record_offset) == ("corrupt_record", 5)


def test_a_page_belongs_to_the_range_it_begins_in(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_bytes(making.page(1))
    page = Shard(str(path), None, "html")
    assert list(read(replace(page, end=20))) == list(read(page))
    assert list(read(replace(page, start=20))) == []


def test_a_shard_of_another_content_than_planned_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    path.write_bytes(SHARDS["gzip"])
    planned = Shard(str(path), None, "warc", end=3000, etag=storage.about(str(path))[1])
    assert len(list(read(planned))) == 5
    path.write_bytes(SHARDS["gzip"] * 2)
    with pytest.raises(ShardError, match=r"a\.warc\.gz: changed since the run was planned$"):
        list(read(planned))
    path.unlink()
    with pytest.raises(ShardError, match=r"a\.warc\.gz: "):
        list(read(planned))


def test_a_shard_that_changes_while_it_is_read_ends_with_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    path.write_bytes(SHARDS["gzip"])
    reading = read(Shard(str(path), None, "warc", etag=storage.about(str(path))[1]))
    next(reading)
    with path.open("ab") as file:
        file.write(GZIP[0])
    with pytest.raises(ShardError, match="changed since"):
        list(reading)
