"""Headers, parsed leniently: of WARC and ARC records, of HTTP messages, and the values of their fields."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final, NamedTuple

from victor_spark.configuration import names

MAX_HEADER: Final = 256 << 10
"""The most bytes of a record's header, and of the head of an HTTP message."""
_ARC_DATE = re.compile(rb" \S+ (\d{8,17}) ")
_AFTER_DATE = re.compile(rb"(.*?)(?: \d{3} \S+ \S+ \d+ \S+)? (\d+)\s*")
_ARC_SCHEMES: Final = (
    "http", "https", "ftp", "dns", "whois", "filedesc", "gopher", "news", "metadata", "warcinfo"
)  # fmt: skip
_HEADER_END = re.compile(rb"\n\r?\n")
_FOLD = re.compile(r"(?<![ \t\r])(?:[ \t\r]*+\n[ \t]++)+")
_STATUS_LINE = re.compile(rb"[\r\n]*HTTP/\d[\d.]*[ \t]*(\d{3})?[^\r\n]*", re.IGNORECASE)
_HTTP_END = re.compile(rb"\n[ \t\r]*+\n|\r\r(?!\n)")
_HTTP_FIELD = re.compile(
    rb"(?i)[\r\n][ \t\v\f]*+(content-(?:type|encoding|length)|transfer-encoding)[ \t\v\f]*+:([^\r\n]*)"
)
_CHARSET = re.compile(r"""charset\s*=\s*+["']?\s*+([^\s"';,]+)""", re.IGNORECASE)
_MIME = re.compile(r"[a-z0-9!#$&^_.+-]+/[a-z0-9!#$&^_.+-]+")
_DIGITS = re.compile(r"\d+")
_YEARS: Final = range(1900, 2200)
"""Years that a crawl may have. Programs that read the rows fail on dates in the years 1 and 9999."""


class Header(NamedTuple):
    """A record's header: fields by lower-case WARC name, its length, and the block's (None: invalid)."""

    fields: dict[str, str]
    length: int
    block_length: int | None


class Syntax(NamedTuple):
    """The syntax of the records of one archive format: WARC or ARC.

    `start` matches where a record is expected. `search` is stricter: it finds a record in damaged bytes and
    matches at most `reach` of them. `cut_start` matches the rest of a record whose header is cut off.
    `separator` follows every block. `parse` reads a header in a record's first MAX_HEADER bytes, or None.
    """

    start: re.Pattern[bytes]
    search: re.Pattern[bytes]
    reach: int
    cut_start: re.Pattern[bytes]
    separator: re.Pattern[bytes]
    parse: Callable[[bytes], Header | None]


class HttpHead(NamedTuple):
    """The fields of an HTTP head that matter, encodings in the order they were applied.

    `length`: its bytes; `complete`: its empty line is there.
    """

    status: int | None = None
    content_type: str | None = None
    content_encodings: tuple[str, ...] = ()
    transfer_encodings: tuple[str, ...] = ()
    content_length: int | None = None
    length: int = 0
    complete: bool = True

    @property
    def is_interim(self) -> bool:
        """Whether another head has to follow (100 Continue, 103 Early Hints)."""
        return self.status is not None and 100 <= self.status < 200 and self.status != 101


def decoded(value: bytes) -> str:
    """A field as text: UTF-8, else Latin-1."""
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")


def declared_length(text: str) -> int | None:
    """The number of bytes that a field declares, None for an invalid one."""
    return int(text) if text.isdecimal() and len(text) < 19 else None


def _warc_header(block: bytes) -> Header | None:
    """A WARC header; a folded line belongs to the field before it, the first of equal fields counts."""
    end = _HEADER_END.search(block)
    if end is None:
        return None
    lines = block[: end.start()].decode("utf-8", "replace").partition("\n")[2]
    if "\n " in lines or "\n\t" in lines:
        lines = _FOLD.sub(" ", lines)
    parts = (line.partition(":") for line in reversed(lines.split("\n")))
    fields = {name.strip().lower(): value.strip() for name, colon, value in parts if colon}
    return Header(fields, end.end(), declared_length(fields.get("content-length", "")))


def _arc_header(block: bytes) -> Header | None:
    """The one line of an ARC record, version 1 or 2, as WARC fields."""
    line, newline, _ = block.partition(b"\n")
    at = _ARC_DATE.search(line)
    if at is not None and (rest := _AFTER_DATE.fullmatch(line, at.end())) is not None:
        parts = [line[: at.start()], b"", at[1], *rest.groups()]
    else:
        parts = line.rstrip().rsplit(b" ", 4)
    if not newline or len(parts) < 5:
        return None
    uri, _, date, content_type, length = map(decoded, parts)
    fields = {
        "warc-type": "warcinfo" if uri.startswith("filedesc:") else "response",
        "warc-target-uri": uri,
        "warc-date": date,
        "content-type": content_type,
    }
    return Header(fields, len(line) + 1, declared_length(length))


def _prefixes(word: str) -> bytes:
    """A pattern of all prefixes of a word."""
    return "|".join(re.escape(word[:length]) for length in range(1, len(word) + 1)).encode()


WARC: Final = Syntax(
    start=re.compile(rb"WARC/\d[^\r\n]{0,64}\r*\n", re.IGNORECASE),
    search=re.compile(rb"(?i)WARC/\d\.\d{1,2}[ \t]{0,8}\r?\n[A-Z][A-Z0-9_-]{0,40}[ \t]{0,8}:"),
    reach=128,
    cut_start=re.compile(_prefixes("WARC/") + rb"|WARC/\d.*", re.IGNORECASE | re.DOTALL),
    separator=re.compile(rb"(?:\r?\n){2}"),
    parse=_warc_header,
)
ARC: Final = Syntax(
    start=re.compile(rb"(?i)(?:%b):[^\r\n]{0,16384} \S* \d+\r?\n" % "|".join(_ARC_SCHEMES).encode()),
    search=re.compile(
        rb"(?:\A|(?<=[\r\n\x00]))[A-Za-z][A-Za-z0-9+.-]{0,20}:[^\r\n\x00]{0,8192}"
        rb" [0-9A-Fa-f.:]{3,45} \d{14} [^ \r\n\x00]{0,256}(?: [^\r\n\x00]{1,512})? \d{1,18}\r?\n"
    ),
    reach=9000,
    cut_start=re.compile(
        b"|".join(_prefixes(f"{scheme}:") for scheme in _ARC_SCHEMES)
        + rb"|(?:%b):[^\r\n]*\r?" % "|".join(_ARC_SCHEMES).encode()
    ),
    separator=re.compile(rb"\r?\n"),
    parse=_arc_header,
)
SYNTAXES: Final = {"warc": WARC, "arc": ARC}


def http_head(block: bytes) -> HttpHead | None:
    """The HTTP head that a record block begins with; None when there is none.

    Interim heads (100 Continue) are skipped. A head without an empty line ends where a tag begins.
    """
    start = 0
    while line := _STATUS_LINE.match(block, start):
        head = _http_fields(block, line.end(), int(line[1]) if line[1] else None)
        if head.status is None or head.status >= 200 or not _STATUS_LINE.match(block, head.length):
            return head
        start = head.length
    return None


def _http_fields(block: bytes, start: int, status: int | None) -> HttpHead:
    """The head whose fields begin at `start`; of repeated fields the last counts, encodings add up."""
    end = _HTTP_END.search(block, start)
    if end is not None:
        stop, length = end.start(), end.end()
    else:
        tag = block.find(b"<", start)
        stop = length = tag if tag >= 0 else len(block)
    values: dict[bytes, list[str]] = {}
    for field in _HTTP_FIELD.finditer(block, start, stop):
        name = field[1].lower()
        if not name.endswith(b"encoding"):
            values.pop(name, None)
        values.setdefault(name, []).append(field[2].strip().decode("latin-1"))
    found = {name: ",".join(parts) for name, parts in values.items()}
    return HttpHead(
        status=status,
        content_type=found.get(b"content-type"),
        content_encodings=names(found.get(b"content-encoding", "").replace('"', "")),
        transfer_encodings=names(found.get(b"transfer-encoding", "")),
        content_length=declared_length(found.get(b"content-length", "").split(",")[0].strip()),
        length=length,
        complete=end is not None,
    )


def mime_type(content_type: str | None) -> str | None:
    """The type of a Content-Type value, lower case, without parameters; None when there is none."""
    if not content_type:
        return None
    found = _MIME.match(content_type.strip(" \t\"'").lower())
    return found[0] if found else None


def charset(content_type: str | None) -> str | None:
    """The charset parameter of a Content-Type value."""
    found = _CHARSET.search(content_type) if content_type else None
    return found[1] if found else None


def fetch_time(date: str | None) -> datetime | None:
    """A WARC-Date or ARC date in UTC: ISO 8601 of any precision, or 14 digits; None for any other date."""
    if not date:
        return None
    try:
        try:
            time = datetime.fromisoformat(date.strip())
        except ValueError:  # the leading digits may be year, month, day, hour, minute, second
            digits = "".join(_DIGITS.findall(date.partition(".")[0]))[:14]
            time = datetime.strptime(digits, "%Y%m%d%H%M%S"[: len(digits) - 2]).replace(tzinfo=UTC)
        time = time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return time if time.year in _YEARS else None


def without_brackets(value: str | None) -> str | None:
    """A WARC-Record-ID or WARC-Target-URI without the angle brackets around it."""
    return (value.strip().removeprefix("<").removesuffix(">").strip() or None) if value else None
