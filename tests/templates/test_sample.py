"""The sample of a site depends on its texts only: not on order, copies or partitions."""

import random
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from victor_spark.templates import mine
from victor_spark.templates.mine import Smallest, page_key, sample

texts = st.lists(st.text(max_size=8), max_size=60)


def by_definition(of: list[str], max_pages: int, max_characters: int) -> list[str]:
    """The longest run of smallest keys within both limits (one text in any case)."""
    ordered = sorted(set(of), key=page_key)
    n = len(ordered)
    while n > max_pages or (n > 1 and sum(map(len, ordered[:n])) > max_characters):
        n -= 1
    return ordered[:n]


@given(texts, st.integers(1, 20), st.integers(1, 60))
def test_the_sample_is_the_longest_run_of_smallest_keys(of: list[str], pages: int, characters: int) -> None:
    assert sample(of, pages, characters) == by_definition(of, pages, characters)


@given(texts, st.integers(1, 10), st.integers(1, 60), st.integers(1, 5), st.randoms(use_true_random=False))
def test_tasks_that_pass_on_what_they_take_change_nothing(
    of: list[str], pages: int, characters: int, n_tasks: int, chance: random.Random
) -> None:
    dealt: list[list[str]] = [[] for _ in range(n_tasks)]
    for text in of:
        chance.choice(dealt).append(text)
    passed_on = []
    for task in dealt:
        smallest = Smallest(pages, characters)
        passed_on += [text for text in task if smallest.take(page_key(text), len(text))[0]]
    chance.shuffle(passed_on)
    assert sample(passed_on, pages, characters) == sample(of, pages, characters)


def test_one_text_a_thousand_times_is_one_page() -> None:
    assert sample(["the same"] * 1000 + ["another"], 10) == sorted(["the same", "another"], key=page_key)


def test_few_of_many_texts_are_passed_on() -> None:
    """k·(1 + ln(n/k)) are expected of n texts in random order: about 73 here."""
    smallest = Smallest(10)
    n_taken = sum(smallest.take(page_key(f"page {number}"), 10)[0] for number in range(5000))
    assert n_taken < 150


def test_memory_is_bounded_by_the_sample_not_by_the_site() -> None:
    pages = (f"{number} " + "x" * 20_000 for number in range(3000))  # 60 MB in all
    tracemalloc.start()
    try:
        assert len(sample(pages, 20)) == 20
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2_000_000


def test_a_very_long_page_is_mined_by_its_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mine, "MAX_PAGE_CHARACTERS", 100)
    found = mine.ends("begin " + "x" * 5000 + " end")
    assert found.startswith("begin ")
    assert found.endswith(" end")
    assert len(found) == 101
    assert mine.ends("short") == "short"
