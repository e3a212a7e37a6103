"""Where there are no locks, a lease lets one run write: the living one, whatever the clocks say."""

import json
import threading
import time

import pytest

from victor_spark.spark import lease
from victor_spark.spark.lease import Held

BEAT = 0.02
PATIENCE = 0.3


class Store:
    """A file in a store: written and read whole."""

    def __init__(self) -> None:
        self.content: bytes | None = None
        self.is_away = False

    def read(self) -> bytes | None:
        if self.is_away:
            raise OSError("the store is away")
        return self.content

    def write(self, content: bytes) -> None:
        if self.is_away:
            raise OSError("the store is away")
        self.content = content


def acquire(store: Store) -> Held | None:
    return lease.acquire(store.read, store.write, beat=BEAT, patience=PATIENCE)


def test_the_second_run_refuses_while_the_first_lives() -> None:
    store = Store()
    first = acquire(store)
    assert first
    assert acquire(store) is None
    assert not first.lost.is_set()
    assert first.release()


def test_a_dead_run_is_succeeded_and_finds_out_if_it_wakes() -> None:
    store = Store()
    dead = acquire(store)
    assert dead
    dead._over.set()  # its thread stops, as that of a process that was killed
    time.sleep(2 * BEAT)
    second = acquire(store)
    assert second
    dead.beat()
    assert dead.lost.is_set()
    assert not dead.release()
    assert json.loads(store.content or b"")["holder"] == second.holder
    assert second.release()


def test_of_two_that_find_it_free_one_has_it() -> None:
    store, found = Store(), list[Held | None]()
    threads = [threading.Thread(target=lambda: found.append(acquire(store))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    held = [one for one in found if one is not None]
    assert len(held) == 1
    assert held[0].release()


def test_a_clock_that_jumps_back_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store()
    first = acquire(store)
    assert first
    monkeypatch.setattr(time, "time", lambda: 0.0)
    assert acquire(store) is None
    assert first.release()


def test_a_run_that_cannot_reach_the_store_for_long_knows_that_others_think_it_dead() -> None:
    store = Store()
    held = acquire(store)
    assert held
    store.is_away = True
    assert held.lost.wait(100 * BEAT)


def test_half_a_lease_is_no_living_holder() -> None:
    store = Store()
    store.content = b'{"holder": "half a '
    held = acquire(store)
    assert held
    assert held.release()
