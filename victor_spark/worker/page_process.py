"""The child process that does the page work of a Python worker: reads records, cleans them, sends rows.

It caps its address space, sets the kernel's timers for every record, and keeps the record's position in
shared memory. So if a page kills the process, `sandbox` can read which page it was.
"""

import contextlib
import ctypes
import faulthandler
import gc
import os
import resource
import signal
import struct
import sys
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from mmap import mmap
from multiprocessing.connection import Connection
from typing import Any, Final, NamedTuple, NoReturn

import pyarrow as pa

from victor_spark.errors import ShardError
from victor_spark.request import OPEN_FACTOR, REMOTE_SECONDS, WALL_FACTOR, Limits
from victor_spark.warc import storage
from victor_spark.warc.shard import Attempt, Place, Shard, Skip
from victor_spark.worker.rows import RowBatch, Work, shard_row

FLUSH_BYTES: Final = 1 << 20
FLUSH_SECONDS: Final = 1.0
"""Rows are sent by size or after this time, which bounds what is lost with the process."""

ROWS, END, RETIRED, FAILED = b"r", b"e", b"o", b"x"
HEAD: Final = struct.Struct("<cQQ")
"""The head of a message to the parent: its kind, and the position after its rows, which follow it."""

IDLE, READING, PAGE = range(3)
NO_MEMORY: Final = 77
"""The exit code of a process that had no memory to read a record."""

_NOTE: Final = struct.Struct("<QQBdQqq")
_NOWHERE: Final = Place(-1, -1)

_MEGABYTE: Final = 1_000_000
_PR_SET_PDEATHSIG: Final = 1


class Position(NamedTuple):
    """A record: the number of its shard, and how many records of the shard come before it.

    Where records of the shard are passed over (`Assignment.passed`), the one passed over last is the first.
    """

    shard: int
    record: int


class Note(NamedTuple):
    """The notes of a process in shared memory, which the parent reads after its death.

    The position of its record, the phase of the work on it and the CPU seconds that this may take, its
    resident bytes when it began to serve, and where the record lies whose reading began last.
    """

    position: Position
    phase: int
    seconds: float
    resident: int
    place: Place | None


@dataclass(frozen=True, slots=True)
class Assignment:
    """Shards, the first record that has no row yet, and facts from processes that died.

    Everything before the record of `suspect` is sent before that is read. `passed`: by the number of a shard,
    the record that its reading begins with and passes over.
    `verdicts`: status and reason of records whose cleaning killed the process.
    """

    shards: Sequence[Shard]
    start: Position
    verdicts: Mapping[Position, tuple[str, str]] = field(default_factory=dict)
    suspect: Note | None = None
    passed: Mapping[int, Skip] = field(default_factory=dict)


def noted(shared: mmap) -> Note:
    """The last note of a process."""
    shard, record, phase, seconds, resident, *place = _NOTE.unpack_from(shared)
    at = Place(*place)
    return Note(Position(shard, record), phase, seconds, resident, None if at == _NOWHERE else at)


def serve(
    commands: Connection,
    results: Connection,
    log: int,
    shared: mmap,
    *,
    work: Work[Any],
    limits: Limits,
    parent: int,
) -> NoReturn:
    """Processes assignments until the parent is gone; never returns."""
    code = 1
    try:
        _settle(commands, results, log, parent)
        resident = _cap_memory(limits)
        while True:
            try:
                assignment: Assignment = commands.recv()
            except EOFError:  # the parent is gone
                break
            _Worker(results, shared, work, limits, resident).run(assignment)
        code = 0
    except BrokenPipeError:  # the parent is gone
        code = 0
    except BaseException:  # noqa: BLE001 - the parent raises it
        with contextlib.suppress(OSError):
            send(results, FAILED, Position(0, 0), traceback.format_exc().encode("utf-8", "replace"))
    finally:
        os._exit(code)


def send(results: Connection, kind: bytes, position: Position, payload: "bytes | pa.Buffer" = b"") -> None:
    """One message to the parent."""
    results.send_bytes(HEAD.pack(kind, *position))
    results.send_bytes(payload)


def _settle(commands: Connection, results: Connection, log: int, parent: int) -> None:
    """Makes the forked copy of the parent a process of its own."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)
    for number in (signal.SIGPROF, signal.SIGALRM, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles it
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    faulthandler.disable()
    os.dup2(log, 2)
    # The parent's other files become /dev/null: file objects copied from the parent may still close them.
    nowhere = os.open(os.devnull, os.O_RDWR)
    folder = "/proc/self/fd" if os.path.isdir("/proc/self/fd") else "/dev/fd"
    kept = {0, 1, 2, commands.fileno(), results.fileno(), nowhere}
    for fd in {int(name) for name in os.listdir(folder)} - kept:
        with contextlib.suppress(OSError):  # the folder's own
            os.fstat(fd)
            os.dup2(nowhere, fd)
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    gc.freeze()


def _cap_memory(limits: Limits) -> int:
    """Caps the address space at what there is now and `page_memory` more; returns the resident bytes."""
    pa.allocate_buffer(1)  # the first one reserves a gigabyte of addresses
    try:
        with open("/proc/self/statm", "rb") as file:
            size, resident = (int(n) * resource.getpagesize() for n in file.read().split()[:2])
    except OSError:  # not Linux: no cap
        return 0
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    cap = size + limits.page_memory
    if hard == resource.RLIM_INFINITY or cap < hard:
        resource.setrlimit(resource.RLIMIT_AS, (cap, hard))
    return resident


class _Worker:
    """Works on one assignment, and holds the rows that were not sent yet."""

    def __init__(
        self, results: Connection, shared: mmap, work: Work[Any], limits: Limits, resident: int
    ) -> None:
        self._results, self._shared, self._resident = results, shared, resident
        self._work, self._limits = work, limits
        self._waiting, self._flushed = RowBatch(work.schema, flush_bytes=FLUSH_BYTES), time.monotonic()
        self._position, self._place, self._sent = Position(0, 0), _NOWHERE, Position(0, 0)
        self._seconds, self._least, self._n_new = 0.0, 0.0, 0

    def run(self, assignment: Assignment) -> None:
        """Sends a row for every record from `start` on, and for every shard that can't be read; then END."""
        position = self._sent = assignment.start
        for number in range(assignment.start.shard, len(assignment.shards)):
            skipped = assignment.start.record if number == assignment.start.shard else 0
            try:
                self._shard(assignment, number, skipped)
            except ShardError as error:
                self._waiting.add(shard_row(assignment.shards[number].filename, reason=str(error)))
            position = Position(number + 1, 0)
            if self._due:
                self._flush(position)
        self._flush(position)
        send(self._results, END, position)

    def _shard(self, assignment: Assignment, number: int, n_skipped: int) -> None:
        for position, record in self._records(assignment, number):
            if position.record < n_skipped:
                continue
            if verdict := assignment.verdicts.get(position):
                self._waiting.add(self._work.lost(record, *verdict))
            else:
                self._page(position, record)
            if self._due:
                self._flush(Position(number, position.record + 1))

    def _records(self, assignment: Assignment, number: int) -> Iterator[tuple[Position, Any]]:
        """The shard's records; reading each one has a time limit of its own."""
        shard = assignment.shards[number]
        suspect = None if assignment.suspect is None else assignment.suspect.position

        def begin(place: Place) -> None:
            self._enter(READING, self._position, max(self._limits.seconds(0), self._least), place)

        skip = assignment.passed.get(number)
        self._least = REMOTE_SECONDS if storage.scheme(shard.path) else 0.0
        seconds, position = self._limits.page_seconds * OPEN_FACTOR, Position(number, 0)
        records = self._work.read(shard, Attempt(begin, self._progress, skip=skip))
        while True:
            if position == suspect:
                self._flush(position)
            self._enter(READING, position, max(seconds, self._least))
            try:
                record = next(records, None)
            except MemoryError:
                os._exit(NO_MEMORY)
            if record is None:
                return
            yield position, record
            seconds = self._limits.seconds(0)
            position = Position(number, position.record + 1)

    def _progress(self, n_bytes: int) -> None:
        """Gives more time for every megabyte of the shard that is read."""
        self._n_new += n_bytes
        if self._n_new >= _MEGABYTE:
            more = self._limits.seconds(self._n_new) - self._limits.seconds(0)
            left = signal.setitimer(signal.ITIMER_PROF, 0.0)[0]
            signal.setitimer(signal.ITIMER_REAL, signal.getitimer(signal.ITIMER_REAL)[0] + more * WALL_FACTOR)
            self._note(READING, self._seconds + more)
            signal.setitimer(signal.ITIMER_PROF, left + more)

    def _page(self, position: Position, record: Any) -> None:
        """Cleans a record; after MemoryError, another process continues behind it."""
        n_bytes = self._work.n_bytes(record)
        self._enter(PAGE, position, self._limits.seconds(n_bytes or 0))
        row = self._work.row(record)
        if row["status"] != "out_of_memory" or n_bytes is None:
            self._waiting.add(row)
            return
        self._waiting.add(self._work.lost(record, "out_of_memory", out_of_memory(self._limits)))
        after = Position(position.shard, position.record + 1)
        self._flush(after)
        send(self._results, RETIRED, after)
        os._exit(0)

    def _enter(self, phase: int, position: Position, seconds: float, place: Place = _NOWHERE) -> None:
        """Notes the next phase and sets its limits: CPU seconds, `WALL_FACTOR` times as much wall time."""
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.setitimer(signal.ITIMER_REAL, seconds * WALL_FACTOR)
        self._position, self._place = position, place
        self._note(phase, seconds)
        signal.setitimer(signal.ITIMER_PROF, seconds)

    def _note(self, phase: int, seconds: float) -> None:
        self._seconds, self._n_new = seconds, 0
        _NOTE.pack_into(self._shared, 0, *self._position, phase, seconds, self._resident, *self._place)

    @property
    def _due(self) -> bool:
        return self._waiting.full or time.monotonic() - self._flushed > FLUSH_SECONDS

    def _flush(self, after: Position) -> None:
        """Sends the rows that wait, or the position alone; `after` is the first record without a row."""
        self._enter(IDLE, after, 0.0)
        if len(self._waiting):
            send(self._results, ROWS, after, self._waiting.take().serialize())
        elif after > self._sent:
            send(self._results, ROWS, after)
        self._sent = after
        self._flushed = time.monotonic()


def out_of_memory(limits: Limits) -> str:
    """The reason of a page that needed too much memory: the same for a MemoryError and for a death."""
    return f"needs more than {limits.page_memory >> 20} MiB"
