"""Single records of a shard, where a table says that they lie."""

from collections.abc import Iterator

from victor_spark.archive import careful, kinds
from victor_spark.archive.damage import Damage
from victor_spark.archive.inputs import Shard
from victor_spark.archive.layouts import LAYOUTS, Layout
from victor_spark.archive.raw import Understand
from victor_spark.archive.source import Source
from victor_spark.page import Record


def layout(source: Source, shard: Shard) -> Layout | None:
    """The format of the records, by the first of them that shows one; None: none does."""
    for offset, length in shard.records[:10]:
        head = source.read_at(offset, min(length, kinds.HEAD_LENGTH))
        if (kind := kinds.kind_of(head)) in LAYOUTS:
            source.compression = kinds.compression_of(head)
            return LAYOUTS[kind]
    return None


def records(
    source: Source, layout: Layout, understand: Understand, shard: Shard
) -> Iterator[Record | Damage]:
    """What lies at the coordinates of a shard, as far as they are in its range: a record each, or damage."""
    whole = source.size
    for offset, length in shard.records:
        if offset < shard.start or (shard.end is not None and offset >= shard.end):
            continue
        if offset >= whole:
            yield Damage(offset, length, "behind the end of the file")
            continue
        source.size = min(offset + length, whole)  # nothing behind it is looked at
        try:
            yield from _first(careful.step(source, offset, layout, understand), offset)
        finally:
            source.size = whole


def _first(steps: careful.Steps, offset: int) -> Iterator[Record | Damage]:
    """The record at an offset, or the damage there; not those after it in a packed member."""
    for found in steps:
        start = found.offset if isinstance(found, Damage) else found.warc_record_offset
        if start == offset:
            yield found
            return
