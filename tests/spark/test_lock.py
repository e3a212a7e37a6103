"""On stores without locks, a lease lets only the living run write, for any clock times."""

import json
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import urlsplit

import pytest
from pyspark.sql import SparkSession

from victor_spark.errors import OutputError
from victor_spark.spark import lock, run
from victor_spark.spark.files import new_folder
from victor_spark.spark.lock import Lock

BEAT = 0.02
PATIENCE = 0.3


class Store:
    """A file in a store: written and read whole."""

    def __init__(self) -> None:
        self.content: bytes | None = None
        self.is_away = False

    def read(self, _name: str) -> bytes | None:
        if self.is_away:
            raise OSError("the store is away")
        return self.content

    def write(self, _name: str, content: bytes) -> None:
        if self.is_away:
            raise OSError("the store is away")
        self.content = content

    def remove(self, _name: str) -> None:
        self.content = None


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "BEAT_SECONDS", BEAT)
    monkeypatch.setattr(lock, "PATIENCE_SECONDS", PATIENCE)


def test_the_second_run_refuses_while_the_first_lives() -> None:
    store = Store()
    first = Lock(store)
    assert first.acquire()
    assert not Lock(store).acquire()
    assert not first.lost()
    first.release()
    assert store.content is None
    assert Lock(store).acquire()


def test_a_dead_run_is_succeeded_and_finds_out_if_it_wakes() -> None:
    store = Store()
    dead, second = Lock(store), Lock(store)
    assert dead.acquire()
    dead._released.set()  # its thread stops, as that of a process that was killed
    time.sleep(2 * BEAT)
    assert second.acquire()
    dead.beat()
    assert dead.lost()
    dead.release()
    assert json.loads(store.content or b"")["holder"] == second._holder
    second.release()


def test_of_two_that_find_it_free_one_has_it() -> None:
    store = Store()
    both, found = (Lock(store), Lock(store)), list[bool]()
    threads = [threading.Thread(target=lambda one=one: found.append(one.acquire())) for one in both]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [False, True]
    for one in both:
        one.release()
    assert store.content is None


def test_a_clock_that_jumps_back_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store()
    first = Lock(store)
    assert first.acquire()
    monkeypatch.setattr(time, "time", lambda: 0.0)
    assert not Lock(store).acquire()
    first.release()


def test_a_run_that_cannot_reach_the_store_for_long_knows_that_others_think_it_dead() -> None:
    store = Store()
    held = Lock(store)
    assert held.acquire()
    store.is_away = True
    deadline = time.monotonic() + 100 * BEAT
    while not held.lost() and time.monotonic() < deadline:
        time.sleep(BEAT)
    assert held.lost()


def test_a_new_folder_of_a_command_that_lost_its_place_does_not_appear(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another one, which took it for dead, may be writing there."""
    folder = tmp_path / "made"
    monkeypatch.setattr(Lock, "lost", lambda _: True)
    made = new_folder(str(folder), cast(SparkSession, None))
    draft = Path(urlsplit(made.__enter__()[0]).path)
    draft.mkdir(parents=True)
    other = draft.parent.with_name("other")
    other.mkdir()
    with pytest.raises(OutputError, match="made: another command took it over"):
        made.__exit__(None, None, None)
    assert not folder.exists()
    assert other.exists()


def test_half_a_lease_is_no_living_holder() -> None:
    store = Store()
    store.content = b'{"holder": "half a '
    held = Lock(store)
    assert held.acquire()
    held.release()


@pytest.mark.spark
def test_a_run_that_lost_its_output_ends_with_one_clear_line(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where it finds that between two waves, when no wave is there to be committed."""
    monkeypatch.setattr(run, "clean_task", lambda *_: None)
    monkeypatch.setattr(run.plan, "waves", lambda _: iter([0]))
    files: Any = SimpleNamespace(location="file:///out", lock=SimpleNamespace(lost=lambda: True))
    this: Any = SimpleNamespace(request=None, models={}, id="victor", stop=threading.Event())
    planned, nothing = SimpleNamespace(begins=[0, 1]), SimpleNamespace()
    with pytest.raises(OutputError, match="another run took the output over"):
        run._clean(spark, files, this, planned, {}, nothing)  # type: ignore[arg-type]


def test_a_beat_under_way_does_not_bring_a_released_lease_back() -> None:
    """A store that answers slowly, as HDFS under load."""
    store = Store()
    writing, leave, written = threading.Event(), threading.Event(), threading.Event()
    held = Lock(store)
    assert held.acquire()
    write = store.write

    def slowly(name: str, content: bytes) -> None:
        writing.set()
        leave.wait(10)
        write(name, content)
        written.set()

    store.write = slowly  # type: ignore[method-assign]
    assert writing.wait(10)
    threading.Timer(0.05, leave.set).start()
    held.release()
    assert written.wait(10)
    assert store.content is None
