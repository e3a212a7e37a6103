"""Politeness to hosts: the rules of robots.txt (RFC 9309), and one request at a time, with a delay."""

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Final, Generic, TypeVar

from protego import Protego

USER_AGENT_TOKEN: Final = "victor-spark"
"""The name by which a robots.txt addresses this fetcher."""

MAX_ROBOTS_BYTES: Final = 500 << 10

Task = TypeVar("Task")


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


def rules_of(status: int | None, body: bytes) -> Rules:
    """The rules in a response to /robots.txt (None: no response); after a server error nothing is allowed."""
    if status is None or status >= 500 or status == 429:
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


@dataclass
class _Host(Generic[Task]):
    waiting: list[tuple[float, int, Task]] = field(default_factory=list)
    allowed: float = 0.0
    busy: bool = False


class Schedule(Generic[Task]):
    """A priority queue over hosts, by the earliest time of each one's next request (Foschini, section 4.1).

    Times are seconds of one clock, which the caller reads. A host that comes up too early, because its time
    was put off, goes back with its new time.
    """

    def __init__(self) -> None:
        self._hosts: dict[str, _Host[Task]] = {}
        self._queue: list[tuple[float, int, str]] = []
        self._numbers = count()
        self.n_waiting = 0

    def add(self, host: str, task: Task, not_before: float = 0.0) -> None:
        """Queues a request to a host."""
        known = self._hosts.setdefault(host, _Host())
        heapq.heappush(known.waiting, (not_before, next(self._numbers), task))
        self.n_waiting += 1
        self._push(host)

    def take(self, now: float) -> tuple[str, Task] | None:
        """A request that may be sent now, its host busy until `finished`; None when there is none."""
        while self._queue and self._queue[0][0] <= now:
            _, _, host = heapq.heappop(self._queue)
            known = self._hosts[host]
            if known.busy or not known.waiting:
                continue
            if max(known.allowed, known.waiting[0][0]) > now:
                self._push(host)
                continue
            known.busy = True
            self.n_waiting -= 1
            return host, heapq.heappop(known.waiting)[2]
        return None

    def next_time(self) -> float | None:
        """When to call `take` again; None when no request is waiting for a time."""
        return self._queue[0][0] if self._queue else None

    def finished(self, host: str, allowed: float) -> None:
        """Notes that a host has responded; the next request to it may be sent from `allowed` on."""
        known = self._hosts[host]
        known.busy = False
        known.allowed = max(known.allowed, allowed)
        self._push(host)

    def _push(self, host: str) -> None:
        known = self._hosts[host]
        if known.waiting and not known.busy:
            earliest = max(known.allowed, known.waiting[0][0])
            heapq.heappush(self._queue, (earliest, next(self._numbers), host))
