"""Work on pages that do to the process what their text says, and its rows."""

import ctypes
import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from tests.warc import making
from victor_spark import tables
from victor_spark.statuses import STATUSES
from victor_spark.warc import reading
from victor_spark.warc.inputs import resolve
from victor_spark.warc.records import Record
from victor_spark.warc.shard import Attempt, Shard
from victor_spark.worker.rows import Row, Work, page_bytes, record_row

SLOW: Final = re.compile(r"(a*)*b")


def _allocate_for_ever() -> None:
    kept = []
    while True:
        kept.append(bytearray(b"x") * (8 << 20))


def _allocate_natively() -> None:
    """As native code does: each allocation used, and abort() when there is no more."""
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    while memory := libc.malloc(ctypes.c_size_t(8 << 20)):
        ctypes.memset(memory, 1, 8 << 20)
    os.abort()


KEPT: Final[list[bytearray]] = []
DEEDS: Final[dict[bytes, Callable[[], object]]] = {
    b"segfaults": lambda: ctypes.string_at(0),
    b"aborts": os.abort,
    b"exits": lambda: os._exit(3),
    b"is killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
    b"loops in C": lambda: SLOW.match("a" * 60),
    b"loops in Python": lambda: [None for _ in iter(int, 1)],
    b"sleeps": lambda: time.sleep(600),
    b"eats memory": _allocate_for_ever,
    b"holds memory": lambda: KEPT.append(bytearray(b"x") * (2 << 30)),
    b"eats native memory": _allocate_natively,
    b"asks for a terabyte": lambda: bytearray(1 << 40),
    b"writes to stderr": lambda: os.write(2, b"said by a page\n"),
}


def row(record: Record) -> Row:
    """Does what the page says; then the page is ok, or out of memory. A record that was lost stays so."""
    if record.status is not None:
        return record_row(record, status=record.status, reason=record.reason)
    for deed, action in DEEDS.items():
        if deed in (record.payload or b""):
            try:
                action()
            except MemoryError:
                return record_row(record, status="out_of_memory", reason="MemoryError")
    return record_row(record, status="ok", reason=None)


def lost(record: Record, status: str, reason: str) -> Row:
    assert status in STATUSES
    return record_row(record, status=status, reason=reason)


def read(shard: Shard, attempt: Attempt) -> Iterator[Record]:
    yield from reading.read(shard, attempt=attempt)


WORK: Final = Work(tables.PAGES, read, row, lost, page_bytes)


def write(path: Path, *texts: bytes) -> Shard:
    """A shard of one page a text."""
    pages = [
        b"<html><body><p>This page " + text + b" and has more to say.</p></body></html>" for text in texts
    ]
    made = [making.warc(making.http(page), number=number) for number, page in enumerate(pages)]
    path.write_bytes(making.shard(made).content)
    return resolve([str(path)])[0]
