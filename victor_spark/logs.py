"""Lines on stderr: text for people, or objects of JSON for a log store (`--log-format json`)."""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any

from victor_spark.redaction import redacted_message

FIELDS: dict[str, Any] | None = None
"""Fields of every line of JSON; None: lines are text."""


class _Handler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        log(record.getMessage(), record.levelname.lower())


def structure(**fields: Any) -> None:
    """Lines are JSON from now on, those of Python's own logging too, and hold the fields."""
    global FIELDS  # noqa: PLW0603 - there is one stderr
    logging.basicConfig(handlers=[_Handler()])  # once
    FIELDS = {**(FIELDS or {}), **fields}


def log(line: str, level: str = "info", /, **fields: Any) -> None:
    """Writes a line without credentials and control characters; the fields only where lines are JSON."""
    characters = redacted_message(line)
    text = "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in characters)
    if FIELDS is None:
        text = f"victor: {'error: ' * (level == 'error')}{text}"
    else:
        found = {"time": datetime.now(UTC).isoformat(), "level": level, "message": text}
        text = json.dumps({**found, **FIELDS, **fields})
    print(text, file=sys.stderr, flush=True)
