"""Page work in a child process: whatever a page does to it costs that page alone, and its row says what.

The child is a fork of the Python worker and lives as long, over all its tasks, so that a new one costs
milliseconds. Html never crosses over: the child opens shards itself and sends rows. How it dies while it
cleans a page says why. A page that runs out of time is given up at once; any other death is put down to a
page only when it happens again with the same page in a new process, so that nobody is blamed for what an
operator, the system or the page before did. The new process goes on behind the last row that arrived.

Of a record that can't be read, the second death gives up the block, which the next process passes over. Where
that can't be survived either, two more deaths give up its header and, of a packed member, the rest of it.
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
from typing import Final, NamedTuple

import pyarrow as pa

from victor_spark.spark.limits import WALL_FACTOR, Limits
from victor_spark.spark.page_process import (
    END,
    FAILED,
    HEAD,
    IDLE,
    NO_MEMORY,
    PAGE,
    READING,
    RETIRED,
    ROWS,
    Assignment,
    Position,
    Suspect,
    Verdict,
    Work,
    command,
    noted,
    out_of_memory,
    read_exactly,
    serve,
)
from victor_spark.spark.rows import RowBatch, shard_row
from victor_spark.warc.shard import Passed, Place, Shard

MAX_DEATHS: Final = 10
"""So many in a row without a row or a verdict between them are no page's fault: the task fails."""

_DIED: Final = b""
_TIMERS: Final = (signal.SIGPROF, signal.SIGALRM)
_RSS_UNIT: Final = 1 if sys.platform == "darwin" else 1024
_DESK_BYTES: Final = 64
_PIPE_BYTES: Final = 1 << 20
_LOG_BYTES: Final = 64 << 10
_NO_MEMORY: Final = (b"memory allocation of", b"bad_alloc", b"out of memory", b"Cannot allocate memory")


class SandboxError(RuntimeError):
    """The child failed outside of any page, which is no page's fault; its traceback is in the message."""


class Message(NamedTuple):
    """What a child says: a kind, the first record that has no row yet, and rows or a traceback."""

    kind: bytes
    position: Position
    payload: bytes


@dataclass(frozen=True, slots=True)
class Death:
    """Where a child ended, how, and whether it had used up its time or most of its memory."""

    position: Position
    phase: int
    how: str
    timed_out: bool
    starved: bool
    place: Place | None = None


class Sandbox:
    """One child process, and after its death the next; for one task at a time."""

    def __init__(self, work: Work, limits: Limits) -> None:
        self._work, self._limits = work, limits
        self._child: _Child | None = None

    def batches(self, shards: Sequence[Shard]) -> Iterator[pa.RecordBatch]:
        """The rows of the shards' records, in order and each once, whatever becomes of the children.

        Raises SandboxError when no page is to blame.
        """
        todo, n_deaths, last = Assignment(tuple(shards), Position(0, 0)), 0, _DIED
        try:
            while last != END:
                child = self._child = self._child or _Child(self._work, self._limits)
                child.send(todo)
                while (message := child.receive()).kind == ROWS:
                    todo, n_deaths = replace(todo, start=message.position), 0
                    if message.payload:
                        yield pa.ipc.read_record_batch(pa.py_buffer(message.payload), self._work.schema)
                last = message.kind
                if last == FAILED:
                    raise SandboxError(message.payload.decode("utf-8", "replace"))
                if last == END:
                    child.relay()
                    continue
                death = self._buried(child)
                if last == RETIRED:
                    continue
                before, todo = todo, learnt(todo, death, self._limits)
                n_deaths = n_deaths + 1 if _is_where_it_was(before, todo) else 0
                if n_deaths == MAX_DEATHS:
                    raise SandboxError(
                        f"{n_deaths} processes died one after the other, the last by {death.how}"
                    )
                if todo.start.shard != before.start.shard:
                    yield self._unreadable(before, death)
        finally:
            if last != END:
                self.close()

    def close(self) -> None:
        """Ends the child, if there is one."""
        if self._child is not None:
            self._child.kill()
            self._buried(self._child)

    def _buried(self, child: "_Child") -> Death:
        self._child = None
        return child.bury()

    def _unreadable(self, todo: Assignment, death: Death) -> pa.RecordBatch:
        filename = todo.shards[death.position.shard].filename
        rows = RowBatch(self._work.schema)
        rows.add(shard_row(filename, reason=f"{filename}: can't be read on: {death.how}"))
        return rows.take()


def learnt(todo: Assignment, death: Death, limits: Limits) -> Assignment:
    """What is left to do after a death, knowing what it tells.

    The page that was under work gets its verdict if it ran out of time or did the same before; a record that
    can't even be read, twice, is passed over; whatever else was under work is looked at once more.
    """
    before = todo.suspect
    again = before is not None and before.position == death.position
    if death.phase == PAGE and (death.timed_out or again):
        verdicts = {**todo.verdicts, death.position: _verdict(death, limits)}
        return replace(todo, verdicts=verdicts, suspect=None)
    if death.phase == READING and before is not None and before.phase == READING:
        again = again or (death.place is not None and death.place == before.place)
        if again and todo.start == death.position:  # all rows before it have arrived
            return _passing(todo, death, limits)
    if death.phase == IDLE:
        return todo
    slow = todo.slow | {death.position.shard} if death.phase == READING else todo.slow
    return replace(todo, suspect=Suspect(death.position, death.phase, death.place), slow=slow)


def _passing(todo: Assignment, death: Death, limits: Limits) -> Assignment:
    """What is left to do when a record is passed over; its shard is given up if there is no way past it."""
    number = death.position.shard
    known = todo.passed.get(number)
    is_stuck = known is not None and known.place == death.place
    if death.place is None or (is_stuck and known is not None and known.blind):
        return replace(todo, start=Position(number + 1, 0), suspect=None)
    if known is not None and is_stuck:
        passed = replace(known, blind=True)
    else:
        verdict = _verdict(death, limits)
        passed = Passed(death.place, verdict.status, f"{verdict.reason}, while it was read")
    verdicts = {position: verdict for position, verdict in todo.verdicts.items() if position.shard != number}
    passing = {**todo.passed, number: passed}
    return replace(todo, start=Position(number, 0), verdicts=verdicts, suspect=None, passed=passing)


def _verdict(death: Death, limits: Limits) -> Verdict:
    if death.timed_out:
        return Verdict("timeout", death.how)
    return Verdict("out_of_memory", out_of_memory(limits)) if death.starved else Verdict("crash", death.how)


def _is_where_it_was(before: Assignment, after: Assignment) -> bool:
    return (before.start, before.verdicts, before.passed, before.slow) == (
        after.start,
        after.verdicts,
        after.passed,
        after.slow,
    )


class _Child:
    """A process that serves assignments, and the ends of its pipes."""

    def __init__(self, work: Work, limits: Limits) -> None:
        self._limits = limits
        self._desk = mmap(-1, _DESK_BYTES)
        self._log = _scratch_file()
        commands, self._commands = os.pipe()
        self._results, results = os.pipe()
        _widen(results)
        parent = os.getpid()
        with warnings.catch_warnings():
            # Python 3.12 warns of any other thread, pyarrow's allocator has one, and is ready for forks.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._pid = os.fork()
        if self._pid == 0:
            serve(commands, results, self._log, self._desk, work=work, limits=limits, parent=parent)
        os.close(commands)
        os.close(results)

    def send(self, assignment: Assignment) -> None:
        """Gives the child its work; where it is dead already, `receive` says so."""
        content = memoryview(command(assignment))
        try:
            while content:
                content = content[os.write(self._commands, content) :]
        except BrokenPipeError:
            return

    def receive(self) -> Message:
        """The child's next message; of kind _DIED when there will be none."""
        try:
            kind, shard, record, length = HEAD.unpack(read_exactly(self._results, HEAD.size))
            return Message(kind, Position(shard, record), read_exactly(self._results, length))
        except EOFError:
            return Message(_DIED, Position(0, 0), b"")

    def kill(self) -> None:
        """Ends the child at once."""
        os.kill(self._pid, signal.SIGKILL)

    def bury(self) -> Death:
        """Waits for the child's end, and tells it."""
        _, status, usage = os.wait4(self._pid, 0)
        said = self.relay()
        for fd in (self._commands, self._results, self._log):
            os.close(fd)
        position, phase, seconds, resident, place = noted(self._desk)
        self._desk.close()
        number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        grown = usage.ru_maxrss * _RSS_UNIT - resident
        return Death(
            position,
            phase,
            how=_how(status, number, seconds),
            timed_out=number in _TIMERS,
            starved=grown > self._limits.page_megabytes << 19
            or any(word in said for word in _NO_MEMORY)
            or (not number and os.waitstatus_to_exitcode(status) == NO_MEMORY),
            place=place,
        )

    def relay(self) -> bytes:
        """Passes on what the child wrote to stderr, which then is forgotten; returns the end of it."""
        size = os.fstat(self._log).st_size
        if not size:
            return b""
        said = os.pread(self._log, _LOG_BYTES, max(size - _LOG_BYTES, 0))
        os.ftruncate(self._log, 0)
        os.lseek(self._log, 0, os.SEEK_SET)
        sys.stderr.write(said.decode("utf-8", "replace"))
        sys.stderr.flush()
        return said


def _how(status: int, number: int, seconds: float) -> str:
    """How a process ended, in words that are the same each time it does."""
    if number == signal.SIGPROF:
        return f"over {seconds:.3g} s of CPU time"
    if number == signal.SIGALRM:
        return f"over {seconds * WALL_FACTOR:.3g} s"
    if number:
        return signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
    return f"exit code {os.waitstatus_to_exitcode(status)}"


def _scratch_file() -> int:
    if hasattr(os, "memfd_create"):  # Linux
        return os.memfd_create("victor stderr")
    fd, name = tempfile.mkstemp(prefix="victor-")
    os.unlink(name)
    return fd


def _widen(pipe: int) -> None:
    """Room for a batch, so that neither side waits for the other in the midst of one."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # over the user's allowance of pipe memory
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
