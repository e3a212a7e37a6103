"""Counts of a block's text: characters, tokens and sentences, in scripts with and without spaces."""

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.html.pages import blocks_of, pages, texts_of
from victor_spark.blocks import Blocks
from victor_spark.html import characters
from victor_spark.kernels import num

CHARACTERS = ("n_letters", "n_digits", "n_punctuation", "n_white", "n_other")
TOKENS = ("n_alpha_tokens", "n_num_tokens", "n_mix_tokens", "n_other_tokens")


def row(text: str, names: tuple[str, ...]) -> tuple[int, ...]:
    """The columns of a page with one block."""
    blocks = one_block(text)
    return tuple(int(getattr(blocks, name)[0]) for name in names)


def one_block(text: str) -> Blocks:
    blocks = blocks_of(f"<pre>\n{text}</pre>")
    assert texts_of(blocks) == [text]
    return blocks


def count(text: str, name: str) -> Any:
    return getattr(one_block(text), name)[0]


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("Ab1 2,", (2, 2, 1, 1, 0)),
        ("dům – 5 €", (3, 1, 1, 3, 1)),
        ("a\u0301", (2, 0, 0, 0, 0)),
        ("½ Ⅷ ٣", (0, 3, 0, 2, 0)),
        ("漢字、仮名", (4, 0, 1, 0, 0)),
        ("a\xa0b\u3000c\nd", (4, 0, 0, 3, 0)),
        ("\U0001f600 \ufeff\u200b +", (0, 0, 0, 2, 4)),
    ],
)
def test_characters_are_counted_by_unicode_category(text: str, counts: tuple[int, ...]) -> None:
    assert row(text, CHARACTERS) == counts


def slow_class(character: str) -> str:
    """The class by the words of the methods page: category, and white space as str.isspace has it."""
    if character.isspace():
        return "n_white"
    category = unicodedata.category(character)[0]
    return {"L": "n_letters", "M": "n_letters", "N": "n_digits", "P": "n_punctuation"}.get(
        category, "n_other"
    )


@given(pages)
def test_every_character_has_one_class(source: str | bytes) -> None:
    blocks = blocks_of(source)
    for number, text in enumerate(texts_of(blocks)):
        slow = [slow_class(character) for character in text]
        assert [getattr(blocks, name)[number] for name in CHARACTERS] == [
            slow.count(name) for name in CHARACTERS
        ]


def test_the_character_table_holds_for_all_of_unicode() -> None:
    names = {
        num.LETTER: "n_letters",
        num.DIGIT: "n_digits",
        num.PUNCTUATION: "n_punctuation",
        num.WHITE: "n_white",
        num.OTHER: "n_other",
    }
    classes = (characters.properties() & num.CLASS_MASK).tolist()
    wrong = [point for point, kind in enumerate(classes) if names[kind] != slow_class(chr(point))]
    assert not wrong


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("two words", (2, 0, 0, 0)),
        ("it's e-mail, naïve.", (3, 0, 0, 0)),
        ("12 3,5 -7", (0, 3, 0, 0)),
        ("a1 2nd", (0, 0, 2, 0)),
        ("- … €", (0, 0, 0, 3)),
        ("a 1 b2 -", (1, 1, 1, 1)),
        ("漢字仮名", (2, 0, 0, 0)),
        ("漢字仮", (2, 0, 0, 0)),
        ("漢", (1, 0, 0, 0)),
        ("漢字。 漢字。", (2, 0, 0, 0)),
        ("漢字 -", (1, 0, 0, 1)),
        ("2008年5月", (1, 1, 0, 0)),
        ("Python入門", (2, 0, 0, 0)),
        ("ภาษาไทย", (4, 0, 0, 0)),
        ("안녕 세계", (2, 0, 0, 0)),
    ],
)
def test_token_classes(text: str, tokens: tuple[int, ...]) -> None:
    assert row(text, TOKENS) == tokens


spaced = st.text(st.sampled_from("abč1٣-.€ \n\xa0"), min_size=1).map(str.strip).filter(bool)


@given(spaced)
def test_tokens_of_spaced_scripts_equal_those_of_split(text: str) -> None:
    kinds = [
        (any(map(str.isalpha, token)), any(unicodedata.category(c)[0] == "N" for c in token))
        for token in text.split()
    ]
    expected = tuple(
        kinds.count(kind) for kind in ((True, False), (False, True), (True, True), (False, False))
    )
    assert row(text, TOKENS) == expected


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("No end mark", 0),
        ("One.", 1),
        ("One. Two! Three?", 3),
        ("Really?! Yes...", 2),
        ('He said "no." Then left.', 2),
        ("(Quite so.) And more…", 2),
        ("Version 3.14 of www.example.org", 0),
        ("これは一つ。これは二つ！三つ？", 3),
        ("「はい。」「いいえ。」", 2),
        ("هل هذا سؤال؟ نعم۔", 2),
        ("एक वाक्य। दो॥", 2),
        ("Τι κάνεις; Καλά.", 2),
        ("Τι κάνεις\u037e", 1),
        ("int a; int b;", 0),
    ],
)
def test_sentences_are_end_marks_before_white_space(text: str, n: int) -> None:
    assert count(text, "n_sentences") == n


@pytest.mark.parametrize(
    ("text", "begin", "end"),
    [
        ("A sentence.", 1, 1),
        ("and its rest", 0, 0),
        ("“Quoted,” he said", 1, 0),
        ("… rest of it”.", 0, 1),
        ("He said “no.”", 1, 1),
        ("3 of them!)", 1, 1),
        ("漢字で書く。", 1, 1),
        ("žluťoučký kůň?", 0, 1),
        ("Ž", 1, 0),
        ("Και;", 1, 1),
        ("code;", 0, 0),
        ("- . -", 0, 0),
    ],
)
def test_sentence_begin_and_end(text: str, begin: int, end: int) -> None:
    assert row(text, ("sentence_begin", "sentence_end")) == (begin, end)


def test_hashes_are_equal_for_equal_letters_only() -> None:
    source = "<p>Read more…</p><p>read more</p><p>Readmore 25</p><p>Read  More</p><p>12</p><p>-</p>"
    same, other_case, same_again, capital, number, dash = blocks_of(source).letters_hash.tolist()
    assert same == same_again
    assert number == dash
    assert len({same, other_case, capital, number}) == 4


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("http://a.cz", 1),
        ("see WWW.a.cz", 1),
        ("a@b.cz", 1),
        ("a.cz", 0),
        ("w. w", 0),
        ("a:/b", 0),
        ("//", 0),
    ],
)
def test_marks_of_a_url_are_noticed(text: str, mark: int) -> None:
    assert count(text, "has_url_mark") == mark
