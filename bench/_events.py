"""Spark's event log of a run: the bytes that its tasks shuffled, and how long they took."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def logged_to(folder: Path) -> dict[str, str]:
    """The variables of a process whose Spark logs its events to a folder, which is made."""
    flags = " ".join(f"--conf {setting}" for setting in settings(folder))
    return {"PYSPARK_SUBMIT_ARGS": f"{flags} pyspark-shell"}


def settings(folder: Path) -> list[str]:
    """The settings of Spark that log events to a folder, which is made."""
    folder.mkdir(exist_ok=True)
    values = {"enabled": "true", "dir": folder.as_uri(), "compress": "false", "rolling.enabled": "false"}
    return [f"spark.eventLog.{name}={value}" for name, value in values.items()]


def shuffled(folder: Path) -> int:
    """Bytes that all tasks of the logged runs wrote for a shuffle."""
    metrics = (task.get("Task Metrics") or {} for task in _tasks(folder))
    return sum(each.get("Shuffle Write Metrics", {}).get("Shuffle Bytes Written", 0) for each in metrics)


def task_seconds(folder: Path) -> list[float]:
    """How long each task of the logged runs took."""
    about = (task["Task Info"] for task in _tasks(folder))
    return [(each["Finish Time"] - each["Launch Time"]) / 1000 for each in about]


def _tasks(folder: Path) -> Iterator[dict[str, Any]]:
    for log in folder.iterdir():
        with log.open() as lines:
            events = map(json.loads, lines)
            yield from (event for event in events if event["Event"] == "SparkListenerTaskEnd")
