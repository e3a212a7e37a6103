"""Politeness to hosts: how often they are asked, and the rules of robots.txt (RFC 9309)."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from protego import Protego

USER_AGENT_TOKEN: Final = "victor-spark"
"""The name by which a robots.txt addresses this fetcher."""

MAX_ROBOTS_BYTES: Final = 500 << 10


@dataclass(frozen=True)
class Politeness:
    """How hosts are treated.

    `delay`: seconds between a host's response and the next request to it. `n_tries`, `back_off` (seconds):
    how often and when a request is repeated. `parallel`: requests at once over all hosts. `longest_wait`: a
    site that asks for a longer wait (seconds) is not fetched.
    """

    delay: float = 1.0
    n_tries: int = 3
    back_off: float = 5.0
    parallel: int = 50
    longest_wait: float = 300.0
    obey_robots: bool = True


@dataclass(frozen=True)
class Rules:
    """Whether an address may be fetched, and the seconds between requests that the site asks for."""

    allows: Callable[[str], bool]
    crawl_delay: float = 0.0


ALLOW_ALL: Final = Rules(lambda _: True)
ALLOW_NONE: Final = Rules(lambda _: False)


def rules_of(status: int, body: bytes) -> Rules:
    """The rules in a response to /robots.txt; after a server error nothing is allowed."""
    if status >= 500 or status == 429:
        return ALLOW_NONE
    if status >= 300:
        return ALLOW_ALL
    try:
        parsed = Protego.parse(body[:MAX_ROBOTS_BYTES].decode("utf-8-sig", "replace"))
        delay = float(parsed.crawl_delay(USER_AGENT_TOKEN) or 0.0)
    except Exception:  # noqa: BLE001 - rules that the library cannot parse forbid the site
        return ALLOW_NONE
    return Rules(partial(_allows, parsed), delay)


def _allows(rules: Protego, url: str) -> bool:
    try:
        return bool(rules.can_fetch(url, USER_AGENT_TOKEN))
    except Exception:  # noqa: BLE001 - as above
        return False
