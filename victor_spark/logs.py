"""Lines on stderr: text for people, or JSON for a log store (`--log-format json`); progress; tables."""

import json
import logging
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias, TypeVar

from victor_spark.redaction import redacted_message

FIELDS: dict[str, Any] | None = None
"""Fields of every line of JSON; None: lines are text."""
_QUIET: list[str] = []
"""Lines of these levels are not written."""
_ERASE: Final = "\r\x1b[K"
_DRAWN: list[str] = []
"""The text that removes the bar from the terminal; empty if there is no bar."""
_SPACES: Final = str.maketrans("\t\n", "  ")
_BAR_WIDTH: Final = 30

T = TypeVar("T")
Report: TypeAlias = Callable[[int, str], None]
"""Called with the number done and a short note; the call with the total ends the bar."""

_REDRAW_SECONDS: Final = 0.1
_LINE_SECONDS: Final = 20.0


class _Handler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        log(record.getMessage(), record.levelname.lower())


def take_over() -> None:
    """From now on, the lines of Python's logging are written as our own."""
    logging.basicConfig(handlers=[_Handler()])  # once


def structure(**fields: Any) -> None:
    """From now on, all lines are JSON with these fields, also those of Python's logging."""
    global FIELDS  # noqa: PLW0603 - there is one stderr
    take_over()
    FIELDS = {**(FIELDS or {}), **fields}


def quieten() -> None:
    """From now on, only warnings and errors are written, and no progress."""
    _QUIET.append("info")


def is_quiet() -> bool:
    """Whether progress is left out."""
    return bool(_QUIET)


def log(line: str, level: str = "info", /, **fields: Any) -> None:
    """Writes a line, without credentials and control characters; the fields only where lines are JSON."""
    if level in _QUIET:
        return
    text = "".join(map(_harmless, redacted_message(line)))
    if FIELDS is None:
        text = f"victor: {'error: ' * (level == 'error')}{text.translate(_SPACES)}"
    else:
        found = {"time": datetime.now(UTC).isoformat(), "level": level, "message": text}
        text = json.dumps({**found, **FIELDS, **fields})
    erase()  # the line takes the place of a bar, which is drawn again below it
    write(f"{text}\n")  # in one write: processes share stderr


def write(text: str) -> None:
    """Writes to stderr; what a closed pipe or a full disk does not take is lost, and ends no run."""
    with suppress(OSError):
        sys.stderr.write(text)
        sys.stderr.flush()


def _harmless(character: str) -> str:
    is_space = character.isspace() and (character in "\t\n" or character > "\x9f")
    return character if character.isprintable() or is_space else "\N{REPLACEMENT CHARACTER}"


def on_terminal() -> bool:
    """Whether progress can be a bar."""
    return sys.stderr.isatty() and FIELDS is None


def bar(share: float, line: str, end: str = "") -> None:
    """Draws a bar and a line over those before, in one row of the terminal: more could not be erased."""
    _DRAWN[:] = [] if end else [_ERASE]
    room = shutil.get_terminal_size().columns - 1
    width = max(min(_BAR_WIDTH, room - len(f"[] {line}")), 0)
    filled = "#" * min(int(width * share), width)
    write(f"\r{f'[{filled:.<{width}}] {line}'[:room]}\x1b[K{end}")


def erase() -> None:
    """Removes the bar, if there is one."""
    if _DRAWN:
        write(_DRAWN.pop())


def clock(seconds: float) -> str:
    """Seconds as 48 s, 3:05 or 2:14:09."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minutes:02}:{rest:02}"
    return f"{minutes}:{rest:02}" if minutes else f"{rest} s"


def track(rows: Iterable[T], label: str, n: int) -> Iterator[T]:
    """Yields the rows unchanged and shows `label` and how many of `n` (0: unknown) are done."""
    report = reporter(label, n)
    try:
        for done, row in enumerate(rows):
            report(done, "")
            yield row
        if n:
            report(n, "")
    finally:
        erase()


def reporter(label: str, n: int) -> Report:
    """A function that shows how many of `n` are done, at a limited rate; 0: of an unknown number."""
    is_bar = on_terminal()
    last = started = time.monotonic()

    def report(done: int, note: str) -> None:
        nonlocal last
        now, is_end = time.monotonic(), 0 < n <= done
        wait = _REDRAW_SECONDS if is_bar else _LINE_SECONDS
        if is_quiet() or (not is_end and now - last < wait):
            return
        last = now
        line = counted(label, done, n, now - started) + (f", {note}" if note else "")
        if is_bar:
            bar(done / n if n else 0.0, line, "\n" if is_end else "")
        else:
            log(line)

    return report


def counted(label: str, done: int, n: int, seconds: float) -> str:
    """The line of `track`: how many are done, in which time, at which rate, and the time that is left."""
    rate = f", {float(f'{done / seconds:.3g}'):,g}/s" if done and seconds >= 1 else ""
    left = f", about {clock(seconds / done * (n - done))} left" if 0 < done < n else ""
    return f"{label}: {done}{f'/{n}' if n else ''}, {clock(seconds)}{rate}{left}"


def size(n_bytes: float) -> str:
    """Bytes with a unit: 1.5 GB."""
    power = min(max(len(str(int(n_bytes))) - 1, 0) // 3, 5)
    number = n_bytes / 1000**power
    return f"{number:.{int(power > 0 and number < 100)}f} {('bytes', 'KB', 'MB', 'GB', 'TB', 'PB')[power]}"


def aligned(rows: Iterable[Sequence[object]], n_left: int = 1) -> list[str]:
    """The rows of a table as lines: the first `n_left` columns are flush left, the others flush right."""
    cells = [list(map(str, row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    line = "  ".join(f"{{:{'<' if n < n_left else '>'}{width}}}" for n, width in enumerate(widths))
    return [line.format(*row) for row in cells]


def many(n: int, noun: str) -> str:
    """A number and its noun: 1 shard, 2 shards."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
