"""Of two attempts at the same task, one is kept."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cluster import standalone
from tests.cluster.runs import Job, undisturbed, write_crawl

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(1800)]

SPECULATION = {
    "spark.speculation": "true",
    "spark.speculation.interval": "200ms",
    "spark.speculation.multiplier": "1.2",
    "spark.speculation.quantile": "0.5",
}


def test_a_slow_attempt_is_overtaken_and_its_rows_are_not_written(
    job: Callable[..., Job], tmp_path: Path
) -> None:
    crawl = write_crawl(tmp_path / "crawl", 6, 15, s0_p9="is slow once, takes 40 ms")
    run = job(crawl=crawl, conf=SPECULATION).start()
    run.finish()
    assert (run.deeds / "slow").exists()
    attempts = [(event["Stage ID"], event["Task Info"]) for event in run.attempts()]
    well = [(stage, info) for stage, info in attempts if not info["Failed"] and not info["Killed"]]
    overtaken = {(stage, info["Index"]) for stage, info in well if info["Speculative"]}
    assert overtaken
    # The slow attempt was killed, or the run was over before it could say so.
    assert not any(not info["Speculative"] and (stage, info["Index"]) in overtaken for stage, info in well)
    assert run.outcomes() == undisturbed(crawl)
    left = [int(sign.name.partition("-")[2]) for sign in run.deeds.glob("busy-*")]
    assert left
    assert not any(standalone.alive(pid) for pid in left)
