"""The cluster that the tests of this folder share; without ./dev test-cluster they are left out."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cluster import runs, standalone
from tests.cluster.runs import Job, Outcome, undisturbed, write_crawl
from tests.cluster.standalone import Cluster

N_SHARDS = 6
N_PAGES = 15


@pytest.fixture(scope="session")
def shared_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with standalone.running(tmp_path_factory.mktemp("cluster"), runs.environment()) as cluster:
        yield cluster


@pytest.fixture
def cluster(shared_cluster: Cluster, request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """The cluster with both its workers; its logs are shown when the test fails."""
    shared_cluster.ready()
    n_failed = request.session.testsfailed
    yield shared_cluster
    if request.session.testsfailed > n_failed:
        print(shared_cluster.tails())


@pytest.fixture(scope="session")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_crawl(tmp_path_factory.mktemp("crawl") / "c", N_SHARDS, N_PAGES)


@pytest.fixture(scope="session")
def expected(crawl: Path) -> list[Outcome]:
    """The rows of the crawl without faults."""
    return undisturbed(crawl)


@pytest.fixture
def job(cluster: Cluster, crawl: Path, tmp_path: Path) -> Iterator[Callable[..., Job]]:
    """Makes jobs on the cluster; drivers that still run at the end are ended."""
    started: list[runs.Run] = []

    class Watched(Job):
        def start(self) -> runs.Run:
            started.append(super().start())
            return started[-1]

    def made(**options: object) -> Job:
        return Watched(cluster, tmp_path, **{"crawl": crawl, **options})  # type: ignore[arg-type]

    yield made
    for run in started:
        if run.code is None:
            run.kill()
