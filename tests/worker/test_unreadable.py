"""A record that can't be read gets a row with the reason; the records before and after it get their rows."""

import gzip
import itertools
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, cast

import lz4.frame
import pytest

from tests.warc import making
from tests.worker.hostile_work import DEEDS, WORK
from victor_spark.request import Limits
from victor_spark.warc import compression, reading, records
from victor_spark.warc.inputs import resolve
from victor_spark.warc.records import RawRecord, Record
from victor_spark.warc.shard import Attempt, ReadOptions, Shard
from victor_spark.worker import page_process, sandbox
from victor_spark.worker.sandbox import Sandbox

LIMITS: Final = Limits(page_seconds=10.0)
IMPATIENT: Final = Limits(page_seconds=0.2)
THRIFTY: Final = Limits(page_memory=128 << 20)
N: Final = 7
URL: Final = "http://site.example/{}"


def page(number: int) -> bytes:
    return making.warc(making.http(making.page(number)), number=number)


def cleaned(shards: list[Shard], limits: Limits = LIMITS, **work: Any) -> list[dict[str, Any]]:
    child = Sandbox(replace(WORK, **work), limits)
    try:
        return [row for batch in child.batches(shards) for row in batch.to_pylist()]
    finally:
        child.close()


def written(path: Path, parts: list[bytes]) -> Shard:
    path.write_bytes(b"".join(parts))
    return resolve([str(path)])[0]


def deadly(monkeypatch: pytest.MonkeyPatch, deed: bytes, *victims: int) -> None:
    """A process that reads the block of one of these records does the deed."""
    understand = records.page_record

    def understood(raw: RawRecord, options: ReadOptions) -> Record | None:
        record = understand(raw, options)
        if raw.fields.get("warc-target-uri") in [URL.format(number) for number in victims]:
            DEEDS[deed]()
        return record

    monkeypatch.setattr(records, "page_record", understood)


def no_inflating(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that inflates record 3 dies."""
    inflated = compression.inflated

    def parts(*arguments: Any, **steps: int) -> compression.Parts:
        inner = inflated(*arguments, **steps)
        while True:
            try:
                part = next(inner)
            except StopIteration as stop:
                return cast("tuple[int, bool]", stop.value)
            is_member = len(arguments) == 4  # and not the first look at the file
            if is_member and b"<title>Page 3</title>" in part:
                os.abort()
            yield part

    monkeypatch.setattr(compression, "inflated", parts)


def pieces(shard: Shard, n_bytes: int = 900) -> list[Shard]:
    """The shard in ranges of so many bytes."""
    cuts = [*range(0, shard.size or 0, n_bytes), shard.size or 0]
    return [replace(shard, start=start, end=end) for start, end in itertools.pairwise(cuts)]


def seen(rows: list[dict[str, Any]]) -> list[tuple[str | None, str]]:
    return [(row["url"], row["status"]) for row in rows]


PACKED: Final = {
    "plain.warc": making.members([page(n) for n in range(N)], "plain"),
    "gzip.warc.gz": making.members([page(n) for n in range(N)], "gzip"),
    "zstd.warc.zst": making.members([page(n) for n in range(N)], "zstd"),
    "one-stream.warc.gz": [gzip.compress(b"".join(page(n) for n in range(N)), mtime=0)],
    "several.warc.gz": [gzip.compress(b"".join(page(n + i) for i in range(3))) for n in range(0, 6, 3)]
    + [gzip.compress(page(6))],
    "arc.arc": [making.arc_head(), *(making.arc(making.http(making.page(n)), n) for n in range(N))],
}


@pytest.mark.parametrize("victims", [(0,), (3,), (6,), (2, 3), (0, 1, 2, 3, 4, 5, 6)])
@pytest.mark.parametrize("name", PACKED)
def test_a_record_that_kills_whoever_reads_it_costs_itself(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, victims: tuple[int, ...]
) -> None:
    shard = written(tmp_path / name, PACKED[name])
    after = written(tmp_path / "after.warc.gz", making.members([page(99)], "gzip"))
    expected = list(reading.read(shard))
    deadly(monkeypatch, b"aborts", *victims)
    *rows, last = cleaned([shard, after])
    assert seen(rows) == [(URL.format(n), "crash" if n in victims else "ok") for n in range(N)]
    assert [row["warc_record_offset"] for row in rows] == [r.warc_record_offset for r in expected]
    assert [row["warc_record_length"] for row in rows] == [r.warc_record_length for r in expected]
    assert [row["id"] for row in rows] == [r.id for r in expected]
    assert {row["reason"] for row in rows if row["status"] == "crash"} == {"SIGABRT, while it was read"}
    assert (last["url"], last["status"]) == (URL.format(99), "ok")


@pytest.mark.parametrize(
    ("deed", "status", "reason"),
    [
        (b"loops in C", "timeout", "over 0.2 s of CPU time, while it was read"),
        (b"sleeps", "timeout", "over 2 s, while it was read"),
        (b"eats memory", "out_of_memory", "needs more than 128 MiB, while it was read"),
        (b"eats native memory", "out_of_memory", "needs more than 128 MiB, while it was read"),
        (b"exits", "crash", "exit code 3, while it was read"),
    ],
)
def test_its_row_says_what_reading_it_did(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, deed: bytes, status: str, reason: str
) -> None:
    shard = written(tmp_path / "a.warc.gz", PACKED["gzip.warc.gz"])
    if deed == b"sleeps":
        for module in (page_process, sandbox):
            monkeypatch.setattr(module, "WALL_FACTOR", 10)  # instead of 30, which would be waited for twice
    deadly(monkeypatch, deed, 3)
    rows = cleaned([shard], IMPATIENT if status == "timeout" else THRIFTY)
    assert seen(rows) == [(URL.format(n), status if n == 3 else "ok") for n in range(N)]
    assert rows[3]["reason"] == reason


@pytest.mark.parametrize("name", ["gzip.warc.gz", "zstd.warc.zst", "several.warc.gz", "one-stream.warc.gz"])
def test_a_member_that_cant_even_be_inflated_costs_what_it_holds(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    """Passing over the block needs the same bytes."""
    shard = written(tmp_path / name, PACKED[name])
    no_inflating(monkeypatch)
    rows = cleaned([shard])
    lost = {"several.warc.gz": {3, 4, 5}, "one-stream.warc.gz": set(range(N))}.get(name, {3})
    good = [(URL.format(n), "ok") for n in range(N) if n not in lost]
    assert [one for one in seen(rows) if one[1] == "ok"] == good
    (bad,) = [row for row in rows if row["status"] == "crash"]
    starts = making.joined(PACKED[name])
    number = next(
        i for i, part in enumerate(PACKED[name]) if i == {"several.warc.gz": 1}.get(name, min(lost))
    )
    assert bad["warc_record_offset"] == starts.offsets[number]
    assert bad["warc_record_length"] == starts.lengths()[number]


@pytest.mark.parametrize("name", ["gzip.warc.gz", "zstd.warc.zst"])
def test_so_it_does_in_the_ranges_that_are_found_from_before_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    """A range finds its first record by way of those before it, which are another range's to tell of."""
    shard = written(tmp_path / name, PACKED[name])
    no_inflating(monkeypatch)
    rows = cleaned(pieces(shard))
    assert [one for one in seen(rows) if one[0]] == [(URL.format(n), "ok") for n in range(N) if n != 3]
    (bad,) = [row for row in rows if row["status"] != "ok"]
    assert (bad["status"], bad["warc_record_offset"]) == ("crash", making.joined(PACKED[name]).offsets[3])


def test_records_without_a_page_that_kill_whoever_reads_them_have_rows(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    image = making.warc(making.http(bytes(500), content_type="image/png"), number=3)
    parts = making.members([page(n) if n != 3 else image for n in range(N)], "gzip")
    deadly(monkeypatch, b"segfaults", 3)
    rows = cleaned([written(tmp_path / "a.warc.gz", parts)])
    assert seen(rows) == [(URL.format(n), "crash" if n == 3 else "ok") for n in range(N)]


@pytest.mark.parametrize("packing", ["gzip", "lz4"])
def test_the_ranges_of_a_shard_with_such_a_record_have_each_row_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, packing: str
) -> None:
    """In lz4, which can't be divided, the first range has all of them."""
    pack = {"gzip": gzip.compress, "lz4": lz4.frame.compress}[packing]
    shard = written(tmp_path / f"a.warc.{packing}", [pack(page(n)) for n in range(N)])
    deadly(monkeypatch, b"aborts", 3)
    assert seen(cleaned(pieces(shard))) == [(URL.format(n), "crash" if n == 3 else "ok") for n in range(N)]


def test_so_have_records_picked_by_a_table(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shard = written(tmp_path / "a.warc.gz", PACKED["gzip.warc.gz"])
    packed = making.joined(PACKED["gzip.warc.gz"])
    picked = tuple(zip(packed.offsets, packed.lengths(), strict=False))[1:6]
    deadly(monkeypatch, b"aborts", 3, 5)
    rows = cleaned([replace(shard, records=picked)])
    assert seen(rows) == [(URL.format(n), "crash" if n in (3, 5) else "ok") for n in range(1, 6)]


def test_a_page_file_that_kills_whoever_reads_it_has_its_row(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "a.html"
    path.write_bytes(making.page(1))
    monkeypatch.setattr(records, "outcome_of", lambda *_: os.abort())
    (row,) = cleaned([resolve([str(path)])[0]])
    assert (row["url"], row["status"], row["warc_record_offset"]) == (path.as_uri(), "crash", 0)


def test_a_page_behind_such_a_record_has_its_own_verdict(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Records are counted anew behind one that was passed over."""
    hostile = making.warc(making.http(b"<html><p>This page exits</p></html>"), number=5)
    parts = making.members([page(n) if n != 5 else hostile for n in range(N)], "gzip")
    deadly(monkeypatch, b"aborts", 2, 4)
    rows = cleaned([written(tmp_path / "a.warc.gz", parts)])
    assert seen(rows) == [(URL.format(n), "crash" if n in (2, 4, 5) else "ok") for n in range(N)]
    assert rows[5]["reason"] == "exit code 3"


def test_such_a_record_may_be_the_first_after_a_shard_without_rows(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    request = making.warc(b"GET / HTTP/1.1\r\n\r\n", kind="request", number=N)
    without = written(tmp_path / "a.warc.gz", making.members([request] * 3, "gzip"))
    shard = written(tmp_path / "b.warc.gz", PACKED["gzip.warc.gz"])
    deadly(monkeypatch, b"aborts", 0)
    rows = cleaned([without, shard])
    assert seen(rows) == [(URL.format(n), "crash" if n == 0 else "ok") for n in range(N)]


def test_the_verdict_on_a_page_before_such_a_record_is_none_on_a_page_behind_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hostile = making.warc(making.http(b"<html><p>This page exits</p></html>"), number=1)
    parts = making.members([page(n) if n != 1 else hostile for n in range(N)], "gzip")
    deadly(monkeypatch, b"aborts", 3)
    rows = cleaned([written(tmp_path / "a.warc.gz", parts)])
    assert seen(rows) == [(URL.format(n), "crash" if n in (1, 3) else "ok") for n in range(N)]


def test_a_shard_that_cant_be_opened_without_a_death_ends_with_a_reason(tmp_path: Path) -> None:
    """No record is known that could be passed over."""
    bad, good = (written(tmp_path / name, PACKED["gzip.warc.gz"]) for name in ("bad.warc.gz", "good.warc.gz"))

    def opened(shard: Shard, attempt: Attempt) -> Iterator[Record]:
        if shard == bad:
            os.abort()
        yield from reading.read(shard, attempt=attempt)

    first, *rest = cleaned([bad, good], read=opened)
    assert (first["status"], first["warc_record_offset"]) == ("error", None)
    assert first["reason"].endswith("bad.warc.gz: can't be read on: SIGABRT")
    assert seen(rest) == [(URL.format(n), "ok") for n in range(N)]


def test_the_time_for_reading_grows_with_the_bytes_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Each record has a clock of its own, and each megabyte of the shard that is read gives more."""

    notes: list[float] = []
    note = page_process._Worker._note

    def noted(worker: Any, phase: int, seconds: float) -> None:
        if phase == page_process.READING:
            with (tmp_path / "notes").open("a") as file:
                file.write(f"{seconds}\n")
        note(worker, phase, seconds)

    monkeypatch.setattr(page_process._Worker, "_note", noted)
    block = making.http(os.urandom(8_000_000), content_type="video/mp4")
    parts = making.members([page(0), making.warc(block, number=1), page(2)], "gzip")
    shard = written(tmp_path / "a.warc.gz", parts)
    assert seen(cleaned([shard], Limits(page_seconds=1.0))) == [(URL.format(n), "ok") for n in (0, 2)]
    notes = [float(line) for line in (tmp_path / "notes").read_text().split()]
    assert min(notes) == pytest.approx(1.0)
    assert 7.0 < max(seconds for seconds in notes if seconds < 29) < 10.0


def test_an_error_of_ours_in_one_record_costs_that_record(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without a process of its own as well."""
    understand: Callable[..., Record | None] = records.page_record

    def buggy(raw: RawRecord, options: ReadOptions) -> Record | None:
        if raw.fields.get("warc-target-uri") == URL.format(3):
            raise ValueError("our own mistake")
        return understand(raw, options)

    monkeypatch.setattr(records, "page_record", buggy)
    found = list(reading.read(written(tmp_path / "a.warc.gz", PACKED["gzip.warc.gz"])))
    assert [record.url for record in found] == [URL.format(n) for n in range(N)]
    assert (found[3].status, found[3].reason) == ("error", "ValueError: our own mistake")
