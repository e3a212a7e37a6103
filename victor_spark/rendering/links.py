"""Addresses of links and images: resolved against the page's, those that run scripts dropped."""

import re
from collections.abc import Callable
from functools import cached_property
from html import unescape
from typing import Final
from urllib.parse import urljoin, urlsplit

from victor_spark.blocks import UInt8
from victor_spark.parser.elements import ELEMENTS
from victor_spark.rendering import formulas

_ATTRIBUTE: Final = re.compile(r' ([\w:.-]+)="([^"]*)"')
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_BASE: Final = re.compile(rb"<base\s[^<>]*?href\s*=\s*[\"']?([^\"'\s>]+)", re.IGNORECASE)
_SCHEME: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")
_ALLOWED: Final = (
    "http:", "https:", "mailto:", "tel:", "ftp:", "ftps:", "sftp:", "xmpp:", "geo:", "doi:", "magnet:"
)  # fmt: skip
_MATHJAX: Final = re.compile(
    rb'<script\s[^<>]*type=["\']?math/tex(; *mode=display)?["\']?[^<>]*'
    rb'\sid=["\']?MathJax-Element-(\d+)["\']?[^<>]*>((?:(?!<script\b).)*?)</script>',
    re.DOTALL | re.IGNORECASE,
)

_PICTURE: Final = re.compile(rb"<picture\b(?:(?!<picture\b).)*?</picture>", re.DOTALL | re.IGNORECASE)


def attributes(tag: str) -> dict[str, str]:
    """The attributes of a start tag of canonical HTML."""
    return {name: unescape(value) if "&" in value else value for name, value in _ATTRIBUTE.findall(tag)}


def attribute(tag: str, name: str) -> str:
    """One attribute of a start tag of canonical HTML, "" where it has none."""
    start = tag.find(f' {name}="') + len(name) + 3
    value = tag[start : tag.find('"', start)] if start >= len(name) + 3 else ""
    return unescape(value) if "&" in value else value


class Links:
    """What addresses of a page are resolved against; `in_source`: which of ELEMENTS its source has."""

    def __init__(self, url: str | None, markup: Callable[[], bytes] | None, in_source: UInt8) -> None:
        self._url = url or ""
        self._markup = markup
        self._in_source = in_source

    def _source_with(self, element: str) -> bytes:
        """The source of the page if it has such an element, else b""."""
        number = ELEMENTS.index(element)
        has = len(self._in_source) <= number or self._in_source[number]
        return self._markup() if self._markup is not None and has else b""

    @cached_property
    def _base(self) -> str:
        """The address that relative ones are relative to; "" where the page's is unknown."""
        if found := _BASE.search(self._source_with("base")[:100_000]):
            return _joined(self._url, unescape(found[1].decode("utf-8", "replace")))
        return self._url

    @cached_property
    def _origin(self) -> str:
        """Scheme and host of the base."""
        try:
            parts = urlsplit(self._base)
        except ValueError:
            return ""
        return f"{parts.scheme}://{parts.netloc}" if parts.netloc else ""

    def of(self, tag: str) -> str | None:
        """Where a link leads; None: nowhere, to the page itself, or to a script."""
        return self.address(attribute(tag, "href"))

    def address(self, written: str) -> str | None:
        """An address as it stands in the page, resolved; None where it is no use outside of it."""
        if not written.isprintable():
            written = _CONTROL.sub("", written)
        written = written.strip()
        if not written or written[0] == "#":
            return None
        if written.startswith(("https://", "http://")):
            return written
        if scheme := _SCHEME.match(written):
            return written if scheme[0].lower() in _ALLOWED else None
        if written[0] == "/" and written[1:2] != "/":
            address = self._origin + written
        else:
            address = _joined(self._base, written)
        if "#" in address and self._url and address.partition("#")[0] == self._url.partition("#")[0]:
            return None
        return address

    def mathjax(self, markup: str) -> tuple[str, bool] | None:
        """The source that MathJax 2 keeps in a script for what it has drawn."""
        number = re.search(r'id="MathJax-Element-(\d+)', markup)
        return self._scripts.get(number[1]) if number else None

    @cached_property
    def pictures(self) -> list[bytes]:
        """The `picture` elements of the page's source."""
        return _PICTURE.findall(self._source_with("source"))

    @cached_property
    def _scripts(self) -> dict[str, tuple[str, bool]]:
        return {
            number.decode(): (formulas.tidy(unescape(tex.decode("utf-8", "replace"))), bool(mode))
            for mode, number, tex in _MATHJAX.findall(self._source_with("script"))
        }


def _joined(base: str, written: str) -> str:
    """An address relative to another; as written where either makes no sense."""
    try:
        return urljoin(base, written) if base else written
    except ValueError:
        return written
