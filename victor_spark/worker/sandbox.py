"""Page work in a child process: a page that kills the process loses only itself, and its row has the reason.

The child is a fork of the Python worker and serves all its tasks; a new one takes milliseconds to start. The
child (page_process.py) opens shards itself, sets the limits of time and memory for each record, and sends
rows: html never crosses the pipe. A page that runs out of time gets its status at once. Any other death
counts against a page only if a new process dies at the same page again, because an operator, the system or
the page before may be the cause. The new process continues behind the last row that arrived.

If reading a record kills two processes, the next one passes over the record's block. If that is not enough,
two more deaths pass over its header and, in a packed member, the rest of it.
"""

import contextlib
import fcntl
import os
import signal
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from mmap import mmap
from multiprocessing import Pipe
from typing import Any, Final

import pyarrow as pa

from victor_spark import logs
from victor_spark.request import WALL_FACTOR, Limits
from victor_spark.warc.shard import Shard, Skip
from victor_spark.worker import page_process
from victor_spark.worker.page_process import Assignment, Note, Position
from victor_spark.worker.rows import RowBatch, Work, shard_row

MAX_DEATHS: Final = 10
"""After this many deaths in a row without a row or a verdict between them, the task fails."""

_DIED: Final = b""
_TIMERS: Final = (signal.SIGPROF, signal.SIGALRM)
RSS_UNIT: Final = 1 if sys.platform == "darwin" else 1024
"""Bytes in which the system counts resident memory."""
_SHARED_BYTES: Final = 64
_PIPE_BYTES: Final = 1 << 20
_LOG_BYTES: Final = 64 << 10
_NO_MEMORY: Final = (b"memory allocation of", b"bad_alloc", b"out of memory", b"Cannot allocate memory")


class SandboxError(RuntimeError):
    """The child failed outside of any page; its traceback is in the message."""


@dataclass(frozen=True, slots=True)
class Death:
    """How a child ended, its last note, and whether it had used up its time or most of its memory."""

    note: Note
    how: str
    timed_out: bool
    starved: bool


class Sandbox:
    """The child process of a Python worker, replaced when it dies; for one task at a time."""

    def __init__(self, work: Work[Any], limits: Limits) -> None:
        self._work, self._limits = work, limits
        self._child: _Child | None = None

    def batches(self, shards: Sequence[Shard]) -> Iterator[pa.RecordBatch]:
        """The rows of all records, in order and each once; SandboxError for failures that no page caused."""
        todo, n_deaths, last = Assignment(tuple(shards), Position(0, 0)), 0, _DIED
        try:
            while last != page_process.END:
                child = self._child = self._child or _Child(self._work, self._limits)
                child.send(todo)
                last, position, payload = child.receive()
                while last == page_process.ROWS:
                    todo, n_deaths = replace(todo, start=position), 0
                    if payload:
                        yield pa.ipc.read_record_batch(pa.py_buffer(payload), self._work.schema)
                    last, position, payload = child.receive()
                if last == page_process.FAILED:
                    raise SandboxError(payload.decode("utf-8", "replace"))
                if last == page_process.END:
                    child.relay()
                    continue
                self._child, death = None, child.reap()
                if last == page_process.RETIRED:
                    continue
                before, todo = todo, after_death(todo, death, self._limits)
                n_deaths = n_deaths + 1 if replace(todo, suspect=before.suspect) == before else 0
                if n_deaths == MAX_DEATHS:
                    raise SandboxError(f"{n_deaths} processes died in a row, the last by {death.how}")
                if todo.start.shard != before.start.shard:
                    name = before.shards[death.note.position.shard].filename
                    rows = RowBatch(self._work.schema)
                    rows.add(shard_row(name, reason=f"{name}: can't be read on: {death.how}"))
                    yield rows.take()
        finally:
            if last != page_process.END:
                self.close()

    def close(self) -> None:
        """Ends the child, if there is one."""
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.reap()


def after_death(todo: Assignment, death: Death, limits: Limits) -> Assignment:
    """The remaining assignment after a death.

    The page being cleaned gets its status if it ran out of time, or if it killed a process before; a record
    whose reading killed two processes is passed over; otherwise the record is tried once more.
    """
    before, note = todo.suspect, death.note
    again = before is not None and before.position == note.position
    if note.phase == page_process.PAGE and (death.timed_out or again):
        verdicts = {**todo.verdicts, note.position: _verdict(death, limits)}
        return replace(todo, verdicts=verdicts, suspect=None)
    is_reading = before is not None and before.phase == note.phase == page_process.READING
    if again and is_reading and todo.start == note.position:  # all rows before it have arrived
        return _passing(todo, death, limits)
    return todo if note.phase == page_process.IDLE else replace(todo, suspect=note)


def _passing(todo: Assignment, death: Death, limits: Limits) -> Assignment:
    """The remaining assignment without a record; without the rest of the shard if it can't be passed over."""
    number, place = death.note.position.shard, death.note.place
    stuck = todo.passed.get(number)
    stuck = stuck if stuck is not None and stuck.place == place else None
    if place is None or (stuck is not None and stuck.blind):
        return replace(todo, start=Position(number + 1, 0), suspect=None)
    status, reason = _verdict(death, limits)
    new = Skip(place, status, f"{reason}, while it was read")
    passed = {**todo.passed, number: new if stuck is None else replace(stuck, blind=True)}
    verdicts = {position: verdict for position, verdict in todo.verdicts.items() if position.shard != number}
    return replace(todo, start=Position(number, 0), verdicts=verdicts, suspect=None, passed=passed)


def _verdict(death: Death, limits: Limits) -> tuple[str, str]:
    if death.starved and not death.timed_out:
        return "out_of_memory", page_process.out_of_memory(limits)
    return "timeout" if death.timed_out else "crash", death.how


class _Child:
    """A process that serves assignments, and the ends of its pipes."""

    def __init__(self, work: Work[Any], limits: Limits) -> None:
        self._limits = limits
        self._shared = mmap(-1, _SHARED_BYTES)
        if hasattr(os, "memfd_create"):  # Linux
            self._log = os.memfd_create("victor stderr")
        else:
            self._log, name = tempfile.mkstemp(prefix="victor-")
            os.unlink(name)
        commands, self._commands = Pipe(duplex=False)
        self._results, results = Pipe(duplex=False)
        if sys.platform == "linux":  # room for a batch, so that neither side waits in the middle of one
            with contextlib.suppress(OSError):  # over the user's allowance of pipe memory
                fcntl.fcntl(results.fileno(), fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        parent = os.getpid()
        with warnings.catch_warnings():
            # Python 3.12 warns if there is another thread; the one of pyarrow's allocator survives forks.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._pid = os.fork()
        if self._pid == 0:
            page_process.serve(
                commands, results, self._log, self._shared, work=work, limits=limits, parent=parent
            )
        commands.close()
        results.close()

    def send(self, assignment: Assignment) -> None:
        """Gives the child its work."""
        with contextlib.suppress(BrokenPipeError):  # it is dead: `receive` reports that
            self._commands.send(assignment)

    def receive(self) -> tuple[bytes, Position, bytes]:
        """The next message: its kind (_DIED: none), the first record without a row, rows or a traceback."""
        try:
            kind, shard, record = page_process.HEAD.unpack(self._results.recv_bytes())
            return kind, Position(shard, record), self._results.recv_bytes()
        except (EOFError, OSError):  # the latter within a message
            return _DIED, Position(0, 0), b""

    def kill(self) -> None:
        """Ends the child at once."""
        os.kill(self._pid, signal.SIGKILL)

    def reap(self) -> Death:
        """Waits for the child's end."""
        _, status, usage = os.wait4(self._pid, 0)
        stderr = self.relay()
        self._commands.close()
        self._results.close()
        os.close(self._log)
        note = page_process.noted(self._shared)
        self._shared.close()
        code = os.waitstatus_to_exitcode(status)
        grown = usage.ru_maxrss * RSS_UNIT - note.resident
        return Death(
            note,
            how=_how(code, note.seconds),
            timed_out=-code in _TIMERS,
            starved=grown > self._limits.page_memory / 2
            or any(word in stderr for word in _NO_MEMORY)
            or code == page_process.NO_MEMORY,
        )

    def relay(self) -> bytes:
        """Passes on what the child wrote to stderr since the last time; returns the end of it."""
        size = os.fstat(self._log).st_size
        if not size:
            return b""
        text = os.pread(self._log, _LOG_BYTES, max(size - _LOG_BYTES, 0))
        os.ftruncate(self._log, 0)
        os.lseek(self._log, 0, os.SEEK_SET)
        logs.write(text.decode("utf-8", "replace"))
        return text


def _how(code: int, seconds: float) -> str:
    """How a process ended, by its exit code or minus its signal; the same text for the same end."""
    if code == -signal.SIGPROF:
        return f"over {seconds:.3g} s of CPU time"
    if code == -signal.SIGALRM:
        return f"over {seconds * WALL_FACTOR:.3g} s"
    if code < 0:
        return signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
    return f"exit code {code}"
