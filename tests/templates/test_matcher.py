"""The automaton finds what Python's `re` finds with the published expressions."""

import random
import re
from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.test_uncompiled import from_source
from tests.templates.expressions import by_expressions, remove
from victor_spark.blocks import unite
from victor_spark.kernels import memory_views
from victor_spark.templates import matcher as module
from victor_spark.templates import patterns, tokens
from victor_spark.templates.matcher import Matcher
from victor_spark.templates.tokens import TOKENISERS

NUMBER, TIME, ANY = (
    patterns.mutable(expression) for expression in (r"[\d.,:]+", r"\d{1,2}:\d\d", r"[^\s<>]{1,2}")
)
PIECES = [*map(re.escape, ("a", "b", "(c)", "12:30", "<p", ">", "</p", "#x")), NUMBER, TIME, ANY]

templates = st.lists(
    st.tuples(st.lists(st.sampled_from(PIECES), min_size=2, max_size=4), st.integers(0, 3)), max_size=8
)
texts = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "(c)", "12:30", "7", "<p", ">", "</p", "#x", "ab"]),
        st.sampled_from([" ", "\n", "", "\u00a0 \n"]),
    ),
    max_size=40,
).map(lambda parts: "".join(token + gap for token, gap in parts))


@pytest.fixture(scope="module")
def slow() -> object:
    return from_source("kernels.tokens")


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("view", ["text", "html"])
@given(made=templates, pages=st.lists(texts, max_size=3), near=st.integers(0, 3))
@settings(max_examples=40)
def test_intervals_are_those_of_every_expression_united(
    slow: object,
    compiled: bool,
    view: str,
    made: list[tuple[list[str], int]],
    pages: list[str],
    near: int,
) -> None:
    pairs = [(pieces, patterns.glue(pieces, anchors, TOKENISERS[view])) for pieces, anchors in made]
    with pytest.MonkeyPatch.context() as patch:
        if not compiled:
            for part in (tokens, module):
                patch.setattr(part, "kernel", slow)
                patch.setattr(part, "views", memory_views)
        found = Matcher(pairs, view, near=near)
        for text in pages:
            expected = by_expressions(text, [regex for _, regex in pairs], near)
            assert found.intervals(text).tolist() == expected.tolist()


@given(made=templates, text=texts, order=st.randoms(use_true_random=False))
def test_the_order_of_templates_does_not_matter(
    made: list[tuple[list[str], int]], text: str, order: random.Random
) -> None:
    pairs = [(pieces, patterns.glue(pieces, anchors, TOKENISERS["text"])) for pieces, anchors in made]
    before = Matcher(pairs).intervals(text)
    order.shuffle(pairs)
    assert Matcher(pairs).intervals(text).tolist() == before.tolist()


@given(
    spans=st.lists(
        st.tuples(st.integers(0, 30), st.integers(1, 9)).map(lambda s: (s[0], s[0] + s[1])), max_size=8
    ),
    near=st.integers(0, 4),
)
def test_the_union_of_intervals_by_hand(spans: list[tuple[int, int]], near: int) -> None:
    ordered = np.array(sorted(spans), dtype=np.int32).reshape(-1, 2)
    inside = reduce(set.union, (set(range(start, end)) for start, end in spans), set[int]())
    text = "".join("x" if place in inside else "." for place in range(50))
    bridged = re.sub(rf"(?<=x)\.{{1,{near}}}(?=x)", lambda gap: "x" * len(gap[0]), text) if near else text
    by_hand = [list(match.span()) for match in re.finditer("x+", bridged)]
    found = unite(ordered[:, 0], ordered[:, 1], near).tolist()
    if near == 0:  # intervals that touch are one
        assert found == by_hand
    else:
        assert found == [list(match.span()) for match in re.finditer("x+", bridged)]
    assert remove(text, unite(ordered[:, 0], ordered[:, 1], 0)) == text.replace("x", "")


def test_an_expression_is_glued_with_the_inverse_of_the_tokeniser() -> None:
    pieces = [re.escape("Posted"), re.escape("at"), TIME]
    regex = patterns.glue(pieces, 0, TOKENISERS["text"])
    assert re.search(regex, "x Posted \n at\u00a012:30 y")
    assert not re.search(regex, "xPosted at 12:30")
    assert not re.search(regex, "Posted at 12:30h")
    anchored = patterns.glue(pieces, 3, TOKENISERS["text"])
    assert re.search(anchored, "a\nPosted at 12:30\nb")
    assert not re.search(anchored, "a Posted at 12:30\nb")
    assert not re.search(anchored, "a\nPosted at 12:30 b")


@pytest.mark.parametrize("view", ["text", "html"])
def test_the_expression_says_whether_it_is_anchored(view: str) -> None:
    for anchors in range(4):
        regex = patterns.glue([re.escape("a"), NUMBER], anchors, TOKENISERS[view])
        assert patterns.anchors_of(regex, TOKENISERS[view]) == anchors


@given(token=st.text(min_size=1, max_size=6))
def test_a_literal_is_distinguished_from_a_pattern(token: str) -> None:
    assert patterns.literal_token(re.escape(token)) == token


def test_no_mutable_pattern_looks_like_a_literal() -> None:
    assert all(
        patterns.literal_token(patterns.mutable(each)) is None for each in patterns.patterns().expressions
    )


def test_a_matcher_forgets_and_is_right_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_WORDS", 3)
    pairs = [(["a", NUMBER], patterns.glue(["a", NUMBER], 0, TOKENISERS["text"]))]
    found = Matcher(pairs)
    for text in ("a 7 b c d e", "f a 8 g h i", "a 7 a 9"):
        assert found.intervals(text).tolist() == by_expressions(text, [pairs[0][1]]).tolist()


def test_a_page_of_many_different_words_is_matched_as_others() -> None:
    regex = patterns.glue(["a", NUMBER], 0, TOKENISERS["text"])
    text = " ".join([f"w{n}" for n in range(3_000)] + ["a 7"])
    assert Matcher([(["a", NUMBER], regex)]).intervals(text).tolist() == [[len(text) - 3, len(text)]]


def test_no_templates_cover_nothing() -> None:
    assert Matcher([]).intervals("a b c").shape == (0, 2)
    assert Matcher([(["a", "b"], r"(?<!\S)a\s+b(?!\S)")]).intervals("").shape == (0, 2)
