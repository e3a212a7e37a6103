"""One shard to page records: each html record yields exactly one, with a status if it can't be cleaned.

A shard is read in steps: from the beginning of a record (or compressed member) to that of the next, damage
included. A range owns the steps that begin in it. From one beginning all readers make the same steps, so a
range needs only its first step as a reader from the file's start finds it.

Bytes like the beginning of a record may be content: archives hold archives. In compressed data the
bytes of an inner archive appear only within one stored block, at most 64 or 128 KiB long. So the search
begins well before the range, and a path of steps without damage that is longer than such a block belongs to
the outer archive. Without such a path, the search begins further back, at last at the file's start.
"""

import os
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Final

from victor_spark.errors import InputError, ShardError, StoreError, one_line
from victor_spark.warc import boundaries, coordinates, file_types, http_body, readers, records, storage
from victor_spark.warc.compression import HEAD_LENGTH, compression_of
from victor_spark.warc.headers import SYNTAXES, Syntax
from victor_spark.warc.readers import Archive, Found, Steps
from victor_spark.warc.records import Damage, Record
from victor_spark.warc.shard import FIRST, HTML_TYPES, Attempt, Place, ReadOptions, Shard, Skip
from victor_spark.warc.source import CutError, Source

DEFAULTS: Final = ReadOptions()

LOOK_BACK: Final = {"gzip": 512 << 10, "zstd": 1 << 20, "plain": 8 << 20}
"""Where the search begins, in bytes before the range; doubled until the path from there is trusted."""

TRUSTED: Final = {"gzip": 128 << 10, "zstd": 512 << 10, "plain": 4 << 20}
"""A path of this many bytes without damage belongs to no inner archive (in plain files: hardly ever)."""

FIRST_RECORD: Final = 16 << 20
"""A packed file without another beginning in its first bytes is read as a whole."""


def read(shard: Shard, options: ReadOptions = DEFAULTS, attempt: Attempt = FIRST) -> Iterator[Record]:
    """The page records of a shard, or of its byte range, in file order.

    The ranges of a file together yield exactly the records of the whole file, each once. Damage costs
    only the records it hits: each damaged range yields one Record with status "corrupt_record". `attempt` may
    skip a record and everything before it.
    Raises ShardError, and nothing else (MemoryError in an attempt that is watched), when the shard can't be
    opened, is empty, becomes unreadable or is not the content of `shard.etag`, and after its last record when
    it ends too early; StoreError when its store refuses all requests.
    """
    try:
        _check_unchanged(shard)
        if shard.kind == "html":
            if shard.start == 0 and shard.end != 0:
                yield _page(shard, options, attempt)
        else:
            yield from _of_archive(shard, options, attempt)
        if storage.scheme(shard.path) is None:
            _check_unchanged(shard)  # while it was read; of a remote file each response is checked
    except ShardError:
        raise
    except MemoryError as error:
        if attempt is not FIRST:
            raise  # the watching process skips the record
        raise ShardError(f"{shard.filename}: out of memory while reading") from error
    except InputError as error:
        raise ShardError(str(error)) from error
    except Exception as error:
        is_refused = StoreError in (type(error), type(error.__cause__))
        was_missing = shard.size is None and "NoSuchBucket" in str(error)  # when inputs were listed
        kind = StoreError if is_refused and not was_missing else ShardError
        raise kind(f"{shard.filename}: {one_line(error)}") from error


def _check_unchanged(shard: Shard) -> None:
    if shard.etag is not None and storage.about(shard.path)[1] != shard.etag:
        raise ShardError(f"{shard.filename}: changed since the run was planned")


def is_divisible(shard: Shard) -> bool:
    """Whether an archive can be read by several tasks; OSError or ShardError where it can't be read."""
    with storage.open_file(shard.path) as file:
        source = Source(file)
        return source.size > 0 and _is_divisible(source, _syntax(source, shard))


def _page(shard: Shard, options: ReadOptions, attempt: Attempt) -> Record:
    """An html file as a record."""
    is_local = storage.scheme(shard.path) is None
    url = Path(shard.path).absolute().as_uri() if is_local else storage.public(shard.path, shard.path)
    if (skip := attempt.skip) is not None:
        damage = Damage(0, shard.size or 0, skip.reason, skip.status)
        return replace(_record(damage, shard.filename), url=url)
    attempt.begin(Place(0, 0))
    with storage.open_file(shard.path) as file:
        content = file.read(options.max_bytes + 1)
        size = file.seek(0, os.SEEK_END)
    body = http_body.decode(content, (), (), limit=options.max_bytes)
    return Record(
        id=None,
        url=url,
        warc_filename=shard.filename,
        warc_record_offset=0,
        warc_record_length=size,
        content_mime_type=HTML_TYPES[0],
        **records.outcome_of(body, "unspecified" if body.truncated else None, options),
    )


def _of_archive(shard: Shard, options: ReadOptions, attempt: Attempt) -> Iterator[Record]:
    first = shard.records[0][0] if shard.records else 0
    with storage.open_file(shard.path, coordinates.windows(shard.records)) as file:
        source = Source(file, first, attempt.progress)
        if source.size == 0:
            raise ShardError(f"{shard.filename}: empty file")
        syntax = _syntax(source, shard)
        head = b"" if shard.records else source.read_at(0, file_types.WARCINFO_LENGTH)
        if file_types.is_wet(shard.filename, head) and options.record_types == DEFAULTS.record_types:
            options = replace(options, record_types=("conversion",))
        named = file_types.crawl_of_path(shard.path) or file_types.crawl_of_path(shard.filename)
        crawl = named or file_types.crawl_of_warcinfo(head)
        archive = Archive(source, syntax, shard.filename, crawl, options, attempt)
        try:
            for found in _found(archive, shard):
                yield found if isinstance(found, Record) else _record(found, shard.filename, crawl)
        except CutError as error:
            where = f"at byte {source.size}, within a {error}"
            raise ShardError(f"{shard.filename}: ends too early, {where}") from None
        if shard.end is None and shard.size not in (None, source.size):
            where = f"at byte {source.size}, and not at {shard.size} as planned"
            raise ShardError(f"{shard.filename}: ends {where}")


def _syntax(source: Source, shard: Shard) -> Syntax:
    """The syntax of a shard's records, by the first of them; sets the source's compression."""
    windows = [(offset, min(length, HEAD_LENGTH)) for offset, length in shard.records[:10]]
    for offset, length in [*windows, (0, HEAD_LENGTH)]:
        head = source.read_at(offset, length)
        kind = file_types.kind_of(head)
        if kind in SYNTAXES:
            source.compression = compression_of(head)
            return SYNTAXES[kind]
    if (syntax := boundaries.syntax_within(source)) is None:  # other bytes precede the first record
        raise ShardError(f"{shard.filename}: ends at byte {source.size}, and holds no WARC or ARC record")
    return syntax


def _record(damage: Damage, filename: str, crawl: str | None = None) -> Record:
    place = filename, damage.warc_record_offset, damage.warc_record_length
    return Record(None, None, *place, None, crawl=crawl, status=damage.status, reason=damage.reason)


def _found(archive: Archive, shard: Shard) -> Iterator[Found]:
    """The records and damage of a shard, its byte range or coordinates; CutError at the end of a cut file."""
    skip = archive.attempt.skip
    if shard.records:
        yield from _at_coordinates(archive, shard)
        return
    if skip is None:
        position, end = _owned(archive, shard)
    else:
        steps = _skipping(archive, skip)
        position = (yield from steps) if skip.place.start >= shard.start else _exhausted(steps)[1]
        if position < shard.start:
            position = _walk(archive, position, shard.start)[1]
        end = archive.source.size
        if shard.end is not None and (shard.start > 0 or _is_divisible(archive.source, archive.syntax)):
            end = min(shard.end, end)
    while position < end:
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
    """A record or damage for each coordinate in the shard's range; CutError if the file ends within one."""
    source, skip = archive.source, archive.attempt.skip
    whole, within = source.size, None
    first = shard.start if skip is None else max(shard.start, skip.place.start)
    for offset, length in shard.records:
        if offset < first or (shard.end is not None and offset >= shard.end):
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
        source.size = min(offset + length, whole)  # nothing after it is read
        try:
            steps = readers.step(reading, Place(offset, 0))
            # The record or damage there, and none after it in a member.
            yield from islice((one for one in steps if one.warc_record_offset == offset), 1)
            if source.size == whole:
                _exhausted(steps)
        except CutError as error:  # the file's end, or that of coordinates shorter than the record
            within = str(error) if source.size == whole else within
        finally:
            source.size = whole
    if within is not None:
        raise CutError(within)


def _owned(archive: Archive, shard: Shard) -> tuple[int, int]:
    """The bytes in which the steps of a shard's byte range begin, the first at their start; they may be none.

    A file that can't be divided (lz4, one gzip stream for all records) belongs to the range it begins in.
    """
    source = archive.source
    end = source.size if shard.end is None else min(shard.end, source.size)
    if shard.start >= end or shard.aligned or (shard.start == 0 and end == source.size):
        return (shard.start, end)
    if not _is_divisible(source, archive.syntax):
        return (0, source.size if shard.start == 0 else 0)
    return (_first_step(archive, shard.start), end)


def _is_divisible(source: Source, syntax: Syntax) -> bool:
    """Whether reading can begin elsewhere than at the start: another record has a beginning of its own."""
    if source.compression in ("plain", "lz4"):
        return source.compression == "plain"
    return boundaries.next_member(source, 1, syntax, FIRST_RECORD) is not None


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
    source = archive.source
    enough = TRUSTED[source.compression]
    trusted, healthy_since, position = False, anchor, anchor
    start = min(start, source.size)
    while position < start:
        before = position
        try:
            damaged, position = _exhausted(readers.step(archive, Place(position, 0)))
        except CutError:
            damaged, position = False, source.size
        if damaged:
            trusted = trusted or before - healthy_since >= enough
            healthy_since = position
    return trusted or position - healthy_since >= enough, position


def _exhausted(steps: Steps) -> tuple[bool, int]:
    """Whether steps yield damage, and their return value."""
    damaged = False
    while True:
        try:
            damaged = isinstance(next(steps), Damage) or damaged
        except StopIteration as stop:
            return damaged, stop.value
