"""Folds keep sites together, have similar sizes within every set, and don't depend on the order."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from victor_spark.errors import UsageError
from victor_spark.evaluation.cross_validation import folds_by_site

pages = st.lists(
    st.tuples(st.integers(0, 30).map("site{}".format), st.sampled_from(["news", "forum"])),
    min_size=1,
    max_size=120,
).filter(lambda rows: len({site for site, _ in rows}) >= 3)


@given(pages)
def test_no_site_is_in_two_folds_and_no_fold_is_empty(rows: list[tuple[str, str]]) -> None:
    sites, sets = map(list, zip(*rows, strict=True))
    folds = folds_by_site(sites, sets, 3)
    assert len(set(zip(sites, folds.tolist(), strict=True))) == len(set(sites))


@given(pages, st.randoms(use_true_random=False))
def test_the_order_of_the_pages_does_not_matter(
    rows: list[tuple[str, str]], random: np.random.Generator
) -> None:
    def fold_of(pairs: list[tuple[str, str]]) -> dict[str, int]:
        sites, sets = map(list, zip(*pairs, strict=True))
        return dict(zip(sites, folds_by_site(sites, sets, 3).tolist(), strict=True))

    shuffled = list(rows)
    random.shuffle(shuffled)  # type: ignore[arg-type]
    assert fold_of(rows) == fold_of(shuffled)


def test_folds_are_balanced_within_every_set() -> None:
    sites = [f"s{number}" for number in range(100)]
    sets = ["news"] * 70 + ["forum"] * 30
    counts = Counter(zip(sets, folds_by_site(sites, sets, 10).tolist(), strict=True))
    assert {counts["news", fold] for fold in range(10)} == {7}
    assert {counts["forum", fold] for fold in range(10)} == {3}


@pytest.mark.parametrize("n_folds", [1, 3])
def test_too_few_folds_or_sites_are_refused(n_folds: int) -> None:
    with pytest.raises(UsageError, match="folds"):
        folds_by_site(["a", "b"], ["x", "x"], n_folds)
