"""A driver that is killed at any moment: the same command then gives exactly the same rows."""

import json
import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cluster.runs import Job, Outcome

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(1800)]


def test_a_driver_killed_again_and_again(
    job: Callable[..., Job], tmp_path: Path, expected: list[Outcome]
) -> None:
    """Thrice: with pages under work, and up to some seconds later, when rows are written or committed.

    A kill that comes when the run is complete, if not yet gone, ends it; the first one is too early for that.
    """
    moments = random.Random(time.time_ns())
    made = job(options=["--wave-bytes", "20000"])
    for most_seconds in (0.5, 6.0, 6.0):
        run = made.start()
        run.busy()
        seconds = moments.uniform(0.0, most_seconds)
        time.sleep(seconds)
        run.kill()
        under_way = not (run.output / "_run" / "run.json").exists()
        print(f"killed after {seconds:.3f} s, {'under way' if under_way else 'at its end'}")
        if not under_way:
            break
    last = made.start()
    last.finish()
    assert last.outcomes() == expected
    assert json.loads((last.output / "_run" / "run.json").read_text())["n_waves"] > 1
