"""Normalising: composed, lower case, letters and marks only, and offsets that still hold."""

import unicodedata

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from victor_spark.kernels import num
from victor_spark.langid.normalise import folded, folding_table, joined, normalised


def parts(texts: list[str]) -> list[str]:
    text, starts, ends = folded(*joined(texts))
    decoded = "".join(map(chr, text.tolist()))
    return [decoded[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]


def test_case_digits_and_signs_go_letters_and_marks_stay() -> None:
    assert normalised("Ahoj, SVĚTE! 42 × naïve") == "ahoj světe naïve"
    assert normalised("ภาษาไทย 123") == "ภาษาไทย"
    assert normalised("हिन्दी भाषा।") == "हिन्दी भाषा"


def test_decomposed_text_is_composed_and_segments_stay_apart() -> None:
    decomposed = unicodedata.normalize("NFD", "příliš žluťoučký")
    assert parts([decomposed, "kůň", decomposed]) == ["příliš žluťoučký", "kůň", "příliš žluťoučký"]
    assert parts([unicodedata.normalize("NFD", "한국어"), "x"]) == ["한국어", "x"]


def test_no_texts_and_empty_texts_are_fine() -> None:
    assert parts([]) == []
    assert parts(["", "", "a", ""]) == ["", "", "a", ""]


def test_what_no_mark_composes_is_not_in_doubt_and_no_sign_is_a_letter() -> None:
    table = folding_table()
    assert not [letter for letter in "KÅΩά車樂" if table[ord(letter)] & num.NOT_COMPOSED]
    assert all(table[ord(letter)] & num.NOT_COMPOSED for letter in "\u0301\u093c\u212a\uf900")
    assert {int(table[ord(sign)]) for sign in ";`·"} == {ord(" ")}


@given(st.lists(st.text(max_size=20), max_size=5))
def test_a_text_is_normalised_alike_alone_and_among_others(texts: list[str]) -> None:
    assert [" ".join(part.split(" ")).split() for part in parts(texts)] == [
        normalised(text).split() for text in texts
    ]


@given(st.text(max_size=30))
def test_normalising_twice_changes_nothing(text: str) -> None:
    once = normalised(text)
    assert normalised(once) == once


@given(st.lists(st.text("abcě1 ", max_size=20), max_size=5))
def test_offsets_stay_where_nothing_is_composed(texts: list[str]) -> None:
    text, starts, ends = joined(texts)
    _, new_starts, new_ends = folded(text, starts, ends)
    assert np.array_equal(starts, new_starts)
    assert np.array_equal(ends, new_ends)
