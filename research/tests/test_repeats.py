"""Maximal repeats: by hand, against brute force, and in time for hostile texts."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from research import repeats

DEPTH = 64


def found(strings: list[str], shortest: int = 1) -> dict[str, set[tuple[int, int]]]:
    """Maximal repeat → its places (string, offset)."""
    text = repeats.joined(strings)
    array = repeats.suffix_array(text.codes, DEPTH)
    result = {}
    for column in repeats.maximal_repeats(text.codes, array, shortest):
        for first, end in zip(column.first.tolist(), column.end.tolist(), strict=True):
            positions = array.order[first:end].tolist()
            owners = [int(text.owner[position]) for position in positions]
            start = positions[0] - int(text.starts[owners[0]])
            string = strings[owners[0]][start : start + column.length]
            result[string] = {
                (owner, position - int(text.starts[owner]))
                for owner, position in zip(owners, positions, strict=True)
            }
    return result


def brute_force(strings: list[str]) -> dict[str, set[tuple[int, int]]]:
    """The definition: at least two places, not all of them preceded or followed by the same character."""
    places: dict[str, set[tuple[int, int]]] = {}
    for owner, string in enumerate(strings):
        for start in range(len(string)):
            for end in range(start + 1, len(string) + 1):
                places.setdefault(string[start:end], set()).add((owner, start))
    maximal = {}
    for repeat, own in places.items():
        left = {strings[owner][start - 1] if start else owner for owner, start in own}
        ends = [(owner, start + len(repeat)) for owner, start in own]
        right = {strings[owner][end] if end < len(strings[owner]) else owner for owner, end in ends}
        if len(own) > 1 and len(left) > 1 and len(right) > 1:
            maximal[repeat] = own
    return maximal


def test_a_worked_example() -> None:
    assert found(["cholera here", "more cholera"]) == {
        "cholera": {(0, 0), (1, 5)},
        "r": {(0, 5), (0, 10), (1, 2), (1, 10)},
        "e": {(0, 4), (0, 9), (0, 11), (1, 3), (1, 9)},
        "re": {(0, 10), (1, 2)},
        "er": {(0, 4), (0, 9), (1, 9)},
        "o": {(0, 2), (1, 1), (1, 7)},
        " ": {(0, 7), (1, 4)},
        "h": {(0, 1), (0, 8), (1, 6)},
    }


def test_no_repeat_spans_two_strings() -> None:
    assert "ab" not in found(["xa", "b", "ya", "b"])


@given(st.lists(st.text("ab", max_size=12), min_size=1, max_size=4))
def test_the_repeats_are_those_of_the_definition(strings: list[str]) -> None:
    assert found(strings) == brute_force(strings)


@given(st.lists(st.text(max_size=8), min_size=1, max_size=4))
def test_any_characters_do_also_surrogates_and_those_beyond_the_plane(strings: list[str]) -> None:
    assert found(strings) == brute_force(strings)


@given(st.lists(st.text("abc", max_size=20), min_size=1, max_size=3), st.integers(1, 8))
def test_suffixes_are_sorted_and_common_prefixes_exact_up_to_the_depth(
    strings: list[str], depth: int
) -> None:
    text = repeats.joined(strings)
    array = repeats.suffix_array(text.codes, depth)
    assert depth <= array.depth < 2 * depth
    suffixes = [tuple(text.codes[row : row + array.depth].tolist()) for row in array.order.tolist()]
    assert suffixes == sorted(suffixes)
    assert sorted(array.order.tolist()) == list(range(len(text.codes)))
    for left, right, lcp in zip(suffixes, suffixes[1:], array.lcp[1:].tolist(), strict=False):
        same = [a == b for a, b in zip(left, right, strict=False)] + [False]
        assert same.index(False) == lcp


def test_repeats_shorter_than_asked_for_are_left_out() -> None:
    assert set(found(["cholera here", "more cholera"], shortest=2)) == {"cholera", "re", "er"}


@pytest.mark.parametrize("unit", ["a", "ab", "cholera "])
def test_a_text_that_repeats_itself_takes_no_longer_than_its_length(unit: str) -> None:
    text = repeats.joined([unit * (200_000 // len(unit)), "a cholera"])
    started = time.process_time()
    longest = next(repeats.maximal_repeats(text.codes, repeats.suffix_array(text.codes, DEPTH)))
    assert longest.length >= DEPTH - len(unit)
    assert time.process_time() - started < 20


def test_a_function_over_runs_that_are_apart() -> None:
    column = np.array([5, 1, 4, 9, 2, 8])
    first, end = np.array([0, 4]), np.array([3, 6])
    assert repeats.over_runs(np.minimum, column, first, end).tolist() == [1, 2]
    assert repeats.over_runs(np.maximum, column, first[:1], end[:1]).tolist() == [5]
    assert repeats.over_runs(np.maximum, column, first[:0], end[:0]).tolist() == []
