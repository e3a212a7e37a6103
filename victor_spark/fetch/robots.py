"""What a site's robots.txt allows (RFC 9309), read by Protego."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from protego import Protego

TOKEN: Final = "victor-spark"
"""The name that robots.txt may address."""

MAX_BYTES: Final = 500 << 10


@dataclass(frozen=True)
class Rules:
    """Whether an address may be fetched, and the seconds between requests that the site asks for."""

    allows: Callable[[str], bool]
    crawl_delay: float = 0.0


def everything() -> Rules:
    """A site without rules."""
    return Rules(lambda _: True)


def nothing() -> Rules:
    """A site whose robots.txt can't be had for a fault of its server: RFC 9309 says to stay out."""
    return Rules(lambda _: False)


def of_answer(status: int | None, body: bytes) -> Rules:
    """The rules in an answer to /robots.txt (None: there was no answer)."""
    if status is None or status >= 500 or status == 429:
        return nothing()
    if status >= 300:
        return everything()
    try:
        parsed = Protego.parse(body[:MAX_BYTES].decode("utf-8-sig", "replace"))
        delay = float(parsed.crawl_delay(TOKEN) or 0.0)
    except Exception:  # noqa: BLE001 - rules that the library cannot parse forbid the site
        return nothing()
    return Rules(partial(_allows, parsed), delay)


def _allows(rules: Protego, url: str) -> bool:
    try:
        return bool(rules.can_fetch(url, TOKEN))
    except Exception:  # noqa: BLE001 - as above
        return False
