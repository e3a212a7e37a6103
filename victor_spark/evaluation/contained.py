"""Work in child processes that may fail, hang or crash: the failed step is reported, the rest continues.

Children are new interpreters, not forks, so that they can start beside threads. A thread for each
child sends it tasks and waits for their results.
"""

import contextlib
import multiprocessing
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Work(Generic[T, R]):
    """What child processes do with each task: `n_steps` results, in order. All of it must pickle.

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
    """The results of all tasks, those of one task in order, tasks as they come; `n_jobs` children."""
    children: list[_Child[T, R]] = []
    of_thread = threading.local()
    is_over = threading.Event()

    def run(task: T) -> list[R]:
        if not hasattr(of_thread, "child"):
            of_thread.child = _Child(work, is_over)
            children.append(of_thread.child)
        found: list[R] = of_thread.child.run(task)
        return found

    threads = ThreadPoolExecutor(n_jobs)
    running: set[Future[list[R]]] = set()
    try:
        for task in tasks:
            if len(running) == n_jobs:
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for each in done:
                    yield from each.result()
            running.add(threads.submit(run, task))
        for each in running:
            yield from each.result()
    finally:
        is_over.set()
        for child in children:
            child.end()
        threads.shutdown()
        for child in children:  # one that was starting
            child.end()


class _Child(Generic[T, R]):
    """A process that runs tasks; after a timeout or a crash, a new one takes its place."""

    def __init__(self, work: Work[T, R], is_over: threading.Event) -> None:
        self._work = work
        self._is_over = is_over
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, self._work.make), daemon=True)
        self._process.start()
        theirs.close()
        try:
            broken = self._connection.recv()
        except (EOFError, OSError):
            raise RuntimeError("a child process ended before it was ready") from None
        if broken is not None:
            raise broken

    def run(self, task: T) -> list[R]:
        """The results of all steps of a task."""
        found: list[R] = []
        while len(found) < self._work.n_steps and not self._is_over.is_set():
            if self._process.exitcode is not None:
                self._start()
            if failure := self._steps(task, found):
                found.append(self._work.failed(task, len(found), *failure))
        return found

    def _steps(self, task: T, found: list[R]) -> tuple[str, str] | None:
        """Appends the results that are missing; the status and the reason of a step that failed."""
        try:
            self._connection.send((task, len(found)))
            while len(found) < self._work.n_steps:
                if not self._connection.poll(self._work.seconds):
                    self._process.kill()
                    self._process.join()
                    return "timeout", f"no result after {self._work.seconds:.0f} s"
                is_result, content = self._connection.recv()
                if not is_result:
                    return "error", content
                found.append(content)
        except (EOFError, OSError):
            self._process.join()
            return "crash", f"the process ended with {_ending(self._process.exitcode)}"
        return None

    def end(self) -> None:
        """Ends the process, and with it what a thread waits for."""
        self._process.kill()
        self._process.join()


def _serve(connection: Connection, make: Callable[[], Callable[[Any, int], Iterator[Any]]]) -> None:
    """The loop of a child: receives tasks, sends their results one by one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C and ends its children
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        try:
            run = make()
        except Exception as error:  # noqa: BLE001 - raised again in the parent
            connection.send(error)
            return
        connection.send(None)
        while True:
            task, step = connection.recv()
            try:
                for result in run(task, step):
                    connection.send((True, result))
            except (EOFError, BrokenPipeError, ConnectionResetError):
                raise
            except BaseException as error:  # noqa: BLE001 - a panic in native code is no Exception
                connection.send((False, f"{type(error).__name__}: {error}"[:500]))


def _ending(exit_code: int | None) -> str:
    if exit_code is not None and exit_code < 0:
        with contextlib.suppress(ValueError):
            return signal.Signals(-exit_code).name
    return f"exit code {exit_code}"
