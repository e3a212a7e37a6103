"""Templates as regular expressions, and the mutable patterns in them (Foschini, section 3.4).

A template's tokens are expressions of one token each: an escaped literal or a mutable pattern. Between
them, it matches separators of tokens; at its ends, it requires that a token ends there, and, for short
templates, that a line begins or ends there. Every match begins and ends at a token's edge.

A mutable pattern (conf/mutable.toml) stands for one whole token that changes from page to page. Of those
that match a token the strictest is used when templates are mined; when they are applied, each matches all
tokens that its expression matches. Patterns of users and of tables of templates must be cheap on any token.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from re import _compiler as compiler  # type: ignore[attr-defined]
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, Final

from victor_spark import configuration
from victor_spark.errors import ConfigurationError, UsageError
from victor_spark.kernels.num import BEGINS_LINE, ENDS_LINE
from victor_spark.resources import directory
from victor_spark.scripts import WHITE_SPACE
from victor_spark.templates.tokens import Tokeniser

DIVIDING: Final = WHITE_SPACE + "<>"
"""Characters that separate tokens: no mutable pattern may match them."""

LONGEST_TOKEN: Final = 256
_BOUND: Final = f"(?![^\\s<>]{{{LONGEST_TOKEN + 1}}})(?:"
"""Put before an expression with several unbounded repetitions, so that longer tokens do not match."""

MOST_REPETITIONS: Final = 3
_MOST_WAYS: Final = 1000
_MOST_WAYS_BESIDE: Final = 4  # MOST_REPETITIONS, which alone take up to LONGEST_TOKEN**3 / 6 steps
_MOST_LETTERS: Final = 1000
_CHARACTERS: Final = (codes.LITERAL, codes.NOT_LITERAL, codes.ANY, codes.IN)
"""Operations that match one character."""
_REPEATS: Final = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)


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


@lru_cache(maxsize=16)
def patterns(of_user: tuple[tuple[str, str], ...] = ()) -> Patterns:
    """The patterns of conf/mutable.toml and the user's (name, expression), by strictness.

    The strictest is the one that matches the fewest of all examples in conf/mutable.toml; of equal
    ones the user's come first. One of the user with several repetitions of unknown length matches no token
    longer than LONGEST_TOKEN. UsageError for an invalid pattern of the user.
    """
    for name, expression in of_user:
        check(name, expression)
    own, examples = read()
    named = own | {name: _bounded(name, expression) for name, expression in of_user}
    first = [name for name, _ in of_user] + [name for name in named if name not in dict(of_user)]
    compiled = {name: re.compile(named[name]) for name in first}
    width = {name: sum(bool(p.fullmatch(example)) for example in examples) for name, p in compiled.items()}
    names = sorted(dict.fromkeys(first), key=width.__getitem__)
    return Patterns(tuple(names), tuple(named[name] for name in names))


def _bounded(name: str, expression: str) -> str:
    n_repetitions, n_ways = _cost(parser.parse(expression))
    most_ways = _MOST_WAYS if n_repetitions < MOST_REPETITIONS else _MOST_WAYS_BESIDE
    if n_repetitions > MOST_REPETITIONS or n_ways > most_ways or len(expression) > _MOST_LETTERS:
        raise UsageError(
            f"mutable pattern {name}: {expression}: may take too long; use no lookaround, repeat nothing "
            f"that holds an alternative, a repetition or nothing, and at most {MOST_REPETITIONS} of * and +"
        )
    return expression if n_repetitions <= 1 else f"{_BOUND}{expression})"


@lru_cache(1 << 10)
def is_cheap(expression: str) -> bool:
    """Whether an expression in a table of templates is from conf/, or `patterns` accepts it from users."""
    inner = expression.removeprefix(_BOUND).removesuffix(")") if expression.startswith(_BOUND) else expression
    try:
        check("", inner)
        is_ours = _bounded("", inner) == expression
    except UsageError:
        is_ours = False
    return is_ours or expression in read()[0].values()


def _cost(tree: Iterable[tuple[Any, Any]]) -> tuple[int, float]:
    """The worst case of backtracking: consecutive unbounded repetitions, and other ways to match a token."""
    n_repetitions, n_ways = 0, 1.0
    for operation, argument in tree:
        if operation in (*_CHARACTERS, codes.AT):
            continue
        if operation in _REPEATS:
            cost = _repeated(*argument)
        elif operation is codes.BRANCH:
            branches = [_cost(branch) for branch in argument[1]]
            cost = max(n for n, _ in branches), sum(ways for _, ways in branches)
        elif operation is codes.SUBPATTERN:
            cost = _cost(argument[-1])
        elif operation is codes.ATOMIC_GROUP:
            cost = _cost(argument)
        else:  # lookaround, back-references
            cost = 0, math.inf
        n_repetitions, n_ways = n_repetitions + cost[0], n_ways * cost[1]
    return n_repetitions, n_ways


def _repeated(least: int, most: int, body: Any) -> tuple[int, float]:
    if most > 1 and body.getwidth()[0] == 0:  # (?:){99999999}
        return 0, math.inf
    n_repetitions, n_ways = _cost(body)
    if (n_repetitions, n_ways) == (0, 1.0):
        return (1, 1.0) if most > LONGEST_TOKEN > least else (0, float(max(most - least + 1, 1)))
    if n_repetitions * most > MOST_REPETITIONS or n_ways > _MOST_WAYS or most > math.log2(_MOST_WAYS):
        return 0, math.inf
    return n_repetitions * most, sum(n_ways**n for n in range(least, most + 1))


@cache
def read(path: Path | None = None) -> tuple[dict[str, str], tuple[str, ...]]:
    """The expressions of conf/mutable.toml by name, and all examples; ConfigurationError if it is damaged."""
    path = path or directory("conf") / "mutable.toml"
    tables = configuration.toml(path)
    around = {name: tables.pop(name, "") for name in ("before", "after")}
    named, examples = dict[str, str](), list[str]()
    for name, table in tables.items():
        if not isinstance(table, dict) or table.keys() != {"expression", "examples"}:
            raise ConfigurationError(f"{path}: [{name}] must have the keys expression and examples only")
        expression = str(table["expression"])
        for place, text in around.items():
            expression = expression.replace(f"{{{place}}}", str(text))
        try:
            check(name, expression)
        except UsageError as error:
            raise ConfigurationError(f"{path}: {error}") from error
        named[name] = expression
        examples += [str(example) for example in table["examples"]]
    return named, tuple(examples)


def check(name: str, expression: str) -> None:
    """Raises UsageError for an expression that cannot stand for one token."""
    where = f"mutable pattern {name}: {expression}"
    try:
        # As it will stand in a longer expression.
        groups = re.compile(f"x(?:{expression})x").groups
        tree = parser.parse(expression)
    except (re.error, RecursionError, OverflowError) as error:
        raise UsageError(f"{where}: {error}") from error
    if groups:
        raise UsageError(f"{where}: has a capturing group; write (?:...)")
    if re.fullmatch(expression, ""):
        raise UsageError(f"{where}: matches the empty string")
    if fault := _fault(tree):
        raise UsageError(f"{where}: {fault}")


def _fault(tree: Any) -> str | None:
    """The reason why a parsed expression cannot match exactly one token in every view; None if it can."""
    for operation, argument in tree:
        if operation is codes.AT and argument not in (codes.AT_BOUNDARY, codes.AT_NON_BOUNDARY):
            return r"has ^ or $; remove them: a mutable pattern always matches a whole token"
        if operation in _CHARACTERS:
            alone = compiler.compile(parser.SubPattern(tree.state, [(operation, argument)]))
            if reached := alone.search(DIVIDING):
                kind = "white space" if reached[0].isspace() else reached[0]
                return f"matches {kind}, which separates tokens; write [^\\s<>] for any character"
        elif fault := next(filter(None, map(_fault, _inside(argument))), None):
            return fault
    return None


def _inside(argument: Any) -> Iterable[Any]:
    """The parsed expressions inside an operation's argument."""
    if isinstance(argument, parser.SubPattern):
        yield argument
    elif isinstance(argument, list | tuple):
        for part in argument:
            yield from _inside(part)


_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)


def mutable(expression: str) -> str:
    """A mutable pattern as one part of a longer expression."""
    return f"(?:{expression})"


@lru_cache(1 << 14)
def literal_token(expression: str) -> str | None:
    """The token that `re.escape` made into this expression; None for a mutable pattern."""
    token = _ESCAPED.sub(r"\1", expression)
    return token if re.escape(token) == expression else None


def glue(tokens: Sequence[str], anchors: int, tokeniser: Tokeniser) -> str:
    """One expression for all tokens in a row; `anchors`: BEGINS_LINE, ENDS_LINE, both or 0."""
    edge = tokeniser.edge
    begin, end = (f"(?:{look}{edge})" if edge else look for look in (r"(?<!\S)", r"(?!\S)"))
    if anchors & BEGINS_LINE:
        begin = tokeniser.line_begin
    if anchors & ENDS_LINE:
        end = tokeniser.line_end
    return begin + tokeniser.between.join(tokens) + end


def anchors_of(regex: str, tokeniser: Tokeniser) -> int:
    """The anchors of a template's expression: whether it must begin or end a line."""
    begins = BEGINS_LINE if regex.startswith(tokeniser.line_begin) else 0
    return begins | (ENDS_LINE if regex.endswith(tokeniser.line_end) else 0)
