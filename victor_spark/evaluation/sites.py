"""Which site a page belongs to: pages of one site share a template, so they share a fold."""

import re
from collections import Counter
from functools import cache
from typing import Final
from urllib.parse import urlsplit

from tldextract import TLDExtract

_OWN_ADDRESS: Final = re.compile(
    r"""<link[^>]{0,200}\brel=["']?canonical\b[^>]{0,200}\bhref=["']?https?://([^/"'\s>]+)"""
    r"""|<meta[^>]{0,200}\bproperty=["']?og:url\b[^>]{0,200}\bcontent=["']?https?://([^/"'\s>]+)"""
    r"""|<base[^>]{0,200}\bhref=["']?https?://([^/"'\s>]+)""",
    re.IGNORECASE,
)
_LINKED: Final = re.compile(r"""\bhref=["']?https?://([^/"'\s>?#]+)""", re.IGNORECASE)


def site(host: str | None, url: str | None, html: str) -> str | None:
    """The registered domain of the page's host; without a host, of the address its html gives away."""
    name = host or urlsplit(url or "").hostname or _host_in(html)
    return registered_domain(name) if name else None


def registered_domain(host: str) -> str:
    """The part of a host name that somebody registered; a blog under a blog provider counts as its own."""
    name = host.lower().partition(":")[0].rstrip(".")
    found = _suffixes()(name)
    if found.suffix or found.ipv4:
        return found.top_domain_under_public_suffix or name
    return ".".join(name.split(".")[-2:])  # by the list's default rule: an unknown last label is a suffix


@cache
def _suffixes() -> TLDExtract:
    """The public suffix list that tldextract ships: nothing is fetched, nothing is written."""
    return TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)


def _host_in(html: str) -> str | None:
    """The host the page names as its own, or else the one that it links most often."""
    own = _OWN_ADDRESS.search(html)
    if own:
        return next(host for host in own.groups() if host)
    linked = Counter(registered_domain(host) for host in _LINKED.findall(html))
    return linked.most_common(1)[0][0] if linked else None
