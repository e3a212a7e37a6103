"""Who is asked when: one request at a time per host, the next a while after the last has been answered.

A priority queue over hosts, keyed on the earliest time each may be asked (Foschini, section 4.1). A host
that comes up too early, because its time was put off meanwhile, goes back with its new time.
"""

import heapq
from dataclasses import dataclass, field
from itertools import count
from typing import Generic, TypeVar

Task = TypeVar("Task")


@dataclass
class _Host(Generic[Task]):
    waiting: list[tuple[float, int, Task]] = field(default_factory=list)
    allowed: float = 0.0
    busy: bool = False


class Schedule(Generic[Task]):
    """The queue; times are seconds of one clock, which the caller reads."""

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
        """A request that may go out now, its host busy until `finished`; None when there is none."""
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
        """When `take` is worth the next try; None when nothing can come up by itself."""
        return self._queue[0][0] if self._queue else None

    def finished(self, host: str, allowed: float) -> None:
        """The host has answered; it may be asked again from `allowed` on."""
        known = self._hosts[host]
        known.busy = False
        known.allowed = max(known.allowed, allowed)
        self._push(host)

    def _push(self, host: str) -> None:
        known = self._hosts[host]
        if known.waiting and not known.busy:
            earliest = max(known.allowed, known.waiting[0][0])
            heapq.heappush(self._queue, (earliest, next(self._numbers), host))
