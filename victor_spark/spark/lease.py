"""Which run holds an output where there are no locks: a small file with the holder's name and a count.

The holder raises the count every BEAT_SECONDS. Who wants the output looks at the file twice, PATIENCE_SECONDS
apart by a clock that never jumps: if it changed, the holder lives and the other one refuses; if not, the
holder is dead, and the other one takes its place. No times are written or compared, so it doesn't matter what
any machine's clock says. A holder that finds another name in the file has lost the output and stops.
"""

import json
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Protocol
from uuid import uuid4

FILE: Final = "_run/lease.json"
BEAT_SECONDS: Final = 15.0
PATIENCE_SECONDS: Final = 60.0
_SILENCE: Final = 3  # beats; fewer than another run's patience
_SETTLING_SECONDS: Final = 2.0

Read = Callable[[], bytes | None]
Write = Callable[[bytes], None]


@dataclass
class Held:
    """A lease that this process holds; `lost` is set if another one takes it."""

    read: Read
    write: Write
    holder: str
    count: int = 0
    lost: threading.Event = field(default_factory=threading.Event)
    _over: threading.Event = field(default_factory=threading.Event)

    def beat(self) -> None:
        """Raises the count, unless somebody else holds the lease."""
        found = _parsed(self.read())
        if found is not None and found.get("holder") != self.holder:
            self.lost.set()
            return
        self.count += 1
        host = socket.gethostname()
        self.write(json.dumps({"holder": self.holder, "count": self.count, "host": host}).encode())

    def keep(self, seconds: float) -> None:
        """Beats until the lease is released or lost."""
        last = time.monotonic()
        while not self._over.wait(seconds) and not self.lost.is_set():
            try:
                self.beat()
                last = time.monotonic()
            except Exception:  # noqa: BLE001 - the store is away: it may be back at the next beat
                if time.monotonic() - last > _SILENCE * seconds:  # others take this run for dead
                    self.lost.set()

    def release(self) -> bool:
        """Beats no more; whether the lease is still this process's, and so its file is to be removed."""
        self._over.set()
        return not self.lost.is_set()


def acquire(
    read: Read, write: Write, *, beat: float = BEAT_SECONDS, patience: float = PATIENCE_SECONDS
) -> Held | None:
    """The lease, kept from now on by a thread of its own; None if another run holds it."""
    wait = threading.Event().wait  # by the monotonic clock
    before = read()
    if before is not None:
        wait(patience)
        if read() not in (before, None):
            return None
    held = Held(read, write, str(uuid4()))
    held.lost.clear()
    write(json.dumps({"holder": held.holder, "count": 0}).encode())
    wait(min(_SETTLING_SECONDS, beat))  # if two found it free, the second to write has it
    held.beat()
    if held.lost.is_set():
        return None
    threading.Thread(target=held.keep, args=(beat,), daemon=True).start()
    return held


class Store(Protocol):
    """Where a lease's file lies: the part of `files.Files` that a lease needs."""

    def read(self, name: str) -> bytes | None: ...  # noqa: D102 - None: there is no such file
    def write(self, name: str, content: bytes) -> None: ...  # noqa: D102 - whole or not at all
    def remove(self, name: str) -> None: ...  # noqa: D102 - if it is there


class Leased:
    """An output that one run at a time holds by the lease in its `FILE`."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._held: Held | None = None

    def lock(self) -> bool:
        """Holds the output until `unlock` or the end of this process; False if another run does."""
        self._held = acquire(partial(self._store.read, FILE), partial(self._store.write, FILE))
        return self._held is not None

    def lost(self) -> bool:
        """Whether another run took the output over, as it saw no sign of this one."""
        return self._held is not None and self._held.lost.is_set()

    def unlock(self) -> None:
        """Lets other runs in again."""
        if self._held is not None and self._held.release():
            self._store.remove(FILE)
        self._held = None


def _parsed(content: bytes | None) -> dict[str, Any] | None:
    """What a lease says; None where there is none, or half of one."""
    try:
        found = json.loads(content) if content else None
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
