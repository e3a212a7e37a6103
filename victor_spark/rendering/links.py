"""Addresses of links and images: resolved against the page's, those that run scripts dropped."""

import re
from collections.abc import Callable
from functools import cached_property
from html import unescape
from typing import Final
from urllib.parse import urljoin, urlsplit

from victor_spark.rendering import formulas

_ATTRIBUTE: Final = re.compile(r' ([\w:.-]+)="([^"]*)"')
_HREF: Final = re.compile(r' href="([^"]*)"')
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


class Links:
    """What addresses of a page are resolved against."""

    def __init__(self, url: str | None, markup: Callable[[], bytes] | None) -> None:
        self._url = url or ""
        self._markup = markup

    @cached_property
    def base(self) -> str:
        """The address that relative ones are relative to; "" where the page's is unknown."""
        if self._markup is not None and (found := _BASE.search(self._markup()[:100_000])):
            return resolved(self._url, unescape(found[1].decode("utf-8", "replace")))
        return self._url

    def of(self, tag: str) -> str | None:
        """Where a link leads; None: nowhere, to the page itself, or to a script."""
        found = _HREF.search(tag)
        return None if found is None else self.address(unescape(found[1]))

    def address(self, written: str) -> str | None:
        """An address as it stands in the page, resolved; None where it is no use outside of it."""
        written = re.sub(r"[\x00-\x1f\x7f]", "", written).strip()
        if not written or written.startswith("#"):
            return None
        if scheme := _SCHEME.match(written):
            if scheme[0].lower() not in _ALLOWED:
                return None
            return written
        address = resolved(self.base, written)
        if (
            "#" in address
            and self._url
            and address.partition("#")[0] == self._url.partition("#")[0]
        ):
            return None
        return address

    def mathjax(self, markup: str) -> tuple[str, bool] | None:
        """The source that MathJax 2 keeps in a script for what it has drawn."""
        number = re.search(r'id="MathJax-Element-(\d+)', markup)
        return self._scripts.get(number[1]) if number else None

    @cached_property
    def pictures(self) -> list[bytes]:
        """The `picture` elements of the page's source."""
        return [] if self._markup is None else _PICTURE.findall(self._markup())

    @cached_property
    def _scripts(self) -> dict[str, tuple[str, bool]]:
        if self._markup is None:
            return {}
        return {
            number.decode(): (formulas.tidy(unescape(tex.decode("utf-8", "replace"))), bool(mode))
            for mode, number, tex in _MATHJAX.findall(self._markup())
        }


def resolved(base: str, written: str) -> str:
    """An address relative to another; as written where either makes no sense."""
    if not base:
        return written
    try:
        if written.startswith("/") and not written.startswith("//"):
            parts = urlsplit(base)
            return f"{parts.scheme}://{parts.netloc}{written}" if parts.netloc else written
        return urljoin(base, written)
    except ValueError:
        return written
