"""Where the next record begins, in bytes that may be damaged."""

from typing import BinaryIO, Final

from victor_spark.warc import kinds, members
from victor_spark.warc.damage import CorruptError
from victor_spark.warc.layouts import ARC, WARC, Layout
from victor_spark.warc.source import Source, Stream, View

_MAGIC: Final = {"gzip": kinds.GZIP_MAGIC, "zstd": kinds.ZSTD_MAGIC, "lz4": kinds.LZ4_MAGIC}
_WINDOW: Final = 1 << 20
_PROBE: Final = 16 << 10  # packed bytes that must inflate to a record's first line
_SEARCHED: Final = 64 << 20  # of a file that begins with rubbish


def next_record(stream: Stream, start: int, layout: Layout) -> int | None:
    """The first position from `start` on where a record begins; None: no more."""
    position = max(start - 1, 0)
    stream.seek(position)
    window = stream.read(_WINDOW)
    while window:
        more = stream.read(_WINDOW)
        for found in layout.wanted.finditer(window):
            at = position + found.start()
            if at >= start and (found.start() > 0 or position == start):
                return at
        kept = window[-layout.reach - 1 :] if more else b""
        position += len(window) - len(kept)
        window = kept + more if more else b""
    return None


def next_member(source: Source, start: int, layout: Layout, end: int | None = None) -> int | None:
    """The first offset in [start, end) where a gzip member, zstd or lz4 frame holding a record begins."""
    magic = _MAGIC[source.compression]
    end = source.size if end is None else min(end, source.size)
    position = start
    while position + len(magic) <= end:
        window = source.read_at(position, min(_WINDOW, end - position))
        found = window.find(magic)
        while found >= 0:
            if _begins_record(source, position + found, layout):
                return position + found
            found = window.find(magic, found + 1)
        position += max(len(window) - len(magic) + 1, 1)
    return None


def _begins_record(source: Source, offset: int, layout: Layout) -> bool:
    if source.compression == "gzip":
        packed = source.read_at(offset, _PROBE)
        return layout.expected.match(kinds.inflated_prefix(packed, layout.reach)) is not None
    try:
        return layout.expected.match(members.open_member(source, offset).read(layout.reach)) is not None
    except CorruptError:
        return False


def packing_within(source: Source) -> tuple[kinds.Compression, Layout] | None:
    """How a file that begins with rubbish goes on: the first record found tells; None when there is none."""
    end = min(source.size, _SEARCHED)
    for source.compression in ("gzip", "zstd"):
        for layout in (WARC, ARC):
            if next_member(source, 0, layout, end) is not None:
                return source.compression, layout
    for layout in (WARC, ARC):
        if next_record(View(source, 0, end), 0, layout) is not None:
            return "plain", layout
    return None


def holds_archive(file: BinaryIO) -> bool:
    """Whether a file that begins with rubbish holds a WARC or ARC record further on."""
    return packing_within(Source(file)) is not None
