"""Pages and records that attack their reader: each gets one row, and no task is repeated because of them."""

import gzip
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from tests.cluster.runs import Job, infos, undisturbed, write_crawl
from tests.spark.crawl import rows
from tests.warc import making

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]

HUGE: Final = 2 << 30
DEEDS: Final = {
    ("shard-0.warc.gz", "/0/1"): ("segfaults", "crash", "SIGSEGV"),
    ("shard-0.warc.gz", "/0/3"): ("loops in C", "timeout", "CPU time"),
    ("shard-1.warc.gz", "/1/0"): ("eats memory", "out_of_memory", "needs more than 256 MiB"),
    ("shard-1.warc.gz", "/1/4"): ("eats native memory", "out_of_memory", "needs more than 256 MiB"),
    ("shard-1.warc.gz", "/1/5"): ("exits", "crash", "exit code 3"),
}


def packed(head: bytes, n_zeros: int, tail: bytes = b"") -> bytes:
    """A gzip member of a head, that many zeros (16 MB of them, packed once, again and again) and a tail."""
    size = 16 << 20
    packer = zlib.compressobj(1, zlib.DEFLATED, -15)
    begin = packer.compress(head) + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(bytes(size)) + packer.flush(zlib.Z_FULL_FLUSH)
    end = packer.compress(tail) + packer.flush(zlib.Z_FINISH)
    check = zlib.crc32(head)
    for _ in range(n_zeros // size):
        check = zlib.crc32(bytes(size), check)
    length = (len(head) + n_zeros + len(tail)) & 0xFFFFFFFF
    sums = zlib.crc32(tail, check).to_bytes(4, "little") + length.to_bytes(4, "little")
    return bytes.fromhex("1f8b08000000000000ff") + begin + block * (n_zeros // size) + end + sums


def giants(folder: Path) -> None:
    """Shards with records of 2 GB: one in a packed record, one in a packed body, one that is plain."""
    kind = [making.warc(making.http(making.page(n)), number=n) for n in range(4)]
    bomb = making.warc(making.http(packed(b"<html>", HUGE), "Content-Encoding: gzip"), number=10)
    block = making.http(b"", length=HUGE)
    head = making.warc(block, number=11, length=len(block) + HUGE).removesuffix(b"\r\n\r\n")
    giant = packed(head, HUGE, b"\r\n\r\n")
    zipped = [gzip.compress(record) for record in (*kind, bomb)]
    (folder / "packed.warc.gz").write_bytes(zipped[0] + giant + zipped[1] + zipped[4] + zipped[2] + zipped[3])
    with (folder / "plain.warc").open("wb") as file:
        file.write(kind[0] + head)
        file.seek(HUGE, os.SEEK_CUR)  # a hole in the file
        file.write(b"\r\n\r\n" + kind[1])


def test_each_costs_its_own_row_and_nothing_else(job: Callable[..., Job], tmp_path: Path) -> None:
    places = {f"s{path[1]}_p{path[3]}": deed for (_, path), (deed, *_) in DEEDS.items()}
    crawl = write_crawl(tmp_path / "crawl", 2, 8, **places)
    giants(crawl)
    kind = undisturbed(crawl)  # pages do what they say only where a test lets them
    limits = ("--page-seconds", "2", "--page-memory", "256", "--max-failed-pages", "9")
    run = job(crawl=crawl, options=[*limits, "--split-bytes", "3G"]).start()
    run.finish()
    found = rows(run.output)
    hostile = {
        (Path(row["warc_filename"]).name, row["url"].removeprefix("http://harbour.example")): row
        for row in found
    }
    for place, (_, status, reason) in DEEDS.items():
        assert hostile[place]["status"] == status
        assert reason in hostile[place]["reason"]
    report = {
        (name, row["warc_record_offset"]) for (name, url), row in hostile.items() if (name, url) in DEEDS
    }
    outcomes = run.outcomes()
    assert [outcome[:2] for outcome in outcomes] == [outcome[:2] for outcome in kind]
    assert [o for o in outcomes if o[:2] not in report] == [o for o in kind if o[:2] not in report]
    assert [o[2] for o in outcomes if o[0] == "packed.warc.gz"] == [
        "ok",
        "oversize",
        "ok",
        "oversize",
        "ok",
        "ok",
    ]
    assert [o[2] for o in outcomes if o[0] == "plain.warc"] == ["ok", "oversize", "ok"]
    assert {info["Attempt"] for info in infos(run)} == {0}
