"""Damaged shards and ARC: record by record, each within its own bounds, going on after the damage.

One call of `step` reads the record (or the packed member) at an offset and whatever damage follows it.
Records that share a packed member have no offset of their own in the file: theirs is the member's
offset plus their position in what the member inflates to, and their length is the inflated one.
"""

import re
from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Final

from victor_spark.archive import members, resync
from victor_spark.archive.damage import CorruptError, Damage
from victor_spark.archive.layouts import ARC, MAX_HEADER, Header, Layout
from victor_spark.archive.raw import RawRecord, Understand
from victor_spark.archive.source import Source, Stream, View
from victor_spark.page import Record

_HEADER_STEP: Final = 8 << 10
_TAIL: Final = 4096
_END: Final = 1 << 62
_FILLING: Final = b"\r\n\x00 "  # what may stand between records: newlines, and padding from tapes and disks
_NEWLINES = re.compile(rb"(?:\r?\n){1,2}\Z")

Found = Record | Damage
Steps = Generator[Found, None, int | None]
"""Yields what is at an offset, returns where the next record or member begins (None: the shard ends)."""


@dataclass(frozen=True, slots=True)
class Extent:
    """A block ends at `end`, its record at `stop`; the next begins at `next`, rubbish between them."""

    end: int
    stop: int
    next: int | None


def is_needed(source: Source, layout: Layout) -> bool:
    """Whether FastWARC can't read the shard at all: ARC, and zstd with a dictionary."""
    return layout is ARC or members.dictionary_of(source) is not None


def step(source: Source, start: int, layout: Layout, understand: Understand) -> Steps:
    """Reads the record (plain) or the member (packed) at `start`, and the damage after it."""
    if source.compression != "plain":
        return (yield from _member_step(source, start, layout, understand))
    found, following = _at(View(source, 0, source.size), start, layout, understand)
    yield from found
    return following


def _member_step(source: Source, start: int, layout: Layout, understand: Understand) -> Steps:
    position = 0
    try:
        member = members.open_member(source, start)
        while True:
            found, following = _at(member, position, layout, understand)
            if following is None:
                break
            yield from (_moved(one, start) for one in found)
            position = following
        end = _end(source, start, member, layout)
    except CorruptError as error:
        return (yield from _skipped(source, start, position, layout, str(error)))
    found = [_moved(one, start) for one in found]
    if position == 0 and found:
        found[0] = _with_length(found[0], end - start)
    yield from found
    return end if end < source.size else None


def _end(source: Source, start: int, member: members.Member, layout: Layout) -> int:
    """The offset after a member; CorruptError if the file's end clips it to nothing, or only seems to."""
    end = member.end()
    if not member.complete:
        if member.seek(_END) == 0:
            raise CorruptError("clipped before anything inflates")
        if resync.next_member(source, start + 1, layout) is not None:
            raise CorruptError("runs into the next member")
    return end


def _moved(found: Found, start: int) -> Found:
    if isinstance(found, Damage):
        return replace(found, offset=start + found.offset)
    return replace(found, warc_record_offset=start + found.warc_record_offset)


def _with_length(found: Found, length: int) -> Found:
    if isinstance(found, Damage):
        return replace(found, length=length)
    return replace(found, warc_record_length=length)


def _skipped(source: Source, start: int, position: int, layout: Layout, reason: str) -> Steps:
    """The damage from a member that does not inflate up to the next one that does."""
    following = resync.next_member(source, start + 1, layout)
    stop = source.size if following is None else following
    if not _is_filling(View(source, start, stop), 0, stop - start):
        yield Damage(start + position, stop - start, reason)
    return following


def _at(stream: Stream, start: int, layout: Layout, understand: Understand) -> tuple[list[Found], int | None]:
    """What lies at `start` of a stream (a record, damage or both), and where the next record begins."""
    header = _header(stream, start, layout)
    if header is None:
        following = resync.next_record(stream, start + 1, layout)
        return _damage(stream, start, following, "no intelligible record begins here"), following
    block = start + header.length
    declared = header.block_length
    record, extent = None, None
    if declared is not None:
        record = understand(_raw(stream, start, header, block + declared, declared))
        extent = _confirmed(stream, block + declared, layout)
    if extent is None:
        extent = _searched(stream, block, declared, layout)
        length = extent.end - block
        if extent.next is None and declared is not None:
            length = max(length, declared)  # the stream's end came too early
        record = understand(_raw(stream, start, header, extent.end, length))
    found: list[Found] = []
    if record is not None:
        found.append(replace(record, warc_record_length=extent.stop - start))
    found += _damage(stream, extent.stop, extent.next, "rubbish between records")
    return found, extent.next


def _header(stream: Stream, start: int, layout: Layout) -> Header | None:
    stream.seek(start)
    head = stream.read(_HEADER_STEP)
    if not layout.expected.match(head):
        return None
    header = layout.parse(head)
    if header is None and len(head) == _HEADER_STEP:
        header = layout.parse(head + stream.read(MAX_HEADER - _HEADER_STEP))
    return header


def _raw(stream: Stream, start: int, header: Header, end: int, block_length: int) -> RawRecord:
    """The record at `start` whose block ends at `end` of the stream."""
    stream.seek(start + header.length)

    def read(n: int) -> bytes:
        return stream.read(max(min(n, end - stream.tell()), 0))

    kind = header.fields.get("warc-type", "").lower()
    return RawRecord(start, kind, lambda name: header.fields.get(name.lower()), read, block_length)


def _confirmed(stream: Stream, end: int, layout: Layout) -> Extent | None:
    """The extent of a block declared to end at `end`, if another record or the stream's end follows there."""
    if stream.seek(end) < end:
        return None
    position = end
    while tail := stream.read(_TAIL):
        rest = tail.lstrip(_FILLING)
        position += len(tail) - len(rest)
        if rest:
            stream.seek(position)
            return (
                Extent(end, position, position) if layout.expected.match(stream.read(layout.reach)) else None
            )
    return Extent(end, position, None)


def _searched(stream: Stream, block: int, declared: int | None, layout: Layout) -> Extent:
    """The extent of a block whose declared length is wrong, or after which rubbish stands."""
    if declared is not None and stream.seek(block + declared) == block + declared:
        separator = layout.separator.match(stream.read(4))
        if separator:
            gap = block + declared + separator.end()
            return Extent(block + declared, gap, resync.next_record(stream, gap, layout))
    following = resync.next_record(stream, block, layout)
    if following is None:
        stop = stream.seek(_END)
        return Extent(stop, stop, None)
    return Extent(following - _newlines_before(stream, block, following), following, following)


def _newlines_before(stream: Stream, block: int, stop: int) -> int:
    """How many of the last bytes before `stop` are the empty lines that end a record."""
    first = max(block, stop - 4)
    stream.seek(first)
    found = _NEWLINES.search(stream.read(stop - first))
    return len(found[0]) if found else 0


def _damage(stream: Stream, start: int, stop: int | None, reason: str) -> list[Found]:
    """The damage in [start, stop) (None: to the end); none where there is nothing but filling."""
    end = stream.seek(_END) if stop is None else stop
    return [] if _is_filling(stream, start, end) else [Damage(start, end - start, reason)]


def _is_filling(stream: Stream, start: int, end: int) -> bool:
    position = stream.seek(start)
    while position < end:
        window = stream.read(min(_TAIL, end - position))
        if not window or window.strip(_FILLING):
            return not window
        position += len(window)
    return True
