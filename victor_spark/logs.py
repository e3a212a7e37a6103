"""Lines on stderr: text for people, or objects of JSON for a log store (`--log-format json`)."""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any

from victor_spark.redaction import redacted_message

FIELDS: dict[str, Any] | None = None
"""What every line of JSON holds beside its own fields; None: lines are text."""


def structure(**fields: Any) -> None:
    """Lines are JSON from now on, also those of Python's own logging; each holds the fields."""
    global FIELDS  # noqa: PLW0603 - there is one stderr
    if FIELDS is None:
        logging.basicConfig(handlers=[_Handler()])
    FIELDS = {**(FIELDS or {}), **fields}


def log(line: str, level: str = "info", **fields: Any) -> None:
    """Writes a line, without credentials; the fields only where lines are JSON."""
    text = redacted_message(line)
    if FIELDS is None:
        print(f"victor: {'error: ' * (level == 'error')}{text}", file=sys.stderr, flush=True)
        return
    found = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "level": level, "message": text}
    print(json.dumps({**found, **FIELDS, **fields}, ensure_ascii=False), file=sys.stderr, flush=True)


class _Handler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        log(record.getMessage(), record.levelname.lower(), logger=record.name)
