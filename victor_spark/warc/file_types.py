"""Identifies files and payloads by their first bytes: WARC, ARC, WET, html, lists, binary types, crawls."""

import os
import re
from typing import Final, Literal

from victor_spark.warc.compression import LZ4_MAGIC, ZSTD_DICTIONARY_MAGIC, compression_of, unpacked

ShardKind = Literal["warc", "arc", "html", "scored", "sites"]
Kind = ShardKind | Literal["manifest", "empty", "unknown"]

WET_NAMES: Final = (".wet", ".wet.gz", ".wet.zst")
ARCHIVE_NAMES: Final = (".warc", ".warc.gz", ".warc.zst", ".warc.lz4", ".arc", ".arc.gz", *WET_NAMES)
PAGE_NAMES: Final = (".html", ".htm", ".xhtml")

WARC_START: Final = re.compile(rb"WARC/\d+\.\d+[ \t]*\r?\n", re.IGNORECASE)
ARC_START: Final = re.compile(
    rb"(?:filedesc:)?[A-Za-z][A-Za-z0-9+.-]*:[^\r\n]{0,8192}"
    rb" \d{14} [^ \r\n]{0,256} (?:[^\r\n]{0,1024} )?\d{1,18}\r?\n"
)
_WET_FILENAME = re.compile(rb"(?im)^WARC-Filename:[^\r\n]*\.wet(?:\.gz|\.zst)?[ \t]*\r?$")
_HTML = re.compile(
    rb"(?i)<(?:!doctype\s+html|html|head|body|title|meta|script|style|link|div|table|frameset|h[1-6]|article"
    rb"|p)(?=[\s/>])"
)
_ADDRESS = re.compile(r"(?:[a-z][a-z0-9+.-]{1,20}://|www\.)\S+", re.IGNORECASE)
_LONGEST_NAME: Final = 4096
_NOT_TEXT = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
WARCINFO_LENGTH: Final = 4 << 10
"""Compressed bytes of a shard that hold its first record."""

_CC_MAIN = re.compile(r"(?<![A-Za-z0-9])CC-MAIN-\d{4}(?:-\d{2,4}){1,2}(?![\d-])")
_CC_NEWS = re.compile(r"(?<![A-Za-z0-9])CC-NEWS[/-](\d{4})[/-]?(\d{2})")
_IS_PART_OF = re.compile(rb"^isPartOf:[ \t]*([^\r\n]*\S)", re.IGNORECASE | re.MULTILINE)
_LONGEST_CRAWL: Final = 128

_BINARY: Final = (
    (re.compile(rb"\s{0,64}%PDF-"), "application/pdf"),
    (re.compile(rb"\x89PNG\r\n"), "image/png"),
    (re.compile(rb"GIF8[79]a"), "image/gif"),
    (re.compile(rb"\xff\xd8\xff"), "image/jpeg"),
    (re.compile(rb"RIFF....WEBP", re.DOTALL), "image/webp"),
    (re.compile(rb"RIFF....(?:WAVE|AVI )", re.DOTALL), "audio or video"),
    (re.compile(rb"\x00\x00\x01\x00[\x01-\xff]\x00"), "image/x-icon"),
    (re.compile(rb"(?:II\*\x00|MM\x00\*)"), "image/tiff"),
    (re.compile(rb"BM.{4}\x00{4}", re.DOTALL), "image/bmp"),
    (re.compile(rb"....ftyp", re.DOTALL), "video/mp4"),
    (re.compile(rb"(?:OggS\x00|ID3[\x02-\x04]|fLaC|\x1aE\xdf\xa3|FLV\x01)"), "audio or video"),
    (re.compile(rb"[CFZ]WS[\x03-\x30]"), "application/x-shockwave-flash"),
    (re.compile(rb"PK(?:\x03\x04|\x05\x06|\x07\x08)"), "application/zip"),
    (re.compile(rb"Rar!\x1a\x07"), "application/x-rar"),
    (re.compile(rb".{257}ustar[\x00 ]", re.DOTALL), "application/x-tar"),
    (re.compile(rb"7z\xbc\xaf\x27\x1c"), "application/x-7z-compressed"),
    (re.compile(rb"(?:BZh[1-9]1AY&SY|\xfd7zXZ\x00)"), "a compressed file"),
    (re.compile(rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), "application/msword"),
    (re.compile(rb"\{\\rtf1"), "application/rtf"),
    (re.compile(rb"%!PS-Adobe"), "application/postscript"),
    (re.compile(rb"wOF[F2]|\x00\x01\x00\x00\x00|OTTO\x00"), "a font"),
    (re.compile(rb"\x7fELF|MZ\x90\x00|\x00asm|\xca\xfe\xba\xbe"), "a program"),
    (re.compile(rb"SQLite format 3\x00"), "a database"),
)


def binary_type(payload: bytes) -> str | None:
    """The MIME type of a payload whose magic number excludes text; None for any other."""
    if payload.startswith(b"<"):
        return None
    return next((name for magic, name in _BINARY if magic.match(payload)), None)


def looks_like_html(payload: bytes) -> bool:
    """Whether the first kilobytes hold a tag that only html has, and few control characters."""
    head = payload[:4096]
    if head[:2] in (b"\xff\xfe", b"\xfe\xff") or (len(head) > 3 and head.count(b"\x00") * 5 > len(head) * 2):
        head = head.replace(b"\x00", b"")  # UTF-16: one byte a character
    n_controls = len(_NOT_TEXT.findall(head))
    return binary_type(payload) is None and n_controls * 10 <= len(head) and _HTML.search(head) is not None


def is_text(head: bytes) -> bool:
    """Whether there are only text characters (in an encoding that extends ASCII)."""
    return _NOT_TEXT.search(head) is None


def kind_of(head: bytes) -> Kind:
    """The kind of a file that begins with these bytes (HEAD_LENGTH of them are enough)."""
    if not head:
        return "empty"
    if head.startswith((ZSTD_DICTIONARY_MAGIC, LZ4_MAGIC)):
        return "warc"  # IIPC's dictionary frame, and FastWARC's own format: neither holds anything else
    start = unpacked(head)
    text = start.lstrip(b"\xef\xbb\xbf \t\r\n")
    if WARC_START.match(text):
        return "warc"
    if text.startswith(b"filedesc:") or ARC_START.match(text):
        return "arc"
    if re.search(rb"^" + WARC_START.pattern, start, re.MULTILINE | re.IGNORECASE):
        return "warc"  # an archive whose first record lost its head
    return "html" if looks_like_html(start) else "manifest" if start and is_text(start) else "unknown"


def described(head: bytes) -> str:
    """The name, in an error message, of a file that begins with these bytes and is no input."""
    start = unpacked(head)
    if not start:
        return f"a damaged {compression_of(head)} file"
    name = binary_type(start) or ("a text" if is_text(start) else "binary data")
    return "a PDF" if name == "application/pdf" else name


def by_name(path: str) -> ShardKind | None:
    """The kind by a file's name alone: remote files of a list are too many to be opened one by one."""
    name = path.lower().partition("?")[0]
    if name.endswith(ARCHIVE_NAMES):
        return "arc" if ".arc" in name[-7:] and ".warc" not in name[-9:] else "warc"
    return "html" if name.endswith(PAGE_NAMES) else None


def is_wet(name: str, head: bytes) -> bool:
    """Whether an archive holds the text of pages (WET), by its name or the name in its first record."""
    if name.lower().partition("?")[0].endswith(WET_NAMES):
        return True
    header = unpacked(head)[:4096].partition(b"\r\n\r\n")[0]
    return _WET_FILENAME.search(header) is not None


def only_named(text: str) -> str | None:
    """Whether the text is "an address" or "a path" of a page and not the page; None where it is neither."""
    name = text.strip()
    if not name or len(name) > _LONGEST_NAME or "<" in name or "\n" in name:
        return None
    if _ADDRESS.fullmatch(name):
        return "an address"
    known = name.lower().endswith((*PAGE_NAMES, *ARCHIVE_NAMES, ".pdf")) and not re.search(r"\s", name)
    there = re.search(r"\w[./\\]|[./\\]\w", name) is not None and os.path.exists(name)
    return "a path" if known or there else None


def crawl_of_path(path: str) -> str | None:
    """The Common Crawl crawl that a path names: CC-MAIN-2024-10, or CC-NEWS and the month."""
    if found := _CC_MAIN.search(path):
        return found[0]
    news = _CC_NEWS.search(path)
    return f"CC-NEWS-{news[1]}-{news[2]}" if news else None


def crawl_of_warcinfo(head: bytes) -> str | None:
    """The `isPartOf` field of the warcinfo record that a shard begins with."""
    start = unpacked(head)
    if not re.search(rb"^WARC-Type:[ \t]*warcinfo", start[:1024], re.IGNORECASE | re.MULTILINE):
        return None
    found = _IS_PART_OF.search(start[: 16 << 10])
    return found[1].decode("utf-8", "replace")[:_LONGEST_CRAWL] if found else None
