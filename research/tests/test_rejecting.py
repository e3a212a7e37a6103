"""The pages that are rejected by each expected F1, and the pages left when doubtful ones are dropped."""

import pytest

from research import rejecting
from research.out_of_fold import Decided, PageRow


def row(number: int, expected: float, *, n_gold: int, n_common: int, bar: float = 0.2) -> PageRow:
    """A page of whose 10 words kept `n_common` are right; rejected below the bar."""
    kept = Decided(10, n_common, expected)
    decided = kept if expected >= bar else Decided(0, 0, 0.0)
    return PageRow("news", str(number), f"site{number}", "en", None, 0, n_gold, decided, kept)


ROWS = [
    row(1, 0.9, n_gold=10, n_common=9),
    row(2, 0.95, n_gold=10, n_common=10),
    row(3, 0.5, n_gold=10, n_common=4),
    row(4, 0.1, n_gold=10, n_common=5),  # content that is lost at 0.2
    row(5, 0.15, n_gold=0, n_common=0),
    row(6, 0.4, n_gold=0, n_common=0),  # nothing to keep, but kept
]


def test_a_higher_bar_gives_up_more_pages_of_both_kinds() -> None:
    assert rejecting.n_empty(ROWS) == 2
    bars = rejecting.curve(ROWS, (0.0, 0.12, 0.2, 0.45, 0.99))
    assert [(bar.n_empty_rejected, bar.n_content_rejected) for bar in bars] == [
        (0, 0), (0, 1), (1, 1), (2, 1), (2, 4),
    ]  # fmt: skip


def test_the_f1_at_the_bar_in_use_is_that_of_the_output() -> None:
    (at_bar,) = rejecting.curve(ROWS, (0.2,))
    assert at_bar.word_f1 == pytest.approx(sum(each.word_f1 for each in ROWS) / len(ROWS))


def test_expected_f1_is_held_against_what_was_measured() -> None:
    ranges, error, correlation = rejecting.reliability(ROWS)
    assert sum(each.n_pages for each in ranges) == 4
    assert ranges[-1].expected == pytest.approx(0.95)
    assert ranges[-1].measured == pytest.approx(1.0)
    assert error == pytest.approx((0.05 + 0.0 + 0.1 + 0.4) / 4)
    assert correlation > 0.8


def test_dropping_doubtful_pages_leaves_better_ones() -> None:
    kept = rejecting.dropping(ROWS, (0.0, 0.45, 0.92, 0.99))
    assert [each.n_pages for each in kept] == [4, 3, 1]
    assert [each.word_f1 for each in kept] == sorted(each.word_f1 for each in kept)
