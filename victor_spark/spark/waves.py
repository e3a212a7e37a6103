"""Waves after one another, two at a time: beside the last tasks of one run those of the next."""

import threading
from collections.abc import Callable, Iterable
from functools import partial
from typing import Final, TypeVar

from pyspark import InheritableThread

N_CLEANING: Final = 2
Cleaned = TypeVar("Cleaned")
Committed = TypeVar("Committed")
T = TypeVar("T")

_N_THREADS: Final = N_CLEANING + 2  # two more count and commit while these clean


class StoppedError(Exception):
    """No further wave was begun, as the run was asked to stop."""


def run(
    waves: Iterable[int],
    clean: Callable[[int], Cleaned],
    commit: Callable[[int, Cleaned], Committed],
    *,
    failed: Callable[[int, BaseException], None],
    stop: Callable[[], bool] = lambda: False,
) -> list[Committed]:
    """Cleans and commits every wave, at most N_CLEANING being cleaned at a time; what `commit` returned.

    The first wave that fails raises here, when those that were running with it have ended and are committed;
    `failed` is told of each. Raises StoppedError if `stop` said so before the last wave.
    """
    waiting, taking, cleaning = iter(waves), threading.Lock(), threading.BoundedSemaphore(N_CLEANING)
    failures: list[BaseException] = []
    committed: list[Committed] = []

    def take() -> int | None:
        with taking:
            wave = None if failures else next(waiting, None)
        if wave is not None and stop():
            raise StoppedError
        return wave

    def work() -> None:
        while True:
            with cleaning:
                wave = take()
                if wave is None:
                    return
                cleaned = _told(failed, wave, partial(clean, wave))
            committed.append(_told(failed, wave, partial(commit, wave, cleaned)))

    def guarded() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - raised again below
            failures.append(error)

    threads = [InheritableThread(target=guarded, daemon=True) for _ in range(_N_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return committed


def _told(failed: Callable[[int, BaseException], None], wave: int, action: Callable[[], T]) -> T:
    try:
        return action()
    except BaseException as error:
        failed(wave, error)
        raise
