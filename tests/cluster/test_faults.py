"""After the death of any process on a cluster, the rows are exactly those of a run without faults."""

from collections.abc import Callable

import pytest

from tests.cluster import standalone
from tests.cluster.runs import Job, Outcome, infos, of_kind, strike
from tests.cluster.standalone import WORKER_HOSTS, Cluster

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(1800)]

Jobs = Callable[..., Job]


def test_undisturbed_no_task_is_tried_twice(job: Jobs, expected: list[Outcome]) -> None:
    """The control of all tests here: where nothing happens, nothing is repeated, and both workers work."""
    run = job(held=True).start()
    run.busy(2)
    run.go()
    run.finish()
    attempts = list(infos(run))
    assert {info["Attempt"] for info in attempts} == {0}
    assert not any(info["Failed"] or info["Killed"] or info["Speculative"] for info in attempts)
    assert {info["Host"] for info in attempts} == set(WORKER_HOSTS)
    assert run.outcomes() == expected


@pytest.mark.parametrize("kind", ["worker", "executor"])
def test_a_process_killed_at_work_costs_another_attempt(
    job: Jobs, expected: list[Outcome], kind: str
) -> None:
    run = job(held=True).start()
    child = run.busy(2)[0]
    strike(of_kind(child, kind))
    run.go()
    run.finish()
    assert any(info["Failed"] for info in infos(run))
    assert max(info["Attempt"] for info in infos(run)) > 0
    assert not standalone.alive(child)
    assert run.outcomes() == expected


def test_the_daemon_that_forks_python_workers_can_go(job: Jobs, expected: list[Outcome]) -> None:
    """Killed alone it takes no work with it; where Spark needs it, it starts another."""
    run = job(held=True).start()
    child = run.busy(2)[0]
    daemon, executor = of_kind(child, "daemon"), of_kind(child, "executor")
    strike(daemon)
    assert not standalone.alive(daemon)
    assert standalone.alive(executor)
    run.go()
    run.finish()
    assert run.outcomes() == expected


def test_a_child_killed_once_costs_not_even_that(job: Jobs, expected: list[Outcome]) -> None:
    run = job(held=True).start()
    child = run.busy(2)[0]
    strike(child)
    run.go()
    run.finish()
    assert (run.deeds / f"busy-{child}").exists()  # it was in the midst of a page
    assert {info["Attempt"] for info in infos(run)} == {0}
    assert run.outcomes() == expected


def test_a_machine_that_goes_down_leaves_its_work_to_the_other(
    cluster: Cluster, job: Jobs, expected: list[Outcome]
) -> None:
    run = job(held=True).start()
    run.busy(2)
    host = WORKER_HOSTS[1]
    busy = set(standalone.in_session(cluster.workers[host].process.pid)) & set(run.busy(2))
    cluster.workers[host].stop()
    run.go()
    run.finish()
    assert busy
    assert any(info["Failed"] and info["Host"] == host for info in infos(run))
    assert run.outcomes() == expected
