"""What a record looks like in WARC and in ARC: how it begins, and what its header says."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from typing import Final

from warcio.recordloader import ARCHeadersParser
from warcio.statusandheaders import StatusAndHeadersParserException

MAX_HEADER: Final = 256 << 10
_ARC_2 = re.compile(rb"(.* \S+ \d{14} \S+) \d{3} \S+ \S+ \d+ \S+ (\d+)\s*")
_ARC_SCHEMES: Final = (
    "http", "https", "ftp", "dns", "whois", "filedesc", "gopher", "news", "metadata", "warcinfo"
)  # fmt: skip
_HEADER_END = re.compile(rb"\r?\n\r?\n")


@dataclass(frozen=True, slots=True)
class Header:
    """A record's header: fields by lower-case WARC name, its length in bytes, the block's if it is known."""

    fields: dict[str, str]
    length: int
    block_length: int | None


@dataclass(frozen=True, slots=True)
class Layout:
    """One archive format.

    `expected` matches where a record ought to begin; `wanted`, stricter, finds one in damaged bytes and
    matches at most `reach` of them. `begun` matches all that is left of a record whose header is cut off.
    `separator` follows every block. `parse` reads a header from its first MAX_HEADER bytes and gives None for
    what is not one.
    """

    expected: re.Pattern[bytes]
    wanted: re.Pattern[bytes]
    reach: int
    begun: re.Pattern[bytes]
    separator: re.Pattern[bytes]
    parse: Callable[[bytes], Header | None]


def _warc_header(block: bytes) -> Header | None:
    end = _HEADER_END.search(block)
    if end is None:
        return None
    lines = block[: end.start()].decode("utf-8", "replace").splitlines()
    folded: dict[str, list[str]] = {}
    name = ""
    for line in lines[1:]:
        if line[:1] in (" ", "\t") and name in folded:
            folded[name].append(line.strip())
            continue
        name, colon, value = line.partition(":")
        name = name.strip().lower()
        if colon:
            folded.setdefault(name, [value.strip()])
    fields = {name: " ".join(parts) for name, parts in folded.items()}
    length = fields.get("content-length", "")
    return Header(fields, end.end(), int(length) if length.isdecimal() and len(length) < 19 else None)


def _arc_header(block: bytes) -> Header | None:
    line, newline, _ = block.partition(b"\n")
    if not newline:
        return None
    second = _ARC_2.fullmatch(line)
    try:
        parsed = ARCHeadersParser().parse(BytesIO(b"\n\n"), b"%b %b" % second.groups() if second else line)
    except StatusAndHeadersParserException:
        return None
    values = dict(parsed.headers)
    uri = values["uri"]
    fields = {
        "warc-type": "warcinfo" if uri.startswith("filedesc:") else "response",
        "warc-target-uri": uri,
        "warc-date": values["archive-date"],
        "content-type": values["content-type"],
    }
    length = values["length"]
    return Header(fields, len(line) + 1, int(length) if length.isdecimal() and len(length) < 19 else None)


def _cut_off(word: str) -> bytes:
    """A pattern of the word's beginnings."""
    return "|".join(re.escape(word[:length]) for length in range(1, len(word) + 1)).encode()


WARC: Final = Layout(
    expected=re.compile(rb"WARC/\d", re.IGNORECASE),
    wanted=re.compile(
        rb"WARC/\d\.\d{1,2}[ \t]{0,8}\r?\n[A-Za-z][A-Za-z0-9_-]{0,40}[ \t]{0,8}:", re.IGNORECASE
    ),
    reach=128,
    begun=re.compile(_cut_off("WARC/") + rb"|WARC/\d.*", re.IGNORECASE | re.DOTALL),
    separator=re.compile(rb"(?:\r?\n){2}"),
    parse=_warc_header,
)
ARC: Final = Layout(
    expected=re.compile(rb"(?:%b):[^\r\n]{0,16384} \S+ \d+\r?\n" % "|".join(_ARC_SCHEMES).encode()),
    wanted=re.compile(
        rb"(?:\A|(?<=[\r\n\x00]))[A-Za-z][A-Za-z0-9+.-]{0,20}:[^\r\n\x00]{0,8192}"
        rb" [0-9A-Fa-f.:]{3,45} \d{14} [^ \r\n\x00]{1,256}(?: [^\r\n\x00]{1,512})? \d{1,18}\r?\n"
    ),
    reach=9000,
    begun=re.compile(
        b"|".join(_cut_off(f"{scheme}:") for scheme in _ARC_SCHEMES)
        + rb"|(?:%b):[^\r\n]*\r?" % "|".join(_ARC_SCHEMES).encode()
    ),
    separator=re.compile(rb"\r?\n"),
    parse=_arc_header,
)
LAYOUTS: Final = {"warc": WARC, "arc": ARC}
