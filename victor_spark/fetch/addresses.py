"""Web addresses to fetch, from a list; and the IP addresses that may be contacted.

By default neither this machine nor its network is contacted. The check is made for each resolved address
where its socket is opened, so that redirects, numeric hosts and names that resolve to another address the
next time (DNS rebinding) all meet it.
"""

import errno
import ipaddress
import re
import socket
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import urljoin

from yarl import URL

from victor_spark.errors import InputError

REFUSED: Final = "private address refused"

_NETWORKS: Final = (
    # Special-purpose addresses in IANA's registries that some versions of Python call public,
    *("192.0.0.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.175.48.0/24"),
    *("2001::/23", "2620:4f:8000::/48", "3fff::/20"),
    "168.63.129.16/32",  # and a host's own services in Azure.
)
_SPECIAL: Final = tuple(map(ipaddress.ip_network, _NETWORKS))
_TRANSLATED: Final = ipaddress.IPv6Network("64:ff9b::/96")

_SENDABLE: Final = re.compile(r"https?://(?:[A-Za-z0-9._~-]+|\[[0-9a-f:.]+\])(?::\d+)?/[!-~]{0,16384}")

AddrInfo = tuple[Any, Any, int, str, tuple[Any, ...]]


class UrlList(NamedTuple):
    """The addresses in a list, and for each invalid line its number and the reason."""

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
            reason = "has no valid host or port, or is too long"
            if not re.match("https?://", text, re.IGNORECASE):
                reason = "does not begin with http:// or https://"
            elif re.match("[^/]*//[^/?#]*@", text):
                reason = "has a user name"
            bad.append(f"line {number} {reason}")
        else:
            urls.setdefault(url)
    return UrlList(tuple(urls), tuple(bad))


def normal(text: str, base: str | None = None) -> str | None:
    """The address as requested and written to the WARC: no fragment, printable ASCII; None if invalid."""
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
    """The host, in lower case."""
    return (URL(url).host or "").lower().rstrip(".")


def is_public(address: str) -> bool:
    """Whether an IP address is public; of an IPv6 address that embeds an IPv4 one, whether that is.

    False for other spellings than the resolver's (such as 0x7f.1).
    """
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.scope_id is not None or ip.is_site_local:
            return False
        translated = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF) if ip in _TRANSLATED else None
        ip = ip.ipv4_mapped or ip.sixtofour or translated or ip
    special = ip.is_multicast or ip.is_reserved or any(ip in network for network in _SPECIAL)
    return ip.is_global and not special


def unconnected(address: AddrInfo, *, allow_private: bool) -> socket.socket:
    """The socket for a resolved address; OSError for a private address, unless it is allowed."""
    family, kind, protocol, _, target = address
    if not allow_private and not is_public(str(target[0])):
        raise OSError(errno.EACCES, f"{REFUSED}: {target[0]}")
    return socket.socket(family, kind, protocol)
