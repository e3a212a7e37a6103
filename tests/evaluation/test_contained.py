"""A step that fails, hangs or crashes in a child process is reported by name; all other steps are done."""

import multiprocessing
from functools import partial

import pytest

from tests.evaluation import chores
from victor_spark.evaluation import contained


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_every_step_has_exactly_one_result(n_jobs: int) -> None:
    tasks = ["fine", "raise at 1", "die at 0", "hang at 1", "die at 2", "kill at 2", "also fine"]
    found = list(contained.results(tasks, chores.work(), n_jobs=n_jobs))
    expected = {f"{task}: {step} done" for task in tasks for step in range(3)}
    expected -= {f"{task}: {task[-1]} done" for task in tasks}
    expected |= {
        "raise at 1: 1 error (ValueError: dropped it)",
        "die at 0: 0 crash (the process ended with exit code 7)",
        "die at 2: 2 crash (the process ended with exit code 7)",
        "kill at 2: 2 crash (the process ended with SIGKILL)",
        "hang at 1: 1 timeout (no result after 2 s)",
    }
    assert len(found) == len(tasks) * 3
    assert set(found) == expected
    assert not multiprocessing.active_children()


def test_no_tasks_give_no_results_and_start_nothing() -> None:
    assert not list(contained.results([], chores.work(), n_jobs=2))


def test_children_that_cannot_begin_raise_the_reason() -> None:
    with pytest.raises(ValueError, match="no tools here"):
        list(contained.results(["fine"], chores.work(chores.make_nothing), n_jobs=1))


def test_children_that_end_before_they_begin_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also with more to send than fits into the pipe to a child that does not read."""
    monkeypatch.setattr(contained, "_serve", chores.end_at_once)
    with pytest.raises(RuntimeError, match="ended with exit code 3 before it was ready"):
        list(contained.results(["fine"], chores.work(partial(print, "x" * (1 << 20))), n_jobs=1))


def test_children_end_when_their_results_are_no_longer_read() -> None:
    results = contained.results(["fine"] * 5, chores.work(), n_jobs=2)
    next(results)
    results.close()
    assert not multiprocessing.active_children()
