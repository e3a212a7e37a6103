"""Near-identical pages count once."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from victor_spark.blocks import Int32
from victor_spark.templates.mine import distinct

symbols = st.lists(st.integers(0, 50), max_size=40).map(lambda row: np.array(row, dtype=np.int32))


@given(pages=st.lists(symbols, max_size=10))
def test_pages_with_the_same_tokens_count_once(pages: list[Int32]) -> None:
    seen, expected = set(), []
    for page in pages:
        own = frozenset(page.tolist())
        expected.append(bool(own) and own not in seen)
        seen.add(own)
    assert distinct(pages, 1.0).tolist() == expected


@given(pages=st.lists(symbols, max_size=10))
def test_pages_that_share_little_are_all_distinct(pages: list[Int32]) -> None:
    own = [page + 1000 * number for number, page in enumerate(pages)]
    assert distinct(own, 0.9).tolist() == [len(page) > 0 for page in pages]


def test_a_page_with_two_other_words_in_three_hundred_is_the_same_page() -> None:
    dice = np.random.default_rng(3)
    page = np.arange(300, dtype=np.int32)
    pages = [page]
    for _ in range(200):
        other = page.copy()
        other[dice.integers(0, 300, 2)] = dice.integers(1000, 100_000, 2)
        pages.append(other)
    assert distinct(pages, 0.98).sum() == 1
