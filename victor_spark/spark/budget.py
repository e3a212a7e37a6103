"""How many shards and pages may fail before a run counts as failed: exit code 3, and what is done stays."""

import math
from dataclasses import dataclass

from victor_spark.errors import UsageError


@dataclass(frozen=True, slots=True)
class Budget:
    """What may fail: a share (1%, 0.01), a count, or "1% or 20", whichever allows more.

    A count after "or" is there for small runs, and never covers everything.
    """

    max_failed_shards: str = "1% or 1"
    max_failed_pages: str = "5% or 20"

    def __post_init__(self) -> None:
        allowed(self.max_failed_shards, 0)
        allowed(self.max_failed_pages, 0)


def allowed(budget: str, total: float) -> int:
    """So many of `total` may fail; UsageError if the budget means nothing."""
    first, either, second = budget.strip().partition(" or ")
    try:
        if either:
            return max(allowed(first, total), min(int(second), math.ceil(total) - 1))
        return int(first) if first.isdecimal() else math.floor(_share(first) * total + 1e-9)
    except ValueError as error:
        example = "a share or a count, such as 1%, 0.01, 20 or '1% or 20'"
        raise UsageError(f"a failure budget is {example}, not {budget!r}") from error


def _share(text: str) -> float:
    share = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    if not 0 <= share <= 1:
        raise ValueError(text)
    return share
