"""Lets one run at a time write to an output: by a lock of the filesystem, or by a lease if it has no locks.

A lease is a small file with the holder's name and a count, which the holder raises every BEAT_SECONDS.
Another run reads the file twice, PATIENCE_SECONDS apart by the monotonic clock: if it changed, the holder is
alive and the other run is refused; if not, the holder is dead and the other run takes the lease. No times are
written or compared, so the clocks of the machines don't matter. A holder that finds another name in the file
has lost the output and stops.
"""

import fcntl
import json
import os
import socket
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final
from uuid import uuid4

if TYPE_CHECKING:
    from victor_spark.spark.files import Files

LEASE: Final = "_run/lease.json"
BEAT_SECONDS: Final = 15.0
PATIENCE_SECONDS: Final = 60.0
_SILENT_BEATS: Final = 3  # together shorter than PATIENCE_SECONDS
_SETTLING_SECONDS: Final = 2.0


class Lock:
    """The lock of an output, which a run holds until `release` or the end of its process.

    `folder`: where it lies on this machine, whose filesystem locks it, if it can; else by a lease in it.
    """

    def __init__(self, store: "Files", folder: Path | None = None) -> None:
        self._store, self._folder = store, folder
        self._descriptor: int | None = None
        self._holder, self._count, self._is_held = "", 0, False
        self._lost, self._released = threading.Event(), threading.Event()
        self._keeper = threading.Thread(target=self._keep, daemon=True)

    def acquire(self) -> bool:
        """Takes the lock; a thread then renews a lease. False if another run holds the lock."""
        if self._folder is not None:
            self._folder.mkdir(exist_ok=True)
            (self._folder / "_run").mkdir(exist_ok=True)
            descriptor = os.open(self._folder / "_run" / ".lock", os.O_CREAT | os.O_RDWR, 0o644)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:  # some network filesystems have no locks
                os.close(descriptor)
                if isinstance(error, BlockingIOError):
                    return False
            else:
                self._descriptor = descriptor
                return True
        wait = threading.Event().wait  # by the monotonic clock
        before = self._store.read(LEASE)
        if before is not None:
            wait(PATIENCE_SECONDS)
            if self._store.read(LEASE) not in (before, None):
                return False
        self._holder, self._count = str(uuid4()), 0
        self._write()
        wait(min(_SETTLING_SECONDS, BEAT_SECONDS))  # if two found it free, the second to write has it
        self.beat()
        if self._lost.is_set():
            return False
        self._is_held = True
        self._keeper.start()
        return True

    def lost(self) -> bool:
        """Whether another run took the lease, because this run did not renew it in time."""
        return self._is_held and self._lost.is_set()

    def release(self) -> None:
        """Releases the lock for other runs."""
        self._released.set()
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
        if self._is_held:
            self._keeper.join(PATIENCE_SECONDS)  # a beat under way would write the lease again
            if not self._lost.is_set():
                self._store.remove(LEASE)
        self._is_held = False

    def beat(self) -> None:
        """Raises the count, unless another run holds the lease."""
        try:
            found = json.loads(self._store.read(LEASE) or b"null")
        except ValueError:  # incomplete
            found = None
        if isinstance(found, dict) and found.get("holder") != self._holder:
            self._lost.set()
            return
        self._count += 1
        self._write()

    def _write(self) -> None:
        content = {"holder": self._holder, "count": self._count, "host": socket.gethostname()}
        self._store.write(LEASE, json.dumps(content).encode())

    def _keep(self) -> None:
        """Beats until the lease is released or lost."""
        last, lost, released = time.monotonic(), self._lost, self._released
        while not released.wait(BEAT_SECONDS) and not lost.is_set():
            try:
                self.beat()
                last = time.monotonic()
            except Exception:  # noqa: BLE001 - the store is away: it may be back at the next beat
                if time.monotonic() - last > _SILENT_BEATS * BEAT_SECONDS:  # others will take the lease
                    lost.set()
