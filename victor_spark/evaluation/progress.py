"""Progress of counted work on stderr: a bar on a terminal, a plain line every 20 seconds elsewhere."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeAlias, TypeVar

from victor_spark import logs

T = TypeVar("T")
Report: TypeAlias = Callable[[int, str], None]
"""Called with the number done and a short note; the call with the total ends the bar."""

_WIDTH: Final = 30
_REDRAW_SECONDS: Final = 0.1
_LINE_SECONDS: Final = 20.0


def track(rows: Iterable[T], label: str, n: int) -> Iterator[T]:
    """Yields the rows unchanged and shows `label` and how many of `n` are done."""
    report = reporter(label, n)
    for done, row in enumerate(rows):
        report(done, "")
        yield row
    report(n, "")


def reporter(label: str, n: int) -> Report:
    """A function that shows how many of `n` are done, at a limited rate; nothing with --quiet."""
    bar = sys.stderr.isatty() and logs.FIELDS is None
    last = started = time.monotonic()

    def report(done: int, note: str) -> None:
        nonlocal last
        now = time.monotonic()
        if logs.is_quiet() or (done < n and now - last < (_REDRAW_SECONDS if bar else _LINE_SECONDS)):
            return
        last = now
        line = _line(label, done, n, now - started) + (f", {note}" if note else "")
        if not bar:
            logs.log(line)
            return
        filled = _WIDTH * min(done, n) // n if n else _WIDTH
        end = "\n" if done >= n else ""
        sys.stderr.write(f"\r[{'#' * filled}{'.' * (_WIDTH - filled)}] {line}\x1b[K{end}")
        sys.stderr.flush()

    return report


def _line(label: str, done: int, n: int, seconds: float) -> str:
    rate = f", {done / seconds:.3g}/s" if done and seconds >= 1 else ""
    left = f", about {logs.clock(seconds / done * (n - done))} left" if 0 < done < n else ""
    return f"{label}: {done}/{n}, {logs.clock(seconds)}{rate}{left}"
