"""WARC and ARC files made byte by byte, intact or with named defects.

Run as a script it writes one file of each kind into a folder, for trying things out by hand:

    python tests/warc/making.py FOLDER
"""

import gzip
import itertools
import random
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path

import zstandard

DATE = "2024-02-29T12:34:56Z"


def page(number: int, n_words: int = 60) -> bytes:
    """An html page that compresses neither to nothing nor into another page's bytes."""
    source = random.Random(number)
    words = " ".join(f"word{source.randrange(1 << 32):x}" for _ in range(n_words))
    return (
        f"<!DOCTYPE html><html><head><title>Page {number}</title></head><body><p>{words}</p></body></html>"
    ).encode()


def http(
    body: bytes,
    *fields: str,
    status: str = "200 OK",
    content_type: str | None = "text/html",
    length: int | None = -1,
) -> bytes:
    """An HTTP response; `length` -1: the true Content-Length, None: no such field."""
    head = [f"HTTP/1.1 {status}", *fields]
    if content_type is not None:
        head.append(f"Content-Type: {content_type}")
    if length is not None:
        head.append(f"Content-Length: {len(body) if length == -1 else length}")
    return ("\r\n".join(head) + "\r\n\r\n").encode() + body


def warc(
    block: bytes,
    *fields: str,
    number: int = 0,
    kind: str = "response",
    content_type: str = "application/http; msgtype=response",
    length: int | None = None,
    date: str = DATE,
) -> bytes:
    """A WARC record; `length` lies about the block's."""
    head = [
        "WARC/1.0",
        f"WARC-Type: {kind}",
        f"WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-{number:012d}>",
        f"WARC-Target-URI: http://site.example/{number}",
        f"WARC-Date: {date}",
        f"Content-Type: {content_type}",
        *fields,
        f"Content-Length: {len(block) if length is None else length}",
    ]
    return ("\r\n".join(head) + "\r\n\r\n").encode() + block + b"\r\n\r\n"


def arc(block: bytes, number: int = 0, date: str = "20240229123456") -> bytes:
    """An ARC (version 1) record."""
    return f"http://site.example/{number} 192.0.2.1 {date} text/html {len(block)}\n".encode() + block + b"\n"


def arc_head() -> bytes:
    """The version block that an ARC file begins with."""
    body = b"1 0 Example\nURL IP-address Archive-date Content-type Archive-length\n"
    return f"filedesc://made.arc 0.0.0.0 20240229123456 text/plain {len(body)}\n".encode() + body + b"\n"


def responses(n_pages: int) -> list[bytes]:
    """That many healthy records."""
    return [warc(http(page(number)), number=number) for number in range(n_pages)]


@dataclass(frozen=True)
class Packed:
    """A shard, and the offset of each of its records with the shard's length as the last entry."""

    content: bytes
    offsets: list[int]

    def lengths(self) -> list[int]:
        return [end - start for start, end in itertools.pairwise(self.offsets)]


def members(records: list[bytes], packing: str) -> list[bytes]:
    """Each record packed on its own: "plain", "gzip" or "zstd"."""
    pack = {"plain": bytes, "gzip": lambda raw: gzip.compress(raw, mtime=0), "zstd": zstandard.compress}
    return [pack[packing](record) for record in records]


def blocks(records: list[bytes], packing: str, size: int) -> list[bytes]:
    """Records packed in blocks of that size, as bgzip and pzstd do; most blocks begin within a record."""
    content = b"".join(records)
    packed = members([content[at : at + size] for at in range(0, len(content), size)], packing)
    skippable = b"\x50\x2a\x4d\x18\x04\x00\x00\x00four"  # pzstd writes one before each frame
    return [*packed, gzip.compress(b"")] if packing == "gzip" else [skippable + block for block in packed]


def joined(parts: list[bytes]) -> Packed:
    """Packed records one after the other."""
    return Packed(b"".join(parts), [0, *itertools.accumulate(map(len, parts))])


def shard(records: list[bytes], packing: str = "gzip") -> Packed:
    """Healthy records as a shard."""
    return joined(members(records, packing))


def chunked(body: bytes, size: int = 100, *, last: str = "0\r\n\r\n") -> bytes:
    """A body in HTTP's chunked form."""
    parts = (body[i : i + size] for i in range(0, len(body), size))
    return b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + last.encode()


def raw_deflate(body: bytes) -> bytes:
    """Deflate without zlib's head and sum, as some servers send it."""
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(body) + packer.flush()


def spoilt(member: bytes) -> bytes:
    """A packed member with a hole of zeros in its middle."""
    middle = len(member) // 2
    return member[:middle] + bytes(16) + member[middle + 16 :]


def _files() -> dict[str, bytes]:
    records = responses(5)
    packed = members(records, "gzip")
    return {
        "healthy.warc.gz": b"".join(packed),
        "healthy.warc": b"".join(records),
        "healthy.warc.zst": shard(records, "zstd").content,
        "healthy.arc": arc_head() + b"".join(arc(http(page(n)), n) for n in range(5)),
        "one-gzip-stream.warc.gz": gzip.compress(b"".join(records), mtime=0),
        "corrupt-member.warc.gz": b"".join([*packed[:2], spoilt(packed[2]), *packed[3:]]),
        "clipped-last-member.warc.gz": b"".join(packed)[:-150],
        "rubbish-between-records.warc": b"".join([*records[:2], b"rubbish\n" * 9, *records[2:]]),
        "content-length-too-long.warc": b"".join(
            [*records[:2], warc(http(page(9)), number=9, length=1500), *records[2:]]
        ),
        "empty.warc.gz": b"",
        "rubbish.warc.gz": bytes(range(256)) * 40,
    }


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for file_name, file_content in _files().items():
        (folder / file_name).write_bytes(file_content)
