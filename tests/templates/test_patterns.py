"""Mutable patterns: examples match, the strictest is used, and patterns that match no token are refused."""

import re
import tomllib
from pathlib import Path

import pytest

from victor_spark.errors import ConfigurationError, UsageError
from victor_spark.templates.patterns import Patterns, patterns, read

CONF = tomllib.loads((Path(__file__).parents[2] / "conf" / "mutable.toml").read_text("utf-8"))
EXAMPLES = [
    (name, text) for name, table in CONF.items() if isinstance(table, dict) for text in table["examples"]
]


def kind(token: str, known: Patterns | None = None) -> str | None:
    known = known or patterns()
    found = known.first_match(token)
    return None if found < 0 else known.names[found]


@pytest.mark.parametrize(("name", "example"), EXAMPLES)
def test_every_example_is_matched_by_its_own_pattern(name: str, example: str) -> None:
    expression = dict(zip(patterns().names, patterns().expressions, strict=True))[name]
    assert re.fullmatch(expression, example)


@pytest.mark.parametrize(
    ("token", "expected"),
    [
        ("2008-05-26", "date"),
        ("12:30", "time"),
        ("1,234", "number"),
        ("http://example.org/?sid=17", "url"),
        ("desk@example.org", "email"),
        ("27th", "ordinal"),
        ("August", "month"),
        ("września", "month"),
        ("воскресенье,", "weekday"),
        ("8d2ab1f09c77e1d0", "hexadecimal"),
        ("PHPSESSID=8d2ab1f09c", "query"),
        ("fog", None),
        ("may", None),
        ("out", None),
        ("water.", None),
    ],
)
def test_the_strictest_pattern_counts(token: str, expected: str | None) -> None:
    assert kind(token) == expected


def test_a_pattern_of_the_user_counts_where_it_is_stricter() -> None:
    known = patterns(
        (
            ("issue", r"ISSUE-\d+"),
            ("digits", r"\d+"),
            ("anything", r"[^\s<>]+"),
        )
    )
    assert kind("ISSUE-17", known) == "issue"
    assert kind("17", known) == "digits"
    assert kind("2008-05-26", known) == "date"
    assert kind("fog", known) == "anything"


@pytest.mark.parametrize(
    ("expression", "complaint"),
    [
        ("(", "missing )"),
        ("[a-", "bad character range"),
        ("a b", "white space"),
        (r"\S+", "matches <"),
        (".+", "white space"),
        ("[^x]+", "white space"),
        ("(?:a|b\\s)", "white space"),
        ("(?=a>)a", "matches >"),
        ("(a)", "capturing"),
        ("x*", "empty string"),
        ("^a$", "has ^ or $"),
        ("(?i)a", "global flags"),
    ],
)
def test_a_pattern_that_cannot_stand_for_a_token_is_refused_in_one_line(
    expression: str, complaint: str
) -> None:
    with pytest.raises(UsageError, match=re.escape(complaint)) as caught:
        patterns((("mine", expression),))
    assert "mutable pattern mine" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[x", "Expected"),
        ("[x]\nexpression = 'a'", "must have the keys"),
        ("[x]\nexpression = '('\nexamples = []", "missing \\)"),
        ("[x]\nexpression = 'a'\nexamples = []\nmore = 1", "examples only"),
    ],
)
def test_a_broken_file_of_patterns_is_named(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "mutable.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=complaint) as caught:
        read(path)
    assert "mutable.toml" in str(caught.value)


@pytest.mark.parametrize(
    "expression",
    [
        *("(?:a+)+b", "(?:a|aa)*b", "a*b*c*d*e", "x(?:a?){50}", "(?=a)a", "a?" * 20 + "b", "a" * 2000),
        *("(?:a{0,30}){2}a*a*a*b", "a{0,256}a*a*a*b", "a*a*(?:a?){9}b", "(?:a{0}){9999}b", "(?:){9999}b"),
        *("(?>a*b*)c*d*e", "(?>(?:a|bc)*)d"),
    ],
)
def test_an_expression_that_may_take_too_long_is_refused_when_it_is_given(expression: str) -> None:
    with pytest.raises(UsageError, match="may take too long"):
        patterns((("slow", expression),))


@pytest.mark.parametrize("expression", ["(?>[a-z]+)-?(?>x|y)", "a(?>b?c)d*"])
def test_an_expression_with_atomic_groups_is_accepted_if_it_is_quick(expression: str) -> None:
    assert expression in patterns((("quick", expression),)).expressions


def test_an_expression_of_several_repetitions_matches_no_token_of_any_length() -> None:
    found = patterns((("code", r"[A-Z]+-[A-Z]+\d+"),))
    code = re.compile(found.expressions[found.names.index("code")])
    assert code.fullmatch("AB-CD12")
    assert code.fullmatch("A" * 200 + "-B1")
    assert not code.fullmatch("A" * 300 + "-B1")
    assert patterns((("code", "[A-Z]+"),)).expressions.count("[A-Z]+") == 1  # one is cheap at any length
