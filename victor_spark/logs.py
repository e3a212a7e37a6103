"""Lines on stderr: text for people, or objects of JSON for a log store (`--log-format json`)."""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any, Final

from victor_spark.redaction import redacted_message

FIELDS: dict[str, Any] | None = None
"""Fields of every line of JSON; None: lines are text."""
_QUIET: list[str] = []
"""Levels of lines that are left out."""
_SPACES: Final = str.maketrans("\t\n", "  ")


class _Handler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        log(record.getMessage(), record.levelname.lower())


def structure(**fields: Any) -> None:
    """Lines are JSON from now on, those of Python's own logging too, and hold the fields."""
    global FIELDS  # noqa: PLW0603 - there is one stderr
    logging.basicConfig(handlers=[_Handler()])  # once
    FIELDS = {**(FIELDS or {}), **fields}


def quieten() -> None:
    """Only warnings and errors are written from now on, and no progress."""
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
    print(text, file=sys.stderr, flush=True)


def _harmless(character: str) -> str:
    is_space = character.isspace() and (character in "\t\n" or character > "\x9f")
    return character if character.isprintable() or is_space else "\N{REPLACEMENT CHARACTER}"


def clock(seconds: float) -> str:
    """Seconds as 48 s, 3:05 or 2:14:09."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minutes:02}:{rest:02}"
    return f"{minutes}:{rest:02}" if minutes else f"{rest} s"
