"""Ctrl-C and a scheduler's polite kill end a run quietly and at once.

Whatever talks to Spark runs in a thread of its own: an interrupt then never hits a call into the JVM half
way, and PySpark's own handler, which is loud about it, isn't installed.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from pyspark import InheritableThread, SparkContext

Result = TypeVar("Result")

_CANCEL_SECONDS: Final = 10.0


def interruptible(
    action: Callable[[], Result],
    *,
    group: str,
    patience: float = _CANCEL_SECONDS,
    stop: threading.Event | None = None,
) -> Result:
    """What `action` returns or raises; SIGINT and SIGTERM cancel the group's jobs: KeyboardInterrupt.

    The jobs are those of the job group `group` or with it as a tag; `stop` is set before. `patience`: seconds
    that the action then has to end.
    """
    future: Future[Result] = Future()
    # Only a running context has properties to inherit; after one was stopped, asking for them fails.
    thread = InheritableThread if SparkContext._active_spark_context else threading.Thread
    worker = thread(target=_settle, args=(future, action), daemon=True)
    with _as_keyboard_interrupt():
        worker.start()
        try:
            return future.result()
        except KeyboardInterrupt:
            if stop is not None:
                stop.set()
            if context := SparkContext._active_spark_context:
                _cancel(context, group)
                worker.join(patience)
            raise


def _settle(future: "Future[Result]", action: Callable[[], Result]) -> None:
    try:
        future.set_result(action())
    except BaseException as error:  # noqa: BLE001 - raised again where the result is asked for
        future.set_exception(error)


def _cancel(context: SparkContext, group: str) -> None:
    java: Any = context._jsc.sc()
    log4j: Any = context._jvm.org.apache.logging.log4j  # type: ignore[union-attr]
    log4j.core.config.Configurator.setAllLevels("", log4j.Level.OFF)  # what falls over now was asked to
    java.cancelJobGroupAndFutureJobs(group)
    java.cancelJobsWithTag(group)


@contextmanager
def _as_keyboard_interrupt() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, signal.default_int_handler) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
