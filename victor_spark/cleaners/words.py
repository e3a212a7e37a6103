"""What a word is to the rule cleaners, which count words that texts have in common."""

import re
from functools import cache
from itertools import pairwise

import numpy as np

from victor_spark.html.characters import UNSPACED, properties


def words(text: str) -> list[str]:
    r"""The words of `text` in order, casefolded: runs of `\w`.

    A run in a script written without spaces gives its overlapping pairs of characters instead.
    """
    found: list[str] = []
    for match in _pattern().finditer(text.casefold()):
        run = match[0]
        if match.lastindex and len(run) > 2:
            found += map("".join, pairwise(run))
        else:
            found.append(run)
    return found


@cache
def _pattern() -> re.Pattern[str]:
    r"""Group 1: a run of an unspaced script; else any other run of `\w`."""
    points = np.flatnonzero(properties() & UNSPACED)
    breaks = np.flatnonzero(np.diff(points) > 1)
    firsts, lasts = points[np.append(0, breaks + 1)].tolist(), points[np.append(breaks, -1)].tolist()
    ranges = "".join(f"{chr(a)}-{chr(b)}" for a, b in zip(firsts, lasts, strict=True))
    return re.compile(rf"([{ranges}]+)|[^\W{ranges}]+")
