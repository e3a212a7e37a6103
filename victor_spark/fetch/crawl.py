"""Fetches a list of addresses: robots.txt first, redirects followed, failures retried, hosts spared."""

import asyncio
import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime
from typing import Final

from victor_spark.errors import OutputError
from victor_spark.fetch import addresses, exchange
from victor_spark.fetch.exchange import Answer, Client, Failure, Limits
from victor_spark.fetch.politeness import MAX_ROBOTS_BYTES, Politeness, Rules, Schedule, rules_of
from victor_spark.fetch.warc_file import Fetched, WarcFile
from victor_spark.warc import headers, http_body

REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
AGAIN: Final = frozenset({429, 500, 502, 503, 504})
LOST: Final = frozenset({"timeout", "connection", "dns"})
MAX_HOPS: Final = 10
MAX_ROBOTS_HOPS: Final = 5


@dataclass(frozen=True)
class Visit:
    """A request to send: for an address of the list (`listed`), or for the robots.txt of an origin."""

    url: str
    listed: str
    seen: tuple[str, ...] = ()
    n_tries: int = 0
    robots_of: str | None = None


@dataclass
class Outcome:
    """The result of each address of the list: an HTTP status, or the status of a failure; and the reason."""

    of: dict[str, str] = field(default_factory=dict)
    why: dict[str, str] = field(default_factory=dict)

    def counts(self) -> dict[str, int]:
        """The number of addresses per result, the most frequent first."""
        return dict(Counter(self.of.values()).most_common())


Report = Callable[[str, str], None]
"""Called with an address of the list and its result."""


class Crawl:
    """The state of a fetch: the schedule, the known rules, the results."""

    def __init__(self, warc: WarcFile, limits: Limits, politeness: Politeness, report: Report) -> None:
        self.outcome = Outcome()
        self._warc = warc
        self._limits = limits
        self._politeness = politeness
        self._report = report
        self._schedule: Schedule[Visit] = Schedule()
        self._rules: dict[str, Rules] = {}
        self._parked: dict[str, list[Visit]] = {}
        self._delays: dict[str, float] = defaultdict(lambda: politeness.delay)

    async def run(self, listed: Iterable[str], user_agent: str) -> None:
        """Fetches the addresses that the WARC does not hold; returns when each has a result."""
        for url in listed:
            self._go_to(Visit(url, url))
        running: set[asyncio.Task[None]] = set()
        client = Client(user_agent, self._limits)
        try:
            while running or self._schedule.n_waiting:
                self._start(client, running)
                for task in await self._wait(running):
                    running.remove(task)
                    task.result()
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    def _start(self, client: Client, running: set[asyncio.Task[None]]) -> None:
        """Starts all requests that may be sent now."""
        while len(running) < self._politeness.parallel:
            turn = self._schedule.take(time.monotonic())
            if turn is None:
                return
            running.add(asyncio.create_task(self._visit(client, *turn)))

    async def _wait(self, running: set[asyncio.Task[None]]) -> set[asyncio.Task[None]]:
        """Waits until a request ends or the next host may be asked; returns the requests that ended."""
        at = self._schedule.next_time()
        seconds = 0.0 if at is None else max(0.0, at - time.monotonic())
        # At most a second: a host may have become free while all places were taken.
        seconds = min(1.0, max(0.01, seconds or 1.0))
        if not running:
            await asyncio.sleep(seconds)
            return set()
        done, _ = await asyncio.wait(running, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        return done

    async def _visit(self, client: Client, host: str, visit: Visit) -> None:
        """Sends one request and handles its answer; an unexpected error ends this visit alone."""
        answer = await exchange.ask(client, visit.url, MAX_ROBOTS_BYTES if visit.robots_of else None)
        try:
            if isinstance(answer, Answer) and not self._wait_before_next_try(visit, answer):
                self._write(visit, answer)
            self._take(visit, answer)
        except OutputError:
            raise
        except Exception as error:  # noqa: BLE001 - the visits after this one matter more
            self._take(visit, Failure(visit.url, "error", f"{type(error).__name__}: {error}"))
        finally:
            self._schedule.finished(host, time.monotonic() + self._delays[host])

    def _write(self, visit: Visit, answer: Answer) -> None:
        if visit.robots_of is not None and answer.status != 200:
            return  # a site without rules: its error page is no page of the crawl
        facts = {"fetchTimeMs": str(round(answer.seconds * 1000)), "tries": str(visit.n_tries + 1)}
        if visit.seen:
            facts |= {"via": visit.seen[-1], "hopsFromSeed": "R" * len(visit.seen)}
        self._warc.add(answer, facts)

    def _take(self, visit: Visit, answer: Answer | Failure) -> None:
        """Follows a redirect, retries, or ends."""
        if wait := self._wait_before_next_try(visit, answer):
            self._queue(replace(visit, n_tries=visit.n_tries + 1), time.monotonic() + wait)
        elif visit.robots_of is not None:
            self._take_robots(visit, answer)
        elif isinstance(answer, Failure):
            self._end(visit, answer.status, answer.why)
        else:
            self._follow(visit, Fetched(answer.status, answer.header("Location")))

    def _follow(self, visit: Visit, fetched: Fetched) -> None:
        """Follows a redirect; any other answer is the result."""
        if fetched.status not in REDIRECTS or fetched.location is None:
            self._end(visit, str(fetched.status))
            return
        target = addresses.normal(fetched.location, visit.url)
        seen = (*visit.seen, visit.url)
        if target is None:
            self._end(visit, "bad_redirect", fetched.location[:200])
        elif target in seen:
            self._end(visit, "redirect_loop", f"{visit.url} leads back to {target}")
        elif len(seen) > MAX_HOPS:
            self._end(visit, "too_many_redirects", f"more than {MAX_HOPS}, at last to {target}")
        else:
            self._go_to(Visit(target, visit.listed, seen))

    def _go_to(self, visit: Visit) -> None:
        """Continues with an address: from the WARC if it is there, else when its site's rules are known."""
        known = self._warc.known.get(visit.url)
        if known is not None and known.status not in AGAIN:
            self._follow(visit, known)
            return
        origin = addresses.origin(visit.url)
        if not self._politeness.obey_robots:
            self._queue(visit)
        elif origin in self._rules:
            self._go_by_rules(visit, self._rules[origin])
        elif origin in self._parked:
            self._parked[origin].append(visit)
        else:
            self._parked[origin] = [visit]
            self._queue(Visit(f"{origin}/robots.txt", visit.listed, robots_of=origin))

    def _go_by_rules(self, visit: Visit, rules: Rules) -> None:
        if rules.crawl_delay > self._politeness.longest_wait:
            self._end(visit, "crawl_delay", f"robots.txt asks for {rules.crawl_delay:g} s between requests")
        elif not rules.allows(visit.url):
            self._end(visit, "robots", "robots.txt does not allow it")
        else:
            self._queue(visit)

    def _take_robots(self, visit: Visit, answer: Answer | Failure) -> None:
        """Continues the visits that waited for the rules of an origin."""
        origin = visit.robots_of
        assert origin is not None
        if isinstance(answer, Answer) and answer.status in REDIRECTS and len(visit.seen) < MAX_ROBOTS_HOPS:
            target = addresses.normal(answer.header("Location") or "", visit.url)
            if target is not None and target not in (*visit.seen, visit.url):
                self._queue(Visit(target, visit.listed, (*visit.seen, visit.url), robots_of=origin))
                return
        rules = rules_of(None, b"")
        if isinstance(answer, Answer):
            encodings = headers.tokens(answer.header("Content-Encoding") or "")
            body = http_body.decode(answer.body, encodings, (), limit=MAX_ROBOTS_BYTES)
            rules = rules_of(answer.status, body.payload)
        self._rules[origin] = rules
        host = addresses.host(origin)
        if rules.crawl_delay <= self._politeness.longest_wait:
            self._delays[host] = max(self._delays[host], rules.crawl_delay)
        for waiting in self._parked.pop(origin, []):
            if isinstance(answer, Failure):
                self._end(waiting, answer.status, f"robots.txt: {answer.why}")
            else:
                self._go_by_rules(waiting, rules)

    def _wait_before_next_try(self, visit: Visit, answer: Answer | Failure) -> float:
        """Seconds to wait before the request is sent again; 0 when it is not."""
        if visit.n_tries + 1 >= self._politeness.n_tries:
            return 0.0
        wait = self._politeness.back_off * 2**visit.n_tries
        if isinstance(answer, Failure):
            return wait if answer.status in LOST else 0.0
        if answer.status in AGAIN:
            asked = _retry_after(answer)
            return max(wait, asked) if asked <= self._politeness.longest_wait else 0.0
        return wait if answer.truncated == "disconnect" else 0.0

    def _queue(self, visit: Visit, not_before: float = 0.0) -> None:
        if not_before:
            not_before += random.uniform(0, 0.1) * self._politeness.back_off
        self._schedule.add(addresses.host(visit.url), visit, not_before)

    def _end(self, visit: Visit, status: str, why: str = "") -> None:
        self.outcome.of[visit.listed] = status
        if why:
            self.outcome.why[visit.listed] = why
        self._report(visit.listed, status)


def _retry_after(answer: Answer) -> float:
    """The seconds that the server asks to be left alone for."""
    text = (answer.header("Retry-After") or "").strip()
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        at = parsedate_to_datetime(text)
        return max(0.0, (at - answer.at).total_seconds())
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return 0.0
