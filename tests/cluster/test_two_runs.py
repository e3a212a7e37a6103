"""Two runs of the same command at once: the second refuses; tests/s3 has the same in a store."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cluster.runs import Job, undisturbed, write_crawl

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]


def test_on_a_disk_the_second_refuses_and_the_first_ends_undisturbed(
    job: Callable[..., Job], tmp_path: Path
) -> None:
    crawl = write_crawl(tmp_path / "crawl", 2, 15, s0_p9="waits for leave")
    made = job(crawl=crawl)
    first = made.start()
    first.busy()
    second = replace(made, folder=tmp_path / "second", output=first.output).start()
    line = second.fail()
    assert first.process.poll() is None
    assert second.code == 2
    assert "another run is writing there" in line
    first.go()
    first.finish()
    assert first.outcomes() == undisturbed(crawl)
