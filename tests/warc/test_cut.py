"""A shard that ends too early is never read as a complete one, and no record before its end is lost."""

import gzip
import itertools
import json
import random
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import lz4.frame
import pytest
import zstandard

from tests.warc import flaky, making, storage
from tests.warc.flaky import Site
from victor_spark.errors import ShardError
from victor_spark.warc.reading import read
from victor_spark.warc.records import Record
from victor_spark.warc.shard import ReadOptions, Shard

N_CUTS: Final = 50
EVERYTHING: Final = ReadOptions(record_types=("response", "resource"), max_bytes=1 << 30)

# Annotated archives that end too early as they are: one is clipped, three have lengths that count
# their line ends wrongly, one ends in half an ARC header.
END_EARLY: Final = {
    "chatnoir-eu+chatnoir-resiliparse/clipped.warc.gz",
    "oduwsdl+ipwb/redirect.warc",
    "oduwsdl+ipwb/HTTP204.warc",
    "webrecorder+warcio/example-space-in-url.arc",
    "netarchivesuite+jwat/invalid-arcfile-record-then-garbage.arc",
}


def records() -> list[bytes]:
    """A crawl's records: pages, one chunked and one not found, with what is no page between them."""
    page = making.page
    return [
        making.warc(b"software: made\r\n\r\n", kind="warcinfo", content_type="application/warc-fields"),
        making.warc(b"GET / HTTP/1.1\r\nHost: site.example\r\n\r\n", number=1, kind="request"),
        making.warc(making.http(page(1)), number=1),
        making.warc(b"fetchTimeMs: 5\r\n", number=1, kind="metadata"),
        making.warc(
            making.http(making.chunked(page(2)), "Transfer-Encoding: chunked", length=None), number=2
        ),
        making.warc(making.http(page(3), status="404 Not Found"), number=3),
        making.warc(making.http(bytes(range(256)), content_type="image/png"), number=4),
        making.warc(making.http(page(5, n_words=2000)), number=5),
        making.warc(b"GET /6 HTTP/1.1\r\nHost: site.example\r\n\r\n", number=6, kind="request"),
    ]


def shards(folder: Path) -> dict[str, tuple[bytes, set[int]]]:
    """Sound shards of every packing, each with the bytes at which it may end."""
    raw = records()
    arc = [making.arc_head(), *(making.arc(making.http(making.page(n)), n) for n in range(6))]
    checked = zstandard.ZstdCompressor(write_checksum=True)
    empty = [part for member in making.members(raw, "gzip") for part in (member, gzip.compress(b""))]
    made = {
        "plain.warc": raw,
        "gzip.warc.gz": making.members(raw, "gzip"),
        "zstd.warc.zst": making.members(raw, "zstd"),
        "checked.warc.zst": [checked.compress(record) for record in raw],
        "skippable.warc.zst": [
            part for record in raw for part in (zstandard.compress(record), b"\x5e\x2a\x4d\x18\x04\0\0\0seek")
        ],
        "lz4.warc.lz4": [lz4.frame.compress(record) for record in raw],
        "one-stream.warc.gz": [gzip.compress(b"".join(raw), mtime=0)],
        "one-frame.warc.zst": [checked.compress(b"".join(raw))],
        "one-frame.warc.lz4": [lz4.frame.compress(b"".join(raw))],
        "several.warc.gz": [gzip.compress(b"".join(raw[n : n + 4]), mtime=0) for n in range(0, len(raw), 4)],
        "empty-members.warc.gz": empty,
        "arc.arc.gz": making.members(arc, "gzip"),
    }
    found = {name: (b"".join(parts), ends(parts)) for name, parts in made.items()}
    # In ARC the newline belongs to the record that follows.
    found["arc.arc"] = (b"".join(arc), ends(arc) | {end - 1 for end in ends(arc)})
    return found


def ends(parts: list[bytes]) -> set[int]:
    return set(itertools.accumulate(map(len, parts)))


def outcome(shard: Shard, options: ReadOptions = EVERYTHING) -> tuple[list[Record], str | None]:
    """The records, and the error after the last of them."""
    found: list[Record] = []
    try:
        found.extend(read(shard, options))
    except ShardError as error:
        return found, str(error)
    return found, None


def cut_at(path: Path, content: bytes, size: int) -> tuple[list[Record], str | None]:
    path.write_bytes(content[:size])
    return outcome(Shard(str(path), size, "arc" if ".arc" in path.name else "warc"))


def key(record: Record) -> Record:
    """A record without its file, and its length: members that hold nothing may count to the one before."""
    return replace(record, warc_record_length=0, warc_filename="")


def assert_noticed(
    found: list[Record], error: str | None, whole: list[Record], size: int, *, shares_member: bool = False
) -> None:
    """The error names the byte, the records that end before it are all there, and at most one is cut off."""
    assert error is not None, size
    assert f"byte {size}" in error
    good = [record for record in whole if record.warc_record_offset + record.warc_record_length <= size]
    assert [key(record) for record in found[: len(good)]] == [key(record) for record in good]
    for record in found[len(good) :]:
        if shares_member and record in whole:
            continue
        assert record.content_truncated or record.status == "corrupt_record", (size, record)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[bytes, set[int]]]:
    return shards(tmp_path_factory.mktemp("made"))


NAMES: Final = [
    "plain.warc",
    "gzip.warc.gz",
    "zstd.warc.zst",
    "checked.warc.zst",
    "skippable.warc.zst",
    "lz4.warc.lz4",
    "empty-members.warc.gz",
    "arc.arc",
    "arc.arc.gz",
]
SHARED: Final = ["one-stream.warc.gz", "one-frame.warc.zst", "one-frame.warc.lz4", "several.warc.gz"]


@pytest.mark.parametrize("name", NAMES)
def test_a_cut_at_any_byte_of_the_last_records_is_noticed_and_costs_nothing_before_it(
    made: dict[str, tuple[bytes, set[int]]], tmp_path: Path, name: str
) -> None:
    content, boundaries = made[name]
    whole, error = cut_at(tmp_path / name, content, len(content))
    assert error is None
    last = sorted(boundaries)[-6]
    sizes = [*range(last - 40, last + 40), *range(len(content) - 30, len(content)), *range(1, 30)]
    sizes += random.Random(name).sample(range(1, len(content)), N_CUTS)
    for size in sizes:
        found, error = cut_at(tmp_path / name, content, size)
        if size in boundaries:
            assert error is None, size
            before = [key(record) for record in whole if record.warc_record_offset < size]
            assert [key(record) for record in found] == before
        else:
            assert_noticed(found, error, whole, size)


@pytest.mark.parametrize("name", SHARED)
def test_a_cut_in_records_that_share_a_member_keeps_those_before_it(
    made: dict[str, tuple[bytes, set[int]]], tmp_path: Path, name: str
) -> None:
    content, boundaries = made[name]
    whole, _ = cut_at(tmp_path / name, content, len(content))
    sizes = {len(content) - 1, len(content) - 9, *random.Random(name).sample(range(1, len(content)), N_CUTS)}
    for size in sizes - boundaries:
        found, error = cut_at(tmp_path / name, content, size)
        assert error is not None
        assert f"byte {size}" in error
        assert [key(r) for r in found[:-1]] == [key(r) for r in whole[: max(len(found) - 1, 0)]]
        if found and found[-1] not in whole:
            assert found[-1].content_truncated or found[-1].status == "corrupt_record"
    assert len(cut_at(tmp_path / name, content, len(content) - 3)[0]) == len(whole)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("split", [400, 1000, 3001])
def test_of_all_ranges_of_a_cut_shard_one_says_so_and_the_rows_are_the_same(
    made: dict[str, tuple[bytes, set[int]]], tmp_path: Path, name: str, split: int
) -> None:
    content, boundaries = made[name]
    kind = "arc" if ".arc" in name else "warc"
    for size in random.Random(name).sample(sorted(set(range(600, len(content))) - boundaries), 8):
        path = tmp_path / name
        whole = cut_at(path, content, size)
        bounds = [*range(0, size, split), None]
        parts = [
            outcome(Shard(str(path), size, kind, start=start or 0, end=end))  # type: ignore[arg-type]
            for start, end in itertools.pairwise(bounds)
        ]
        assert [record for records, _ in parts for record in records] == whole[0]
        assert [error for _, error in parts if error] == [whole[1]]


@pytest.mark.parametrize("padding", [b"", bytes(512), b"\r\n", b"\n\n\n", b"\r\n\r\n\0\0"])
@pytest.mark.parametrize("name", NAMES + SHARED)
def test_padding_after_the_last_record_is_no_cut(
    made: dict[str, tuple[bytes, set[int]]], tmp_path: Path, name: str, padding: bytes
) -> None:
    content = made[name][0] + padding
    assert cut_at(tmp_path / name, content, len(content))[1] is None


def test_line_ends_that_a_writer_omits_are_no_cut_where_the_two_can_be_distinguished(tmp_path: Path) -> None:
    """In a packed member, which is complete; in files with bare newlines; where the length counts them."""
    record = making.warc(making.http(making.page(1)))
    bare = record.replace(b"\r\n", b"\n").replace(b"Content-Length: ", b"X-Length: ", 1)
    block = making.http(making.page(1))
    counting = making.warc(block + b"\r\n\r\n")[:-4]
    sound = {
        "a.warc.gz": gzip.compress(record) + gzip.compress(record[:-4]),
        "b.warc": making.warc(block.replace(b"\r\n", b"\n")).replace(b"\r\n", b"\n")[:-2],
        "c.warc": record + counting,
        "d.warc": bare,
    }
    for name, content in sound.items():
        assert cut_at(tmp_path / name, content, len(content))[1] is None, name
    for n_missing in range(1, 5):
        found, error = cut_at(tmp_path / "e.warc", record + record, 2 * len(record) - n_missing)
        assert error is not None
        assert [r.content_truncated for r in found] == [None, "unspecified"]
        assert found[1].payload == making.page(1)


@pytest.mark.parametrize("n_bytes", [0, 2])
def test_a_file_whose_writer_separates_no_records_is_whole(tmp_path: Path, n_bytes: int) -> None:
    """The last record has as many line ends after it as the first; only fewer are a cut."""
    made = [record[: len(record) - 4 + n_bytes] for record in records()]
    content = b"".join(made)
    found, error = cut_at(tmp_path / "a.warc", content, len(content))
    assert error is None
    assert [record.content_truncated for record in found] == [None] * len(found)
    for size in range(len(content) - len(made[-1]) + 1, len(content)):
        assert cut_at(tmp_path / "a.warc", content, size)[1] is not None, size


def test_a_cut_record_keeps_the_reason_that_the_archive_gives(tmp_path: Path) -> None:
    record = making.warc(making.http(making.page(1)), "WARC-Truncated: length")
    for name, content in (("a.warc", record), ("a.warc.gz", gzip.compress(record))):
        (found,), error = cut_at(tmp_path / name, content, len(content) - 30)
        assert error is not None
        assert (found.status, found.content_truncated) == (None, "length")


def test_a_cut_between_the_line_ends_is_noticed_though_the_page_ends_in_line_ends_too(tmp_path: Path) -> None:
    record = making.warc(making.http(making.page(1) + b"\r\n\r\n"))
    for n_missing in (1, 2, 3):
        found, error = cut_at(tmp_path / "a.warc", record * 2, 2 * len(record) - n_missing)
        assert error is not None
        assert [r.content_truncated for r in found] == [None, "unspecified"]


def test_a_cut_is_noticed_where_the_first_record_does_not_show_its_line_ends(tmp_path: Path) -> None:
    made = records()
    first = made[0].replace(b"Content-Length: ", b"X-Length: ", 1)
    content = b"".join([first, *made[1:]])
    assert cut_at(tmp_path / "a.warc", content, len(content))[1] is None
    for n_missing in (1, 2):
        assert cut_at(tmp_path / "a.warc", content, len(content) - n_missing)[1] is not None


@pytest.mark.parametrize("packing", ["plain", "gzip", "zstd"])
def test_headers_with_bare_newlines_before_http_heads_cost_no_record(tmp_path: Path, packing: str) -> None:
    made = [head.replace(b"\r\n", b"\n") + b"\n\n" + block for head, _, block in _parted(records())]
    content = b"".join(making.members(made, packing))
    found, error = cut_at(tmp_path / "a.warc", content, len(content))
    assert error is None
    assert [record.url for record in found] == [f"http://site.example/{n}" for n in (1, 2, 3, 5)]


def _parted(made: list[bytes]) -> list[tuple[bytes, bytes, bytes]]:
    """Header, empty line, and block of each record."""
    return [record.partition(b"\r\n\r\n") for record in made]


def test_a_record_that_its_coordinates_put_beyond_the_files_end_is_a_cut(tmp_path: Path) -> None:
    shard = making.shard(making.responses(4))
    path = tmp_path / "a.warc.gz"
    path.write_bytes(shard.content[:-30])
    chosen = tuple(zip(shard.offsets, shard.lengths(), strict=False))
    found, error = outcome(Shard(str(path), None, "warc", records=chosen))
    assert [record.content_truncated for record in found] == [None, None, None, "unspecified"]
    assert error is not None
    assert error.endswith(f"byte {len(shard.content) - 30}, within a gzip member")
    assert outcome(Shard(str(path), None, "warc", records=chosen[:3]))[1] is None
    shorter = (*chosen[:2], (chosen[2][0], chosen[2][1] - 20))  # the table is wrong, the file is not cut
    assert outcome(Shard(str(path), None, "warc", records=shorter))[1] is None


def test_a_file_of_another_size_than_planned_says_so_once(tmp_path: Path) -> None:
    """Cut between two records it looks whole; only its size tells."""
    shard = making.shard(making.responses(4))
    path = tmp_path / "a.warc.gz"
    path.write_bytes(shard.content[: shard.offsets[3]])
    planned = Shard(str(path), len(shard.content), "warc")
    found, error = outcome(planned)
    assert len(found) == 3
    assert error is not None
    assert f"byte {shard.offsets[3]}" in error
    assert outcome(replace(planned, end=900))[1] is None
    assert outcome(replace(planned, start=900))[1] == error


@pytest.fixture
def site(made: dict[str, tuple[bytes, set[int]]]) -> Iterator[Site]:
    with flaky.served(Site({"/gzip.warc.gz": made["gzip.warc.gz"][0]})) as site:
        yield site


@pytest.mark.parametrize("has_ranges", [True, False])
def test_a_cut_is_noticed_over_http(site: Site, has_ranges: bool) -> None:
    content = site.files["/gzip.warc.gz"]
    site.ranges = has_ranges
    whole, error = outcome(Shard(f"{site.url}/gzip.warc.gz", len(content), "warc"))
    assert error is None
    for size in random.Random(1).sample(range(30, len(content)), 6):
        site.files["/gzip.warc.gz"] = content[:size]
        found, error = outcome(Shard(f"{site.url}/gzip.warc.gz", size, "warc"))
        assert_noticed(found, error, whole, size)


def test_a_cut_is_noticed_in_s3(made: dict[str, tuple[bytes, set[int]]]) -> None:
    content, _ = made["zstd.warc.zst"]
    with storage.s3() as client:
        client.create_bucket(Bucket="crawl")
        client.put_object(Bucket="crawl", Key="whole.warc.zst", Body=content)
        whole, error = outcome(Shard("s3://crawl/whole.warc.zst", len(content), "warc"))
        assert error is None
        for size in random.Random(2).sample(range(30, len(content)), 4):
            client.put_object(Bucket="crawl", Key=f"{size}.warc.zst", Body=content[:size])
            found, error = outcome(Shard(f"s3://crawl/{size}.warc.zst", size, "warc"))
            assert_noticed(found, error, whole, size)


def _may_end(content: bytes, size: int) -> bool:
    """Whether an archive may end at a byte: a member begins there, or line ends or padding are around it.

    Exactly which of the line ends belong to a record is proved with the shards made here.
    """
    if content.startswith((b"\x1f\x8b", b"\x28\xb5", b"\x04\x22")):
        return content.startswith(content[:3], size)
    return re.match(rb"[\r\n ](?:[\r\n ]|WARC/|[a-z]+:/)", content[size - 1 : size + 10]) is not None


def test_annotated_archives_cut_at_random_bytes(annotated: Path, tmp_path: Path) -> None:
    """Whole files are intact except those known to end early; each of 50 cuts of each file is detected."""
    folder = annotated / "warc"
    n_cuts = 0
    for entry in json.loads((folder / "index.json").read_text()):
        path = folder / entry.get("file", "-")
        if not path.is_file():
            continue
        content = path.read_bytes()
        whole, error = cut_at(tmp_path / path.name, content, len(content))
        if entry["file"] in END_EARLY:
            assert error is not None
            continue
        assert error is None or "holds no" in error, (path, error)
        if error is not None or any(r.content_truncated or r.status == "corrupt_record" for r in whole):
            continue
        for size in random.Random(path.name).sample(range(1, len(content)), min(N_CUTS, len(content) - 1)):
            if not _may_end(content, size):
                found, error = cut_at(tmp_path / path.name, content, size)
                shares_member = entry.get("gzip_members") == 1
                assert_noticed(found, error, whole, size, shares_member=shares_member)
                n_cuts += 1
    assert n_cuts > 1000
