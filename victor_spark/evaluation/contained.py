"""Work in child processes that may fail, hang or crash: the failed step is reported, the rest continues.

Children are new interpreters, not forks, so that they can start beside threads or a JVM.
"""

import contextlib
import multiprocessing
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, Final, Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")

_TICK: Final = 1.0


@dataclass(frozen=True)
class Work(Generic[T, R]):
    """What children do with every task: `n_steps` results, in order. All of it must pickle.

    `make` is called once per child and answers the function (task, first step) → the results from
    that step on. `failed` answers, in the parent, the result of a step that came to nothing:
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
    waiting = iter(tasks)
    try:
        for task in waiting:
            children.append(_Child(work, task))
            if len(children) == n_jobs:
                break
        while children:
            yield from _round(children, waiting)
    finally:
        for child in children:
            child.end()


def _round(children: "list[_Child[T, R]]", waiting: Iterator[T]) -> Iterator[R]:
    """Receives the pending messages of the children; children without further tasks leave the list."""
    ready = wait([child.connection for child in children], timeout=_TICK)
    for child in list(children):
        if child.connection in ready:
            yield from child.hear()
        elif child.is_late():
            yield child.lost("timeout", f"no result after {child.work.seconds:.0f} s")
        if child.is_done():
            try:
                child.give(next(waiting))
            except StopIteration:
                children.remove(child)
                child.end()


class _Child(Generic[T, R]):
    """A process, its current task and the current step."""

    def __init__(self, work: Work[T, R], task: T) -> None:
        self.work = work
        self.task = task
        self.step = 0
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, self.work.make), daemon=True)
        self.process.start()
        theirs.close()
        self.ready = False
        self._due = float("inf")

    def give(self, task: T) -> None:
        """Sends the next task."""
        self.task, self.step = task, 0
        if self.process.exitcode is not None:
            self._start()
        elif self.ready:
            self._send()

    def _send(self) -> None:
        self._due = time.monotonic() + self.work.seconds
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # `hear` notices the end
            self.connection.send((self.task, self.step))

    def is_done(self) -> bool:
        """Whether the current task has all its results."""
        return self.step >= self.work.n_steps

    def is_late(self) -> bool:
        """Whether the current step has exceeded its time."""
        return time.monotonic() > self._due

    def hear(self) -> Iterator[R]:
        """Handles one message: the child is ready, has a result, failed at a step; or it crashed."""
        try:
            kind, content = self.connection.recv()
        except (EOFError, OSError):
            if not self.ready:
                raise RuntimeError("a child process ended before it was ready") from None
            self.process.join()
            yield self.lost("crash", f"the process ended with {_ending(self.process.exitcode)}")
            return
        if kind == "ready":
            self.ready = True
            self._send()
        elif kind == "broken":
            raise content
        elif kind == "result":
            self._due = time.monotonic() + self.work.seconds
            self.step += 1
            yield content
        else:
            yield self._failed("error", content)
            if not self.is_done():
                self._send()

    def lost(self, status: str, reason: str) -> R:
        """Ends the process and records the step as failed; a new process continues with the next step."""
        self.end()
        result = self._failed(status, reason)
        if not self.is_done():
            self._start()
        return result

    def _failed(self, status: str, reason: str) -> R:
        result = self.work.failed(self.task, self.step, status, reason)
        self.step += 1
        return result

    def end(self) -> None:
        """Ends the process."""
        self.connection.close()
        self.process.kill()
        self.process.join()


def _serve(connection: Connection, make: Callable[[], Callable[[Any, int], Iterator[Any]]]) -> None:
    """The loop of a child: receives tasks, sends their results one by one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C and ends its children
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        try:
            run = make()
        except Exception as error:  # noqa: BLE001 - raised again in the parent
            connection.send(("broken", error))
            return
        connection.send(("ready", None))
        while True:
            task, step = connection.recv()
            try:
                for result in run(task, step):
                    connection.send(("result", result))
            except (EOFError, BrokenPipeError, ConnectionResetError):
                raise
            except BaseException as error:  # noqa: BLE001 - a panic in native code is no Exception
                connection.send(("failed", f"{type(error).__name__}: {error}"[:500]))


def _ending(exit_code: int | None) -> str:
    if exit_code is not None and exit_code < 0:
        with contextlib.suppress(ValueError):
            return signal.Signals(-exit_code).name
    return f"exit code {exit_code}"
