"""The evaluation's words: casefolded runs, characters of unspaced scripts, joined over inline tags."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from victor_spark.html.segment import segment
from victor_spark.words import block_words, match, words


def page(body: str) -> str:
    return f"<html><head></head><body>{body}</body></html>"


def test_words_are_casefolded_runs_of_letters_and_digits() -> None:
    assert words("Die STRASSE, 2 Straßen – it's_ok!") == ["die", "strasse", "2", "strassen", "it", "s_ok"]


def test_composed_and_decomposed_letters_are_the_same_word() -> None:
    assert words(unicodedata.normalize("NFD", "Příliš")) == words("Příliš") == ["příliš"]


def test_unspaced_scripts_are_split_into_characters_and_others_are_not() -> None:
    assert words("中文ok。カナ") == ["中", "文", "ok", "カ", "ナ"]
    assert words("한국어 문장") == ["한국어", "문장"]
    assert len(words("ภาษาไทย")) > 1


def test_a_word_over_an_inline_tag_belongs_to_the_block_where_it_starts() -> None:
    found, rows = block_words(segment(page("<p>un<b>believ</b>able <i>things</i></p>")))
    assert found == ["unbelievable", "things"]
    assert rows.tolist() == [0, 3]


def test_paragraphs_line_breaks_and_white_space_separate_words() -> None:
    found, rows = block_words(segment(page("<p>one</p><p>two<br>three <b>four</b></p>five")))
    assert found == ["one", "two", "three", "four", "five"]
    assert rows.tolist() == [0, 1, 2, 3, 4]


def test_a_page_without_blocks_has_no_words() -> None:
    found, rows = block_words(segment(page("")))
    assert (found, len(rows)) == ([], 0)


def test_the_most_frequent_words_are_not_matched_where_there_are_too_many_pairs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = words("the ferry left at noon the fog came late")
    assert match(page, page).tolist() == list(range(9))
    monkeypatch.setattr("victor_spark.words._MAX_PAIRS", 10)
    assert match(page, page).tolist() == [-1, 1, 2, 3, 4, -1, 6, 7, 8]


@given(st.lists(st.text(alphabet="aB1 é中,.\u0301", min_size=1).filter(str.strip), max_size=8))
def test_words_of_paragraphs_are_the_words_of_their_text(paragraphs: list[str]) -> None:
    blocks = segment(page("".join(f"<p>{text}</p>" for text in paragraphs)))
    found, rows = block_words(blocks)
    assert found == [word for text in paragraphs for word in words(text.strip())]
    assert [row for row, text in enumerate(paragraphs) for _ in words(text.strip())] == rows.tolist()
