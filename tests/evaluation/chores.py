"""Work for child processes of tests: they import it by name."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection

from victor_spark.evaluation.contained import Work

N_STEPS = 3
SECONDS = 1.5


def make() -> Callable[[str, int], Iterator[str]]:
    return chores


def make_nothing() -> Callable[[str, int], Iterator[str]]:
    raise ValueError("no tools here")


def end_at_once(connection: Connection) -> None:
    os._exit(3)


def chores(task: str, first: int) -> Iterator[str]:
    """Three steps; the name of the task says which of them goes wrong, and how."""
    for step in range(first, N_STEPS):
        if task == f"raise at {step}":
            raise ValueError("dropped it")
        if task == f"die at {step}":
            os._exit(7)
        if task == f"kill at {step}":
            os.kill(os.getpid(), signal.SIGKILL)
        if task == f"hang at {step}":
            time.sleep(600)
        yield f"{task}: {step} done"


def failed(task: str, step: int, status: str, reason: str) -> str:
    return f"{task}: {step} {status} ({reason})"


def work(maker: Callable[[], Callable[[str, int], Iterator[str]]] = make) -> Work[str, str]:
    return Work(make=maker, n_steps=N_STEPS, failed=failed, seconds=SECONDS)
