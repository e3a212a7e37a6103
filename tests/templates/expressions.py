"""The definition of `Matcher.intervals` with Python's `re`, and texts without intervals."""

import re
from collections.abc import Iterable

import numpy as np

from victor_spark.blocks import Int32
from victor_spark.templates.matcher import NEAR, unite


def by_expressions(text: str, expressions: Iterable[str], near: int = NEAR) -> Int32:
    """The intervals that the expressions match, one expression after the other, united."""
    matches = sorted(match.span() for regex in expressions for match in re.finditer(regex, text))
    columns = np.array(matches, dtype=np.int32).reshape(-1, 2)
    return unite(columns[:, 0], columns[:, 1], near)


def remove(text: str, intervals: Int32) -> str:
    """`text` without the intervals."""
    ends = [0, *intervals[:, 1].tolist()]
    starts = [*intervals[:, 0].tolist(), len(text)]
    return "".join(text[end:start] for end, start in zip(ends, starts, strict=True))
