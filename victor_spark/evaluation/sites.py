"""Which site a page belongs to: pages of one site share a template, so they share a fold."""

import re
from collections import Counter
from typing import Final

from victor_spark.hosts import host_name, registered_domain

_OWN_ADDRESS: Final = re.compile(
    r"""<link[^>]{0,200}\brel=["']?canonical\b[^>]{0,200}\bhref=["']?https?://([^/"'\s>]+)"""
    r"""|<meta[^>]{0,200}\bproperty=["']?og:url\b[^>]{0,200}\bcontent=["']?https?://([^/"'\s>]+)"""
    r"""|<base[^>]{0,200}\bhref=["']?https?://([^/"'\s>]+)""",
    re.IGNORECASE,
)
_LINKED: Final = re.compile(r"""\bhref=["']?https?://([^/"'\s>?#]+)""", re.IGNORECASE)


def site(host: str | None, url: str | None, html: str) -> str | None:
    """The registered domain of the page's host; without a host, of the address its html gives away."""
    name = host or host_name(url) or _host_in(html)
    return (registered_domain(name) or name) if name else None


def _host_in(html: str) -> str | None:
    """The host the page names as its own, or else the one that it links most often."""
    own = _OWN_ADDRESS.search(html)
    if own:
        return next(host for host in own.groups() if host)
    linked = Counter(registered_domain(host) or host for host in _LINKED.findall(html))
    return linked.most_common(1)[0][0] if linked else None
