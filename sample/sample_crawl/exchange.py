"""The noun between pages and shards: what a server answered, and what should become of it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Final

from sample_crawl.pages import WebPage

SERVERS: Final = {"menders-yard": "Apache/2.2.22", "gmina-krzewiny": "Apache/1.3.34"}


@dataclass(frozen=True, slots=True)
class Gold:
    """One line of gold.jsonl: the row that a record should become."""

    url: str | None
    language: str | None
    site: str
    kind: str  # article, thread, index or hostile
    status: str  # one of victor_spark.statuses.STATUSES
    gold: str
    note: str = ""

    def as_dict(self) -> dict[str, str | None]:
        """The line as a JSON object."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Exchange:
    """One HTTP response as it came over the wire, and how the archive treats it.

    `gold` is None where no row is expected. `damage` says what happens to the compressed record:
    "corrupt" (unreadable from its first byte on) or "clipped" (its second half is missing).
    """

    url: str
    body: bytes
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "text/html; charset=utf-8"),)
    status_line: str = "200 OK"
    gold: Gold | None = None
    truncated: str | None = None
    damage: str | None = None


def regular(page: WebPage) -> Exchange:
    """The undamaged answer to a request for a page."""
    body = page.html.encode(page.charset)
    headers = (
        ("Date", "Mon, 06 May 2024 08:00:00 GMT"),
        ("Server", SERVERS.get(page.site, "nginx")),
        ("Content-Type", page.content_type),
        ("Content-Length", str(len(body))),
    )
    gold = Gold(page.url, page.language, page.site, page.kind, page.status, page.gold)
    return Exchange(page.url, body, headers, gold=gold)


def golds(exchanges: Sequence[Exchange]) -> list[Gold]:
    """The rows that exchanges should become, in archive order."""
    return [exchange.gold for exchange in exchanges if exchange.gold]
