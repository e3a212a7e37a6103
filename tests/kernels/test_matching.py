"""Matching blocks match what those of difflib match, for any repeats, and take nearly linear time."""

import time
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from victor_spark import words
from victor_spark.evaluation import cleaneval
from victor_spark.kernels import uncompiled

letters = st.text("ab", max_size=40) | st.text("abcdef", max_size=60) | st.text(max_size=30)


@st.composite
def related(draw: st.DrawFn) -> tuple[str, str]:
    """Two texts made of the same few pieces, so that long runs repeat."""
    pieces = draw(st.lists(st.text("abc", min_size=1, max_size=8), min_size=1, max_size=5))
    first, second = (draw(st.lists(st.sampled_from(pieces), max_size=12)) for _ in range(2))
    return "".join(first), "".join(second)


def matched(blocks: Iterable[Sequence[int]]) -> list[tuple[int, int]]:
    """The places in both sequences that blocks match, token by token."""
    return sorted((i + k, j + k) for i, j, length in blocks for k in range(length))


def of_difflib(a: object, b: object) -> list[tuple[int, int]]:
    return matched(SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks())


def ours(a: object, b: object) -> list[tuple[int, int]]:
    return matched(cleaneval.matching_blocks(a, b).tolist())


@given(st.tuples(letters, letters) | related())
@example(("abababbb", "bbbabab"))
@example(("", "a"))
@example(("\ud800x", "x\udfff"))
def test_blocks_and_ratio_are_those_of_difflib(pair: tuple[str, str]) -> None:
    a, b = pair
    expected = of_difflib(a, b)
    assert ours(a, b) == expected
    assert cleaneval.overlap(a, b).n_common == len(expected)


@given(related())
def test_tokens_of_any_kind_match_as_characters_do(pair: tuple[str, str]) -> None:
    a, b = pair
    assert ours([*map(ord, a)], [*map(ord, b)]) == ours(a, b)
    assert ours(a.split("a"), b.split("a")) == of_difflib(a.split("a"), b.split("a"))


@given(st.lists(st.integers(0, 3), max_size=300), st.lists(st.integers(0, 3), max_size=300))
def test_longer_sequences_match_as_in_difflib(a: list[int], b: list[int]) -> None:
    assert ours(a, b) == of_difflib(a, b)


@given(st.text("abcd", max_size=40), st.text("abcd", max_size=40))
def test_the_longest_common_subsequence_is_that_of_the_plain_dynamic_programme(a: str, b: str) -> None:
    row = [0] * (len(b) + 1)
    for left in a:
        before = row
        row = [0]
        for column, right in enumerate(b):
            row.append(before[column] + 1 if left == right else max(before[column + 1], row[column]))
    assert words.subsequence(a, b) == row[-1]


@pytest.mark.skipif(bool(uncompiled()), reason="uncompiled kernels are slow")
@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("ab" * 50_000, "ba" * 40_000 + "a" * 20_000),
        ("a" * 100_000, "a" * 30_000 + "b" + "a" * 50_000),
        ("".join(map(str, range(20_000))), "".join(map(str, range(20_000, 0, -1)))),
    ],
    ids=["two letters", "one letter", "numbers up and down"],
)
def test_a_hundred_thousand_characters_take_seconds(a: str, b: str) -> None:
    start = time.process_time()
    cleaneval.matching_blocks(a, b)
    assert time.process_time() - start < 5
