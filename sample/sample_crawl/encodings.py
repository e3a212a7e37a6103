"""Transfer and content encodings as servers apply them, and damage done to text on its way."""

import gzip
from typing import Final

WINDOWS_1252_GAPS: Final = (0x81, 0x8D, 0x8F, 0x90, 0x9D)


def gzipped(body: bytes) -> bytes:
    """The body under `Content-Encoding: gzip`, without a time stamp."""
    return gzip.compress(body, compresslevel=9, mtime=0)


def chunked(body: bytes, size: int = 700) -> bytes:
    """The body under `Transfer-Encoding: chunked`, with an extension and a trailer."""
    parts = [body[at : at + size] for at in range(0, len(body), size)]
    lengths = [b"%x" % len(part) for part in parts]
    lengths[0] += b";first=yes"
    written = [length + b"\r\n" + part + b"\r\n" for length, part in zip(lengths, parts, strict=True)]
    return b"".join(written) + b"0\r\nX-Checked: yes\r\n\r\n"


def brotli_stored(body: bytes) -> bytes:
    """A body of up to 64 KiB under `Content-Encoding: br`, in an uncompressed meta-block (RFC 7932, 9.2).

    Needs no brotli library, and comes out the same with every version of one.
    """
    wbits, more, four_nibbles, uncompressed = 0, 0, 0, 1
    fields = ((wbits, 1), (more, 1), (four_nibbles, 2), (len(body) - 1, 16), (uncompressed, 1))
    head, n_bits = 0, 0
    for value, width in fields:  # the lowest bit comes first
        head |= value << n_bits
        n_bits += width
    last_and_empty = b"\x03"
    return head.to_bytes((n_bits + 7) // 8, "little") + body + last_and_empty


def encoded_twice(text: str) -> str:
    """UTF-8 bytes mistaken for windows-1252: what a page holds that was converted once too often."""
    return "".join(
        chr(byte) if byte < 0x80 or byte in WINDOWS_1252_GAPS else bytes([byte]).decode("windows-1252")
        for byte in text.encode("utf-8")
    )
