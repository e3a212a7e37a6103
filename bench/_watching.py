"""Memory and processor time of the processes of a run, by kind, and the heaps of Java."""

import itertools
import os
import re
import statistics
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final

import _checkout  # noqa: F401

from tests.cluster import standalone

SAMPLE_SECONDS: Final = 1.0
_KINDS: Final = {
    "CoarseGrainedExecutorBackend": "executor (Java)",
    "spark.daemon": "Python worker or its child",
    "deploy.SparkSubmit": "driver (Java)",
    "jobs/clean.py": "driver (Python)",
}
OTHERS: Final = "others"
_COLLECTED: Final = re.compile(r"\[([^\]]+)\] GC\(\d+\) Pause .*?(\d+)M->(\d+)M\((\d+)M\)")


@dataclass
class Watched:
    """Resident megabytes of the largest process of each kind, sample by sample; seconds of processor time.

    `began` and `ended` are times of the clock.
    """

    memory: dict[str, list[float]] = field(default_factory=dict)
    cpu: Counter[str] = field(default_factory=Counter)
    began: float = 0.0
    ended: float = 0.0
    _last: dict[tuple[int, str], float] = field(default_factory=dict)

    def begin(self) -> None:
        """Forgets the samples before this time."""
        self.began = time.time()
        self.cpu.clear()
        self.memory.clear()

    @property
    def seconds(self) -> float:
        """Processor time of all processes since `begin`."""
        return sum(self.cpu.values())

    def growth(self, kind: str) -> float:
        """How much larger the largest process of a kind was in its last tenth than half way."""
        curve = self.memory[kind]
        tenth = max(1, len(curve) // 10)
        half = len(curve) // 2
        return statistics.median(curve[-tenth:]) / statistics.median(curve[half : half + tenth]) - 1

    def sample(self, sessions: Sequence[int]) -> None:
        """Looks at every process of the sessions, once."""
        largest: dict[str, float] = {}
        for pid in itertools.chain.from_iterable(map(standalone.in_session, sessions)):
            try:
                kind, megabytes, key, cpu = _process(pid)
            except (FileNotFoundError, ProcessLookupError):
                continue
            self.cpu[kind or OTHERS] += cpu - self._last.get(key, 0.0)
            self._last[key] = cpu
            if kind is not None:
                largest[kind] = max(largest.get(kind, 0.0), megabytes)
        for kind, megabytes in largest.items():
            self.memory.setdefault(kind, []).append(megabytes)


@contextmanager
def watched(sessions: Sequence[int]) -> Iterator[Watched]:
    """Samples the processes of these sessions until the end."""
    found, stop = Watched(), threading.Event()

    def sample() -> None:
        while not stop.wait(SAMPLE_SECONDS):
            found.sample(sessions)

    sampler = threading.Thread(target=sample, daemon=True)
    sampler.start()
    try:
        yield found
    finally:
        stop.set()
        sampler.join()
        found.ended = time.time()


@dataclass(frozen=True)
class Heap:
    """A heap of Java: megabytes in use after each collection, with its time as a share of the run."""

    collections: tuple[tuple[float, int], ...]
    committed: int

    def at(self, share: float) -> int | None:
        """Megabytes in use after the last collection up to this share of the run; None if there was none."""
        return next((live for when, live in reversed(self.collections) if when <= share), None)


def heap(log: Path, found: Watched) -> Heap:
    """The heap between begin and end, from a log of collections (-Xlog:gc, with the time)."""
    seen = [_COLLECTED.match(line) for line in log.read_text().splitlines()]
    length = found.ended - found.began
    collections = [
        ((datetime.fromisoformat(line[1]).timestamp() - found.began) / length, int(line[3]))
        for line in seen
        if line
    ]
    return Heap(tuple(collections), max((int(line[4]) for line in seen if line), default=0))


def _process(pid: int) -> tuple[str | None, float, tuple[int, str], float]:
    """Kind of a process, resident megabytes, identity (pid and start), and seconds of processor time."""
    line = standalone.command_line(pid)
    fields = standalone._fields(Path(f"/proc/{pid}"))
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    kind = next((kind for word, kind in _KINDS.items() if word in line), None)
    cpu = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return kind, pages * os.sysconf("SC_PAGE_SIZE") / 1e6, (pid, fields[19]), cpu
