"""Damage costs only the records it hits; it is always reported, and reading continues after it."""

import errno
import gzip
import io
import struct
import zlib
from pathlib import Path

import pytest
import zstandard
from hypothesis import assume, example, given
from hypothesis import strategies as st

from tests.warc import making
from tests.warc.conftest import Reading
from victor_spark.errors import ShardError
from victor_spark.warc import boundaries
from victor_spark.warc.headers import ARC, WARC
from victor_spark.warc.reading import read
from victor_spark.warc.records import Record
from victor_spark.warc.shard import Attempt, Shard
from victor_spark.warc.source import Member, Source

N = 9
MAGIC = 4
RECORDS = making.responses(N)


def numbers(records: list[Record]) -> list[int]:
    """The numbers of the pages among the records."""
    return [int(record.url.rpartition("/")[2]) for record in records if record.url and record.status is None]


def corrupt(records: list[Record]) -> list[tuple[int, int]]:
    """Offset and length of every damaged range."""
    found = [record for record in records if record.status == "corrupt_record"]
    assert all(record.reason for record in found)
    return [(record.warc_record_offset, record.warc_record_length) for record in found]


def assert_all_but(records: list[Record], parts: list[bytes], victim: int) -> None:
    """Checks that all records but one are intact and in place, and that one is a corrupt_record."""
    shard = making.joined(parts)
    expected = [
        (start, length, None if number == victim else making.page(number))
        for number, (start, length) in enumerate(zip(shard.offsets[:-1], shard.lengths(), strict=True))
    ]
    assert [(r.warc_record_offset, r.warc_record_length, r.payload) for r in records] == expected
    assert [number for number, record in enumerate(records) if record.status == "corrupt_record"] == [victim]


def with_fields(content: bytes, extra: int, name: int, *, checked: bool) -> bytes:
    """A gzip member with an extra field, a file name and a checksum of its header."""
    head = b"\x1f\x8b\x08" + bytes([4 | 8 | 2 * checked]) + bytes(6)
    head += extra.to_bytes(2, "little") + b"x" * extra + b"n" * name + b"\0"
    head += (zlib.crc32(head) & 0xFFFF).to_bytes(2, "little") * checked
    return head + making.raw_deflate(content) + struct.pack("<II", zlib.crc32(content), len(content))


@pytest.mark.parametrize("checked", [False, True])
@pytest.mark.parametrize(("extra", "name"), [(0, 0), (600, 9), (9, 600), (15_000, 9)])
def test_damage_costs_no_member_whose_header_has_fields(
    tmp_path: Path, extra: int, name: int, checked: bool
) -> None:
    parts = [with_fields(record, extra, name, checked=checked) for record in RECORDS]
    path = tmp_path / "fields.warc.gz"
    path.write_bytes(making.joined(parts).content)
    assert numbers(list(read(Shard(str(path), None, "warc")))) == list(range(N))
    damaged = bytearray(parts[2])
    damaged[-1] ^= 1  # its length
    path.write_bytes(making.joined([*parts[:2], bytes(damaged), *parts[3:]]).content)
    found = list(read(Shard(str(path), None, "warc")))
    assert numbers(found)[-(N - 3) :] == list(range(3, N))


@given(victim=st.integers(0, N - 1), where=st.integers(0, 10**6), noise=st.binary(min_size=1, max_size=64))
@example(victim=1, where=3, noise=b" ")
@example(victim=N - 1, where=7027, noise=bytes(6))
def test_one_corrupt_gzip_member_costs_one_record(
    tmp_path_factory: pytest.TempPathFactory, victim: int, where: int, noise: bytes
) -> None:
    parts = making.members(RECORDS, "gzip")
    member = parts[victim]
    at = where % (len(member) - len(noise))
    # The first bytes of a file identify it: damage there may turn it into another format.
    assume(victim > 0 or at >= MAGIC)
    parts[victim] = member[:at] + noise + member[at + len(noise) :]
    assume(parts[victim] != member)
    path = tmp_path_factory.mktemp("damage") / "shard.warc.gz"
    path.write_bytes(b"".join(parts))
    records: list[Record] = []
    cut = None
    try:
        records.extend(read(Shard(str(path), None, "warc")))
    except ShardError as error:
        cut = str(error)
    if cut is not None:  # damage that hides the end of the last member looks like a cut file
        assert "ends too early" in cut
        assert victim == N - 1
        assert numbers(records)[: N - 1] == list(range(N - 1))
        return
    try:  # some changes are harmless: a time stamp in the member's head
        # zlib, as Python's own gzip module overlooks flags in the head that must not be set.
        harmless = zlib.decompress(parts[victim], wbits=31) == RECORDS[victim]
    except zlib.error:
        harmless = False
    if harmless:
        assert numbers(records) == list(range(N))
    else:
        assert_all_but(records, parts, victim)


@pytest.mark.parametrize("packing", ["gzip", "zstd"])
@pytest.mark.parametrize("n_shared", [2, 3, N])
def test_records_that_share_a_member_are_all_there(reading: Reading, packing: str, n_shared: int) -> None:
    together = [b"".join(RECORDS[first : first + n_shared]) for first in range(0, N, n_shared)]
    assert numbers(reading(making.shard(together, packing).content)) == list(range(N))


@pytest.mark.parametrize("victim", range(N))
@pytest.mark.parametrize("packing", ["gzip", "zstd"])
def test_a_hole_in_a_member_costs_its_own_record(reading: Reading, victim: int, packing: str) -> None:
    parts = making.members(RECORDS, packing)
    parts[victim] = making.spoilt(parts[victim])
    assert_all_but(reading(b"".join(parts)), parts, victim)


@pytest.mark.parametrize("victim", range(N))
def test_a_member_without_its_magic_bytes_costs_its_own_record(reading: Reading, victim: int) -> None:
    parts = making.members(RECORDS, "gzip")
    parts[victim] = bytes(4) + parts[victim][4:]
    assert_all_but(reading(b"".join(parts)), parts, victim)


@given(victims=st.sets(st.integers(0, N - 1), max_size=N - 1))
def test_every_corrupt_member_is_damage_of_its_own(
    tmp_path_factory: pytest.TempPathFactory, victims: set[int]
) -> None:
    parts = making.members(RECORDS, "gzip")
    parts = [making.spoilt(part) if number in victims else part for number, part in enumerate(parts)]
    shard = making.joined(parts)
    path = tmp_path_factory.mktemp("damage") / "shard.warc.gz"
    path.write_bytes(shard.content)
    records = list(read(Shard(str(path), None, "warc")))
    assert numbers(records) == [number for number in range(N) if number not in victims]
    assert corrupt(records) == [(shard.offsets[i], shard.lengths()[i]) for i in sorted(victims)]


@pytest.mark.parametrize("packing", ["gzip", "zstd", "plain"])
def test_rubbish_between_records_costs_none(reading: Reading, packing: str) -> None:
    parts = making.members(RECORDS, packing)
    parts.insert(4, b"rubbish between records" * 5)
    shard = making.joined(parts)
    records = reading(shard.content)
    assert numbers(records) == list(range(N))
    assert corrupt(records) == [(shard.offsets[4], shard.lengths()[4])]
    assert [r.warc_record_offset for r in records] == shard.offsets[:-1]


@pytest.mark.parametrize("packing", ["gzip", "zstd", "plain"])
def test_a_record_with_other_ends_of_lines_is_reported_and_costs_none_behind_it(
    reading: Reading, packing: str
) -> None:
    """Its header has no end that is read as one before that of the next record."""
    records = list(RECORDS)
    records[4] = records[4].replace(b"\r\n", b"\r")
    shard = making.joined(making.members(records, packing))
    found = reading(shard.content)
    assert numbers(found) == [number for number in range(N) if number != 4]
    ((offset, length),) = corrupt(found)
    assert offset == shard.offsets[4]
    assert length in (shard.lengths()[4], shard.lengths()[4] - 2), "padding may follow"


@pytest.mark.parametrize("packing", ["gzip", "zstd", "plain"])
def test_rubbish_after_the_last_record_is_reported(reading: Reading, packing: str) -> None:
    shard = making.joined([*making.members(RECORDS, packing), b"rubbish at the end"])
    records = reading(shard.content)
    assert numbers(records) == list(range(N))
    assert corrupt(records) == [(shard.offsets[-2], 18)]


@pytest.mark.parametrize("packing", ["gzip", "zstd", "plain"])
@pytest.mark.parametrize("n_bytes", [512, 10_000])
def test_padding_is_no_damage(reading: Reading, packing: str, n_bytes: int) -> None:
    parts = making.members(RECORDS, packing)
    parts.insert(4, bytes(n_bytes))
    records = reading(b"".join([*parts, bytes(3000)]))
    assert numbers(records) == list(range(N))
    assert corrupt(records) == []


@pytest.mark.parametrize("packing", ["gzip", "zstd", "plain"])
def test_rubbish_behind_much_padding_is_reported(reading: Reading, packing: str) -> None:
    parts = making.members(RECORDS, packing)
    parts[4:4] = [bytes(10_000), b"rubbish"]
    records = reading(b"".join([*parts, bytes(10_000), b"more of it"]))
    assert numbers(records) == list(range(N))
    assert len(corrupt(records)) == 2


@pytest.mark.parametrize("packing", ["gzip", "zstd", "plain"])
def test_a_long_search_finds_the_next_record_wherever_it_lies(packing: str) -> None:
    """Bytes are searched part by part, and a record may begin in one part and go on in the next."""
    part = boundaries._WINDOW
    (record,) = making.members(RECORDS[:1], packing)
    for start in (*range(part - 150, part + 2, 10), *range(part - 4, part + 2)):
        source = Source(io.BytesIO(b"x" * start + record))
        source.compression = packing  # type: ignore[assignment]
        assert boundaries.next_beginning(source, 0, WARC) == start


def test_a_long_search_takes_no_end_of_a_line_for_an_arc_record() -> None:
    """Each part but the first begins with bytes of the one before: a record begins a line, not a part."""
    record = making.arc(b"x" * 10_000)
    for start in range(boundaries._WINDOW - ARC.reach - 3, boundaries._WINDOW - ARC.reach + 3):
        assert boundaries.next_record(Source(io.BytesIO(b" " * start + record)), 0, ARC) is None
        content = b" " * (start - 1) + b"\n" + record
        assert boundaries.next_record(Source(io.BytesIO(content)), 0, ARC) == start


def test_an_empty_member_is_no_damage(reading: Reading) -> None:
    parts = making.members(RECORDS, "gzip")
    parts.insert(4, gzip.compress(b""))
    records = reading(b"".join(parts))
    assert numbers(records) == list(range(N))
    assert corrupt(records) == []


def test_a_member_that_is_no_record_is_damage(reading: Reading) -> None:
    parts = making.members(RECORDS, "gzip")
    parts.insert(4, gzip.compress(b"notes by someone\n" * 20))
    shard = making.joined(parts)
    records = reading(shard.content)
    assert numbers(records) == list(range(N))
    assert corrupt(records) == [(shard.offsets[4], shard.lengths()[4])]


def test_a_cut_member_that_takes_the_next_ones_for_its_own_content_costs_only_itself(
    reading: Reading,
) -> None:
    """The length of a stored block of deflate decides where it ends, not the bytes in it or after it."""
    long = making.warc(making.http(making.page(1, n_words=9_000)), number=1)
    parts = [gzip.compress(long, compresslevel=0)[:2_000], *making.members(RECORDS[2:4], "gzip")]
    records = reading(b"".join(parts))
    assert corrupt(records) == [(0, 2_000)]
    assert "runs into the next member" in (records[0].reason or "")
    assert numbers(records) == [2, 3]


def test_memory_that_does_not_suffice_is_an_error_of_the_shard(
    reading: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    def of_archive(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("victor_spark.warc.reading._of_archive", of_archive)
    with pytest.raises(ShardError, match=r"made\.warc\.gz: out of memory while reading"):
        reading(making.shard(RECORDS).content)


@pytest.mark.parametrize("n_cut", [1, 8, 9, 60, 200])
@pytest.mark.parametrize("packing", ["gzip", "zstd", "plain"])
def test_a_clipped_last_record_is_noticed(reading: Reading, packing: str, n_cut: int) -> None:
    shard = making.shard(RECORDS, packing)
    records = reading(shard.content[:-n_cut])
    assert [r.warc_record_offset for r in records] == shard.offsets[:-1]
    last = records[-1]
    if packing == "zstd":
        assert last.status == "corrupt_record"  # a zstd block is whole or nothing
    elif last.status is None and last.content_truncated is None:
        assert last.payload == making.page(N - 1)  # only what follows the payload was cut
    else:
        assert last.content_truncated == "unspecified"
    assert sum(r.content_truncated is not None for r in records) <= 1


def test_a_useless_rest_of_a_page_is_truncated(reading: Reading) -> None:
    raw = making.warc(making.http(making.page(1)))
    cut = raw.index(b"<body>") + 10
    (record,) = reading(gzip.compress(raw[:cut]))
    assert (record.status, record.content_truncated, record.payload) == ("truncated", "unspecified", None)


def test_the_archive_says_itself_that_a_record_is_truncated(reading: Reading) -> None:
    content = making.shard([making.warc(making.http(making.page(1)), "WARC-Truncated: length")]).content
    (record,) = reading(content)
    assert (record.status, record.content_truncated, record.payload) == (None, "length", making.page(1))


def test_a_body_shorter_than_http_promised_is_truncated(reading: Reading) -> None:
    page = making.page(1)
    (record,) = reading(making.shard([making.warc(making.http(page[:300], length=len(page)))]).content)
    assert (record.content_truncated, record.payload) == ("unspecified", page[:300])


def test_a_header_clipped_at_the_end_is_damage(reading: Reading) -> None:
    shard = making.shard(RECORDS, "plain")
    start = shard.offsets[-2]
    records = reading(shard.content[: start + 60])
    assert numbers(records) == list(range(N - 1))
    assert corrupt(records) == [(start, 60)]


@pytest.mark.parametrize("n_bytes", [0, 1 << 20])
def test_a_damaged_first_record_does_not_hide_the_others(reading: Reading, n_bytes: int) -> None:
    for packing in ("gzip", "plain"):
        parts = making.members(RECORDS, packing)
        parts[0] = b"\x00\xff\x01rubbish" + bytes(n_bytes) + parts[0][200:]
        records = reading(b"".join(parts), f"first.{packing}.warc.gz")
        assert numbers(records) == list(range(1, N))
        assert corrupt(records) == [(0, len(parts[0]))]


@pytest.mark.parametrize("length", [-5, 0, 40, 300, 1200, 1500, 4000, 10**9, 10**18 - 1, 10**30])
@pytest.mark.parametrize("packing", ["plain", "gzip"])
def test_a_wrong_content_length_costs_no_other_record(reading: Reading, packing: str, length: int) -> None:
    records = list(RECORDS)
    block = making.http(making.page(4))
    records[4] = making.warc(block, number=4, length=length)
    shard = making.shard(records, packing)
    found = reading(shard.content)
    others = [record for record in found if record.url != "http://site.example/4"]
    assert numbers(others) == [0, 1, 2, 3, 5, 6, 7, 8]
    assert [r.warc_record_offset for r in others] == [o for o in shard.offsets[:-1] if o != shard.offsets[4]]
    assert len(found) == len(others) + 1
    if len(block) < length < 10**9:
        assert numbers(found) == list(range(N))
        assert found[4].payload in (making.page(4), making.page(4) + b"\r\n\r\n")


def test_a_record_without_content_length_is_read_up_to_the_next(reading: Reading) -> None:
    records = list(RECORDS)
    records[4] = records[4].replace(b"Content-Length: ", b"X-Length: ", 1)
    found = reading(b"".join(records))
    assert numbers(found) == list(range(N))
    assert found[4].payload == making.page(4)


@pytest.mark.parametrize("packing", ["plain", "gzip"])
@pytest.mark.parametrize(
    ("field", "reason"),
    [
        (b"WARC-Type: respXnse", "unknown WARC-Type 'respXnse'"),
        (b"WARC-Type: r\xc3\xa9sponse", "unknown WARC-Type 'r\\xe9sponse'"),
        (b"WARC-Type: " + b"r" * 99, f"unknown WARC-Type '{'r' * 40}'"),
        (b"WARC-Type:", "no WARC-Type"),
        (b"WARC-T\x00pe: response", "no WARC-Type"),
        (b"WARC-Type response", "no WARC-Type"),
    ],
)
def test_a_record_without_a_type_that_the_standard_knows_is_a_row(
    reading: Reading, packing: str, field: bytes, reason: str
) -> None:
    records = list(RECORDS)
    records[4] = records[4].replace(b"WARC-Type: response", field, 1)
    parts = making.members(records, packing)
    found = reading(b"".join(parts), "made.warc")
    assert_all_but(found, parts, 4)
    assert (found[4].reason, found[4].url) == (reason, "http://site.example/4")


@pytest.mark.parametrize("name", ["WARC-Type", "WARC-Target-URI", "Content-Length"])
@pytest.mark.parametrize("packing", ["plain", "gzip"])
def test_a_field_whose_value_begins_on_the_next_line_is_read(
    reading: Reading, packing: str, name: str
) -> None:
    records = list(RECORDS)
    records[4] = records[4].replace(f"{name}: ".encode(), f"{name}:\r\n ".encode(), 1)
    found = reading(making.shard(records, packing).content, "made.warc")
    assert [(r.url, r.payload) for r in found] == [
        (f"http://site.example/{number}", making.page(number)) for number in range(N)
    ]


def test_many_records_in_one_gzip_stream(reading: Reading) -> None:
    records = reading(gzip.compress(b"".join(RECORDS)))
    plain = making.joined(RECORDS)
    assert [r.payload for r in records] == [making.page(number) for number in range(N)]
    assert [r.warc_record_offset for r in records] == plain.offsets[:-1]  # positions in the stream
    assert [r.warc_record_length for r in records] == plain.lengths()


def test_records_of_wrong_lengths_in_one_gzip_stream_cost_no_more_inflating(
    reading: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search for the next record reads ahead; its bytes are kept for the record itself."""
    n = 300
    blocks = [making.http(making.page(number, n_words=2_000)) for number in range(n)]
    raw = [making.warc(block, number=number, length=len(block) + 7) for number, block in enumerate(blocks)]
    begun = list[Member]()
    start = Member._start
    monkeypatch.setattr(Member, "_start", lambda member: (begun.append(member), start(member)))
    assert len(reading(gzip.compress(b"".join(raw)))) == n
    assert len(begun) == 1


def test_long_records_in_one_gzip_stream(reading: Reading) -> None:
    raw = [making.warc(making.http(making.page(n, n_words=20_000)), number=n) for n in range(5)]
    records = reading(gzip.compress(b"".join(raw)))
    assert [r.payload for r in records] == [making.page(n, n_words=20_000) for n in range(5)]
    assert [r.warc_record_offset for r in records] == making.joined(raw).offsets[:-1]


def test_members_of_several_records_among_members_of_one(reading: Reading) -> None:
    groups = [RECORDS[0:1], RECORDS[1:4], RECORDS[4:5], RECORDS[5:8], RECORDS[8:9]]
    shard = making.joined([gzip.compress(b"".join(group)) for group in groups])
    records = reading(shard.content)
    expected = [
        start + inner
        for start, group in zip(shard.offsets[:-1], groups, strict=True)
        for inner in making.joined(group).offsets[:-1]
    ]
    assert numbers(records) == list(range(N))
    assert [r.warc_record_offset for r in records] == expected


def test_a_gzip_stream_that_breaks_off_keeps_its_beginning(reading: Reading) -> None:
    plain = making.joined(making.responses(200))
    records = reading(making.spoilt(gzip.compress(plain.content)))
    assert numbers(records) == list(range(len(records) - 1))
    assert len(records) > 50
    assert records[-1].status == "corrupt_record"
    assert [r.warc_record_offset for r in records] == plain.offsets[: len(records)]


def test_an_archive_whose_first_record_lost_its_head_is_no_page(reading: Reading) -> None:
    """Also where no name says that it is an archive: it begins with html, and all its pages are in it."""
    beheaded = RECORDS[0][RECORDS[0].index(b"<!DOCTYPE") :]
    records = reading(b"".join([beheaded, *RECORDS[1:]]), "renamed")
    assert numbers(records) == list(range(1, N))
    assert corrupt(records)[0][0] == 0


def test_gzip_magic_within_a_corrupt_member_is_no_record(reading: Reading) -> None:
    parts = making.members(RECORDS, "gzip")
    parts[4] = parts[4][:100] + b"\x1f\x8b\x08\x00" + gzip.compress(b"no record") + parts[4][140:]
    assert_all_but(reading(b"".join(parts)), parts, 4)


@pytest.mark.parametrize("packing", ["plain", "gzip", "zstd"])
def test_a_read_that_the_disk_refuses_ends_the_shard_and_is_no_fault_of_a_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packing: str
) -> None:
    """Even if the next read succeeds: a row with a status would say that the page is read, and lose it."""
    long = [making.warc(making.http(making.page(n, n_words=20_000)), number=n) for n in range(4)]
    shard = making.shard(long, packing)
    path = tmp_path / "made.warc"
    path.write_bytes(shard.content)
    broken = shard.offsets[2] + 70_000
    refused = list[int]()

    class Disk(io.FileIO):
        def read(self, n: int | None = -1, /) -> bytes:
            at = self.tell()
            if at <= broken < at + (n or 0) and not refused:
                refused.append(at)
                raise OSError(errno.EIO, "Input/output error")
            return super().read(n) or b""

    monkeypatch.setattr("victor_spark.warc.storage.open_file", lambda path, *_: Disk(path))
    found = read(Shard(str(path), None, "warc"))
    assert [next(found).url, next(found).url] == ["http://site.example/0", "http://site.example/1"]
    with pytest.raises(ShardError, match=r"made\.warc: .*Input/output error"):
        list(found)
    assert refused


def test_reading_beyond_the_end_of_a_file_is_no_progress(tmp_path: Path) -> None:
    """Bytes read after a position that a record claims, far behind the file's end, still count."""
    records = list(RECORDS)
    block = making.http(making.page(1)) + b"x" * (3 << 20)
    records[1] = making.warc(block, number=1, length=10**12)
    path = tmp_path / "made.warc"
    path.write_bytes(b"".join(records))
    n_read: list[int] = []
    found = read(Shard(str(path), path.stat().st_size, "warc"), attempt=Attempt(progress=n_read.append))
    assert numbers(list(found)) == list(range(N))
    assert len(block) < sum(n_read) <= path.stat().st_size


def test_a_dictionary_of_any_declared_length_is_read_up_to_a_limit() -> None:
    """The length of a dictionary frame is data like any other, and the rest of the shard may be long."""

    class Watched(io.BytesIO):
        longest = 0

        def read(self, n: int | None = -1) -> bytes:
            self.longest = max(self.longest, n or 0)
            return super().read(n)

    file = Watched(struct.pack("<II", 0x184D2A5D, 0xFFFFFFFF) + bytes(70 << 20))
    Source(file)
    assert 0 < file.longest <= 64 << 20


@pytest.mark.parametrize("length", [9_000_000, 0xFFFFFFFF])
def test_with_a_part_of_its_dictionary_no_record_is_made_up(reading: Reading, length: int) -> None:
    """Frames have no checksum: with other bytes as its dictionary, one gives another record, and no error."""
    dictionary = zstandard.train_dictionary(4000, making.responses(200))
    packer = zstandard.ZstdCompressor(dict_data=dictionary)
    lying = struct.pack("<II", 0x184D2A5D, length) + dictionary.as_bytes()
    parts = [packer.compress(record) for record in RECORDS]
    found = reading(b"".join([lying, *parts, zstandard.compress(RECORDS[-1])]), "made.warc.zst")
    assert numbers(found) == [N - 1]
    assert corrupt(found) == [(0, len(lying) + sum(map(len, parts)))]


@pytest.mark.parametrize("compressed", [False, True])
def test_zstd_shards_with_a_dictionary(reading: Reading, compressed: bool) -> None:
    raw = making.responses(200)
    dictionary = zstandard.train_dictionary(4000, raw)
    packer = zstandard.ZstdCompressor(dict_data=dictionary)
    content = dictionary.as_bytes()
    content = zstandard.compress(content) if compressed else content
    frame = struct.pack("<II", 0x184D2A5D, len(content)) + content
    parts = [packer.compress(record) for record in RECORDS]
    parts[3] = making.spoilt(parts[3])
    shard = making.joined([frame, *parts])
    records = reading(shard.content, "made.warc.zst")
    assert numbers(records) == [0, 1, 2, 4, 5, 6, 7, 8]
    assert [r.warc_record_offset for r in records] == shard.offsets[1:-1]


def test_damaged_arc_records_cost_themselves(reading: Reading) -> None:
    raw = [making.arc_head(), *(making.arc(making.http(making.page(n)), n) for n in range(N))]
    parts = making.members(raw, "gzip")
    parts[4] = making.spoilt(parts[4])
    records = reading(b"".join(parts), "made.arc.gz")
    assert numbers(records) == [0, 1, 2, 4, 5, 6, 7, 8]
    assert corrupt(records) == [(sum(map(len, parts[:4])), len(parts[4]))]
    raw.insert(4, b"rubbish\n" * 20)
    records = reading(b"".join(raw), "made.arc")
    assert numbers(records) == list(range(N))
    assert corrupt(records) == [(sum(map(len, raw[:4])), 160)]


@given(
    noise=st.binary(max_size=600),
    seed=st.integers(0, 10**6),
    packing=st.sampled_from(["plain", "gzip", "zstd"]),
)
def test_no_bytes_raise_anything_but_a_shard_error(
    tmp_path_factory: pytest.TempPathFactory, noise: bytes, seed: int, packing: str
) -> None:
    content = making.shard(RECORDS[:3], packing).content
    at = seed % len(content)
    path: Path = tmp_path_factory.mktemp("noise") / "shard.warc.gz"
    path.write_bytes(content[:at] + noise + content[at + (seed % 3) * len(noise) :])
    try:
        records = list(read(Shard(str(path), None, "warc")))
    except ShardError:
        return
    offsets = [record.warc_record_offset for record in records]
    assert len(set(offsets)) == len(offsets)
