"""Progress on stderr: a bar on a terminal, a plain line every 20 seconds elsewhere."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Final, TextIO, TypeAlias, TypeVar

T = TypeVar("T")
Report: TypeAlias = Callable[[int, str], None]
"""Called with the number done and a short note; the call with the total ends the bar."""

_WIDTH: Final = 30
_REDRAW_SECONDS: Final = 0.1
_LINE_SECONDS: Final = 20.0


def track(rows: Iterable[T], label: str, n: int, stream: TextIO | None = None) -> Iterator[T]:
    """Yields the rows unchanged and shows `label` and how many of `n` are done."""
    report = reporter(label, n, stream)
    for done, row in enumerate(rows):
        report(done, "")
        yield row
    report(n, "")


def reporter(label: str, n: int, stream: TextIO | None = None) -> Report:
    """A function that shows how many of `n` are done, at a limited rate."""
    out = stream or sys.stderr
    terminal = out.isatty()
    started = time.monotonic()
    last = started

    def report(done: int, note: str) -> None:
        nonlocal last
        now = time.monotonic()
        if done < n and now - last < (_REDRAW_SECONDS if terminal else _LINE_SECONDS):
            return
        last = now
        line = _line(label, done, n, now - started, bar=terminal) + (f", {note}" if note else "")
        end = "\n" if done >= n or not terminal else ""
        out.write(f"\r{line}\x1b[K{end}" if terminal else line + end)
        out.flush()

    return report


def _line(label: str, done: int, n: int, seconds: float, *, bar: bool) -> str:
    line = f"{label}: {done}/{n}, {seconds:.0f} s"
    if not bar:
        return line
    filled = _WIDTH * min(done, n) // n if n else _WIDTH
    left = f", {seconds * (n - done) / done:.0f} s left" if 0 < done < n else ""
    return f"[{'#' * filled}{'.' * (_WIDTH - filled)}] {line}{left}"
