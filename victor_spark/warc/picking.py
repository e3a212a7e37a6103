"""Single records of a shard, where a table says that they lie."""

from collections.abc import Iterator

from victor_spark.blocks import Record
from victor_spark.warc import careful, kinds, ranges, understanding
from victor_spark.warc.damage import CutError, Damage
from victor_spark.warc.inputs import Shard
from victor_spark.warc.layouts import LAYOUTS, Layout
from victor_spark.warc.raw import Attempt, Place, Understand
from victor_spark.warc.source import Source


def layout(source: Source, shard: Shard) -> Layout | None:
    """The format of the records, by the first of them that shows one; None: none does."""
    for offset, length in shard.records[:10]:
        head = source.read_at(offset, min(length, kinds.HEAD_LENGTH))
        if (kind := kinds.kind_of(head)) in LAYOUTS:
            source.compression = kinds.compression_of(head)
            return LAYOUTS[kind]
    return None


def records(
    source: Source, layout: Layout, understand: Understand, shard: Shard, attempt: Attempt
) -> Iterator[Record | Damage]:
    """What lies at the coordinates of a shard, as far as they are in its range: a record each, or damage.

    Raises CutError at the end where the file ends within one of them.
    """
    whole, within = source.size, None
    passed = attempt.passed
    for offset, length in shard.records:
        if offset < shard.start or (shard.end is not None and offset >= shard.end):
            continue
        if passed is not None and offset < passed.place.start:
            continue
        reading = understand
        if passed is not None and offset == passed.place.start:
            if passed.blind or passed.place.position:
                yield Damage(offset, length, passed.reason, passed.status)
                continue
            key = offset if source.compression == "plain" else 0
            reading = understanding.passing(understand, key, passed, shard.filename)
        if offset >= whole:
            yield Damage(offset, length, "behind the end of the file")
            continue
        source.size = min(offset + length, whole)  # nothing behind it is looked at
        try:
            steps = careful.step(source, Place(offset, 0), layout, reading, attempt)
            yield from _first(steps, offset)
            if source.size == whole:
                ranges.last(steps)
        except CutError as error:  # the file's end, or that of coordinates shorter than the record
            within = str(error) if source.size == whole else within
        finally:
            source.size = whole
    if within is not None:
        raise CutError(within)


def _first(steps: careful.Steps, offset: int) -> Iterator[Record | Damage]:
    """The record at an offset, or the damage there; not those after it in a packed member."""
    for found in steps:
        start = found.offset if isinstance(found, Damage) else found.warc_record_offset
        if start == offset:
            yield found
            return
