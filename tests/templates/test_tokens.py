"""Tokens are the matches of the tokenisation expression, and a vocabulary numbers distinct ones."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from victor_spark.kernels.num import BEGINS_LINE, ENDS_LINE
from victor_spark.templates.tokens import TOKENISERS, Vocabulary, spans, words

EXPRESSIONS = {"text": r"\S+", "html": r"[<>](?<=>)|<?[^\s<>]+|<"}

texts = st.text(st.sampled_from("ab7<>/=\"' \n\t\u3000\u00a0é字\U0001f600\ud800"), max_size=60)


@pytest.mark.parametrize("view", EXPRESSIONS)
@given(text=texts)
def test_tokens_are_the_matches_of_the_expression(view: str, text: str) -> None:
    found = spans(text, TOKENISERS[view])
    pairs = list(zip(found.starts.tolist(), found.ends.tolist(), strict=True))
    assert pairs == [match.span() for match in re.finditer(EXPRESSIONS[view], text)]


@pytest.mark.parametrize("view", EXPRESSIONS)
@given(text=texts)
def test_edges_are_where_the_expressions_of_the_tokeniser_say(view: str, text: str) -> None:
    tokeniser = TOKENISERS[view]
    found = spans(text, tokeniser)
    begins = [bool(re.compile(tokeniser.line_begin).match(text, start)) for start in found.starts.tolist()]
    ends = [bool(re.compile(tokeniser.line_end).match(text, end)) for end in found.ends.tolist()]
    assert [bool(edge & BEGINS_LINE) for edge in found.edges.tolist()] == begins
    assert [bool(edge & ENDS_LINE) for edge in found.edges.tolist()] == ends


@given(pages=st.lists(texts, max_size=8))
def test_equal_tokens_get_equal_numbers_in_order_of_appearance(pages: list[str]) -> None:
    vocabulary, by_hand = Vocabulary(), dict[str, int]()
    for text in pages:
        found = spans(text, TOKENISERS["text"])
        ids, new = vocabulary.number(found)
        known = len(by_hand)
        assert ids.tolist() == [by_hand.setdefault(token, len(by_hand)) for token in text.split()]
        assert words(text, found, new) == list(by_hand)[known:]


def test_a_vocabulary_grows_and_forgets_nothing() -> None:
    vocabulary = Vocabulary()
    first = " ".join(f"w{i}" for i in range(3000))
    before, _ = vocabulary.number(spans(first, TOKENISERS["text"]))
    vocabulary.number(spans(" ".join(f"v{i}" for i in range(50_000)), TOKENISERS["text"]))
    again, new = vocabulary.number(spans(first, TOKENISERS["text"]))
    assert again.tolist() == before.tolist() == list(range(3000))
    assert not len(new)


def test_where_a_token_is_kept_is_a_secret_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise pages could choose tokens that stand in each other's way."""
    found, kept = spans(" ".join(f"w{i}" for i in range(3000)), TOKENISERS["text"]), []
    for key in (1, 3):
        monkeypatch.setattr("victor_spark.templates.tokens.KEY", key)
        vocabulary = Vocabulary()
        ids, _ = vocabulary.number(found)
        assert ids.tolist() == list(range(3000))
        kept.append(vocabulary._slots.tolist())
    assert kept[0] != kept[1]
