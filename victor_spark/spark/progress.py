"""The progress of a run: on stderr, and as gauges of Spark's metrics system.

On a terminal it is a bar, elsewhere a line every half minute. Gauges are for Spark's sinks and its Prometheus
endpoint. A gauge needs Java code; Spark has some that shows accumulators of the driver, which are set here.
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final

from py4j.protocol import Py4JError
from pyspark import SparkContext

from victor_spark import logs
from victor_spark.logs import clock, size
from victor_spark.spark.run_record import Counts, Entry
from victor_spark.statuses import STATUSES
from victor_spark.worker.rows import STAGES

_BAR_SECONDS: Final = 0.5
_LINE_SECONDS: Final = 30.0
_LEAST_SHARE: Final = 0.002
"""No estimate of the time left before this share is done: the first task may be tiny."""


class Tally:
    """The share of a run's work that is done: finished waves, and finished tasks of running waves."""

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


def progress(context: SparkContext, tally: Tally) -> AbstractContextManager[None]:
    """Shows the progress until the end of the block; nothing with --quiet."""
    start = time.monotonic()

    def shown() -> tuple[float, str]:
        done, before = tally.shares(context)
        return done, described(done, time.monotonic() - start, before, tally.total)

    return _watched(shown)


def progress_of_group(context: SparkContext) -> AbstractContextManager[None]:
    """The same for the jobs of this thread's group: of the stages that run, the tasks that are done."""
    group, start = context.getLocalProperty("spark.jobGroup.id") or "", time.monotonic()
    began = dict[int, float]()

    def shown() -> tuple[float, str]:
        tracker, now = context.statusTracker(), time.monotonic()
        jobs = filter(None, map(tracker.getJobInfo, tracker.getJobIdsForGroup(group)))
        numbers = {stage for job in jobs if job.status == "RUNNING" for stage in job.stageIds}
        stages = [one for one in map(tracker.getStageInfo, numbers) if one and one.numActiveTasks]
        if not stages:
            return 0.0, f"{clock(now - start)} elapsed"
        done, n = (sum(getattr(one, name) for one in stages) for name in ("numCompletedTasks", "numTasks"))
        seconds = now - min(began.setdefault(one.stageId, now) for one in stages)
        return done / n, logs.counted("tasks of this step", done, n, seconds)

    return _watched(shown)


@contextmanager
def _watched(shown: Callable[[], tuple[float, str]]) -> Iterator[None]:
    """Shows a share and its line again and again, until the end of the block."""
    stop, on_terminal = threading.Event(), logs.on_terminal()

    def watch() -> None:
        while not stop.wait(_BAR_SECONDS if on_terminal else _LINE_SECONDS):
            try:
                done, line = shown()
            except (Py4JError, OSError):  # Spark ended: the caller that waits for the job reports it
                break
            if on_terminal:
                logs.bar(done, line)
            else:
                logs.log(line, done=round(done, 4))
        logs.erase()

    if logs.is_quiet():
        yield
        return
    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        stop.set()
        watcher.join()


def _n_done(context: SparkContext, group: str, n_tasks: int) -> int:
    """How many tasks of the stage that cleans are done; the first stage deals out the splits."""
    tracker = context.statusTracker()
    jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group)]
    numbers = sorted({stage for job in jobs if job is not None for stage in job.stageIds})
    stages = [tracker.getStageInfo(stage) for stage in numbers[1:]]
    done = [stage.numCompletedTasks for stage in stages if stage is not None and stage.numTasks == n_tasks]
    return max(done, default=0)


def described(done: float, elapsed: float, before: float = 0.0, n_bytes: int = 0) -> str:
    """The line of the progress: the share of the work that is done, and the time that is left.

    `before` was done already when the clock started; `n_bytes`: the input of the whole work, if it is known.
    """
    here = done - before
    rate = f", {size(here * n_bytes / elapsed)}/s" if n_bytes else ""
    left = f"{rate}, about {clock(elapsed / here * (1 - done))} left" if here >= _LEAST_SHARE else ""
    left = left if done < 1 else ", finishing"  # rows are moved and counted when the last task is done
    return f"{min(int(done * 100), 100)} % done, {clock(elapsed)} elapsed{left}"


_MADE: Final[dict[str, dict[str, Any]]] = {}
"""Application → its gauges, by name: a name is registered once."""


def gauges(context: SparkContext, done: Iterable[Entry]) -> dict[str, Any]:
    """The gauges of a run, with the waves that are done; none where neither Spark's UI nor a sink is on."""
    options, java, jvm = dict(context.getConf().getAll()), context._jsc.sc(), context._jvm
    if options.get("spark.ui.enabled") == "false" and "spark.metrics.conf" not in str(options):
        return {}
    made = _MADE.get(context.applicationId)
    if made is None:
        made = {name: java.doubleAccumulator(name) for name in _figures(Entry(0, {}, 0, 0, Counts()))}
        named = {f"victor.{name}": gauge for name, gauge in made.items()}
        source: Any = getattr(jvm.org.apache.spark.metrics.source, "DoubleAccumulatorSource$")  # type: ignore[union-attr]
        to_scala: Any = jvm.org.apache.spark.api.python.PythonUtils.toScalaMap  # type: ignore[union-attr]
        getattr(source, "MODULE$").register(java, to_scala(named))
        _MADE[context.applicationId] = made
    for gauge in made.values():
        gauge.reset()
    for entry in done:
        add_wave(made, entry)
    return made


def add_wave(made: dict[str, Any], entry: Entry) -> None:
    """Adds a wave that is done."""
    for name, value in _figures(entry).items() if made else ():
        made[name].add(float(value))  # py4j finds no method for an int


def _figures(entry: Entry) -> dict[str, float]:
    counts, statuses, stages = entry.counts, entry.counts.page_statuses, entry.stages
    totals = {"pages": counts.n_pages, "bytes": entry.n_bytes, "failed_shards": len(counts.failed_shards)}
    by_status = {f"statuses.{status}": statuses.get(status, 0) for status in STATUSES}
    return {"waves": 1, **totals, **by_status} | {f"seconds.{one}": stages.get(one, 0) for one in STAGES}
