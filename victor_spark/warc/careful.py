"""Damaged shards and ARC: record by record, each within its own bounds, going on after the damage.

One call of `step` reads the record (or the packed member) at an offset and whatever damage follows it.
Records that share a packed member have no offset of their own in the file: theirs is the member's
offset plus their position in what the member inflates to, and their length is the inflated one.
"""

import re
from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from victor_spark.blocks import Record
from victor_spark.warc import members, resync
from victor_spark.warc.damage import CorruptError, CutError, Damage
from victor_spark.warc.layouts import ARC, MAX_HEADER, Header, Layout
from victor_spark.warc.raw import FIRST, Attempt, Place, RawRecord, Understand
from victor_spark.warc.source import Source, Stream, View

_HEADER_STEP: Final = 8 << 10
_TAIL: Final = 4096
_END: Final = 1 << 62
_FILLING: Final = b"\r\n\x00 "  # what may stand between records: newlines, and padding from tapes and disks
_EMPTY_LINE: Final = b"\r\n\r\n"
_NEWLINES = re.compile(rb"(?:\r?\n){1,2}\Z")

Found = Record | Damage
Steps = Generator[Found, None, int | None]
"""Yields what is at an offset, returns where the next record or member begins (None: the shard ends).

Raises CutError at the end where the file ends too early. A record that is cut off there says so.
"""


@dataclass(frozen=True, slots=True)
class Extent:
    """A block ends at `end`, its record at `stop`; the next begins at `next`, rubbish between them."""

    end: int
    stop: int
    next: int | None


def is_needed(source: Source, layout: Layout) -> bool:
    """Whether FastWARC can't read the shard at all: ARC, and zstd with a dictionary."""
    return layout is ARC or members.dictionary_of(source) is not None


class _At(NamedTuple):
    """What lies at a position of a stream, where the next record begins, and within what the stream ends."""

    found: list[Found]
    following: int | None
    cut: str | None = None


def step(
    source: Source, place: Place, layout: Layout, understand: Understand, attempt: Attempt = FIRST
) -> Steps:
    """Reads the record (plain), or those of a member from a place on (packed), and the damage after it."""
    if source.compression != "plain":
        return (yield from _member_step(source, place, layout, understand, attempt))
    attempt.begin(place)
    at = _at(View(source, 0, source.size), place.start, layout, understand)
    if at.cut is None:
        yield from at.found
        return at.following
    yield from _cut(at.found, at.cut)
    raise CutError(at.cut)


def _member_step(
    source: Source, place: Place, layout: Layout, understand: Understand, attempt: Attempt
) -> Steps:
    start, position = place
    name = members.NAMES[source.compression]
    try:
        attempt.begin(place)
        member = members.open_member(source, start)
        while True:
            at = _at(member, position, layout, understand)
            if at.following is None:
                break
            yield from (_moved(one, start) for one in at.found)
            position = at.following
            attempt.begin(Place(start, position))
        end = _end(source, start, member, layout)
    except CorruptError as error:
        return (yield from _skipped(source, start, position, layout, str(error)))
    found = [_moved(one, start) for one in at.found]
    if position == 0 and found:
        found[0] = _with_length(found[0], end - start)
    if member.complete:
        yield from found
        return end if end < source.size else None
    if member.seek(_END) == 0:
        found = [Damage(start, end - start, "")]
    yield from _cut(found, name) if position == 0 or at.cut else found
    raise CutError(name)


def _cut(found: list[Found], within: str) -> list[Found]:
    """What was found where the file ends within the last of it."""
    if not found:
        return found
    last = found[-1]
    if isinstance(last, Damage):
        return [*found[:-1], replace(last, reason=f"the file ends within this {within}")]
    return [*found[:-1], replace(last, content_truncated=last.content_truncated or "unspecified")]


def _end(source: Source, start: int, member: members.Member, layout: Layout) -> int:
    """The offset after a member; CorruptError if only the file's end seems to clip it."""
    end = member.end()
    if not member.complete and resync.next_member(source, start + 1, layout) is not None:
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
    if stop - start < members.SHORTEST and source.begins_member(start):
        name = members.NAMES[source.compression]
        yield from _cut([Damage(start, stop - start, reason)], name)
        raise CutError(name)
    if not _is_filling(View(source, start, stop), 0, stop - start):
        yield Damage(start + position, stop - start, reason)
    return following


def _at(stream: Stream, start: int, layout: Layout, understand: Understand) -> _At:
    """What lies at `start` of a stream: a record, damage or both."""
    header = _header(stream, start, layout)
    if header is None:
        following = resync.next_record(stream, start + 1, layout)
        found = _damage(stream, start, following, "no intelligible record begins here")
        return _At(found, following, None if following is not None else _begun(stream, start, layout))
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
    found = _damage(stream, extent.stop, extent.next, "rubbish between records")
    is_rubbish = bool(found)
    if record is not None:
        found.insert(0, replace(record, warc_record_length=extent.stop - start))
    if extent.next is not None:
        return _At(found, extent.next)
    if is_rubbish:
        return _At(found, None, _begun(stream, extent.stop, layout))
    if declared is None or extent.end > block + declared:  # no length, or a wrong one
        stream.seek(max(extent.end - _TAIL, 0))
        tail = stream.read(_TAIL).rstrip(b"\x00 ")
        is_cut = re.search(layout.separator.pattern + rb"\Z", tail) is None
    else:
        is_cut = extent.end < block + declared or _lacks_newlines(stream, start, block, extent.end, layout)
    return _At(found, None, "record" if is_cut else None)


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


def _begun(stream: Stream, start: int, layout: Layout) -> str | None:
    """Within what a stream ends: a record's header, if all from `start` on may be the beginning of one."""
    stream.seek(start)
    rest = stream.read(MAX_HEADER + 1).lstrip(_FILLING)
    return "record header" if len(rest) <= MAX_HEADER and layout.begun.fullmatch(rest) else None


def _lacks_newlines(stream: Stream, start: int, block: int, end: int, layout: Layout) -> bool:
    """Whether the two line ends after a WARC file's last block [block, end) are cut off.

    Not where the header's own lines end in a bare newline, as in files edited by hand, where the file's first
    record has no more line ends after it either, or where the block's length counts the line ends: it ends in
    them, and they end no HTTP head. (ARC has them before a record.) The record begins at `start`.
    """
    stream.seek(block - len(_EMPTY_LINE))
    header_end = stream.read(len(_EMPTY_LINE))
    stream.seek(end)
    rest = stream.read(len(_EMPTY_LINE))
    if layout is ARC or header_end != _EMPTY_LINE or rest == _EMPTY_LINE or not _EMPTY_LINE.startswith(rest):
        return False
    if start > 0 and len(rest) >= _first_gap(stream, layout):
        return False
    stream.seek(end - len(_EMPTY_LINE))
    if rest or stream.read(len(_EMPTY_LINE)) != _EMPTY_LINE:
        return True
    stream.seek(block)
    head = stream.read(min(end - block, MAX_HEADER)).find(_EMPTY_LINE)
    return head < 0 or block + head + len(_EMPTY_LINE) >= end


def _first_gap(stream: Stream, layout: Layout) -> int:
    """How many bytes this file's writer puts between records, by the first two; two line ends if unknown."""
    header = _header(stream, 0, layout)
    if header is not None and header.block_length is not None:
        end = header.length + header.block_length
        extent = _confirmed(stream, end, layout)
        if extent is not None and extent.next is not None:
            return extent.next - end
    return len(_EMPTY_LINE)


def _is_filling(stream: Stream, start: int, end: int) -> bool:
    position = stream.seek(start)
    while position < end:
        window = stream.read(min(_TAIL, end - position))
        if not window or window.strip(_FILLING):
            return not window
        position += len(window)
    return True
