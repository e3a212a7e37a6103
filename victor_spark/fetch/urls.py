"""A list of addresses: one a line, each once, in the order of the file."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urljoin

from yarl import URL

from victor_spark.errors import InputError

_SENDABLE: Final = re.compile(r"https?://(?:[A-Za-z0-9._~-]+|\[[0-9a-f:.]+\])(?::\d+)?/[!-~]{0,16384}")


class UrlList(NamedTuple):
    """What a list holds: addresses to fetch, and of lines that are none the number and the reason."""

    urls: tuple[str, ...]
    bad: tuple[str, ...]


def read(path: Path) -> UrlList:
    """The addresses in a text file; blank lines and # comments are left out.

    Raises InputError for a file that can't be read or holds no address at all.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig", errors="surrogateescape").split("\n")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error
    found = of_lines(lines)
    if not found.urls:
        why = "; ".join(("holds no http:// or https:// address", *found.bad[:1]))
        raise InputError(f"{path}: {why}")
    return found


def of_lines(lines: Iterable[str]) -> UrlList:
    """The addresses in lines, each once."""
    urls: dict[str, None] = {}
    bad: list[str] = []
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        url = normal(text)
        if url is None:
            bad.append(f"line {number} {_problem(text)}")
        else:
            urls.setdefault(url)
    return UrlList(tuple(urls), tuple(bad))


def _problem(text: str) -> str:
    """Why a line is no address to fetch."""
    if not re.match("https?://", text, re.IGNORECASE):
        return "does not begin with http:// or https://"
    if re.match("[^/]*//[^/?#]*@", text):
        return "has a user name"
    return "has no valid host or port, or is too long"


def normal(text: str, base: str | None = None) -> str | None:
    """The address as it is asked for and written to the WARC (no fragment; printable ASCII), None for what
    can't be fetched.
    """
    try:
        joined = urljoin(base, text) if base else text
        joined.encode("utf-8")  # no half of a surrogate pair
        url = URL(joined).with_fragment(None)
        if url.scheme not in ("http", "https") or not url.host or url.user or url.password or not url.port:
            return None
        is_root = url.raw_path in ("", "/") and not url.raw_query_string
        address = f"{url.origin()}/" if is_root else str(url)
        return address if _SENDABLE.fullmatch(address) and host(address) else None
    except (LookupError, ValueError):  # the library's own, for hosts such as "[]..@"
        return None


def host(url: str) -> str:
    """The host that politeness is about."""
    return (URL(url).host or "").lower().rstrip(".")


def origin(url: str) -> str:
    """Scheme, host and port: what one robots.txt is for."""
    return str(URL(url).origin())
