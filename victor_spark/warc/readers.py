"""Reads records one by one, and the damage between them.

`step` reads one record (or one compressed member) and the damage after it. Records that share a member have
no offset of their own in the file: theirs is the member's offset plus their position in the member's content,
and their length is the inflated one.
"""

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from victor_spark.errors import one_line
from victor_spark.warc import boundaries, compression, records
from victor_spark.warc.boundaries import Stream
from victor_spark.warc.compression import CorruptError
from victor_spark.warc.headers import Header, Syntax
from victor_spark.warc.records import Damage, RawRecord, Record
from victor_spark.warc.shard import Attempt, Place, ReadOptions
from victor_spark.warc.source import END, MEMBER_NAMES, CutError, Member, Source, SourceError, member_parts

_MAX_AT_ONCE: Final = 4 << 20
"""Members with less content are inflated at once."""

Found = Record | Damage
Steps = Generator[Found, None, int]
"""Yields the records and damage at an offset; returns the next beginning, at last the file's size.

Raises CutError at the end where the file ends too early; a record cut off there has `content_truncated`.
"""


@dataclass(frozen=True, slots=True)
class Archive:
    """An open shard: its bytes, the syntax of its records, its name and crawl in the rows, how it is read.

    The record at the position `skipped` is not read. `is_search`: only to find where records begin.
    """

    source: Source
    syntax: Syntax
    filename: str
    crawl: str | None
    options: ReadOptions
    attempt: Attempt
    skipped: int | None = None
    is_search: bool = False

    def page(self, raw: RawRecord) -> Record | None:
        """The page record of a raw record; an unexpected error becomes its status."""
        if self.is_search:
            return None
        if (skip := self.attempt.skip) is not None and raw.offset == self.skipped:
            return records.unread(raw, skip.status, skip.reason)
        try:
            return records.page_record(raw, self.options)
        except (CorruptError, SourceError, MemoryError):
            raise
        except Exception as error:  # noqa: BLE001 - it costs this record, whose row has the reason
            reason = f"{type(error).__name__}: {one_line(error)}"
            return records.unread(raw, "error", reason)


def step(archive: Archive, place: Place) -> Steps:
    """Reads the record at a place, or a member's records from there on, and the damage after them."""
    source = archive.source
    if source.compression != "plain":
        return (yield from _member_step(archive, place))
    archive.attempt.begin(place)
    at = _at(source, place.start, archive)
    if at.cut is None:
        yield from at.found
        return source.size if at.following is None else at.following
    yield from _cut(at.found, at.cut)
    raise CutError(at.cut)


def _member_step(archive: Archive, place: Place) -> Steps:
    source = archive.source
    start, position = place
    name = MEMBER_NAMES[source.compression]
    archive.attempt.begin(place)
    if archive.skipped is None and (end := (yield from _only_record(archive, start))) is not None:
        return end
    try:
        member = Member(source, start)
        while True:
            at = _at(member, position, archive)
            found = [replace(one, warc_record_offset=start + one.warc_record_offset) for one in at.found]
            if at.following is None:
                if at.cut and member.extend(archive.syntax):
                    continue
                break
            yield from found
            position = at.following
            archive.attempt.begin(Place(start, position))
        end, complete = member.end()
    except CorruptError as error:
        return (yield from _skipped(archive, start, position, str(error)))
    problem = member.problem
    if not complete and boundaries.next_member(source, member.last + 1, archive.syntax) is not None:
        problem = "runs into the next member"
        if member.last == start:
            return (yield from _skipped(archive, start, position, problem))
    if position == 0 and found:
        found[0] = replace(found[0], warc_record_length=end - start)
    if complete or problem:
        yield from found
        return (yield from _skipped(archive, member.last, 0, problem)) if problem else end
    if member.reach(END) == 0:
        found = [Damage(start, end - start, "")]
    yield from _cut(found, name) if position == 0 or at.cut else found
    raise CutError(name)


def _only_record(archive: Archive, start: int) -> Generator[Found, None, int | None]:
    """Reads an undamaged member of one record, as most are; returns its end, None for any other member."""
    syntax = archive.syntax
    try:
        content, end, _ = compression.gathered(member_parts(archive.source, start, retry=0), _MAX_AT_ONCE)
    except CorruptError:
        return None
    header = boundaries.header_in(content[: boundaries.HEADER_STEP], syntax)
    if end is None or header is None or header.block_length is None:
        return None
    fields, length = header.fields, header.block_length
    block_end = header.length + length
    if not syntax.separator.fullmatch(content, block_end):
        return None

    def read(position: int, n: int) -> bytes:
        return content[header.length + position : min(header.length + position + n, block_end)]

    found = RawRecord(archive.filename, archive.crawl, start, fields, read, length, end - start)
    if record := archive.page(found):
        yield record
    return end


def _cut(found: list[Found], within: str) -> list[Found]:
    """`found`, its last element marked as cut off: the file ends within it."""
    if not found:
        return found
    last = found[-1]
    if isinstance(last, Damage):
        return [*found[:-1], replace(last, reason=f"the file ends within this {within}")]
    return [*found[:-1], replace(last, content_truncated=last.content_truncated or "unspecified")]


def _skipped(archive: Archive, start: int, position: int, reason: str) -> Steps:
    """The damage from a member that does not decompress up to the next one that does, and holds a record."""
    source = archive.source
    following = boundaries.next_member(source, start + 1, archive.syntax, within=_MAX_AT_ONCE)
    stop = source.size if following is None else following
    if stop - start < compression.MAGIC_LENGTH and source.begins_member(start):
        name = MEMBER_NAMES[source.compression]
        yield from _cut([Damage(start, stop - start, reason)], name)
        raise CutError(name)
    if not boundaries.is_filling(source, start, stop):
        yield Damage(start + position, stop - start, reason)
    return stop


class _At(NamedTuple):
    """The records and damage at a position, the start of the next record, and the name of a cut part."""

    found: list[Found]
    following: int | None
    cut: str | None = None


def _at(stream: Stream, start: int, archive: Archive) -> _At:
    """The record, the damage, or both at `start` of a stream."""
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
        record = archive.page(_raw(archive, stream, start, header, block + declared, declared))
        extent = boundaries.confirmed_extent(stream, block + declared, syntax)
    if extent is None:
        extent = boundaries.searched_extent(stream, block, declared, syntax)
        length = extent.end - block
        if extent.next is None and declared is not None:
            length = max(length, declared)  # the stream's end came too early
        record = archive.page(_raw(archive, stream, start, header, extent.end, length))
    found = _damage(stream, extent.stop, extent.next, "rubbish between records")
    is_rubbish = bool(found)
    if record is not None:
        found.insert(0, replace(record, warc_record_length=extent.stop - start))
    if extent.next is not None:
        return _At(found, extent.next)
    if is_rubbish:
        return _At(found, None, boundaries.cut_header(stream, extent.stop, syntax))
    is_cut = boundaries.is_cut(stream, block, extent.end, declared, syntax)
    return _At(found, None, "record" if is_cut else None)


def _raw(archive: Archive, stream: Stream, start: int, header: Header, end: int, length: int) -> RawRecord:
    """The record at `start` whose block ends at `end` of the stream; `length` is the block's."""
    block = start + header.length

    def read(position: int, n: int) -> bytes:
        return stream.read_at(block + position, max(min(n, end - block - position), 0))

    return RawRecord(archive.filename, archive.crawl, start, header.fields, read, length)


def _damage(stream: Stream, start: int, stop: int | None, reason: str) -> list[Found]:
    """The damage in [start, stop) (None: to the end); none where only filling stands there."""
    end = stream.reach(END) if stop is None else stop
    return [] if boundaries.is_filling(stream, start, end) else [Damage(start, end - start, reason)]
