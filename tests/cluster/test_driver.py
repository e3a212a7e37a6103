"""A driver killed at any moment: the same command again ends in exactly the same rows."""

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
    """Thrice: with pages under work, and up to some seconds later, when rows are written or committed."""
    moments = random.Random(time.time_ns())
    made = job(options=["--wave-bytes", "20000"])
    for _ in range(3):
        run = made.start()
        run.busy()
        seconds = moments.uniform(0.0, 6.0)
        time.sleep(seconds)
        under_way = run.process.poll() is None
        run.kill()
        print(f"killed after {seconds:.3f} s, {'under way' if under_way else 'at its end'}")
        if not under_way:
            break
    last = made.start()
    last.finish()
    assert last.outcomes() == expected
    assert json.loads((last.output / "_run" / "run.json").read_text())["n_waves"] > 1
