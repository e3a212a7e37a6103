"""regexp.*: a block's value is the number of the first expression that matches it, found fast."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.html.pages import articles, blocks_of, texts_of
from victor_spark.errors import ConfigurationError
from victor_spark.model.features import from_conf
from victor_spark.model.victor_2008 import compile_patterns, first_matches

TABLE = from_conf("victor-2008")


def slow(family: str, text: str) -> int:
    """The definition: expressions tried one after the other on one block's text."""
    tried = (re.search(expression, text, re.IGNORECASE) for expression in TABLE.expressions[family])
    return next((number for number, match in enumerate(tried, start=1) if match), 0)


def values(source: str) -> dict[str, list[int]]:
    return {
        family: column.tolist() for family, column in first_matches(blocks_of(source), TABLE.patterns).items()
    }


PARTS = [
    "26",
    "5",
    "2008",
    ".",
    "/",
    "-",
    ":",
    "May",
    "května",
    "мая",
    "12:30",
    "am",
    "min",
    "http://",
    "www.",
    "@",
    "a",
    "年",
    "月",
    "h",
    "3",
]
parts = st.sampled_from([*PARTS, " "])
dated = st.lists(parts, min_size=1, max_size=8).map("".join)


@given(st.lists(dated, max_size=12).map(lambda texts: "".join(f"<p>{text}</p>" for text in texts)) | articles)
def test_values_are_those_of_trying_every_expression_on_every_block(source: str) -> None:
    texts = texts_of(blocks_of(source))
    assert values(source) == {
        family: [slow(family, text) for text in texts] for family in ("url", "date", "time")
    }


def test_nothing_matches_across_two_blocks() -> None:
    assert values("<p>26</p><p>May 5</p>")["date"] == [0, slow("date", "May 5")]
    assert values("<p>12</p><p>min 3</p>")["time"] == [0, 0]
    assert values("<p>http://</p><p>a@b</p>")["url"][0] == 0


def test_white_space_inside_a_block_may_be_a_line_break() -> None:
    assert values("<p>26 May\n2008</p>")["date"] == values("<p>26 May 2008</p>")["date"] != [0]
    assert values("<p>26 MAY 2008</p>") == values("<p>26 may 2008</p>") == values("<p>26 May 2008</p>")


@pytest.mark.parametrize(
    "wrong",
    [
        {"url": [], "date": []},
        {"url": [], "date": [], "time": [], "more": []},
        {"url": [], "date": [r"\d["], "time": []},
        {"url": [], "date": [r"\d(\d)"], "time": []},
        {"url": [], "date": ["May"], "time": []},
        {"url": "[:.@]x", "date": [], "time": []},
    ],
)
def test_patterns_that_cannot_work_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        compile_patterns(wrong)


def test_a_family_without_expressions_matches_nothing() -> None:
    patterns = compile_patterns({"url": [], "date": [], "time": []})
    matches = first_matches(blocks_of("http://a.cz 2008-05-26 9:30"), patterns)
    assert [column.tolist() for column in matches.values()] == [[0], [0], [0]]
