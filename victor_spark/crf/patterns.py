"""regexp.url, regexp.date, regexp.time: arrays of regular expressions (Victor, section 3.2).

The value of a block is the number of the first expression that matches, 0 for none. Expressions
run over the joined text of the few blocks that could match, never block by block.
"""

import re
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from victor_spark.errors import ConfigurationError
from victor_spark.page import Blocks

Patterns: TypeAlias = Mapping[str, tuple[re.Pattern[str], ...]]

FAMILIES: Final = ("url", "date", "time")


def compile_patterns(expressions: Mapping[str, list[str]]) -> Patterns:
    """The expressions of conf/patterns.toml, compiled; none may span lines."""
    try:
        return {
            family: tuple(re.compile(expression, re.IGNORECASE) for expression in expressions[family])
            for family in FAMILIES
        }
    except (re.error, KeyError) as error:
        raise ConfigurationError(f"patterns: {error}") from error


def first_matches(blocks: Blocks, patterns: Patterns) -> Mapping[str, npt.NDArray[Any]]:
    """Per family, the 1-based number of the first expression that matches each block."""
    with_digits = np.flatnonzero(blocks.n_digits)
    with_url_mark = np.flatnonzero(blocks.has_url_mark)
    digit_lines, digit_starts = _lines(blocks, with_digits)
    url_lines, url_starts = _lines(blocks, with_url_mark)
    values = {}
    for family, expressions in patterns.items():
        rows, lines, starts = (
            (with_url_mark, url_lines, url_starts)
            if family == "url"
            else (with_digits, digit_lines, digit_starts)
        )
        value = np.zeros(len(blocks), dtype=np.int32)
        for number in range(len(expressions), 0, -1) if len(rows) else ():
            hits = [match.start() for match in expressions[number - 1].finditer(lines)]
            if hits:
                value[rows[np.searchsorted(starts, hits, side="right") - 1]] = number
        values[family] = value
    return values


def _lines(blocks: Blocks, rows: npt.NDArray[np.intp]) -> tuple[str, npt.NDArray[np.int64]]:
    """The texts of `rows`, a newline after each, and where each starts in the joined string."""
    text = blocks.text
    spans = zip(blocks.text_start[rows].tolist(), blocks.text_end[rows].tolist(), strict=True)
    lines = [text[start:end].replace("\n", " ") for start, end in spans]
    lengths = np.fromiter((len(line) + 1 for line in lines), dtype=np.int64, count=len(lines))
    return "\n".join(lines), np.concatenate([[0], np.cumsum(lengths)[:-1]]) if lines else lengths
