"""Where records begin and end in bytes that may be damaged: block ends, the search for the next record."""

import re
from typing import Final, NamedTuple

from victor_spark.warc.compression import MAGICS
from victor_spark.warc.headers import ARC, MAX_HEADER, WARC, Header, Syntax
from victor_spark.warc.source import END, Member, Source, holds_record

Stream = Source | Member

HEADER_STEP: Final = 8 << 10
"""Nearly every header fits into this number of bytes."""

_WINDOW: Final = 1 << 20
_SEARCHED: Final = 64 << 20  # of a file that begins with other bytes
_TAIL: Final = 4096
_FILLING: Final = b"\r\n\x00 "  # bytes allowed between records: newlines, and padding of tapes and disks
_EMPTY_LINE: Final = b"\r\n\r\n"
_NEWLINES = re.compile(rb"(?:\r?\n){1,2}\Z")


class Extent(NamedTuple):
    """A block ends at `end`, its record at `stop`; the next begins at `next`; between them is damage."""

    end: int
    stop: int
    next: int | None


def read_header(stream: Stream, start: int, syntax: Syntax) -> Header | None:
    """The header at `start`; None when no valid one begins there."""
    head = stream.read_at(start, HEADER_STEP)
    header = header_in(head, syntax)
    if header is None and len(head) == HEADER_STEP:
        header = header_in(stream.read_at(start, MAX_HEADER), syntax)
    return header


def header_in(head: bytes, syntax: Syntax) -> Header | None:
    """The header that bytes begin with; None when no valid one does."""
    return syntax.parse(head) if syntax.start.match(head) else None


def confirmed_extent(stream: Stream, end: int, syntax: Syntax) -> Extent | None:
    """The extent of a block declared to end at `end`, if another record or the stream's end follows there."""
    if stream.reach(end) < end:
        return None
    position = end
    while tail := stream.read_at(position, _TAIL):
        rest = tail.lstrip(_FILLING)
        position += len(tail) - len(rest)
        if rest:
            begins = syntax.start.match(stream.read_at(position, syntax.reach))
            return Extent(end, position, position) if begins else None
    return Extent(end, position, None)


def searched_extent(stream: Stream, block: int, declared: int | None, syntax: Syntax) -> Extent:
    """The extent of a block whose declared length is wrong, or which is followed by other bytes."""
    if declared is not None:
        separator = syntax.separator.match(stream.read_at(block + declared, 4))
        if separator:
            gap = block + declared + separator.end()
            return Extent(block + declared, gap, next_record(stream, gap, syntax))
    following = next_record(stream, block, syntax)
    if following is None:
        stop = stream.reach(END)
        return Extent(stop, stop, None)
    tail_start = max(block, following - 4)
    newlines = _NEWLINES.search(stream.read_at(tail_start, following - tail_start))
    return Extent(following - len(newlines[0]) if newlines else following, following, following)


def next_record(stream: Stream, start: int, syntax: Syntax, end: int = END) -> int | None:
    """The first position in [start, end) where a record begins; None: there is none."""
    position = max(start - 1, 0)
    window = stream.read_at(position, min(_WINDOW, end - position))
    while window:
        after = position + len(window)
        more = stream.read_at(after, min(_WINDOW, end - after))
        for found in syntax.search.finditer(window):
            at = position + found.start()
            if at >= start and (found.start() > 0 or position == start):
                return at
        kept = window[-syntax.reach - 1 :] if more else b""
        position += len(window) - len(kept)
        window = kept + more if more else b""
    return None


def next_beginning(source: Source, start: int, syntax: Syntax, end: int = END, within: int = 0) -> int | None:
    """The first offset in [start, end) where a record, or a member that holds one, begins."""
    if source.compression == "plain":
        return next_record(source, start, syntax, end)
    return next_member(source, start, syntax, end, within)


def next_member(source: Source, start: int, syntax: Syntax, end: int = END, within: int = 0) -> int | None:
    """The first offset in [start, end) of a member that `holds_record` for these arguments."""
    magic = MAGICS[source.compression][0]
    end = source.reach(end)
    position = start
    while position + len(magic) <= end:
        window = source.read_at(position, min(_WINDOW, end - position))
        found = window.find(magic)
        while found >= 0:
            at = position + found
            if holds_record(source, at, syntax, within):
                return at
            found = window.find(magic, found + 1)
        position += max(len(window) - len(magic) + 1, 1)
    return None


def syntax_within(source: Source) -> Syntax | None:
    """The syntax of the first record after other bytes, None without one; sets the source's compression."""
    end = min(source.size, _SEARCHED)
    for source.compression in ("gzip", "zstd", "plain"):
        for syntax in (WARC, ARC):
            if next_beginning(source, 0, syntax, end, _WINDOW) is not None:
                return syntax
    return None


def is_filling(stream: Stream, start: int, end: int) -> bool:
    """Whether [start, end) holds only what may stand between records."""
    while window := stream.read_at(start, min(_TAIL, end - start)):
        if window.strip(_FILLING):
            return False
        start += len(window)
    return True


def cut_header(stream: Stream, start: int, syntax: Syntax) -> str | None:
    """The part that the stream ends in: "record header" if one may begin at `start`, else None."""
    rest = stream.read_at(start, MAX_HEADER + 1).lstrip(_FILLING)
    return "record header" if len(rest) <= MAX_HEADER and syntax.cut_start.fullmatch(rest) else None


def is_cut(stream: Stream, block: int, end: int, declared: int | None, syntax: Syntax) -> bool:
    """Whether the stream ends within its last record, that of the block [block, end)."""
    if declared is None or end > block + declared:  # no length, or a wrong one
        tail = stream.read_at(max(end - _TAIL, 0), _TAIL).rstrip(b"\x00 ")
        return re.search(syntax.separator.pattern + rb"\Z", tail) is None
    return end < block + declared or _lacks_newlines(stream, block, end, syntax)


def _lacks_newlines(stream: Stream, block: int, end: int, syntax: Syntax) -> bool:
    """Whether the two line ends after a WARC file's last block [block, end) are cut off.

    They are not if the header's own lines end in a bare newline (files edited by hand); if the file's first
    record has no more line ends either; or if the block's length includes them: the block then ends in line
    ends that do not belong to an HTTP head. (ARC has them before a record.)
    """
    header_end = stream.read_at(block - len(_EMPTY_LINE), len(_EMPTY_LINE))
    rest = stream.read_at(end, len(_EMPTY_LINE))
    if syntax is ARC or header_end != _EMPTY_LINE or rest == _EMPTY_LINE or not _EMPTY_LINE.startswith(rest):
        return False
    if len(rest) >= _first_gap(stream, syntax):
        return False
    if rest or stream.read_at(end - len(_EMPTY_LINE), len(_EMPTY_LINE)) != _EMPTY_LINE:
        return True
    head = stream.read_at(block, min(end - block, MAX_HEADER)).find(_EMPTY_LINE)
    return head < 0 or block + head + len(_EMPTY_LINE) >= end


def _first_gap(stream: Stream, syntax: Syntax) -> int:
    """The number of bytes between the file's first two records; that of two line ends if unknown."""
    header = read_header(stream, 0, syntax)
    if header is not None and header.block_length is not None:
        end = header.length + header.block_length
        extent = confirmed_extent(stream, end, syntax)
        if extent is not None and extent.next is not None:
            return extent.next - end
    return len(_EMPTY_LINE)
