"""Hosts and registered domains of URLs."""

from functools import cache, lru_cache
from urllib.parse import urlsplit

from tldextract import TLDExtract


def host_name(url: str | None) -> str | None:
    """The host of a URL in lower case, without port and user; None where there is none."""
    try:
        return urlsplit(url).hostname if url else None
    except ValueError:  # such as "http://[half an address/"
        return None


@lru_cache(maxsize=1 << 16)
def registered_domain(host: str | None) -> str | None:
    """The registered domain of a host name (a port is ignored); None for addresses and bare suffixes.

    Follows the public suffix list with its private part: alice.blogspot.com is a registered domain. Where the
    list has no rule for the top-level domain, the result is the last two labels (the list's default rule).
    """
    name = (host or "").lower().partition(":")[0].rstrip(".")
    found = _suffixes()(name)
    if found.suffix or found.ipv4:
        return found.top_domain_under_public_suffix or None
    labels = name.split(".")[-2:]
    return ".".join(labels) if len(labels) == 2 and all(labels) else None


@cache
def _suffixes() -> TLDExtract:
    """The public suffix list that tldextract ships; nothing is downloaded or cached on disk."""
    return TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)
