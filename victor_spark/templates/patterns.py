"""Mutable patterns: what a token is like when it changes from page to page (conf/mutable.toml).

A mutable pattern stands for one whole token. Of those that match a token the strictest counts when
templates are mined; when they are applied, each matches what its expression matches.
"""

import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, Final

from victor_spark.errors import ConfigurationError, UsageError
from victor_spark.resources import directory

DIVIDING: Final = "".join(chr(point) for point in range(0x3001) if chr(point).isspace()) + "<>"
"""Characters that are in no token beside others: no mutable pattern may match them."""


@dataclass(frozen=True, slots=True)
class Patterns:
    """Mutable patterns, the strictest first."""

    names: tuple[str, ...]
    expressions: tuple[str, ...]

    def first_match(self, token: str) -> int:
        """The number of the strictest pattern that matches the whole token, -1 for none."""
        match = _together(self.expressions).fullmatch(token)
        return -1 if match is None or match.lastindex is None else match.lastindex - 1


@lru_cache(maxsize=64)
def _together(expressions: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"({expression})" for expression in expressions) or "(?!)")


def patterns(of_user: Iterable[tuple[str, str]] = ()) -> Patterns:
    """The patterns of conf/mutable.toml and the user's (name, expression), by strictness.

    The strictest is the one that matches the fewest of all examples in conf/mutable.toml; of equal
    ones the user's come first. UsageError for a pattern of the user that can't be used.
    """
    return _ordered(tuple(of_user))


@lru_cache(maxsize=16)
def _ordered(of_user: tuple[tuple[str, str], ...]) -> Patterns:
    for name, expression in of_user:
        check(name, expression)
    own, examples = _configured()
    named = dict(own) | dict(of_user)
    first = [name for name, _ in of_user] + [name for name in named if name not in dict(of_user)]
    compiled = {name: re.compile(named[name]) for name in first}
    width = {name: sum(bool(p.fullmatch(example)) for example in examples) for name, p in compiled.items()}
    names = sorted(dict.fromkeys(first), key=width.__getitem__)
    return Patterns(tuple(names), tuple(named[name] for name in names))


@cache
def _configured() -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """(name, expression) of each pattern in conf/mutable.toml, and all examples."""
    return read(directory("conf") / "mutable.toml")


def read(path: Path) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """The same of any file; ConfigurationError where it is not as it should be."""
    try:
        tables: dict[str, Any] = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigurationError(f"{path}: {error}") from error
    around = {name: tables.pop(name, "") for name in ("before", "after")}
    named, examples = [], []
    for name, table in tables.items():
        if not isinstance(table, dict) or table.keys() != {"expression", "examples"}:
            raise ConfigurationError(f"{path}: [{name}] has an expression and examples, and nothing else")
        expression = str(table["expression"])
        for place, text in around.items():
            expression = expression.replace(f"{{{place}}}", str(text))
        try:
            check(name, expression)
        except UsageError as error:
            raise ConfigurationError(f"{path}: {error}") from error
        named.append((name, expression))
        examples += [str(example) for example in table["examples"]]
    return tuple(named), tuple(examples)


def check(name: str, expression: str) -> None:
    """UsageError, in one line, for an expression that can't stand for one token."""
    said = f"mutable pattern {name}: {expression}"
    try:
        # As it will stand in a longer expression.
        groups = re.compile(f"x(?:{expression})x").groups
        tree = parser.parse(expression)
    except (re.error, RecursionError, OverflowError) as error:
        raise UsageError(f"{said}: {error}") from error
    if groups:
        raise UsageError(f"{said}: captures a group; write (?:...)")
    if re.fullmatch(expression, ""):
        raise UsageError(f"{said}: matches nothing at all, too")
    if fault := _fault(tree):
        raise UsageError(f"{said}: {fault}")


def _fault(tree: Iterable[tuple[Any, Any]]) -> str | None:
    """Why a parsed expression can't stand for one token of any view; None where it can."""
    for operation, argument in tree:
        if operation is codes.AT and argument not in (codes.AT_BOUNDARY, codes.AT_NON_BOUNDARY):
            return r"has ^ or $ (a mutable pattern matches a whole token anyway)"
        if _is_one_character(operation):
            single = _single(operation, argument)
            if reached := [point for point in DIVIDING if single(point)]:
                kind = "white space" if reached[0].isspace() else reached[0]
                return f"can match {kind}, but stands for one token; write [^\\s<>] for any character"
        elif fault := next(filter(None, map(_fault, _inside(argument))), None):
            return fault
    return None


def _is_one_character(operation: Any) -> bool:
    return operation in (codes.LITERAL, codes.NOT_LITERAL, codes.ANY, codes.IN)


def _inside(argument: Any) -> Iterable[Any]:
    """The parsed expressions inside an operation's argument."""
    if isinstance(argument, parser.SubPattern):
        yield argument
    elif isinstance(argument, list | tuple):
        for part in argument:
            yield from _inside(part)


def _single(operation: Any, argument: Any) -> Any:
    """Whether a character is matched by one element of a parsed expression."""
    if operation is codes.ANY:
        return lambda character: character != "\n"
    members: Sequence[Any] = argument if operation is codes.IN else [(codes.LITERAL, argument)]
    negated = operation is codes.NOT_LITERAL or members[0][0] is codes.NEGATE

    def matched(character: str) -> bool:
        point = ord(character)
        for kind, value in members:
            if kind is codes.LITERAL and value == point:
                return not negated
            if kind is codes.RANGE and value[0] <= point <= value[1]:
                return not negated
            if kind is codes.CATEGORY and re.match(_CATEGORIES[str(value)], character):
                return not negated
        return negated

    return matched


_CATEGORIES: Final = {
    "CATEGORY_DIGIT": r"\d",
    "CATEGORY_NOT_DIGIT": r"\D",
    "CATEGORY_SPACE": r"\s",
    "CATEGORY_NOT_SPACE": r"\S",
    "CATEGORY_WORD": r"\w",
    "CATEGORY_NOT_WORD": r"\W",
}
