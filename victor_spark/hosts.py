"""Hosts and registered domains of URLs, and which site a page belongs to.

A grouping is written `registered-domain`, `host`, or `path-prefix:N` (the host and the first N folders of the
path: a blog farm, the courses of a university). Pages from files have no host: their site is their folder.
"""

import re
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any, Final
from urllib.parse import urlsplit

from victor_spark.errors import UsageError

REGISTERED_DOMAIN: Final = "registered-domain"
HOST: Final = "host"
PATH_PREFIX: Final = "path-prefix"
GROUPINGS: Final = (REGISTERED_DOMAIN, HOST, f"{PATH_PREFIX}:N")


def host_name(url: str | None) -> str | None:
    """The host of a URL in lower case, without port and user; None if it has none."""
    try:
        return urlsplit(url).hostname if url else None
    except ValueError:  # such as "http://[half an address/"
        return None


@lru_cache(maxsize=1 << 16)
def registered_domain(host: str | None) -> str | None:
    """The registered domain of a host name (a port is ignored); None for IP addresses and bare suffixes.

    Follows the public suffix list with its private part: alice.blogspot.com is a registered domain. Where the
    list has no rule for the top-level domain, the result is the last two labels (the list's default rule).
    """
    name = _ascii((host or "").lower().partition(":")[0])
    found = _suffixes()(name)
    if found.suffix or found.ipv4:
        return found.top_domain_under_public_suffix or None
    labels = name.split(".")[-2:]
    return ".".join(labels) if len(labels) == 2 and all(labels) else None


def _ascii(host: str) -> str:
    """A host name as the DNS has it: `bücher.example` is `xn--bcher-kva.example`."""
    host = host.rstrip(".")
    try:
        return host if host.isascii() else host.encode("idna").decode()
    except UnicodeError:  # such as a label that is too long
        return host


def site_of_host(host: str) -> str:
    """The registered domain of a host name; the host itself where it has none."""
    return registered_domain(host) or host


@cache
def _suffixes() -> Callable[[str], Any]:
    """The public suffix list that tldextract ships; nothing is downloaded or cached on disk."""
    from tldextract import TLDExtract  # slow to load, and a page without an address needs none

    return TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)


def site(url: str | None, grouping: str = REGISTERED_DOMAIN) -> str | None:
    """The site of a URL, its host in ASCII; None where the URL has neither host nor folder."""
    try:
        parts = urlsplit(url or "")
        host = _ascii(parts.hostname or "")
    except ValueError:  # such as "http://[half an address/"
        return None
    if not host:
        return "/".join(["file://", *_folders(parts.path)]) if parts.scheme == "file" else None
    if grouping == REGISTERED_DOMAIN:
        return site_of_host(host)
    n_folders = int(check_grouping(grouping).partition(":")[2] or 0)
    return "/".join([host, *_folders(parts.path)[:n_folders]])


def _folders(path: str) -> list[str]:
    """The folders of a path; what follows the last slash is a page in them."""
    return [folder for folder in path.split("/")[:-1] if folder]


@cache
def check_grouping(text: str) -> str:
    """The grouping; UsageError where it is invalid."""
    if text in (REGISTERED_DOMAIN, HOST) or re.fullmatch(f"{PATH_PREFIX}:(?:[1-9]|1[0-9]|20)", text):
        return text
    raise UsageError(f"no grouping {text!r}: use registered-domain, host or path-prefix:N (N from 1 to 20)")
