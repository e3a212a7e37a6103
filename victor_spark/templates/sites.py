"""Which site a page belongs to: pages of one site share its templates.

A grouping is written `registered-domain`, `host`, or `path-prefix:N` (the host and the first N folders of the
path: a blog farm, the courses of a university). Pages from files have no host: their site is their folder.
"""

from functools import cache
from typing import Final
from urllib.parse import SplitResult, urlsplit

from victor_spark.errors import UsageError
from victor_spark.hosts import host_name, registered_domain

REGISTERED_DOMAIN: Final = "registered-domain"
HOST: Final = "host"
PATH_PREFIX: Final = "path-prefix"
GROUPINGS: Final = (REGISTERED_DOMAIN, HOST, f"{PATH_PREFIX}:N")


def check_grouping(text: str) -> str:
    """The grouping itself; UsageError for what is none."""
    _n_folders(text)
    return text


def site(url: str | None, grouping: str = REGISTERED_DOMAIN) -> str | None:
    """The site of a URL; None where the URL has neither host nor folder."""
    try:
        parts = urlsplit(url or "")
    except ValueError:  # such as "http://[half an address/"
        return None
    host = host_name(url)
    if not host:
        return _folder(parts)
    if grouping == REGISTERED_DOMAIN:
        return registered_domain(host) or host
    return "/".join([host, *_folders(parts.path)[: _n_folders(grouping)]])


def _folder(parts: SplitResult) -> str | None:
    """The folder that a file's URL names."""
    if parts.scheme != "file":
        return None
    return "/".join(["file://", *_folders(parts.path)])


def _folders(path: str) -> list[str]:
    """The folders of a path; what follows the last slash is a page in them."""
    return [folder for folder in path.split("/")[:-1] if folder]


@cache
def _n_folders(grouping: str) -> int:
    name, _, number = grouping.partition(":")
    if grouping in (REGISTERED_DOMAIN, HOST):
        return 0
    if name == PATH_PREFIX and number.isdecimal() and 1 <= int(number) <= 20:
        return int(number)
    raise UsageError(
        f"no grouping {grouping!r}: registered-domain, host or path-prefix:N with N from 1 to 20"
    )
