"""The two readers of archives: FastWARC for healthy WARC, and our own for damage, ARC and byte positions.

`step` reads one record (or one compressed member) and the damage after it. Records that share a member have
no offset of their own in the file: theirs is the member's offset plus their position in the member's content,
and their length is the inflated one.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

from fastwarc.warc import ArchiveIterator, WarcRecord

from victor_spark.errors import one_line
from victor_spark.warc import boundaries, records
from victor_spark.warc.boundaries import END, Stream
from victor_spark.warc.compression import CorruptError
from victor_spark.warc.headers import ARC, Header, Syntax
from victor_spark.warc.records import Damage, RawRecord, Record
from victor_spark.warc.shard import STANDARD_TYPES, Attempt, Place, ReadOptions
from victor_spark.warc.source import (
    MAGIC_LENGTH,
    MEMBER_NAMES,
    CutError,
    Source,
    SourceError,
    View,
    dictionary_of,
    open_member,
)

T = TypeVar("T")
Found = Record | Damage
Steps = Generator[Found, None, int]
"""Yields what is at an offset; returns where the next record or member begins, at last the file's size.

Raises CutError at the end where the file ends too early; a record cut off there has `content_truncated`.
"""


@dataclass(frozen=True, slots=True)
class Archive:
    """An open shard: its bytes, the syntax of its records, its name in the rows, and how it is read.

    The record at the position `skipped` is not read. `is_search`: only to find where records begin, without
    pages.
    """

    source: Source
    syntax: Syntax
    filename: str
    options: ReadOptions
    attempt: Attempt
    skipped: int | None = None
    is_search: bool = False

    @property
    def is_fast(self) -> bool:
        """Whether FastWARC reads it; it reads neither ARC nor zstd with a dictionary."""
        return self.attempt.fast and self.syntax is not ARC and dictionary_of(self.source) is None

    def page(self, raw: RawRecord) -> Record | None:
        """The page record of a raw record, its length still 0; an unexpected error becomes its status."""
        if self.is_search:
            return None
        if (skip := self.attempt.skip) is not None and raw.offset == self.skipped:
            return records.unread(raw, self.filename, skip.status, skip.reason)
        try:
            return records.page_record(raw, self.options, self.filename)
        except (CorruptError, SourceError, MemoryError):
            raise
        except Exception as error:  # noqa: BLE001 - it costs this record, whose row has the reason
            reason = f"{type(error).__name__}: {one_line(error)}"
            return records.unread(raw, self.filename, "error", reason)


def fastwarc_records(archive: Archive, start: int, end: int) -> Generator[Record, None, int]:
    """Yields the page records that begin in [start, end); returns where `step` has to continue.

    That is one of the shard's last two records, or of the last two before any sign of damage: the end of a
    record is certain only when the next one is seen, FastWARC takes a truncated last record for a healthy
    one, and it gives records that share a member the offset of that member's end, where two then meet.
    A returned offset from `end` on is the first record behind the range: nothing is left to read.
    """
    source = archive.source
    source.seek(start)
    seen: list[tuple[int, Record | None]] = []  # the last two records: where they begin, what they are
    try:
        iterator = _guarded(source, lambda: iter(ArchiveIterator(source, parse_http=False)))
        while (warc := _guarded(source, lambda: next(iterator, None))) is not None:
            offset = warc.stream_pos
            last = seen[-1][0] if seen else start - 1
            if offset < start or offset <= last or source.surely_no_member_at(offset):
                break
            if len(seen) == 2:
                (before, record), _ = seen
                if record is not None:
                    yield replace(record, warc_record_length=last - before)
                del seen[0]
                if last >= end:
                    break
            seen.append((offset, _converted(archive, warc) if offset < end else None))
    except CorruptError:
        pass
    return seen[0][0] if seen else start


def _converted(archive: Archive, warc: WarcRecord) -> Record | None:
    """The page record of a WARC record, its block read to the end; CorruptError if that comes early."""
    source, reader = archive.source, warc.reader
    n_read = 0

    def read(n: int) -> bytes:
        nonlocal n_read
        part = _guarded(source, lambda: reader.read(n))
        n_read += len(part)
        return part

    headers = warc.headers
    kind = (headers.get("WARC-Type") or "").lower()
    if kind not in STANDARD_TYPES:  # damaged, or lines ended by a bare newline read as one line
        raise CorruptError("no type that the standard knows")
    if not archive.is_search:
        archive.attempt.begin(Place(warc.stream_pos, 0))
    record = archive.page(RawRecord(warc.stream_pos, kind, headers.get, read, warc.content_length))
    n_read += _guarded(source, reader.consume)
    if n_read < warc.content_length:
        raise CorruptError("the block is shorter than declared")
    return record


def _guarded(source: Source, call: Callable[[], T]) -> T:
    """The result of a FastWARC call; its exceptions and panics become CorruptError or SourceError."""
    try:
        return call()
    except (SourceError, CorruptError, MemoryError):
        raise
    except BaseException as error:
        if source.failure is not None:
            raise SourceError(str(source.failure)) from source.failure
        # A Rust panic is a BaseException of a class that can't be imported.
        if isinstance(error, Exception) or type(error).__name__ == "PanicException":
            raise CorruptError(str(error)) from error
        raise


def step(archive: Archive, place: Place) -> Steps:
    """Reads the record at a place, or a member's records from there on, and the damage after them."""
    source = archive.source
    if source.compression != "plain":
        return (yield from _member_step(archive, place))
    archive.attempt.begin(place)
    at = _at(View(source, 0, source.size), place.start, archive)
    if at.cut is None:
        yield from at.found
        return source.size if at.following is None else at.following
    yield from _cut(at.found, at.cut)
    raise CutError(at.cut)


def _member_step(archive: Archive, place: Place) -> Steps:
    source = archive.source
    start, position = place
    name = MEMBER_NAMES[source.compression]
    try:
        archive.attempt.begin(place)
        member = open_member(source, start)
        while True:
            at = _at(member, position, archive)
            if at.following is None:
                break
            yield from (_moved(one, start) for one in at.found)
            position = at.following
            archive.attempt.begin(Place(start, position))
        end, complete = member.end()
    except CorruptError as error:
        return (yield from _skipped(archive, start, position, str(error)))
    if not complete and boundaries.next_member(source, start + 1, archive.syntax) is not None:
        return (yield from _skipped(archive, start, position, "runs into the next member"))
    found = [_moved(one, start) for one in at.found]
    if position == 0 and found:
        found[0] = replace(found[0], warc_record_length=end - start)
    if complete:
        yield from found
        return end
    if member.seek(END) == 0:
        found = [Damage(start, end - start, "")]
    yield from _cut(found, name) if position == 0 or at.cut else found
    raise CutError(name)


def _cut(found: list[Found], within: str) -> list[Found]:
    """`found`, its last element marked as cut off: the file ends within it."""
    if not found:
        return found
    last = found[-1]
    if isinstance(last, Damage):
        return [*found[:-1], replace(last, reason=f"the file ends within this {within}")]
    return [*found[:-1], replace(last, content_truncated=last.content_truncated or "unspecified")]


def _moved(found: Found, start: int) -> Found:
    """What was found in a member, its offset in the file; `start` is the member's."""
    return replace(found, warc_record_offset=start + found.warc_record_offset)


def _skipped(archive: Archive, start: int, position: int, reason: str) -> Steps:
    """The damage from a member that does not decompress up to the next one that does."""
    source = archive.source
    following = boundaries.next_member(source, start + 1, archive.syntax)
    stop = source.size if following is None else following
    if stop - start < MAGIC_LENGTH and source.begins_member(start):
        name = MEMBER_NAMES[source.compression]
        yield from _cut([Damage(start, stop - start, reason)], name)
        raise CutError(name)
    if not boundaries.is_filling(View(source, start, stop), 0, stop - start):
        yield Damage(start + position, stop - start, reason)
    return stop


class _At(NamedTuple):
    """What lies at a position, where the next record begins, and the part within which the stream ends."""

    found: list[Found]
    following: int | None
    cut: str | None = None


def _at(stream: Stream, start: int, archive: Archive) -> _At:
    """What lies at `start` of a stream: a record, damage or both."""
    syntax = archive.syntax
    header = boundaries.read_header(stream, start, syntax)
    if header is None:
        following = boundaries.next_record(stream, start + 1, syntax)
        found = _damage(stream, start, following, "no intelligible record begins here")
        cut = boundaries.cut_header(stream, start, syntax) if following is None else None
        return _At(found, following, cut)
    block = start + header.length
    declared = header.block_length
    record, extent = None, None
    if declared is not None:
        record = archive.page(_raw(stream, start, header, block + declared, declared))
        extent = boundaries.confirmed_extent(stream, block + declared, syntax)
    if extent is None:
        extent = boundaries.searched_extent(stream, block, declared, syntax)
        length = extent.end - block
        if extent.next is None and declared is not None:
            length = max(length, declared)  # the stream's end came too early
        record = archive.page(_raw(stream, start, header, extent.end, length))
    found = _damage(stream, extent.stop, extent.next, "rubbish between records")
    is_rubbish = bool(found)
    if record is not None:
        found.insert(0, replace(record, warc_record_length=extent.stop - start))
    if extent.next is not None:
        return _At(found, extent.next)
    if is_rubbish:
        return _At(found, None, boundaries.cut_header(stream, extent.stop, syntax))
    is_cut = boundaries.is_cut(stream, start, block, extent.end, declared, syntax)
    return _At(found, None, "record" if is_cut else None)


def _raw(stream: Stream, start: int, header: Header, end: int, block_length: int) -> RawRecord:
    """The record at `start` whose block ends at `end` of the stream."""
    position = start + header.length

    def read(n: int) -> bytes:
        nonlocal position
        part = stream.read_at(position, max(min(n, end - position), 0))
        position += len(part)
        return part

    kind = header.fields.get("warc-type", "").lower()
    return RawRecord(start, kind, lambda name: header.fields.get(name.lower()), read, block_length)


def _damage(stream: Stream, start: int, stop: int | None, reason: str) -> list[Found]:
    """The damage in [start, stop) (None: to the end); none where only filling stands there."""
    end = stream.seek(END) if stop is None else stop
    return [] if boundaries.is_filling(stream, start, end) else [Damage(start, end - start, reason)]
