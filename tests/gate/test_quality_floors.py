"""Floors equal the measurements, are written and read back, and are lowered only with a reason."""

from pathlib import Path

import pytest

from tests.gate import floors
from victor_spark.errors import ConfigurationError, UsageError

ALL, NEWS = ("victor", "unseen", "all"), ("victor", "unseen", "news")


def test_floors_are_read_as_they_were_written(tmp_path: Path) -> None:
    because = 'the set was "wrong"'
    first = floors.pinned(None, {ALL: 0.9, NEWS: 0.8, ("a+b", "seen", "news"): 0.5}, "hash", None)
    second = floors.pinned(first, {ALL: 0.7, NEWS: 0.8}, "hash2", because)
    for written in (first, second):
        floors.write(tmp_path / "floors.toml", written)
        assert floors.read(tmp_path / "floors.toml") == written


def test_nothing_is_pinned_where_no_file_is(tmp_path: Path) -> None:
    assert floors.read(tmp_path / "floors.toml") is None


def test_a_new_floor_is_a_little_below_what_was_measured() -> None:
    pinned = floors.pinned(None, {ALL: 0.9, NEWS: 0.8}, "hash", None)
    assert 0.89 < pinned.floors[ALL] < 0.9
    assert 0.77 < pinned.floors[NEWS] < 0.8
    assert not floors.broken(pinned, {ALL: 0.9, NEWS: 0.8})


def test_a_figure_below_its_floor_and_a_missing_figure_are_reported() -> None:
    pinned = floors.pinned(None, {ALL: 0.9, NEWS: 0.8}, "hash", None)
    below, missing = floors.broken(pinned, {ALL: 0.85})
    assert "victor.unseen.all: 0.8500 is below its floor" in below
    assert "victor.unseen.news" in missing


def test_lowering_needs_a_reason_and_keeps_it() -> None:
    before = floors.pinned(None, {ALL: 0.9}, "hash", None)
    with pytest.raises(UsageError, match="--lower-because"):
        floors.pinned(before, {ALL: 0.8}, "hash", None)
    after = floors.pinned(before, {ALL: 0.8}, "hash", "fewer pages")
    assert after.lowered[0]["because"] == "fewer pages"
    assert after.lowered[0]["from"] == before.floors[ALL]
    assert len(floors.differences(before, after)) == 1


def test_noise_neither_lowers_a_floor_nor_needs_a_reason() -> None:
    before = floors.pinned(None, {ALL: 0.9}, "hash", None)
    assert floors.pinned(before, {ALL: 0.899}, "hash", None).floors == before.floors


def test_a_better_figure_raises_the_floor() -> None:
    before = floors.pinned(None, {ALL: 0.9}, "hash", None)
    assert floors.pinned(before, {ALL: 0.95}, "hash", None).floors[ALL] > before.floors[ALL]


@pytest.mark.parametrize("text", ["floors", "[victor.seen]\nall = 0.5\n", "gold = 'x'\nvictor = 1\n"])
def test_a_damaged_file_is_one_clear_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "floors.toml").write_text(text)
    with pytest.raises(ConfigurationError, match=r"floors\.toml"):
        floors.read(tmp_path / "floors.toml")
