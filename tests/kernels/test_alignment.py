"""The alignment kernel finds the best alignment, proved against a dense dynamic programme."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from victor_spark.words import OPEN_COST, match

texts = st.lists(st.sampled_from("abcdef"), max_size=24)
repetitive = st.lists(st.sampled_from("ab"), max_size=24)


def best_score(page: list[str], gold: list[str]) -> int:
    """The optimum over all monotone alignments, cell by cell: H any end, M a pair at the end."""
    impossible = -(10**6)
    h = [[0] * (len(gold) + 1) for _ in range(len(page) + 1)]
    m = [[impossible] * (len(gold) + 1) for _ in range(len(page) + 1)]
    for i, page_word in enumerate(page, 1):
        for j, gold_word in enumerate(gold, 1):
            if page_word == gold_word:
                m[i][j] = 1 + max(m[i - 1][j - 1], h[i - 1][j - 1] - OPEN_COST)
            h[i][j] = max(h[i - 1][j], h[i][j - 1], m[i][j])
    return h[-1][-1]


def score(matched: list[int]) -> int:
    """Matches minus the cost of runs, a run being consecutive on both sides."""
    runs = sum(
        1 for i, j in enumerate(matched) if j >= 0 and not (i > 0 and j > 0 and matched[i - 1] == j - 1)
    )
    return sum(j >= 0 for j in matched) - OPEN_COST * runs


@given(texts | repetitive, texts | repetitive)
def test_alignment_is_optimal(page: list[str], gold: list[str]) -> None:
    assert score(match(page, gold).tolist()) == best_score(page, gold)


@given(texts, texts)
def test_pairs_are_equal_words_in_ascending_order(page: list[str], gold: list[str]) -> None:
    matched = match(page, gold)
    positions = matched[matched >= 0]
    assert (np.diff(positions) > 0).all()
    assert all(page[i] == gold[j] for i, j in enumerate(matched) if j >= 0)


@given(texts)
def test_a_text_of_some_length_matches_itself_whole(text: list[str]) -> None:
    expected = list(range(len(text))) if len(text) > OPEN_COST else [-1] * len(text)
    assert match(text, text).tolist() == expected


def test_stray_words_before_the_text_stay_unmatched() -> None:
    text = ["the", "quick", "brown", "fox", "jumps"]
    assert match(["home", "news", "the", *text, "home"], text).tolist() == [-1, -1, -1, 0, 1, 2, 3, 4, -1]
