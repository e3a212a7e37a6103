"""One shard to page records: each html record yields exactly one, with a status if it can't be cleaned."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from victor_spark.errors import InputError, ShardError, StoreError, one_line
from victor_spark.warc import boundaries, coordinates, file_types, http_body, ranges, records, storage
from victor_spark.warc.compression import HEAD_LENGTH, compression_of
from victor_spark.warc.headers import SYNTAXES, Syntax
from victor_spark.warc.readers import Archive
from victor_spark.warc.records import Damage, Record
from victor_spark.warc.shard import FIRST, HTML_TYPES, Attempt, Place, ReadOptions, Shard
from victor_spark.warc.source import CutError, Source

DEFAULTS: Final = ReadOptions()


def read(shard: Shard, options: ReadOptions = DEFAULTS, attempt: Attempt = FIRST) -> Iterator[Record]:
    """The page records of a shard, or of its byte range, in file order.

    The ranges of a file yield together exactly what the whole file yields, each record once. Damage costs
    only the records it hits: each damaged range yields one Record with status "corrupt_record". `attempt` may
    skip a record and what lies before it.
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
        raise ShardError(f"{shard.filename}: no memory to read on") from error
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
        return source.size > 0 and ranges.is_divisible(source, _syntax(source, shard))


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
    if not content:
        raise ShardError(f"{shard.filename}: empty file")
    body = http_body.decode(content, (), (), limit=options.max_bytes)
    record = Record(
        id=None,
        url=url,
        warc_filename=shard.filename,
        warc_record_offset=0,
        warc_record_length=size,
        payload=None,
        content_mime_type=HTML_TYPES[0],
    )
    return records.with_payload(record, body, "unspecified" if body.truncated else None, options)


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
        archive = Archive(source, syntax, shard.filename, options, attempt)
        crawl = (
            file_types.crawl_of_path(shard.path)
            or file_types.crawl_of_path(shard.filename)
            or file_types.crawl_of_warcinfo(head)
        )
        try:
            for found in ranges.found(archive, shard):
                record = found if isinstance(found, Record) else _record(found, shard.filename)
                yield record if crawl is None else replace(record, crawl=crawl)
        except CutError as error:
            where = f"at byte {source.size}, within a {error}"
            raise ShardError(f"{shard.filename}: ends too early, {where}") from None
        if shard.end is None and shard.size not in (None, source.size):
            raise ShardError(
                f"{shard.filename}: ends at byte {source.size}, and not at {shard.size} as planned"
            )


def _syntax(source: Source, shard: Shard) -> Syntax:
    """The syntax of a shard's records, by the first of them; sets the source's compression."""
    windows = [(offset, min(length, HEAD_LENGTH)) for offset, length in shard.records[:10]]
    for offset, length in [*windows, (0, HEAD_LENGTH)]:
        head = source.read_at(offset, length)
        kind = file_types.kind_of(head)
        if kind in SYNTAXES:
            source.compression = compression_of(head)
            return SYNTAXES[kind]
    found = boundaries.packing_within(source)  # it begins with other bytes
    if found is None:
        raise ShardError(f"{shard.filename}: ends at byte {source.size}, and holds no WARC or ARC record")
    source.compression, syntax = found
    return syntax


def _record(damage: Damage, filename: str) -> Record:
    start, length = damage.warc_record_offset, damage.warc_record_length
    return Record(None, None, filename, start, length, None, status=damage.status, reason=damage.reason)
