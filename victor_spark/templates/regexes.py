"""Templates as regular expressions, glued with the inverse of the tokeniser (Foschini, section 3.4).

A template's tokens are expressions of one token each: an escaped literal or a mutable pattern. Between
them stands what may stand between tokens; at its ends, that a token ends there, and, for short templates,
that a line begins or ends there. Every match begins and ends at a token's edge.
"""

import re
from collections.abc import Sequence
from typing import Final

from victor_spark.templates.tokens import BEGINS_LINE, ENDS_LINE, Tokeniser

_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)


def literal(token: str) -> str:
    """The expression that matches this token alone."""
    return re.escape(token)


def mutable(expression: str) -> str:
    """A mutable pattern as one part of a longer expression."""
    return f"(?:{expression})"


def said_literally(expression: str) -> str | None:
    """The token that `literal` made an expression of; None for a mutable pattern."""
    token = _ESCAPED.sub(r"\1", expression)
    return token if re.escape(token) == expression else None


def glue(tokens: Sequence[str], anchors: int, tokeniser: Tokeniser) -> str:
    """One expression for all tokens in a row; `anchors`: BEGINS_LINE, ENDS_LINE, both or 0."""
    begin, end = (
        f"(?:{look}{tokeniser.edge})" if tokeniser.edge else look for look in (r"(?<!\S)", r"(?!\S)")
    )
    if anchors & BEGINS_LINE:
        begin = tokeniser.line_begin
    if anchors & ENDS_LINE:
        end = tokeniser.line_end
    return begin + tokeniser.between.join(tokens) + end


def anchors_of(regex: str, tokeniser: Tokeniser) -> int:
    """Whether a template's expression asks for the beginning or end of a line."""
    begins = BEGINS_LINE if regex.startswith(tokeniser.line_begin) else 0
    return begins | (ENDS_LINE if regex.endswith(tokeniser.line_end) else 0)
