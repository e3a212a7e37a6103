"""Where the time of pages goes: seconds by stage, summed in shared memory and brought back by the tasks."""

import struct
import time
from collections.abc import Iterator, Mapping
from mmap import mmap
from typing import Final, TypeVar

from pyspark.accumulators import AccumulatorParam

STAGES: Final = (
    "read",  # the way to the next record: opening, inflating, parsing WARC and HTTP
    "canonical",  # bytes → canonical HTML
    "segment",  # canonical HTML → blocks
    "language",
    "decide",  # features and decoding: the cleaner, and templates
    "render",  # the text of what is kept
    "rows",  # columns of the pages table
    "hand_over",  # until the rows are compressed and written, or taken by Spark, which does it meanwhile
)
_NUMBER: Final = {stage: number for number, stage in enumerate(STAGES)}
_SLOT: Final = struct.Struct("<d")

T = TypeVar("T")


class Laps:
    """A stopwatch that a process and the children it forks later have in common.

    Calling it with a stage's name adds the time since the last call, or since `start`, to that stage. The
    time is the wall's: what a page waits for a processor that is busy otherwise is in it.
    """

    def __init__(self) -> None:
        self._sums = mmap(-1, _SLOT.size * len(STAGES))  # shared with children
        self._last = time.perf_counter()

    def start(self) -> None:
        """What was before belongs to no stage."""
        self._last = time.perf_counter()

    def __call__(self, stage: str) -> None:
        """The stage ends here."""
        now = time.perf_counter()
        self.add(stage, now - self._last)
        self._last = now

    def add(self, stage: str, seconds: float) -> None:
        """Adds to a stage what was measured elsewhere; no two processes add to one stage at a time."""
        offset = _SLOT.size * _NUMBER[stage]
        _SLOT.pack_into(self._sums, offset, _SLOT.unpack_from(self._sums, offset)[0] + seconds)

    def seconds(self) -> dict[str, float]:
        """The sums so far."""
        return {
            stage: _SLOT.unpack_from(self._sums, _SLOT.size * number)[0] for stage, number in _NUMBER.items()
        }

    def reading(self, records: Iterator[T]) -> Iterator[T]:
        """The records, with the way to each counted as the stage `read`."""
        while True:
            self.start()
            record = next(records, None)
            self("read")
            if record is None:
                return
            yield record


class Seconds(AccumulatorParam[dict[str, float]]):
    """Sums of seconds by stage, over tasks.

    Spark adds the task that wrote a partition, once; the time of attempts that were lost is in no sum. (With
    a shuffle before the write, for a target file size, a task that is done over counts again.)
    """

    def zero(self, value: dict[str, float]) -> dict[str, float]:
        """The sums of no task."""
        return dict.fromkeys(value, 0.0)

    def addInPlace(self, value1: dict[str, float], value2: dict[str, float]) -> dict[str, float]:  # noqa: N802
        """Spark's name for the sum of both."""
        return summed(value1, value2)


def summed(one: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
    """The sums of both, in the order of STAGES."""
    return {stage: one.get(stage, 0.0) + other.get(stage, 0.0) for stage in STAGES}
