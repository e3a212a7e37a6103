"""One shard to page records: every html record yields exactly one, with a status if it can't be cleaned."""

import os
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from victor_spark.archive import (
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
from victor_spark.archive.damage import Damage
from victor_spark.archive.inputs import Shard
from victor_spark.archive.layouts import LAYOUTS, Layout
from victor_spark.archive.raw import Understand
from victor_spark.archive.source import Source
from victor_spark.archive.understanding import HTML_TYPES, ReadOptions
from victor_spark.errors import InputError, ShardError
from victor_spark.page import Record

__all__ = ["DEFAULTS", "ReadOptions", "read"]

DEFAULTS: Final = ReadOptions()


def read(shard: Shard, options: ReadOptions = DEFAULTS) -> Iterator[Record]:
    """The page records of a shard, or of its byte range, in file order.

    The ranges of a file give together exactly what the whole file gives, each record once. Damage costs the
    records it hits: each damaged range gives one Record with status "corrupt_record".
    Raises ShardError, and nothing else, when the shard can't be opened, is empty or can't be read on, or when
    it isn't any more what `shard.etag` says.
    """
    try:
        _check(shard)
        if shard.kind == "html":
            if shard.start == 0 and shard.end != 0:
                yield _page(shard, options)
        else:
            yield from _of_archive(shard, options)
        if opening.scheme(shard.path) is None:
            _check(shard)  # nobody wrote to it meanwhile
    except ShardError:
        raise
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


def _page(shard: Shard, options: ReadOptions) -> Record:
    """An html file as a record."""
    with opening.open_file(shard.path) as file:
        content = file.read(options.max_bytes + 1)
        size = file.seek(0, os.SEEK_END)
    if not content:
        raise ShardError(f"{shard.filename}: empty file")
    body = bodies.decode(content, (), (), limit=options.max_bytes)
    record = Record(
        id=None,
        url=shard.path if opening.scheme(shard.path) else Path(shard.path).absolute().as_uri(),
        warc_filename=shard.filename,
        warc_record_offset=0,
        warc_record_length=size,
        payload=None,
        content_mime_type=HTML_TYPES[0],
    )
    return understanding.judged(record, body, "unspecified" if body.truncated else None, options)


def _of_archive(shard: Shard, options: ReadOptions) -> Iterator[Record]:
    first = shard.records[0][0] if shard.records else 0
    with opening.open_file(shard.path, coordinates.windows(shard.records)) as file:
        source = Source(file, first)
        if source.size == 0:
            raise ShardError(f"{shard.filename}: empty file")
        layout = picking.layout(source, shard) or _layout(source, shard)
        head = b"" if shard.records else source.read_at(0, crawls.WARCINFO)
        if kinds.is_wet(shard.filename, head):
            options = understanding.in_wet(options)
        understand = partial(understanding.understand, options=options, filename=shard.filename)
        crawl = crawls.of_path(shard.path) or crawls.of_path(shard.filename) or crawls.of_warcinfo(head)
        for found in _all_found(source, layout, understand, shard):
            record = found if isinstance(found, Record) else _corrupt(found, shard.filename)
            yield record if crawl is None else replace(record, crawl=crawl)


def _layout(source: Source, shard: Shard) -> Layout:
    """The shard's format, by its content; where it begins with rubbish, by the first record that follows."""
    head = source.read_at(0, kinds.HEAD_LENGTH)
    source.compression = kinds.compression_of(head)
    kind = kinds.kind_of(head)
    if kind in LAYOUTS:
        return LAYOUTS[kind]
    packing = resync.packing_within(source)
    if packing is None:
        raise ShardError(f"{shard.filename}: holds no WARC or ARC record")
    source.compression, layout = packing
    return layout


def _all_found(
    source: Source, layout: Layout, understand: Understand, shard: Shard
) -> Iterator[Record | Damage]:
    """The records of a shard, of its byte range, or those at its coordinates."""
    if shard.records:
        yield from picking.records(source, layout, understand, shard)
    elif within := ranges.within(source, layout, shard):
        yield from _found(source, layout, understand, within)


def _found(
    source: Source, layout: Layout, understand: Understand, within: ranges.Range
) -> Iterator[Record | Damage]:
    """FastWARC as far as it goes, one careful step at whatever stops it, FastWARC again."""
    if source.compression == "lz4":
        yield from fast.all_records(source, understand)
        return
    always_careful = careful.is_needed(source, layout)
    position: int | None = within.start
    while position is not None and position < within.end:
        if not always_careful:
            position = yield from fast.records(source, position, understand, within.end)
        if position < within.end:
            position = yield from careful.step(source, position, layout, understand)


def _corrupt(damage: Damage, filename: str) -> Record:
    return Record(
        id=None,
        url=None,
        warc_filename=filename,
        warc_record_offset=damage.offset,
        warc_record_length=damage.length,
        payload=None,
        status="corrupt_record",
        reason=damage.reason,
    )
