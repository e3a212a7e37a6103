"""Of two attempts at the same task, one is kept."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cluster import standalone
from tests.cluster.runs import Job, infos, undisturbed, write_crawl

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
    attempts = list(infos(run))
    assert any(info["Speculative"] and not info["Failed"] and not info["Killed"] for info in attempts)
    assert any(info["Killed"] and not info["Speculative"] for info in attempts)
    assert run.outcomes() == undisturbed(crawl)
    left = [int(sign.name.partition("-")[2]) for sign in run.deeds.glob("busy-*")]
    assert left
    assert not any(standalone.alive(pid) for pid in left)
