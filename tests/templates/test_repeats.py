"""Suffix array and classes of repeated strings, compared with their definitions."""

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.test_uncompiled import from_source
from victor_spark.blocks import Int32
from victor_spark.errors import UsageError
from victor_spark.templates import repeats as module
from victor_spark.templates.repeats import Corpus, Repeats, corpus, repeats, suffix_array

documents = st.lists(
    st.lists(st.integers(0, 2), max_size=12).map(lambda symbols: np.array(symbols, dtype=np.int32)),
    min_size=1,
    max_size=6,
)


@given(
    symbols=st.lists(
        st.sampled_from([0, 1, 255, 256, 65_536, (1 << 24) - 1, 1 << 24, 2**31 - 1]), max_size=40
    )
)
def test_suffixes_are_in_order(symbols: list[int]) -> None:
    found = suffix_array(np.array(symbols, dtype=np.int32))
    assert found.tolist() == sorted(range(len(symbols)), key=lambda place: symbols[place:])


def by_definition(
    pages: list[Int32], least_length: int, least_documents: int
) -> dict[tuple[int, ...], set[tuple[int, int]]]:
    """Maximal repeats → their occurrences (page, place): a longer string never occurs as often."""
    places = defaultdict(set)
    for number, page in enumerate(pages):
        symbols = tuple(page.tolist())
        for begin in range(len(symbols)):
            for end in range(begin + 1, len(symbols) + 1):
                places[symbols[begin:end]].add((number, begin))
    repeated = {string: found for string, found in places.items() if len(found) > 1}

    def grows(string: tuple[int, ...]) -> bool:
        return any(
            len(repeated.get(longer, ())) == len(repeated[string])
            for symbol in range(3)
            for longer in ((symbol, *string), (*string, symbol))
        )

    return {
        string: found
        for string, found in repeated.items()
        if not grows(string)
        and len(string) >= least_length
        and len({number for number, _ in found}) >= least_documents
    }


def strings(ground: Corpus, found: Repeats) -> list[tuple[int, ...]]:
    return [
        tuple(ground.symbols[place : place + length].tolist())
        for place, length in zip(found.position.tolist(), found.length.tolist(), strict=True)
    ]


@pytest.mark.parametrize("compiled", [True, False])
@given(
    pages=documents,
    least_length=st.integers(1, 3),
    least_documents=st.integers(1, 3),
    seed=st.integers(0, 99),
)
@settings(max_examples=40)
def test_classes_are_the_maximal_repeats_with_all_their_counts(
    compiled: bool, pages: list[Int32], least_length: int, least_documents: int, seed: int
) -> None:
    ground = corpus(pages, 3)
    edges = np.random.default_rng(seed).integers(0, 4, len(ground.symbols)).astype(np.uint8)
    edges[ground.symbols >= 3] = 0
    with pytest.MonkeyPatch.context() as patch:
        if not compiled:
            patch.setattr(module, "kernel", KERNEL)
            patch.setattr(module, "kernel", KERNEL)
        found = repeats(ground, edges, least_length=least_length, least_documents=least_documents)
    expected = by_definition(pages, least_length, least_documents)
    named = strings(ground, found)
    assert sorted(named) == sorted(expected)
    for row, string in enumerate(named):
        places = [(page, int(ground.first[page]) + begin) for page, begin in expected[string]]
        for kind in range(4):
            standing = [
                (page, place)
                for page, place in places
                if (edges[place] & 1 | edges[place + len(string) - 1] & 2) & kind == kind
            ]
            assert found.n_occurrences[row, kind] == len(standing)
            assert found.document_frequency[row, kind] == len({page for page, _ in standing})
        assert found.position[row] == min(place for _, place in places)
        shares = [len(string) / len(pages[page]) for page, _ in places]
        assert found.page_share[row] == pytest.approx(np.mean(shares))


KERNEL = from_source("kernels.repeats")


def test_pages_of_more_tokens_than_a_suffix_array_holds_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_TOKENS", 5)
    page = np.zeros(2, dtype=np.int32)
    with pytest.raises(UsageError, match=r"6 tokens do not fit one suffix array .* mine fewer pages"):
        corpus([page, page], 1)


def test_more_classes_than_expected_are_all_found() -> None:
    """The first room for classes is too small for these."""
    dice = np.random.default_rng(7)
    page = dice.integers(0, 2, 40_000).astype(np.int32)
    ground = corpus([page, page[::-1].copy()], 2)
    found = repeats(ground, np.zeros(len(ground.symbols), np.uint8), least_length=2, least_documents=2)
    assert len(found) > len(ground.symbols) // 16 + 1024
    assert len(set(strings(ground, found))) == len(found)
