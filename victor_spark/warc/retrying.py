"""What to do when a server is busy or a line breaks: wait, longer each time, and try again."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

T = TypeVar("T")


class TransientError(OSError):
    """A failure that may be gone at the next try; `wait`: the seconds a server asked for."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait


@dataclass(frozen=True, slots=True)
class Patience:
    """How often to try, and how long to wait in between (seconds): doubled each time, with full jitter."""

    n_tries: int = 6
    first_wait: float = 1.0
    longest_wait: float = 30.0

    def wait(self, n_failures: int, asked: float | None = None) -> float:
        """Seconds to wait after so many failures; a server may ask for more, up to the longest wait."""
        longest = min(self.first_wait * 2 ** (n_failures - 1), self.longest_wait)
        return max(random.uniform(0.0, longest), min(asked or 0.0, self.longest_wait))


PATIENCE: Final = Patience()


class Tries:
    """Counts failures in a row; `failed` waits, or gives up with an OSError that says after how many."""

    def __init__(self, patience: Patience | None = None) -> None:
        self._patience = patience or PATIENCE
        self._n_failures = 0

    def progressed(self) -> None:
        """Something came through: the next failure is the first again."""
        self._n_failures = 0

    def failed(self, error: TransientError) -> None:
        """Waits before the next try; raises OSError when there is none left."""
        self._n_failures += 1
        if self._n_failures >= self._patience.n_tries:
            raise OSError(f"{error} ({self._n_failures} tries)") from error
        time.sleep(self._patience.wait(self._n_failures, error.wait))


def persistently(call: Callable[[], T]) -> T:
    """What `call` returns, tried again after every TransientError."""
    tries = Tries()
    while True:
        try:
            return call()
        except TransientError as error:
            tries.failed(error)
