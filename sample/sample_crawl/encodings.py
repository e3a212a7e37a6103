"""Transfer and content encodings as servers apply them, and damage done to text on its way."""

import gzip
from typing import Final

BROTLI_BLOCK: Final = 1 << 16
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
    """The body under `Content-Encoding: br`, in uncompressed meta-blocks (RFC 7932, section 9.2).

    Needs no brotli library, and comes out the same with every version of one.
    """
    stream = bytearray()
    bits, n_bits = 0, 1  # WBITS: a single 0 bit is a window of 16
    for at in range(0, len(body), BROTLI_BLOCK):
        part = body[at : at + BROTLI_BLOCK]
        # ISLAST 0, MNIBBLES 00 (four), MLEN - 1 in 16 bits, ISUNCOMPRESSED 1, then a full byte
        bits |= ((len(part) - 1) << 3 | 1 << 19) << n_bits
        stream += bits.to_bytes((n_bits + 20 + 7) // 8, "little") + part
        bits, n_bits = 0, 0
    bits |= 0b11 << n_bits  # ISLAST, ISLASTEMPTY
    stream.append(bits)
    return bytes(stream)


def encoded_twice(text: str) -> str:
    """UTF-8 bytes mistaken for windows-1252: what a page holds that was converted once too often."""
    return "".join(
        chr(byte) if byte < 0x80 or byte in WINDOWS_1252_GAPS else bytes([byte]).decode("windows-1252")
        for byte in text.encode("utf-8")
    )
