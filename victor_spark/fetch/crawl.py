"""Fetches addresses: obeys robots.txt (RFC 9309), follows redirects, retries, waits between requests."""

import asyncio
import random
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from itertools import count
from typing import Final, TypeVar

from protego import Protego
from yarl import URL

from victor_spark.configuration import names
from victor_spark.errors import OutputError
from victor_spark.fetch import Limits, Politeness, addresses, exchange
from victor_spark.fetch.exchange import Answer, Failure
from victor_spark.fetch.warc_file import Fetched, WarcFile
from victor_spark.warc import http_body

USER_AGENT_TOKEN: Final = "victor-spark"
"""The name by which a robots.txt addresses this fetcher."""

MAX_ROBOTS_BYTES: Final = 500 << 10
REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
RETRIED_CODES: Final = frozenset({429, 500, 502, 503, 504})
RETRIED_FAILURES: Final = frozenset({"timeout", "connection", "dns"})
MAX_HOPS: Final = 10
MAX_ROBOTS_HOPS: Final = 5
MAX_HOSTS: Final = 4096
MAX_UNDER_WAY: Final = 8
"""The most open hosts, and open addresses of a host; they bound the memory of long lists."""

_ALLOW_NONE: Final = "User-agent: *\nDisallow: /"
T = TypeVar("T")


@dataclass
class _Host:
    """A host gets one request at a time, `delay` seconds after its response to the one before."""

    delay: float
    answered: float = float("-inf")
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class Crawl:
    """The state of a fetch: the hosts, the rules of their robots.txt, and how each address of the list ended.

    `ended`: address → an HTTP or failure status, and the reason. `report` is called after each address.
    """

    def __init__(self, warc: WarcFile, polite: Politeness, report: Callable[[], None]) -> None:
        self.ended: dict[str, tuple[str, str]] = {}
        self._warc, self._polite, self._report = warc, polite, report
        self._hosts: dict[str, _Host] = {}
        self._rules: dict[str, asyncio.Task[Protego | Failure]] = {}
        self._free = asyncio.Semaphore(polite.parallel)

    async def run(self, listed: Iterable[str], user_agent: str, limits: Limits) -> None:
        """Fetches the addresses that the WARC does not hold; returns when each has a result."""
        of_hosts = defaultdict[str, list[str]](list)
        for url in listed:
            of_hosts[addresses.host(url)].append(url)
        self._max_bytes = limits.max_bytes
        async with exchange.session(user_agent, limits) as self._client:
            await _for_all(
                lambda urls: _for_all(self._fetch, urls, MAX_UNDER_WAY), of_hosts.values(), MAX_HOSTS
            )

    async def _fetch(self, listed: str) -> None:
        """Fetches one address of the list; an unexpected error is its result and ends no other."""
        try:
            status, why = await self._result(listed)
        except OutputError:
            raise
        except Exception as error:  # noqa: BLE001 - the other addresses are still fetched
            status, why = "error", f"{type(error).__name__}: {error}"
        self.ended[listed] = status, why
        self._report()

    async def _result(self, listed: str) -> tuple[str, str]:
        """Follows an address over its redirects; status and reason of the end."""
        url, seen = listed, tuple[str, ...]()
        while True:
            found = self._warc.known.get(url)
            if found is None or found.status in RETRIED_CODES:
                if refusal := await self._refusal(url):
                    return refusal
                answer = await self._ask(url, seen)
                if isinstance(answer, Failure):
                    return answer.status, answer.why
                found = Fetched(answer.status, answer.header("Location"))
            if found.status not in REDIRECTS or found.location is None:
                return str(found.status), ""
            target, seen = addresses.normal(found.location, url), (*seen, url)
            if target is None:
                return "bad_redirect", found.location[:200]
            if target in seen:
                return "redirect_loop", f"{url} leads back to {target}"
            if len(seen) > MAX_HOPS:
                return "too_many_redirects", f"more than {MAX_HOPS}, at last to {target}"
            url = target

    async def _refusal(self, url: str) -> tuple[str, str] | None:
        """Status and reason if the site's robots.txt forbids the address, or cannot be read."""
        origin = str(URL(url).origin())
        if origin not in self._rules:
            self._rules[origin] = asyncio.create_task(self._robots(origin))
        rules = await self._rules[origin]
        if isinstance(rules, Failure):
            return rules.status, f"robots.txt: {rules.why}"
        if (delay := float(rules.crawl_delay(USER_AGENT_TOKEN) or 0.0)) > self._polite.longest_wait:
            return "crawl_delay", f"robots.txt asks for {delay:g} s between requests"
        allowed = rules.can_fetch(url, USER_AGENT_TOKEN)
        return None if allowed else ("robots", "robots.txt does not allow it")

    async def _robots(self, origin: str) -> Protego | Failure:
        """The rules of an origin; the failure, if there is no response to the request for them."""
        url, seen = f"{origin}/robots.txt", tuple[str, ...]()
        while True:
            answer = await self._ask(url, seen, is_robots=True)
            if isinstance(answer, Failure):
                return answer
            target, seen = addresses.normal(answer.header("Location") or "", url), (*seen, url)
            is_redirect = answer.status in REDIRECTS and target is not None and target not in seen
            if not is_redirect or len(seen) > MAX_ROBOTS_HOPS:
                break
            url = target or ""
        encodings = names(answer.header("Content-Encoding") or "")
        body = http_body.decode(answer.body, encodings, (), limit=MAX_ROBOTS_BYTES)
        text = body.payload.decode("utf-8-sig", "replace") if answer.status < 300 else ""
        # A server error forbids the whole site (RFC 9309, section 2.3.1.4).
        rules = Protego.parse(_ALLOW_NONE if answer.status in RETRIED_CODES or answer.status >= 500 else text)
        if (delay := float(rules.crawl_delay(USER_AGENT_TOKEN) or 0.0)) <= self._polite.longest_wait:
            host = self._host(origin)
            host.delay = max(host.delay, delay)
        return rules

    def _host(self, url: str) -> _Host:
        return self._hosts.setdefault(addresses.host(url), _Host(self._polite.delay))

    async def _ask(self, url: str, seen: tuple[str, ...], *, is_robots: bool = False) -> Answer | Failure:
        """The response to a request, sent again where that may help; the last one is written to the WARC."""
        host, max_bytes = self._host(url), MAX_ROBOTS_BYTES if is_robots else self._max_bytes
        for n_tries in count(1):
            async with host.lock:
                await asyncio.sleep(host.answered + host.delay - time.monotonic())
                async with self._free:
                    answer = await exchange.ask(self._client, url, max_bytes)
                host.answered = time.monotonic()
            if not (wait := self._wait_before_next_try(n_tries, answer)):
                break
            await asyncio.sleep(wait + random.uniform(0, 0.1) * self._polite.back_off)
        # The error page of a missing robots.txt is not a page of the crawl.
        if isinstance(answer, Answer) and (answer.status == 200 or not is_robots):
            facts = {"fetchTimeMs": str(round(answer.seconds * 1000)), "tries": str(n_tries)}
            if seen:
                facts |= {"via": seen[-1], "hopsFromSeed": "R" * len(seen)}
            self._warc.add(answer, facts)
        return answer

    def _wait_before_next_try(self, n_tries: int, answer: Answer | Failure) -> float:
        """Seconds to wait before the request is sent again; 0 when it is not."""
        if n_tries >= self._polite.n_tries:
            return 0.0
        wait = self._polite.back_off * 2 ** (n_tries - 1)
        if isinstance(answer, Failure):
            return wait if answer.status in RETRIED_FAILURES else 0.0
        if answer.status in RETRIED_CODES:
            asked = _retry_after(answer)
            return max(wait, asked) if asked <= self._polite.longest_wait else 0.0
        return wait if answer.truncated == "disconnect" else 0.0


async def _for_all(action: Callable[[T], Awaitable[None]], arguments: Collection[T], most: int) -> None:
    """Awaits an action for each argument, `most` of them at a time."""
    waiting = iter(arguments)

    async def take() -> None:
        for argument in waiting:
            await action(argument)

    await asyncio.gather(*(take() for _ in range(min(most, len(arguments)))))


def _retry_after(answer: Answer) -> float:
    """The seconds to wait that the server states in Retry-After."""
    text = (answer.header("Retry-After") or "").strip()
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        return max(0.0, (parsedate_to_datetime(text) - answer.at).total_seconds())
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return 0.0
