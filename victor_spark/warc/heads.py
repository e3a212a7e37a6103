"""HTTP heads and WARC fields, read as leniently as archives demand."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

_STATUS_LINE = re.compile(rb"[\r\n]*HTTP/\d[\d.]*[ \t]*(\d{3})?[^\r\n]*", re.IGNORECASE)
_END = re.compile(rb"\r?\n[ \t]*\r?\n|\r\r")
_FIELD_NAMES: Final = frozenset(
    {b"content-type", b"content-encoding", b"transfer-encoding", b"content-length"}
)
_CHARSET = re.compile(r"""charset\s*=\s*+["']?\s*+([^\s"';,]+)""", re.IGNORECASE)
_MIME = re.compile(r"[a-z0-9!#$&^_.+-]+/[a-z0-9!#$&^_.+-]+")
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Head:
    """What matters of an HTTP head: `length` bytes long, `complete` when its empty line was there."""

    status: int | None
    fields: dict[bytes, bytes]
    length: int
    complete: bool

    @property
    def is_interim(self) -> bool:
        """Whether another head has to follow (100 Continue, 103 Early Hints)."""
        return self.status is not None and 100 <= self.status < 200 and self.status != 101

    @property
    def content_type(self) -> str | None:
        """The Content-Type field as it stands."""
        value = self.fields.get(b"content-type")
        return value.decode("latin-1") if value is not None else None

    @property
    def content_encodings(self) -> tuple[str, ...]:
        """The encodings of the content, in the order they were applied."""
        return _tokens(self.fields.get(b"content-encoding"))

    @property
    def transfer_encodings(self) -> tuple[str, ...]:
        """The encodings of the transfer, in the order they were applied."""
        return _tokens(self.fields.get(b"transfer-encoding"))

    @property
    def content_length(self) -> int | None:
        """The promised length of the body in bytes."""
        value = self.fields.get(b"content-length", b"").split(b",")[0].strip()
        return int(value) if value.isdigit() and len(value) < 19 else None


def _tokens(value: bytes | None) -> tuple[str, ...]:
    if not value:
        return ()
    return tuple(token.strip().lower() for token in value.decode("latin-1").split(",") if token.strip())


def parse(block: bytes) -> Head | None:
    """The HTTP head that a record block begins with; None when there is none.

    Interim heads (100 Continue) are passed over. A head without an empty line ends where a tag begins.
    """
    start = 0
    while line := _STATUS_LINE.match(block, start):
        status = int(line[1]) if line[1] else None
        fields, length, complete = _fields(block, line.end())
        if status is None or status >= 200 or not _STATUS_LINE.match(block, length):
            return Head(status, fields, length, complete)
        start = length
    return None


def _fields(block: bytes, start: int) -> tuple[dict[bytes, bytes], int, bool]:
    end = _END.search(block, start)
    if end is not None:
        stop, length = end.start(), end.end()
    else:
        tag = block.find(b"<", start)
        stop = length = tag if tag >= 0 else len(block)
    fields: dict[bytes, list[bytes]] = {}
    for line in block[start:stop].splitlines():
        name, colon, value = line.partition(b":")
        name = name.strip().lower()
        if colon and name in _FIELD_NAMES:
            values = fields.setdefault(name, [])
            if not name.endswith(b"encoding"):
                values.clear()
            values.append(value.strip())
    return {name: b",".join(values) for name, values in fields.items()}, length, end is not None


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
    """A WARC-Date or ARC date in UTC: ISO 8601 of any precision, or 14 digits; None for nonsense."""
    if not date:
        return None
    date = date.strip()
    try:
        time = datetime.fromisoformat(date)
    except ValueError:
        return _from_digits(date)
    try:
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except OverflowError:
        return None


def _from_digits(date: str) -> datetime | None:
    """The date whose leading digits are year, month, day, hour, minute, second, as far as they go."""
    digits = "".join(_DIGITS.findall(date.partition(".")[0]))[:14]
    if len(digits) < 4 or len(digits) % 2:
        return None
    parts = [int(digits[:4]), *(int(digits[i : i + 2]) for i in range(4, len(digits), 2))]
    parts += [1] * (3 - len(parts))
    try:
        return datetime(*parts, tzinfo=UTC)  # type: ignore[arg-type, misc]  # 3 to 6 integers
    except ValueError:
        return None


def url(target: str | None) -> str | None:
    """A WARC-Target-URI without the angle brackets that some tools leave around it."""
    return (target.strip().removeprefix("<").removesuffix(">").strip() or None) if target else None


def record_id(value: str | None) -> str | None:
    """A WARC-Record-ID without its angle brackets."""
    return url(value)
