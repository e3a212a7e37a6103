"""Which crawl a shard belongs to: told by its path, else by its first record."""

import re
from typing import Final

from victor_spark.warc import kinds

WARCINFO: Final = 4 << 10
"""Bytes of a shard, packed, in which its first record lies."""

_MAIN = re.compile(r"(?<![A-Za-z0-9])CC-MAIN-\d{4}(?:-\d{2,4}){1,2}(?![\d-])")
_NEWS = re.compile(r"(?<![A-Za-z0-9])CC-NEWS[/-](\d{4})[/-]?(\d{2})")
_PART = re.compile(rb"^isPartOf:[ \t]*([^\r\n]*\S)", re.IGNORECASE | re.MULTILINE)
_LONGEST: Final = 128


def of_path(path: str) -> str | None:
    """The Common Crawl crawl that a path names: CC-MAIN-2024-10, or CC-NEWS and the month."""
    if found := _MAIN.search(path):
        return found[0]
    news = _NEWS.search(path)
    return f"CC-NEWS-{news[1]}-{news[2]}" if news else None


def of_warcinfo(head: bytes) -> str | None:
    """What the warcinfo record at a shard's beginning says that the shard is part of."""
    start = kinds.unpacked(head)
    if not re.search(rb"^WARC-Type:[ \t]*warcinfo", start[:1024], re.IGNORECASE | re.MULTILINE):
        return None
    found = _PART.search(start[: 16 << 10])
    return found[1].decode("utf-8", "replace")[:_LONGEST] if found else None
