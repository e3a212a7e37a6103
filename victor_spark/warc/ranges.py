"""Which records of an archive a task reads: all, those of a byte range, or those at coordinates.

The ranges of a file yield together what the whole file yields. A shard is read in steps: from the beginning
of a record (or compressed member) to that of the next, damage included. A range owns the steps that begin in
it. From one beginning all readers make the same steps, so a range needs only its first step as a reader from
the file's start finds it.

What looks like the beginning of a record need not be one: archives hold archives. In compressed data the
bytes of an inner archive appear only within one stored block, at most 64 or 128 KiB long. So the search
begins well before the range, and a path of steps without damage that is longer than such a block belongs to
the outer archive. Without such a path, the search begins further back, at last at the file's start.
"""

from collections.abc import Generator, Iterator
from dataclasses import replace
from typing import Final, NamedTuple, TypeVar

from victor_spark.warc import boundaries, readers
from victor_spark.warc.headers import Syntax
from victor_spark.warc.readers import Archive, Found, Steps
from victor_spark.warc.records import Damage
from victor_spark.warc.shard import Place, Shard, Skip
from victor_spark.warc.source import CutError, Source

T = TypeVar("T")

LOOK_BACK: Final = {"gzip": 512 << 10, "zstd": 1 << 20, "plain": 8 << 20}
"""Where the search begins, in bytes before the range; doubled until the path from there is trusted."""

TRUSTED: Final = {"gzip": 128 << 10, "zstd": 512 << 10, "plain": 4 << 20}
"""A path of this many bytes without damage belongs to no inner archive (in plain files: hardly ever)."""

FIRST_RECORD: Final = 64 << 20
"""A packed file without another beginning in its first bytes is read as a whole."""


class Range(NamedTuple):
    """The steps to make: those that begin in [start, end), the first of them at `start`."""

    start: int
    end: int


def found(archive: Archive, shard: Shard) -> Iterator[Found]:
    """The records and the damage of a shard, of its byte range, or at its coordinates.

    Raises CutError at the end where the file ends too early.
    """
    skip = archive.attempt.skip
    if shard.records:
        yield from _at_coordinates(archive, shard)
        return
    if skip is None:
        owned = _owned(archive, shard)
    else:
        steps = _skipping(archive, skip)
        is_ours = skip.place.start >= shard.start
        position = (yield from steps) if is_ours else _exhausted(steps)[1]
        owned = _owned_from(archive, shard, position)
    position, is_fast = owned.start, archive.is_fast
    while position < owned.end:
        # FastWARC as far as it goes, one step of our own reader where it stops, FastWARC again.
        if is_fast:
            position = yield from readers.fastwarc_records(archive, position, owned.end)
        if position < owned.end:
            position = yield from readers.step(archive, Place(position, 0))


def _skipping(archive: Archive, skip: Skip) -> Steps:
    """The record to skip, and those that share its member; returns where the next step begins."""
    start, position = skip.place
    source = archive.source
    if not skip.blind:
        skipped = start if source.compression == "plain" else position
        return (yield from readers.step(replace(archive, skipped=skipped), skip.place))
    archive.attempt.begin(skip.place)
    following = boundaries.next_beginning(source, start + 1, archive.syntax)
    stop = source.size if following is None else following
    yield Damage(start + position, stop - start, skip.reason, skip.status)
    return stop


def _at_coordinates(archive: Archive, shard: Shard) -> Iterator[Found]:
    """A record or damage for each of the shard's coordinates in its range.

    Raises CutError at the end where the file ends within one of them.
    """
    source, skip = archive.source, archive.attempt.skip
    whole, within = source.size, None
    for offset, length in shard.records:
        if offset < shard.start or (shard.end is not None and offset >= shard.end):
            continue
        if skip is not None and offset < skip.place.start:
            continue
        reading = archive
        if skip is not None and offset == skip.place.start:
            if skip.blind or skip.place.position:
                yield Damage(offset, length, skip.reason, skip.status)
                continue
            reading = replace(archive, skipped=offset if source.compression == "plain" else 0)
        if offset >= whole:
            yield Damage(offset, length, "behind the end of the file")
            continue
        source.size = min(offset + length, whole)  # nothing behind it is read
        try:
            steps = readers.step(reading, Place(offset, 0))
            yield from _first(steps, offset)
            if source.size == whole:
                _exhausted(steps)
        except CutError as error:  # the file's end, or that of coordinates shorter than the record
            within = str(error) if source.size == whole else within
        finally:
            source.size = whole
    if within is not None:
        raise CutError(within)


def _first(steps: Steps, offset: int) -> Iterator[Found]:
    """The record or damage at an offset, not those after it in a member."""
    for one in steps:
        if one.warc_record_offset == offset:
            yield one
            return


def _owned(archive: Archive, shard: Shard) -> Range:
    """The steps of a shard's byte range, in which none may begin.

    A file that can't be divided (lz4, one gzip stream for all records) belongs to the range it begins in.
    """
    source = archive.source
    end = source.size if shard.end is None else min(shard.end, source.size)
    if shard.start >= end or shard.aligned or (shard.start == 0 and end == source.size):
        return Range(shard.start, end)
    if not is_divisible(source, archive.syntax):
        return Range(0, source.size if shard.start == 0 else 0)
    return Range(_first_step(archive, shard.start), end)


def is_divisible(source: Source, syntax: Syntax) -> bool:
    """Whether reading can begin elsewhere than at the start: another record has a beginning of its own."""
    if source.compression in ("plain", "lz4"):
        return source.compression == "plain"
    return boundaries.next_member(source, 1, syntax, FIRST_RECORD) is not None


def _owned_from(archive: Archive, shard: Shard, position: int) -> Range:
    """The steps of a shard's byte range from `position` on, which may lie before the range."""
    if position < shard.start:
        position = _walk(archive, position, shard.start)[1]
    size = archive.source.size
    is_whole = shard.end is None or (shard.start == 0 and not is_divisible(archive.source, archive.syntax))
    return Range(position, size if is_whole or shard.end is None else min(shard.end, size))


def _first_step(archive: Archive, start: int) -> int:
    """Where the first step from `start` on begins; the file's size when there is none."""
    source = archive.source
    back = LOOK_BACK[source.compression]
    while True:
        first = max(start - back, 0)
        anchor = boundaries.next_beginning(source, first, archive.syntax, start) if first else 0
        if anchor is not None:
            trusted, position = _walk(archive, anchor, start)
            if trusted or anchor == 0:
                return position
        back *= 2


def _walk(archive: Archive, anchor: int, start: int) -> tuple[bool, int]:
    """Whether the path from `anchor` is trusted, and where its first step from `start` on begins."""
    archive = replace(archive, is_search=True)
    source, fast = archive.source, archive.is_fast
    enough = TRUSTED[source.compression]
    trusted, healthy_since, position = False, anchor, anchor
    start = min(start, source.size)
    while position < start:
        if fast:
            position = _exhausted(readers.fastwarc_records(archive, position, start))[1]
        if position < start:
            before = position
            try:
                damaged, position = _exhausted(readers.step(archive, Place(position, 0)))
            except CutError:
                damaged, position = False, source.size
            if damaged:
                trusted = trusted or before - healthy_since >= enough
                healthy_since = position
    return trusted or position - healthy_since >= enough, position


def _exhausted(steps: Generator[Found, None, T]) -> tuple[bool, T]:
    """Whether a reader yields damage, and what it returns."""
    damaged = False
    while True:
        try:
            damaged = isinstance(next(steps), Damage) or damaged
        except StopIteration as stop:
            return damaged, stop.value
