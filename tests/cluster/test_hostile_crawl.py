"""The hostile crawl on a cluster: no good page loses its row, and no task is repeated."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cluster.runs import Job, infos
from tests.hostile import making
from tests.spark.crawl import rows
from tests.spark.test_hostile_crawl import assert_no_good_row_is_lost

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]


def test_every_good_page_keeps_its_row(job: Callable[..., Job], tmp_path: Path) -> None:
    crawl = tmp_path / "crawl"
    making.write(crawl)
    making.sound(crawl)
    n_shards = len(list(crawl.iterdir()))
    budgets = ["--max-failed-shards", str(n_shards), "--max-failed-pages", str(10 * n_shards)]
    run = job(crawl=crawl, options=budgets).start()
    run.finish()
    assert_no_good_row_is_lost(crawl, rows(run.output))
    assert {info["Attempt"] for info in infos(run)} == {0}
