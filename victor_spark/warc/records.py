"""One shard to page records: every html record yields exactly one, with a status if it can't be cleaned."""

import os
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from victor_spark.blocks import Record
from victor_spark.errors import InputError, ShardError
from victor_spark.warc import (
    bodies,
    careful,
    coordinates,
    crawls,
    fast,
    kinds,
    opening,
    picking,
    ranges,
    resync,
    understanding,
)
from victor_spark.warc.damage import CorruptError, CutError, Damage, SourceError
from victor_spark.warc.inputs import Shard
from victor_spark.warc.layouts import LAYOUTS, Layout
from victor_spark.warc.raw import FIRST, Attempt, Passed, Place, RawRecord, Understand
from victor_spark.warc.source import Source, View
from victor_spark.warc.understanding import HTML_TYPES, ReadOptions

__all__ = ["DEFAULTS", "ReadOptions", "read"]

DEFAULTS: Final = ReadOptions()


def read(shard: Shard, options: ReadOptions = DEFAULTS, attempt: Attempt = FIRST) -> Iterator[Record]:
    """The page records of a shard, or of its byte range, in file order.

    The ranges of a file give together exactly what the whole file gives, each record once. Damage costs the
    records it hits: each damaged range gives one Record with status "corrupt_record". `attempt` may pass over
    a record and what lies before it.
    Raises ShardError, and nothing else (MemoryError in an attempt that is watched), when the shard can't be
    opened, is empty or can't be read on, when it isn't any more what `shard.etag` says, and after its last
    record when it ends too early.
    """
    try:
        _check(shard)
        if shard.kind == "html":
            if shard.start == 0 and shard.end != 0:
                yield _page(shard, options, attempt)
        else:
            yield from _of_archive(shard, options, attempt)
        if opening.scheme(shard.path) is None:
            _check(shard)  # nobody wrote to it meanwhile
    except ShardError:
        raise
    except MemoryError as error:
        if attempt is not FIRST:
            raise  # whoever watches passes over the record
        raise ShardError(f"{shard.filename}: no memory to read on") from error
    except InputError as error:
        raise ShardError(str(error)) from error
    except Exception as error:
        raise ShardError(f"{shard.filename}: {opening.one_line(error)}") from error


def _check(shard: Shard) -> None:
    if shard.etag is not None and opening.identity(shard.path) != shard.etag:
        raise ShardError(f"{shard.filename}: changed since the run was planned")


def is_divisible(shard: Shard) -> bool:
    """Whether an archive can be read by several tasks; OSError or ShardError where it can't be read."""
    with opening.open_file(shard.path) as file:
        source = Source(file)
        return source.size > 0 and ranges.is_divisible(source, _layout(source, shard))


def _page(shard: Shard, options: ReadOptions, attempt: Attempt) -> Record:
    """An html file as a record."""
    url = (
        opening.public(shard.path, shard.path)
        if opening.scheme(shard.path)
        else Path(shard.path).absolute().as_uri()
    )
    if attempt.passed is not None:
        passed = attempt.passed
        return replace(
            _lost(Damage(0, shard.size or 0, passed.reason, passed.status), shard.filename), url=url
        )
    attempt.begin(Place(0, 0))
    with opening.open_file(shard.path) as file:
        content = file.read(options.max_bytes + 1)
        size = file.seek(0, os.SEEK_END)
    if not content:
        raise ShardError(f"{shard.filename}: empty file")
    body = bodies.decode(content, (), (), limit=options.max_bytes)
    record = Record(
        id=None,
        url=url,
        warc_filename=shard.filename,
        warc_record_offset=0,
        warc_record_length=size,
        payload=None,
        content_mime_type=HTML_TYPES[0],
    )
    return understanding.judged(record, body, "unspecified" if body.truncated else None, options)


def _of_archive(shard: Shard, options: ReadOptions, attempt: Attempt) -> Iterator[Record]:
    first = shard.records[0][0] if shard.records else 0
    with opening.open_file(shard.path, coordinates.windows(shard.records)) as file:
        source = Source(file, first, attempt.progress)
        if source.size == 0:
            raise ShardError(f"{shard.filename}: empty file")
        layout = picking.layout(source, shard) or _layout(source, shard)
        head = b"" if shard.records else source.read_at(0, crawls.WARCINFO)
        if kinds.is_wet(shard.filename, head):
            options = understanding.in_wet(options)
        understand = partial(_understood, options=options, filename=shard.filename)
        crawl = crawls.of_path(shard.path) or crawls.of_path(shard.filename) or crawls.of_warcinfo(head)
        try:
            for found in _all_found(source, layout, understand, shard, attempt):
                record = found if isinstance(found, Record) else _lost(found, shard.filename)
                yield record if crawl is None else replace(record, crawl=crawl)
        except CutError as error:
            where = f"at byte {source.size}, within a {error}"
            raise ShardError(f"{shard.filename}: ends too early, {where}") from None
        if shard.end is None and shard.size not in (None, source.size):
            raise ShardError(
                f"{shard.filename}: ends at byte {source.size}, and not at {shard.size} as planned"
            )


def _layout(source: Source, shard: Shard) -> Layout:
    """The shard's format, by its content; where it begins with rubbish, by the first record that follows."""
    head = source.read_at(0, kinds.HEAD_LENGTH)
    source.compression = kinds.compression_of(head)
    kind = kinds.kind_of(head)
    if kind in LAYOUTS:
        return LAYOUTS[kind]
    packing = resync.packing_within(source)
    if packing is None:
        raise ShardError(f"{shard.filename}: ends at byte {source.size}, and holds no WARC or ARC record")
    source.compression, layout = packing
    return layout


def _understood(raw: RawRecord, options: ReadOptions, filename: str) -> Record | None:
    """The page record of a raw record; what goes wrong with it beyond damage is its status."""
    try:
        return understanding.understand(raw, options, filename)
    except (CorruptError, SourceError, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001 - it costs the record, whose row tells it
        reason = f"{type(error).__name__}: {opening.one_line(error)}"
        return understanding.unread(raw, filename, "error", reason)


def _all_found(
    source: Source, layout: Layout, understand: Understand, shard: Shard, attempt: Attempt
) -> Iterator[Record | Damage]:
    """The records of a shard, of its byte range, or those at its coordinates."""
    if shard.records:
        yield from picking.records(source, layout, understand, shard, attempt)
        return
    if attempt.passed is None:
        within = ranges.within(source, layout, shard, attempt)
    else:
        steps = _passing(source, layout, understand, shard.filename, attempt, attempt.passed)
        is_ours = attempt.passed.place.start >= shard.start
        position = (yield from steps) if is_ours else ranges.last(steps)[1]
        within = ranges.behind(source, layout, shard, position, attempt)
    if within is not None:
        yield from _found(source, layout, understand, within, attempt)


def _passing(
    source: Source, layout: Layout, understand: Understand, filename: str, attempt: Attempt, passed: Passed
) -> careful.Steps:
    """The record that is passed over, and those that share its member; where the next step begins."""
    start, position = passed.place
    is_plain = source.compression == "plain"
    if not passed.blind:
        understand = understanding.passing(understand, start if is_plain else position, passed, filename)
        return (yield from careful.step(source, passed.place, layout, understand, attempt))
    attempt.begin(passed.place)
    if is_plain:
        following = resync.next_record(View(source, 0, source.size), start + 1, layout)
    else:
        following = resync.next_member(source, start + 1, layout)
    stop = source.size if following is None else following
    yield Damage(start + position, stop - start, passed.reason, passed.status)
    return following


def _found(
    source: Source, layout: Layout, understand: Understand, within: ranges.Range, attempt: Attempt
) -> Iterator[Record | Damage]:
    """FastWARC as far as it goes, one careful step at whatever stops it, FastWARC again."""

    def begun(raw: RawRecord) -> Record | None:
        attempt.begin(Place(raw.offset, 0))
        return understand(raw)

    always_careful = not attempt.fast or careful.is_needed(source, layout)
    position: int | None = within.start
    while position is not None and position < within.end:
        if not always_careful:
            position = yield from fast.records(source, position, begun, within.end)
        if position < within.end:
            place = Place(position, 0)
            position = yield from careful.step(source, place, layout, understand, attempt)


def _lost(damage: Damage, filename: str) -> Record:
    return Record(
        id=None,
        url=None,
        warc_filename=filename,
        warc_record_offset=damage.offset,
        warc_record_length=damage.length,
        payload=None,
        status=damage.status,
        reason=damage.reason,
    )
