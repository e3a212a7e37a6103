"""Spark's event log of a run: the bytes that its tasks wrote for shuffles."""

import json
from pathlib import Path


def logged_to(folder: Path) -> dict[str, str]:
    """The variables of a process whose Spark logs its events to a folder, which is made."""
    folder.mkdir(exist_ok=True)
    settings = {"enabled": "true", "dir": folder.as_uri(), "compress": "false", "rolling.enabled": "false"}
    flags = " ".join(f"--conf spark.eventLog.{name}={value}" for name, value in settings.items())
    return {"PYSPARK_SUBMIT_ARGS": f"{flags} pyspark-shell"}


def shuffled(folder: Path) -> int:
    """Bytes that all tasks of the logged runs wrote for a shuffle."""
    n_bytes = 0
    for log in folder.iterdir():
        with log.open() as lines:
            for line in lines:
                metrics = json.loads(line).get("Task Metrics") or {}
                n_bytes += metrics.get("Shuffle Write Metrics", {}).get("Shuffle Bytes Written", 0)
    return n_bytes
