"""Where the records of a byte range begin, so that the ranges of a file give together what the file gives.

A reader goes through a shard in steps: from the beginning of a record (or packed member) to that of the
next, over damage if need be. A range owns the steps that begin in it. From the same beginning all readers go
the same way, so a range needs only the first step that begins in it, as a reader from the start finds it.

What looks like a record's beginning need not be one: archives hold archives. Packed data shows an inner
archive's bytes only within one stored block, 64 or 128 KiB long at most. So the search begins well before the
range, and a way without damage that is longer than such a block is the outer one's. Where there is no such
way, it begins further back, at last at the file's start.
"""

from collections.abc import Generator
from typing import Final, NamedTuple, TypeVar

from victor_spark.blocks import Record
from victor_spark.warc import careful, fast, resync
from victor_spark.warc.damage import CutError, Damage
from victor_spark.warc.inputs import Shard
from victor_spark.warc.layouts import Layout
from victor_spark.warc.raw import FIRST, Attempt, Place, RawRecord
from victor_spark.warc.source import Source, View

T = TypeVar("T")

LOOK_BACK: Final = {"gzip": 512 << 10, "zstd": 1 << 20, "plain": 8 << 20}
"""Where the search begins, in bytes before the range; doubled until the way from there can be trusted."""

TRUSTED: Final = {"gzip": 128 << 10, "zstd": 512 << 10, "plain": 4 << 20}
"""A way without damage so long belongs to no archive within the archive (plain: hardly to one)."""


FIRST_RECORD: Final = 64 << 20
"""A packed file without another beginning in its first bytes is read as a whole."""


class Range(NamedTuple):
    """The steps to make: those that begin in [start, end), the first of them at `start`."""

    start: int
    end: int


def within(source: Source, layout: Layout, shard: Shard, attempt: Attempt = FIRST) -> Range | None:
    """The steps of a shard's byte range; None when no record begins in it.

    A file that can't be divided (lz4, one gzip stream for all records) belongs to the range it begins in.
    """
    end = source.size if shard.end is None else min(shard.end, source.size)
    if shard.start >= end:
        return None
    if shard.aligned or (shard.start == 0 and end == source.size):
        return Range(shard.start, end)
    if not is_divisible(source, layout):
        return Range(0, source.size) if shard.start == 0 else None
    start = first_step(source, layout, shard.start, attempt)
    return Range(start, end) if start is not None and start < end else None


def is_divisible(source: Source, layout: Layout) -> bool:
    """Whether reading can begin elsewhere than at the start: another record has a beginning of its own."""
    if source.compression in ("plain", "lz4"):
        return source.compression == "plain"
    return resync.next_member(source, 1, layout, FIRST_RECORD) is not None


def behind(
    source: Source, layout: Layout, shard: Shard, position: int | None, attempt: Attempt
) -> Range | None:
    """The steps of a shard's byte range from `position` on, which may lie before the range."""
    if position is not None and position < shard.start:
        position = _walk(source, layout, position, shard.start, attempt)[1]
    if position is None:
        return None
    is_whole = shard.end is None or (shard.start == 0 and not is_divisible(source, layout))
    return Range(position, source.size if is_whole or shard.end is None else min(shard.end, source.size))


def first_step(source: Source, layout: Layout, start: int, attempt: Attempt = FIRST) -> int | None:
    """Where the first step from `start` on begins; None when the file ends before."""
    back = LOOK_BACK[source.compression]
    while True:
        anchor = _anchor(source, layout, max(start - back, 0), start)
        if anchor is not None:
            trusted, position = _walk(source, layout, anchor, start, attempt)
            if trusted or anchor == 0:
                return position
        back *= 2


def _anchor(source: Source, layout: Layout, first: int, start: int) -> int | None:
    """Where a way to `start` may begin; None: nothing looks like a record's beginning there."""
    if first == 0:
        return 0
    if source.compression != "plain":
        return resync.next_member(source, first, layout, start)
    return resync.next_record(View(source, 0, start), first, layout)


def _walk(
    source: Source, layout: Layout, anchor: int, start: int, attempt: Attempt
) -> tuple[bool, int | None]:
    """Whether the way from `anchor` can be trusted, and where its first step from `start` on begins."""
    always_careful = not attempt.fast or careful.is_needed(source, layout)
    trusted, healthy_since, position = False, anchor, anchor
    following: int | None = anchor
    while following is not None and following < start:
        position = following
        if not always_careful:
            following = position = last(fast.records(source, position, overlook, start))[1]
        if position < start:
            steps = careful.step(source, Place(position, 0), layout, overlook, attempt)
            try:
                damaged, following = last(steps)
            except CutError:
                damaged, following = False, None
            if damaged:
                trusted = trusted or position - healthy_since >= TRUSTED[source.compression]
                healthy_since = source.size if following is None else following
    stop = source.size if following is None else following
    return trusted or stop - healthy_since >= TRUSTED[source.compression], following


def last(steps: Generator[Record | Damage, None, T]) -> tuple[bool, T]:
    """Whether there was damage, and what the reader returned."""
    damaged = False
    while True:
        try:
            damaged = isinstance(next(steps), Damage) or damaged
        except StopIteration as stop:
            return damaged, stop.value


def overlook(raw: RawRecord) -> None:
    """No record is a page."""
