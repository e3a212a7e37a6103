"""Healthy WARC shards, through FastWARC: every record read once, front to back."""

from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from typing import TypeVar

from fastwarc.warc import ArchiveIterator, WarcRecord

from victor_spark.blocks import Record
from victor_spark.warc.damage import CorruptError, SourceError
from victor_spark.warc.raw import RawRecord, Understand
from victor_spark.warc.source import Source

T = TypeVar("T")


def guarded(source: Source, call: Callable[[], T]) -> T:
    """The result of a FastWARC call; its exceptions and panics become CorruptError or SourceError."""
    try:
        return call()
    except (StopIteration, SourceError, CorruptError, MemoryError):
        raise
    except BaseException as error:
        if source.failure is not None:
            raise SourceError(str(source.failure)) from error
        # A Rust panic is a BaseException of a class that can't be imported.
        if isinstance(error, Exception) or type(error).__name__ == "PanicException":
            raise CorruptError(str(error)) from error
        raise


def records(
    source: Source, start: int, understand: Understand, end: int | None = None
) -> Generator[Record, None, int]:
    """Yields the page records that begin in [start, end); returns where the careful reader has to go on.

    That is one of the shard's last two records, or of the last two before any sign of damage: only with the
    next record in sight is it certain where a record ends, FastWARC takes a truncated last record for a
    healthy one, and it moves records that share a packed member to that member's end, where two then meet.
    An offset from `end` on is that of the first record behind the range: there is nothing left to read.
    """
    source.seek(start)
    seen: list[tuple[int, Record | None]] = []  # the last two records: where they begin, what they are
    try:
        for warc in _iterated(source):
            offset = warc.stream_pos
            last = seen[-1][0] if seen else start - 1
            if offset < start or offset <= last or source.surely_no_member_at(offset):
                break
            if len(seen) == 2:
                (before, record), _ = seen
                if record is not None:
                    yield replace(record, warc_record_length=last - before)
                del seen[0]
                if end is not None and last >= end:
                    break
            is_ours = end is None or offset < end
            seen.append((offset, _understood(source, warc, understand) if is_ours else None))
    except CorruptError:
        pass
    return seen[0][0] if seen else start


def _iterated(source: Source) -> Iterator[WarcRecord]:
    iterator = guarded(source, lambda: iter(ArchiveIterator(source, parse_http=False)))
    while True:
        try:
            warc = guarded(source, lambda: next(iterator))
        except StopIteration:
            return
        yield warc


def _understood(source: Source, warc: WarcRecord, understand: Understand) -> Record | None:
    """The page record of a WARC record, its block read to the end; CorruptError if that comes early."""
    reader = warc.reader
    n_read = 0

    def read(n: int) -> bytes:
        nonlocal n_read
        part = guarded(source, lambda: reader.read(n))
        n_read += len(part)
        return part

    headers = warc.headers
    kind = (headers.get("WARC-Type") or "").lower()
    if "\n" in kind:  # FastWARC takes a header whose lines end in a bare newline for one line
        raise CorruptError("the header is not read as lines")
    record = understand(RawRecord(warc.stream_pos, kind, headers.get, read, warc.content_length))
    n_read += guarded(source, reader.consume)
    if n_read < warc.content_length:
        raise CorruptError("the block is shorter than declared")
    return record
