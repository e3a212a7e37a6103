"""Progress on stderr: a bar that redraws itself on a terminal, a plain line now and then elsewhere."""

import sys
import time
from collections.abc import Iterable, Iterator
from typing import Final, TextIO, TypeVar

T = TypeVar("T")

_WIDTH: Final = 30
_REDRAW_SECONDS: Final = 0.1
_LINE_SECONDS: Final = 20.0


def track(rows: Iterable[T], label: str, n: int, stream: TextIO | None = None) -> Iterator[T]:
    """The rows as they are, while `label` and how many of `n` are done are shown."""
    stream = stream or sys.stderr
    terminal = stream.isatty()
    every = _REDRAW_SECONDS if terminal else _LINE_SECONDS
    started = last = time.monotonic()
    done = 0
    for row in rows:
        yield row
        done += 1
        now = time.monotonic()
        if now - last >= every:
            last = now
            _show(stream, _line(label, done, n, now - started, bar=terminal), terminal=terminal)
    _show(stream, _line(label, done, n, time.monotonic() - started, bar=terminal), terminal=terminal)
    if terminal:
        stream.write("\n")


def _show(stream: TextIO, line: str, *, terminal: bool) -> None:
    stream.write(f"\r{line}\x1b[K" if terminal else f"{line}\n")
    stream.flush()


def _line(label: str, done: int, n: int, seconds: float, *, bar: bool) -> str:
    line = f"{label}: {done}/{n}, {seconds:.0f} s"
    if not bar:
        return line
    filled = _WIDTH * min(done, n) // n if n else _WIDTH
    left = f", {seconds * (n - done) / done:.0f} s left" if 0 < done < n else ""
    return f"[{'#' * filled}{'.' * (_WIDTH - filled)}] {line}{left}"
