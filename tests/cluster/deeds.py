"""The behaviour of pages that are cleaned in a test of a whole run; see site/sitecustomize.py.

A page says what it does in a paragraph: one of `hostile_work.DEEDS`, or how long it takes ("takes 50 ms";
"is slow once": minutes, but only the first time in all processes together; "waits for company": until a
second process is at work, and the test lets them go; "waits for leave": until the test gives it). While it
does, the folder VICTOR_TEST_DEEDS has a file named by the process that is busy with it. No test counts on how
long anything takes.
"""

import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.worker.hostile_work import DEEDS
from victor_spark import pipeline
from victor_spark.document import Document
from victor_spark.settings import Settings
from victor_spark.warc.records import Record

Clean = Callable[[Record], Document]

FOLDER: Final = Path(os.environ.get("VICTOR_TEST_DEEDS", ""))
_TAKES: Final = re.compile(rb"takes (\d+) ms")
SLOW_SECONDS: Final = 400.0
COMPANY_SECONDS: Final = 400.0


def doing(clean: Clean, settings: Settings) -> Clean:
    """The cleaning, before which a page does what it says."""

    def do(record: Record) -> Document:
        if record.url is None:  # the page that a worker cleans to warm up
            return clean(record)
        with _busy():
            try:
                _act(record.payload or b"")
            except MemoryError:
                return pipeline.dropped(record, settings, "out_of_memory", "MemoryError")
            return clean(record)

    return do


def _act(page: bytes) -> None:
    for deed, action in DEEDS.items():
        if b"<p>This page " + deed in page:
            action()
    if b"waits for company" in page:
        _wait("met")
    if b"waits for leave" in page:
        _wait("leave")
    if takes := _TAKES.search(page):
        time.sleep(int(takes[1]) / 1000)
    if b"is slow once" in page and _first():
        time.sleep(SLOW_SECONDS)


def _wait(sign: str) -> None:
    """Until the test gives a sign. That two have met they see themselves, and go on unless they are held.

    On a busy machine one worker could be done before the other has begun.
    """
    deadline = time.monotonic() + COMPANY_SECONDS
    while not (FOLDER / sign).exists() and time.monotonic() < deadline:
        if sign == "met" and not (FOLDER / "held").exists() and len(list(FOLDER.glob("busy-*"))) > 1:
            (FOLDER / sign).touch()
        time.sleep(0.01)


def _first() -> bool:
    try:
        (FOLDER / "slow").touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


@contextmanager
def _busy() -> Iterator[None]:
    """Says that this process has a page under work; what a process that died says stays."""
    sign = FOLDER / f"busy-{os.getpid()}"
    sign.touch()
    yield
    sign.unlink(missing_ok=True)
