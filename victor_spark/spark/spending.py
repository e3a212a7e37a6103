"""How much of a run's failure budget is spent, told from what is counted of its rows."""

import shlex
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from victor_spark.errors import BudgetError
from victor_spark.spark import record
from victor_spark.spark.budget import Budget, allowed
from victor_spark.spark.ledger import Entry
from victor_spark.spark.record import Counts

FAILURES: Final = ("corrupt_record", "timeout", "crash", "out_of_memory", "error")
"""Statuses of pages that failed; the other ones say something of the page, and not of the run."""


@dataclass(frozen=True, slots=True)
class Failed:
    """What failed so far: of all shards of a run so many, and of its pages so many, by status."""

    n_shards: int
    n_failed_shards: int
    n_pages: int
    failed_pages: Mapping[str, int]
    reason: str | None

    @property
    def n_failed_pages(self) -> int:
        """How many pages failed."""
        return sum(self.failed_pages.values())


def failed(counts: Counts, n_shards: int) -> Failed:
    """What failed by the counts of rows; the row of a shard that failed is no page."""
    pages = {status: n for status in FAILURES if (n := counts.page_statuses.get(status, 0))}
    reason = next(iter(counts.failed_shards.values()), None)
    return Failed(n_shards, len(counts.failed_shards), counts.n_pages, pages, reason)


def check(budget: Budget, found: Failed, share_done: float = 1.0) -> None:
    """Raises BudgetError as soon as more has failed than may in the whole run.

    How many pages the whole run has is known at its end; before, it is told from the share of its bytes that
    is done.
    """
    may = allowed(budget.max_failed_shards, found.n_shards)
    if found.n_failed_shards > may:
        raise BudgetError(
            f"{found.n_failed_shards} of {found.n_shards} shards couldn't be read, and {may} may fail "
            f"({_advice('shards', budget.max_failed_shards)}), such as: {found.reason}"
        )
    n_pages = found.n_pages / max(share_done, 1e-9)
    may = allowed(budget.max_failed_pages, n_pages)
    if found.n_failed_pages > may:
        failed = ", ".join(f"{status} {n}" for status, n in found.failed_pages.items())
        about = "" if share_done >= 1 else "about "
        raise BudgetError(
            f"{found.n_failed_pages} pages failed ({failed}), and of {about}{round(n_pages)} pages {may} may "
            f"({_advice('pages', budget.max_failed_pages)})"
        )


def _advice(of: str, budget: str) -> str:
    return f"--max-failed-{of} {shlex.quote(budget)}; repeat the command with a larger one"


def failed_in(run: Mapping[str, Any]) -> Failed:
    """What failed by a run.json."""
    shards = dict.fromkeys(
        map(str, range(run["n_failed_shards"])), next(iter(run["reasons"].get("error", {})), "")
    )
    return failed(replace(record.counts_of(run), failed_shards=shards), run["n_shards"])


class Spending:
    """What the waves of a run have used of its budget, wave by wave."""

    def __init__(self, budget: Budget, *, n_shards: int, n_bytes: int) -> None:
        self._budget, self._n_shards, self._n_bytes = budget, n_shards, max(n_bytes, 1)
        self._counts, self._n_bytes_done = Counts(), 0
        self._lock = threading.Lock()

    def add(self, *entries: Entry) -> None:
        """Counts waves that are done; BudgetError if what has failed by now can't be made good."""
        with self._lock:
            self._counts = record.total([self._counts, *(entry.counts for entry in entries)])
            self._n_bytes_done += sum(entry.n_bytes for entry in entries)
            found, share = failed(self._counts, self._n_shards), self._n_bytes_done / self._n_bytes
        check(self._budget, found, min(share, 1.0))
