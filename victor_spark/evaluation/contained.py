"""Work in child processes that may fail, hang or crash: the failed step is reported, the rest continues.

Children are new interpreters, not forks, so that they can start beside threads.
"""

import contextlib
import multiprocessing
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, TypeVar, cast

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Work(Generic[T, R]):
    """The work of child processes: `n_steps` results for each task, in order. All fields must pickle.

    `make` is called once per child and returns the function (task, first step) → the results from
    that step on. `failed` gives, in the parent, the result of a failed step:
    (task, step, status, reason) with status "error", "timeout" or "crash".
    """

    make: Callable[[], Callable[[T, int], Iterator[R]]]
    n_steps: int
    failed: Callable[[T, int, str, str], R]
    seconds: float
    """How long one step may take."""


def results(tasks: Iterable[T], work: Work[T, R], *, n_jobs: int) -> Iterator[R]:
    """The results of all tasks as they come, those of one task in order; `n_jobs` children."""
    waiting = iter(tasks)
    children = [_Child(work, task) for task in islice(waiting, n_jobs)]
    busy = list(children)
    try:
        for child in children:
            child.go_on()
        while busy:
            patience = min(child.deadline for child in busy) - time.monotonic()
            heard = wait([child.connection for child in busy], max(patience, 0.0))
            now = time.monotonic()
            for child in [each for each in busy if each.connection in heard or each.deadline <= now]:
                yield child.result()
                if child.n_found == work.n_steps:
                    busy.remove(child)
                    for task in islice(waiting, 1):
                        busy.append(child)
                        child.task, child.n_found = task, 0
                        child.go_on()
    finally:
        for child in children:
            child.end()


class _Child(Generic[T, R]):
    """A process that runs tasks; after a timeout or a crash, a new one takes its place."""

    def __init__(self, work: Work[T, R], task: T) -> None:
        self.task = task
        self.n_found = 0
        self.deadline = 0.0
        self._work = work
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self._process.start()  # with few bytes: it would wait for ever for a child that ends without reading
        theirs.close()
        with contextlib.suppress(OSError):  # noticed when the answer is read
            self.connection.send(self._work.make)
        self._is_ready = False

    def go_on(self) -> None:
        """Begins the next step of the task, in a new process if the old one ended."""
        if self._process.exitcode is not None and self._is_ready:
            self._start()
        if not self._is_ready:
            try:
                broken = self.connection.recv()
            except (EOFError, OSError):
                problem = f"a child process ended with {self._ending()} before it was ready"
                raise RuntimeError(problem) from None
            if broken is not None:
                raise broken
            self._is_ready = True
        with contextlib.suppress(OSError):  # a child that just ended is noticed when its result is read
            self.connection.send((self.task, self.n_found))
        self.deadline = time.monotonic() + self._work.seconds

    def result(self) -> R:
        """The result of a step, or the replacement for it if the step failed or is overdue."""
        step, self.n_found = self.n_found, self.n_found + 1
        self.deadline = time.monotonic() + self._work.seconds
        try:
            if self.connection.poll():
                status, content = self.connection.recv()
                if status == "ok":
                    return cast("R", content)
            else:
                self.end()
                status, content = "timeout", f"no result after {self._work.seconds:.0f} s"
        except (EOFError, OSError):
            status, content = "crash", f"the process ended with {self._ending()}"
        if self.n_found < self._work.n_steps:
            self.go_on()
        return self._work.failed(self.task, step, status, content)

    def _ending(self) -> str:
        """The signal or the exit code that the process ends with."""
        self._process.join()
        code = self._process.exitcode or 0
        with contextlib.suppress(ValueError):  # no signal
            return signal.Signals(-code).name
        return f"exit code {code}"

    def end(self) -> None:
        """Ends the process."""
        self._process.kill()
        self._process.join()


def _serve(connection: Connection) -> None:
    """The loop of a child: receives tasks, sends their results one by one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C and ends its children
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        try:
            run: Callable[[Any, int], Iterator[Any]] = connection.recv()()
        except Exception as error:  # noqa: BLE001 - raised again in the parent
            connection.send(error)
            return
        connection.send(None)
        while True:
            task, step = connection.recv()
            try:
                for result in run(task, step):
                    connection.send(("ok", result))
            except (EOFError, BrokenPipeError, ConnectionResetError):
                raise
            except BaseException as error:  # noqa: BLE001 - a panic in native code is no Exception
                connection.send(("error", f"{type(error).__name__}: {error}"[:500]))
