"""How far a Spark job is: a bar on a terminal, a plain line now and then elsewhere, on stderr."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, TextIO

from py4j.protocol import Py4JError
from pyspark import SparkContext

_BAR_SECONDS: Final = 0.5
_LINE_SECONDS: Final = 30.0
_BAR_WIDTH: Final = 30


@contextmanager
def progress(context: SparkContext, *, n_tasks: int, group: str) -> Iterator[None]:
    """Shows how far the jobs of a group are, which have one stage of `n_tasks` tasks."""
    stop = threading.Event()
    watcher = threading.Thread(target=_watch, args=(context, n_tasks, group, stop), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        stop.set()
        watcher.join()


def _watch(context: SparkContext, n_tasks: int, group: str, stop: threading.Event) -> None:
    on_terminal, start = sys.stderr.isatty(), time.monotonic()
    while not stop.wait(_BAR_SECONDS if on_terminal else _LINE_SECONDS):
        try:
            n_done = _n_done(context, group, n_tasks)
        except (Py4JError, OSError):  # Spark went away: whoever waits for the job will say so
            break
        show(sys.stderr, n_done, n_tasks, time.monotonic() - start, bar=on_terminal)
    if on_terminal:
        sys.stderr.write("\r\033[K")
        sys.stderr.flush()


def _n_done(context: SparkContext, group: str, n_tasks: int) -> int:
    tracker = context.statusTracker()
    jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group)]
    stages = [tracker.getStageInfo(stage) for job in jobs if job is not None for stage in job.stageIds]
    done = [stage.numCompletedTasks for stage in stages if stage is not None and stage.numTasks == n_tasks]
    return max(done, default=0)


def show(stream: TextIO, n_done: int, n_tasks: int, elapsed: float, *, bar: bool) -> None:
    """Writes how far a job is, as a bar that replaces itself or as a line."""
    left = f", about {clock(elapsed / n_done * (n_tasks - n_done))} left" if n_done else ""
    counts = f"{n_done} of {n_tasks} tasks done, {clock(elapsed)} elapsed{left}"
    if bar:
        filled = _BAR_WIDTH * n_done // n_tasks
        stream.write(f"\r\033[K[{'#' * filled}{'.' * (_BAR_WIDTH - filled)}] {counts}")
    else:
        stream.write(f"victor: {counts}\n")
    stream.flush()


def clock(seconds: float) -> str:
    """Seconds as people say them: 48 s, 3:05, 2:14:09."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minutes:02}:{rest:02}"
    return f"{minutes}:{rest:02}" if minutes else f"{rest} s"
