"""A hostile crawl: each shard has good pages, and hostile bytes between them or at its end.

As a script, it writes the crawl into a folder for manual tests:

    python tests/hostile/making.py FOLDER [SIZE]

SIZE multiplies the number of parts that hostile pages, bodies and headers are made of (default 1).
"""

import gzip
import sys
import zlib
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Final

import brotli
import zstandard

from tests.spark.crawl import PARAGRAPH, page
from tests.warc import making

NEIGHBOURS: Final = (1, 2, 3, 4)
"""Numbers of the good records: two before the hostile bytes, two after."""
HOSTILE: Final = 9

N_OF_PAGE: Final = 4000
N: Final = 20_000
"""The number of parts of hostile pages, and of all other hostile input."""

Part = bytes | Callable[[int], bytes]
"""Hostile bytes, or a function that makes them of n parts."""


def neighbour(number: int) -> bytes:
    """A good record."""
    body = page(f"Ferry {number}", f"This is page {number}. {PARAGRAPH}", PARAGRAPH).encode()
    return making.warc(making.http(body), number=number)


def packed(raw: bytes) -> bytes:
    return gzip.compress(raw, 1, mtime=0)


def url(number: int) -> str:
    return f"http://site.example/{number}"


def record(block: bytes, *fields: str, length: int | None = None) -> bytes:
    return making.warc(block, *fields, number=HOSTILE, length=length)


def of_page(markup: bytes, *fields: str) -> bytes:
    """The record of a page between good text."""
    good = f"<p>{PARAGRAPH}</p>".encode()
    return record(making.http(good + markup + good, *fields))


def numbered(unit: bytes, n: int) -> bytes:
    """A unit n times, every `%d` in it the number of the time."""
    return b"".join(unit.replace(b"%d", b"%d" % i) for i in range(n))


PAGES: Final[dict[str, Part]] = {
    "formatting with distinct attributes": lambda n: numbered(b"<p><b a=%d>x", n),
    "formatting in formatting": lambda n: numbered(b"<b a=%d>", n) + b"<p>x" * n,
    "formatting of few kinds": lambda n: b"<p><b a=i>x<p><i a=b>y" * n,
    "nested fonts": lambda n: numbered(b"<font a=%d><p>x", n),
    "links in links": lambda n: numbered(b"<a href=%d><div>x", n),
    "nobr": lambda n: b"<nobr>x<div>" * n,
    "end tags of formatting under open elements": lambda n: b"<span>" * n + b"x</i>" * n,
    "end tags of headings under open elements": lambda n: b"<div>" * n + b"x</h1>" * n,
    "end tags of nothing": lambda n: b"</p></br></li></table></b>" * n,
    "adoption": lambda n: b"<b><i><u><div>x</b></i></u>" * n,
    "a drawing with stray end tags": lambda n: b"<svg>" + b"<g>" * n + b"</a>" * n,
    "drawings in drawings": lambda n: b"<svg><foreignObject><math><mi>" * n,
    "foster parents": lambda n: b"<table>" + b"<b>x<tr>" * n,
    "tables in tables": lambda n: b"<table><tr><td>x" * n,
    "selects": lambda n: b"<select><option>x<optgroup>" * n,
    "forms and buttons": lambda n: b"<form><button><p>x" * n,
    "lists in lists": lambda n: b"<ul><li>x" * n,
    "definitions": lambda n: b"<dl><dt>x<dd>" * n,
    "ruby": lambda n: b"<ruby>x<rt>y<rp>" * n,
    "templates": lambda n: b"<template><tr><td>x" * n,
    "frames": lambda n: b"<frameset><frame><noframes>x" * n,
    "deep": lambda n: b"<div>" * n,
    "objects": lambda n: b"<object>x<applet><marquee>" * n,
    "comments without end": lambda n: b"<!--" * n,
    "scripts without end": lambda n: b"<script><!--" * n,
    "iframes without end": lambda n: b"<iframe>" * n,
    "plaintext": lambda n: b"<plaintext>" + b"x</plaintext><b>" * n,
    "xmp": lambda n: b"<xmp>" + b"x</xm" * n,
    "titles": lambda n: b"<title>x<textarea>" * n,
    "doctypes": lambda n: b"<!DOCTYPE html><html a=b><body c=d>" * n,
    "attributes": lambda n: b"<p " + numbered(b"a%d=b ", n) + b">x",
    "an attribute": lambda n: b"<img src='data:" + b"x" * (100 * n) + b"'>",
    "an attribute without end": lambda n: b"<img src='" + b"<p>x" * n,
    "references": lambda n: b"&amp&#x41;&notit;&" * n,
    "NULs": lambda n: b"<p\0>\0x\0" * n,
    "bytes of no charset": lambda n: b"\x80\xff\xc0<p>" * n,
    "text encoded twice": lambda n: "Přívoz ještě ".encode().decode("latin1").encode() * n,
    "another charset than is said": lambda n: b"<meta charset=utf-16>" + "Přívoz ".encode("cp1250") * n,
    "a charset that is none": lambda n: b"<meta charset='" + b"x" * 40 + b"'>" + b"\xe9 x" * n,
    "marks on one letter": lambda n: b"a" + "\u0301".encode() * n,
    "one word": lambda n: b"x" * (20 * n),
    "one number": lambda n: b"1:1." * n,
    "blocks that are alike": lambda n: b"<p>x" * n,
    "blocks that differ": lambda n: numbered(b"<p>x%d", n),
    "line breaks": lambda n: b"x<br>\n" * n,
    "preformatted text": lambda n: b"<pre>" + b"x  <b>\n</b>" * n,
    "structured data": lambda n: b"<script type=application/ld+json>" + b"[" * n + b"</script>",
    "classes": lambda n: b"<div class='" + numbered(b" c%d", n) + b"'>x",
    "names of elements": lambda n: numbered(b"<x-%d>x", n),
    "spaces": lambda n: b"<p> \t\n\xc2\xa0" * n,
    "directions": lambda n: "\u202e\u200b\ufeff\u2066".encode() * n,
}
"""Markup that attacks a parser or a reader of text; its size is linear in n, as the work must be."""


def layered(body: bytes, n: int) -> bytes:
    for _ in range(n):
        body = zlib.compress(body, 1)
    return body


def bomb(n: int) -> bytes:
    """A page of 10 kB times n, as a gzip member of a thousandth."""
    return packed(b"<p>x" + bytes(10_000 * n))


BODIES: Final[dict[str, Part]] = {
    "body of many members": lambda n: making.http(
        b"".join(packed(b"<p>x %d" % i + bytes(500)) for i in range(n)), "Content-Encoding: gzip"
    ),
    "body of empty members": lambda n: making.http(packed(b"") * n, "Content-Encoding: gzip"),
    "body that explodes, gzip": lambda n: making.http(bomb(n), "Content-Encoding: gzip"),
    "body that explodes, deflate": lambda n: making.http(
        zlib.compress(bytes(10_000 * n)), "Content-Encoding: deflate"
    ),
    "body that explodes, brotli": lambda n: making.http(
        brotli.compress(bytes(10_000 * n), quality=1), "Content-Encoding: br"
    ),
    "body that explodes, zstd": lambda n: making.http(
        zstandard.compress(bytes(10_000 * n)), "Content-Encoding: zstd"
    ),
    "body that explodes in layers": lambda n: making.http(
        packed(packed(bomb(n))), "Content-Encoding: gzip, gzip, gzip"
    ),
    "body in layers that nobody announced": making.http(packed(packed(bomb(1)))),
    "encodings without end": lambda n: making.http(
        layered(b"<p>x", 20), "Content-Encoding: " + ", ".join(["deflate"] * 10 * n)
    ),
    "fields of encodings without end": lambda n: making.http(b"<p>x", *["Content-Encoding: gzip"] * n),
    "an encoding that is a lie": lambda n: making.http(b"<p>x" * n, "Content-Encoding: gzip"),
    "an encoding that nobody knows": lambda n: making.http(b"<p>x" * n, "Content-Encoding: " + "y" * n),
    "interim answers": lambda n: b"HTTP/1.1 100 Continue\r\n\r\n" * n + making.http(b"<p>x"),
    "interim answers alone": lambda n: b"HTTP/1.1 100 Continue\r\n\r\n" * n,
    "chunks of one byte": lambda n: making.http(
        making.chunked(b"<p>x" * n, 1), "Transfer-Encoding: chunked", length=None
    ),
    "chunks longer than they are": lambda n: making.http(
        b"ffffffffffffffff\r\n<p>x" * n, "Transfer-Encoding: chunked", length=None
    ),
    "chunks of negative length": lambda n: making.http(
        b"-5\r\n<p>x\r\n" * n, "Transfer-Encoding: chunked", length=None
    ),
    "chunks without a last one": lambda n: making.http(
        making.chunked(b"<p>x" * n, last=""), "Transfer-Encoding: chunked", length=None
    ),
    "a chunk's head without end": lambda n: making.http(
        b"1;" + b"x" * 100 * n, "Transfer-Encoding: chunked", length=None
    ),
    "a length too long": making.http(b"<p>x", length=1 << 40),
    "a length too short": lambda n: making.http(b"<p>x" * n, length=3),
    "a length that is no number": making.http(
        b"<p>x", "Content-Length: -1", "Content-Length: x", length=None
    ),
    "a length of many digits": lambda n: making.http(b"<p>x", "Content-Length: " + "9" * n, length=None),
    "fields": lambda n: making.http(b"<p>x", *[f"X-{i}: y" for i in range(n)]),
    "a field": lambda n: making.http(b"<p>x", "X: " + "y" * 100 * n),
    "fields that are none": lambda n: making.http(b"<p>x", *["no colon", ": no name", " folded"] * n),
    "a head without end": lambda n: b"HTTP/1.1 200 OK\r\nX: y\r\n" + b"X: y\r\n" * n,
    "a head of any bytes": b"HTTP/1.1 200 \xff\0\r\nX: " + bytes(range(256)) * 4 + b"\r\n\r\n<p>x",
    "a status that is none": lambda n: making.http(b"<p>x", status="9" * n),
    "a type that is none": lambda n: making.http(b"<p>x", content_type="text/html; charset=" + "\x01" * n),
    "no answer": b"",
}
"""HTTP answers that attack who reads them."""


def headed(*fields: str) -> bytes:
    return record(making.http(b"<p>x"), *fields)


RECORDS: Final[dict[str, Part]] = {
    "a record's length too long by a little": record(
        making.http(b"<p>x"), length=len(making.http(b"<p>x")) + 7
    ),
    "a record's length too short": lambda n: record(making.http(b"<p>x" * n), length=5),
    "a record's length of many digits": record(making.http(b"<p>x"), length=10**30),
    "a record's length below nothing": record(making.http(b"<p>x"), length=-5),
    "a record's length twice": headed("Content-Length: 3"),
    "a record's fields": lambda n: headed(*[f"X-{i}: y" for i in range(n)]),
    "a record's field": lambda n: headed("X: " + "y" * 100 * n),
    "a record's fields that are none": headed("no colon", ": no name", " folded", "\0: \x01"),
    "a record's address": lambda n: making.warc(making.http(b"<p>x")).replace(
        url(0).encode(), b"http://user:secret@" + b"y" * n
    ),
    "a record's address of any bytes": making.warc(making.http(b"<p>x")).replace(
        url(0).encode(), b"http://[\xff\0]:99999/%zz"
    ),
    "a record's date": making.warc(making.http(b"<p>x"), number=HOSTILE, date="9" * 30),
    "a record's date before all time": making.warc(
        making.http(b"<p>x"), number=HOSTILE, date="0000-00-00T99:99:99Z"
    ),
    "a record's kind": making.warc(making.http(b"<p>x"), number=HOSTILE, kind="\x01" * 9),
    "a record of nothing": record(b""),
    "a record of another archive": making.arc(making.http(b"<p>x"), HOSTILE),
    "a record's version": record(making.http(b"<p>x")).replace(b"WARC/1.0", b"WARC/9.9", 1),
    "no record": lambda n: b"x" * 100 * n,
    "zeros": lambda n: bytes(100 * n),
    "line ends": lambda n: b"\r\n" * 50 * n,
}
"""WARC records that attack who reads them; each is packed as it should be."""


HOSTILE_RECORD: Final = making.warc(making.http(making.page(HOSTILE)), number=HOSTILE)

MEMBERS: Final[dict[str, Part]] = {
    "a member with a hole": making.spoilt(packed(HOSTILE_RECORD)),
    "a member with a wrong sum": packed(HOSTILE_RECORD)[:-8] + bytes(8),
    "a member cut off": packed(HOSTILE_RECORD)[:-40],
    "a member's head alone": packed(b"")[:10],
    "a member without its mark": b"xx" + packed(HOSTILE_RECORD)[2:],
    "a member in a member": packed(packed(HOSTILE_RECORD)),
    "a member with a name without end": lambda n: b"\x1f\x8b\x08\x08" + bytes(6) + b"x" * 100 * n,
    "members of nothing": lambda n: packed(b"") * n,
    "marks of members": lambda n: b"\x1f\x8b\x08" * n,
    "a record in members of one byte": b"".join(
        packed(HOSTILE_RECORD[i : i + 1]) for i in range(len(HOSTILE_RECORD))
    ),
    "a record that explodes": lambda n: packed(making.warc(making.http(bytes(10_000 * n)), number=HOSTILE)),
    "zeros between members": lambda n: bytes(100 * n),
    "frames of another packing": zstandard.compress(HOSTILE_RECORD),
}
"""Bytes between the gzip members of a shard."""


def of(part: Part, n: int) -> bytes:
    return part if isinstance(part, bytes) else part(n)


def shards(size: int = 1) -> Iterator[tuple[str, bytes]]:
    """Names and bytes of all shards of the hostile crawl that hold all four good records."""
    before, after = (
        [neighbour(number) for number in numbers] for numbers in (NEIGHBOURS[:2], NEIGHBOURS[2:])
    )
    made = {f"page {name}": of_page(of(part, N_OF_PAGE * size)) for name, part in PAGES.items()}
    made |= {name: record(of(part, N * size)) for name, part in BODIES.items()}
    made |= {name: of(part, N * size) for name, part in RECORDS.items()}
    packings = cycle(("gzip", "plain", "zstd"))
    for (name, hostile), packing in zip(made.items(), packings, strict=False):
        parts = making.members([*before, hostile, *after], packing)
        yield name.replace(" ", "-") + ENDINGS[packing], b"".join(parts)
    before, after = (making.members(records, "gzip") for records in (before, after))
    for name, part in MEMBERS.items():
        yield name.replace(" ", "-") + ".warc.gz", b"".join([*before, of(part, N * size), *after])


def cut_shards() -> Iterator[tuple[str, bytes, int]]:
    """Names and bytes of shards that end early in their last record, and how many records are whole."""
    records = [neighbour(number) for number in NEIGHBOURS]
    for packing, ending in ENDINGS.items():
        whole = making.joined(making.members(records, packing))
        last = whole.lengths()[-1]
        for name, n_kept in (("in-a-head", 20), ("in-a-body", last // 2), ("before-its-end", last - 9)):
            yield f"cut-{name}{ending}", whole.content[: whole.offsets[-2] + n_kept], len(records) - 1


ENDINGS: Final = {"gzip": ".warc.gz", "plain": ".warc", "zstd": ".warc.zst"}


def sound(folder: Path) -> Path:
    """A shard of the good records alone."""
    path = folder / "sound.warc.gz"
    path.write_bytes(making.shard([neighbour(number) for number in NEIGHBOURS]).content)
    return path


def write(folder: Path, size: int = 1) -> int:
    """Writes the hostile crawl; how many shards it has that end early."""
    n_cut = 0
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in shards(size):
        (folder / name).write_bytes(content)
    for name, content, _ in cut_shards():
        (folder / name).write_bytes(content)
        n_cut += 1
    return n_cut


if __name__ == "__main__":
    write(Path(sys.argv[1]), *map(int, islice(sys.argv[2:], 1)))
