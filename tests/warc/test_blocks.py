"""Archives compressed in blocks (bgzip, pzstd): members and frames that begin and end within records."""

import gzip
import random
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest

from tests.warc import making
from victor_spark.errors import ShardError
from victor_spark.warc import source
from victor_spark.warc.headers import WARC
from victor_spark.warc.reading import read
from victor_spark.warc.records import Record
from victor_spark.warc.shard import Shard
from victor_spark.warc.source import Member, Source

Reading = Callable[..., list[Record]]

N = 40
PAGES = [making.page(number, n_words=random.Random(number).randrange(1, 400)) for number in range(N)]
RECORDS = [making.warc(making.http(page), number=number) for number, page in enumerate(PAGES)]


@pytest.mark.parametrize(
    ("packing", "size"), [("gzip", 50), ("gzip", 1500), ("gzip", 60_000), ("zstd", 1500), ("zstd", 60_000)]
)
def test_records_are_read_across_the_blocks(reading: Reading, packing: str, size: int) -> None:
    records = reading(b"".join(making.blocks(RECORDS, packing, size)))
    assert [record.payload for record in records] == PAGES
    assert {(record.status, record.content_truncated) for record in records} == {(None, None)}


@pytest.mark.parametrize("packing", ["gzip", "zstd"])
@pytest.mark.parametrize("victim", [0, 7])
def test_a_damaged_block_costs_only_the_records_that_it_holds(
    reading: Reading, packing: str, victim: int
) -> None:
    size = 3000
    blocks = making.blocks(RECORDS, packing, size)
    records = reading(b"".join([*blocks[:victim], making.spoilt(blocks[victim]), *blocks[victim + 1 :]]))
    bounds = zip(making.joined(RECORDS).offsets, making.joined(RECORDS).offsets[1:], strict=False)
    held = {n for n, (start, end) in enumerate(bounds) if end > victim * size and start < (victim + 1) * size}
    whole = [record.payload for record in records if record.payload and not record.content_truncated]
    assert {page for n, page in enumerate(PAGES) if n not in held} <= set(whole) <= set(PAGES)
    assert len(held) < N / 3
    damage = [record for record in records if record.status == "corrupt_record"]
    assert damage[0].warc_record_offset >= making.joined(blocks).offsets[victim]
    assert len({record.warc_record_offset for record in records}) == len(records)


def test_the_record_before_a_damaged_block_keeps_its_beginning(reading: Reading) -> None:
    """The readable part of the record that damage cuts is a row, marked as truncated."""
    first, rest = gzip.compress(RECORDS[0][:-300]), gzip.compress(RECORDS[0][-300:] + RECORDS[1])
    records = reading(first + rest[:12] + bytes(20) + rest[32:] + gzip.compress(RECORDS[2]))
    assert PAGES[0].startswith(records[0].payload or b"-")
    assert [record.content_truncated for record in records] == ["unspecified", None, None]
    assert [record.status for record in records] == [None, "corrupt_record", None]
    assert records[-1].payload == PAGES[2]


def test_damage_after_a_long_record_does_not_reach_it(reading: Reading) -> None:
    """A member is read on for its last record only, not lost with the next one."""
    long = making.warc(making.http(making.page(1, n_words=400_000)), number=1)
    for after in (making.spoilt(gzip.compress(bytes(range(256)) * 40)), b"\x1f\x8b\x08\x00rubbish" * 9):
        records = reading(gzip.compress(long) + after + gzip.compress(RECORDS[2]))
        assert records[0].payload == making.page(1, n_words=400_000)
        assert records[0].content_truncated is None
        assert records[-1].payload == PAGES[2]


def test_a_file_that_ends_within_a_block_ends_too_early(tmp_path: Path) -> None:
    path = tmp_path / "made.warc.gz"
    path.write_bytes(b"".join(making.blocks(RECORDS, "gzip", 3000))[:9000])
    records = read(Shard(str(path), None, "warc"))
    assert next(records).payload == PAGES[0]
    with pytest.raises(ShardError, match="ends too early, at byte 9000, within a gzip member"):
        list(records)


@pytest.mark.parametrize("size", [64 << 10, 1 << 30])
def test_records_that_are_longer_than_the_file_cost_no_passes_over_it(
    monkeypatch: pytest.MonkeyPatch, reading: Reading, size: int
) -> None:
    """The reader looks once whether the file goes on that far, and goes back."""
    begun = list[int]()
    start = Member._start
    monkeypatch.setattr(Member, "_start", lambda member: (begun.append(member._starts[-1][0]), start(member)))
    pages = [making.page(number, n_words=12_000) for number in range(60)]
    raw = [making.warc(making.http(page), number=n, length=1 << 40) for n, page in enumerate(pages)]
    blocks = making.blocks(raw, "gzip", size)
    records = reading(b"".join(blocks))
    assert [record.payload for record in records[:-1]] == pages[:-1]
    assert len(begun) <= 5


def test_of_a_stream_of_many_blocks_the_first_and_the_last_places_to_begin_are_kept(
    reading: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "_MAX_STARTS", 6)
    monkeypatch.setattr(source, "_MAX_KEPT", 4 << 10)
    content, packed = b"".join(RECORDS), b"".join(making.blocks(RECORDS, "gzip", 1000))
    assert [record.payload for record in reading(packed)] == PAGES
    member = Member(Source(BytesIO(packed)), 0)
    assert member.extend(WARC)
    assert member.read_at(0, 1 << 30) == content
    begins = [begin for begin, _ in member._starts]
    assert begins[0] == 0
    assert begins[1:] == [*range(begins[1], len(content), 1000), len(content)]
    assert 6 <= len(begins) - 1 <= 12


def test_going_back_in_the_stream_inflates_the_near_blocks_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "_MAX_KEPT", 4 << 10)
    inflated = list[int]()
    of_member = source.member_parts
    monkeypatch.setattr(
        source, "member_parts", lambda *given, **how: (inflated.append(given[1]), of_member(*given, **how))[1]
    )
    blocks = making.blocks(RECORDS, "gzip", 1000)
    content, offsets = b"".join(RECORDS), making.joined(blocks).offsets
    member = Member(Source(BytesIO(b"".join(blocks))), 0)
    assert member.extend(WARC)
    assert member.read_at(0, 1 << 30) == content
    assert member.end() == (offsets[-1], True)
    inflated.clear()
    position = len(content) - 20_500
    assert member.read_at(position, 20) == content[position : position + 20]
    assert set(inflated) <= set(offsets[position // 1000 : position // 1000 + 2])
    assert member.end() == (offsets[-1], True)
    assert len(inflated) < 4
