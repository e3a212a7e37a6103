"""The n-gram kernel gives the same results compiled and interpreted, and follows its definitions."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from victor_spark.kernels import memory_views as views
from victor_spark.kernels import ngrams, num
from victor_spark.langid import normalise, scores
from victor_spark.langid.profiles import Profiles

WORDS = st.text("abcčdeěiíkmnoóprřsštuvyzžАбвг中文的ไทย'1., \n", max_size=80)
ANYTHING = st.text(max_size=40)
TEXTS = st.lists(st.one_of(WORDS, ANYTHING), min_size=1, max_size=6)


@pytest.fixture(scope="module")
def lanes(shipped: Profiles) -> tuple[str, ...]:
    return scores.lanes_of(shipped, ("cs",))


@given(texts=TEXTS)
def test_folding_is_the_same_uncompiled(uncompiled: Any, texts: list[str]) -> None:
    text, _, _ = normalise.joined(texts)
    mine, theirs = np.zeros_like(text), np.zeros_like(text)
    table = normalise.folding_table()
    assert ngrams.fold(*views(text, table, mine)) == uncompiled.fold(*views(text, table, theirs))
    assert (mine == theirs).all()


def test_hash_tables_are_the_same_uncompiled(shipped: Profiles, uncompiled: Any) -> None:
    grams = np.ascontiguousarray(shipped.profiles["cs"].trigrams)
    rows = np.arange(len(grams), dtype=np.uint32)
    slots = np.zeros(1 << 14, dtype=np.uint64)
    uncompiled.insert(*views(slots, grams, rows, np.ones_like(rows)))
    assert (slots == scores.slots_of(grams, rows, np.ones_like(rows))).all()


LONG = "příliš žluťoučký kůň " * 12
"""More known trigrams than the kernel looks up at once."""


@given(texts=TEXTS, most=st.sampled_from([3, 64, 1000]))
@example(texts=[LONG, "a", LONG * 2], most=1000)
def test_scores_are_the_same_uncompiled(
    shipped: Profiles, lanes: tuple[str, ...], uncompiled: Any, texts: list[str], most: int
) -> None:
    letters = normalise.folded(*normalise.joined(texts))
    n = len(texts)
    tables = scores.trigram_table(shipped), scores.lane_table(shipped, lanes)
    ranks = scores.rank_table(shipped, lanes, True)
    outputs = []
    for kernel in (ngrams, uncompiled):
        gains, n_gains = np.zeros((2, n, len(shipped.languages)), np.int32), np.zeros((2, n), np.int32)
        for found, n_found, table in zip(gains, n_gains, tables, strict=True):
            columns = views(letters[0], normalise.folding_table(), *letters[1:], table.slots, table.entries)
            kernel.score_trigrams(*columns, most, *views(found, n_found))
        distances, n_ngrams = np.zeros((n, ranks.ranks.shape[1]), np.uint16), np.zeros(n, np.int32)
        counts, seen = np.zeros(len(ranks.ranks), np.int32), np.zeros(len(ranks.ranks), np.int32)
        histogram, rank_of = np.zeros(9, np.int32), np.zeros(9, np.int32)
        trie, scratch = (ranks.slots, ranks.roots, ranks.ranks), (counts, seen, histogram, rank_of)
        kernel.rank_distances(*views(*letters, *trie), most, *views(*scratch, distances, n_ngrams))
        assert not counts.any()
        assert not histogram.any()
        outputs.append((gains, n_gains, distances, n_ngrams))
    for mine, theirs in zip(*outputs, strict=True):
        assert (mine == theirs).all()


@given(texts=TEXTS)
def test_lanes_score_as_all_languages_do(shipped: Profiles, lanes: tuple[str, ...], texts: list[str]) -> None:
    letters = normalise.folded(*normalise.joined(texts))
    columns = [shipped.languages.index(name) for name in lanes]
    all_gains, n_letters = scores.gains(shipped, *letters, 64)
    lane_gains, n_lane_letters = scores.gains(shipped, *letters, 64, lanes)
    assert (all_gains[:, columns] == lane_gains[:, :-1]).all()
    assert (n_letters == n_lane_letters).all()


@given(text=WORDS)
@example(text=LONG)
def test_a_gain_is_the_sum_over_the_text_s_trigrams(shipped: Profiles, text: str) -> None:
    letters, starts, ends = normalise.folded(*normalise.joined([text]))
    profile = shipped.profiles["cs"]
    known = dict(zip(map(tuple, profile.trigrams.tolist()), profile.gains.tolist(), strict=True))
    expected = 0
    for word in "".join(map(chr, letters.tolist())).split(" "):
        a, b = " ", " "
        for c in f"{word} " if word else "":
            a, b = (" ", " ") if is_ideograph(c) else (a, b)
            expected += known.get((ord(a), ord(b), ord(c)), 0)
            a, b = (" ", " ") if is_ideograph(c) else (b, c)
    gains, _ = scores.gains(shipped, letters, starts, ends)
    assert gains[0, shipped.languages.index("cs")] == expected


def is_ideograph(character: str) -> bool:
    return 0x3400 <= ord(character) < 0xA000 or ord(character) >= 0x20000


@given(text=st.text("abcdeěio ", max_size=60))
def test_a_distance_is_the_sum_over_the_text_s_ngrams(shipped: Profiles, text: str) -> None:
    profile = {ngram: rank for rank, ngram in enumerate(shipped.profiles["cs"].ngrams)}
    table = scores.rank_table(shipped, ("cs", "sk"), with_rest=False)
    known = {*profile, *shipped.profiles["sk"].ngrams}
    known |= {ngram[:length] for ngram in known for length in range(1, len(ngram))}
    counts: Counter[str] = Counter()
    for word in text.split():
        padded = f" {word} "
        grams = [padded[i : i + n] for i in range(len(padded)) for n in range(1, 6) if i + n <= len(padded)]
        counts.update(gram for gram in grams if gram in known and gram.strip(" "))
    expected = 0
    for gram, count in counts.items():
        above = sum(other > count for other in counts.values())
        ties = sum(other == count for other in counts.values())
        rank = (above + ties // 2) // num.RANK_STEP
        mine = profile[gram] // num.RANK_STEP if gram in profile else num.NO_RANK
        expected += min(abs(rank - mine), num.FARTHEST_RANK)
    letters = normalise.folded(*normalise.joined([text]))
    distances, n_ngrams = scores.distances(table, *letters, 1000)
    assert (distances[0, 0], n_ngrams[0]) == (expected, len(counts))


def test_the_longest_block_of_the_likeliest_trigrams_does_not_overflow(shipped: Profiles) -> None:
    lanes = scores.lanes_of(shipped, ("cs",))
    for text in ("e " * 3000, "na " * 3000, "ab " * 40_000):
        letters = normalise.folded(*normalise.joined([text]))
        gains, _ = scores.gains(shipped, *letters, 128, lanes)
        expected, _ = scores.gains(shipped, *letters, 128)
        assert gains[0, 0] == expected[0, shipped.languages.index("cs")]
