"""Progress of a Spark job on stderr: a bar on a terminal, elsewhere a line every half minute."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, TextIO

from py4j.protocol import Py4JError
from pyspark import SparkContext

from victor_spark import logs
from victor_spark.logs import clock

_BAR_SECONDS: Final = 0.5
_LINE_SECONDS: Final = 30.0
_BAR_WIDTH: Final = 30
_LEAST_SHARE: Final = 0.002
"""No estimate of the time left before this share is done: the first task may be tiny."""


class Tally:
    """How much of a run's work is done, by the waves that are done and the tasks of those that run."""

    def __init__(self, total: int, done: int = 0) -> None:
        self.total = max(total, 1)
        self._at_start = self._done = min(done, total)
        self._running: dict[str, tuple[int, int]] = {}
        self._lock = threading.Lock()

    def begin(self, group: str, *, weight: int, n_tasks: int) -> None:
        """A wave's tasks begin, as jobs of a group with one stage of `n_tasks` tasks."""
        with self._lock:
            self._running[group] = (weight, n_tasks)

    def end(self, group: str) -> None:
        """A wave is done."""
        with self._lock:
            self._done += self._running.pop(group, (0, 0))[0]

    def shares(self, context: SparkContext) -> tuple[float, float]:
        """The share of the work that is done, and that which was done when the tally began."""
        with self._lock:
            running, done = dict(self._running), float(self._done)
        for group, (weight, n_tasks) in running.items():
            done += weight * min(_n_done(context, group, n_tasks) / n_tasks, 1.0)
        return done / self.total, self._at_start / self.total


@contextmanager
def progress(context: SparkContext, tally: Tally) -> Iterator[None]:
    """Shows how far the work is, until the end of the block; nothing with --quiet."""
    if logs.is_quiet():
        yield
        return
    stop = threading.Event()
    watcher = threading.Thread(target=_watch, args=(context, tally, stop), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        stop.set()
        watcher.join()


def _watch(context: SparkContext, tally: Tally, stop: threading.Event) -> None:
    on_terminal, start = sys.stderr.isatty() and logs.FIELDS is None, time.monotonic()
    while not stop.wait(_BAR_SECONDS if on_terminal else _LINE_SECONDS):
        try:
            done, before = tally.shares(context)
        except (Py4JError, OSError):  # Spark ended: the caller that waits for the job reports it
            break
        n_bytes = tally.total if tally.total > 1 else 0
        show(sys.stderr, done, time.monotonic() - start, before=before, n_bytes=n_bytes, bar=on_terminal)
    if on_terminal:
        sys.stderr.write("\r\033[K")
        sys.stderr.flush()


def _n_done(context: SparkContext, group: str, n_tasks: int) -> int:
    """How many tasks of the stage that cleans are done; the first stage deals out the splits."""
    tracker = context.statusTracker()
    jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group)]
    numbers = sorted({stage for job in jobs if job is not None for stage in job.stageIds})
    stages = [tracker.getStageInfo(stage) for stage in numbers[1:]]
    done = [stage.numCompletedTasks for stage in stages if stage is not None and stage.numTasks == n_tasks]
    return max(done, default=0)


def show(
    stream: TextIO, done: float, elapsed: float, *, before: float = 0.0, n_bytes: int = 0, bar: bool
) -> None:
    """Writes which share of the work is done, as a bar that replaces itself or as a line.

    `before` was done already when the clock started; `n_bytes`: the input of the whole work, if it is known.
    """
    here = done - before
    rate = f", {size(here * n_bytes / elapsed)}/s" if n_bytes else ""
    left = f"{rate}, about {clock(elapsed / here * (1 - done))} left" if here >= _LEAST_SHARE else ""
    left = left if done < 1 else ", finishing"  # rows are moved and counted when the last task is done
    counts = f"{min(int(done * 100), 100)} % done, {clock(elapsed)} elapsed{left}"
    if bar:
        filled = min(int(_BAR_WIDTH * done), _BAR_WIDTH)
        stream.write(f"\r\033[K[{'#' * filled}{'.' * (_BAR_WIDTH - filled)}] {counts}")
    elif logs.FIELDS is None:
        stream.write(f"victor: {counts}\n")
    else:
        logs.log(counts, done=round(done, 4))
    stream.flush()


def size(n_bytes: float) -> str:
    """Bytes with a unit: 1.5 GB."""
    size = float(n_bytes)
    for unit in ("bytes", "KB", "MB", "GB", "TB", "PB"):
        if size < 1000 or unit == "PB":
            break
        size /= 1000
    return f"{size:.0f} {unit}" if unit == "bytes" or size >= 100 else f"{size:.1f} {unit}"


def many(n: int, noun: str) -> str:
    """A number and its noun: 1 shard, 2 shards."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
