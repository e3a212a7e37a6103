"""A list of addresses: one a line, each once, in the order of the file."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urljoin

from yarl import URL

from victor_spark.errors import InputError


class UrlList(NamedTuple):
    """What a list holds: addresses to fetch, and lines that are none."""

    urls: tuple[str, ...]
    bad: tuple[str, ...]


def read(path: Path) -> UrlList:
    """The addresses in a text file; blank lines and # comments are left out.

    Raises InputError for a file that can't be read or holds no address at all.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig", errors="surrogateescape").splitlines()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error
    found = of_lines(lines)
    if not found.urls:
        raise InputError(f"{path}: holds no http:// or https:// address")
    return found


def of_lines(lines: Iterable[str]) -> UrlList:
    """The addresses in lines, each once."""
    urls: dict[str, None] = {}
    bad: list[str] = []
    for line in lines:
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        url = normal(text)
        if url is None:
            bad.append(text[:200])
        else:
            urls.setdefault(url)
    return UrlList(tuple(urls), tuple(bad))


def normal(text: str, base: str | None = None) -> str | None:
    """The address as it is asked for and written to the WARC (no fragment), None for what can't be
    fetched.
    """
    try:
        joined = urljoin(base, text) if base else text
        url = URL(joined)
        if url.scheme not in ("http", "https") or not url.host or url.user or url.password or not url.port:
            return None
        joined.encode("utf-8")
    except ValueError:
        return None
    url = url.with_fragment(None)
    is_root = url.raw_path in ("", "/") and not url.raw_query_string
    return f"{url.origin()}/" if is_root else str(url)


def host(url: str) -> str:
    """The host that politeness is about."""
    return (URL(url).host or "").lower().rstrip(".")


def origin(url: str) -> str:
    """Scheme, host and port: what one robots.txt is for."""
    return str(URL(url).origin())
