"""Counts of rows, the entries of finished waves made of them, and the failure budget."""

import json
import shlex
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from victor_spark.errors import FAILURES, BudgetError
from victor_spark.spark.request import Budget, allowed

N_REASONS: Final = 200
"""At most this many different reasons of a status are listed; `statuses` counts all of them."""

N_SITES: Final = 50

_N_TASK_SITES: Final = 200  # of a task; N_SITES of them stay in a wave's counts
_UNKNOWN: Final = "unknown"
_COUNTED: Final = ("status", "reason", "warc_filename", "warc_record_offset", "language", "url_host_name")


@dataclass
class Counts:
    """Counts of rows.

    A row without a record's offset is a failure: a shard, or a range of one, that couldn't be read (on).
    `failed_shards` gives the reason, by shard. Of pages that are ok: `languages`; `sites`, the `N_SITES`
    hosts with most of them (of several waves or tasks together: those that were near the top in one);
    `lengths`, by the largest power of two that the text's characters reach.
    """

    n_rows: int = 0
    n_failures: int = 0
    statuses: dict[str, int] = field(default_factory=dict)
    reasons: dict[str, dict[str, int]] = field(default_factory=dict)
    failed_shards: dict[str, str] = field(default_factory=dict)
    languages: dict[str, int] = field(default_factory=dict)
    sites: dict[str, int] = field(default_factory=dict)
    lengths: dict[str, int] = field(default_factory=dict)

    @property
    def n_pages(self) -> int:
        """Rows of records."""
        return self.n_rows - self.n_failures

    @property
    def page_statuses(self) -> dict[str, int]:
        """The statuses of pages, without the rows of shards that failed; they add up to `n_pages`."""
        n_errors = self.statuses.get("error", 0) - self.n_failures
        return {status: n for status, n in {**self.statuses, "error": n_errors}.items() if n}

    def count(self, batch: pa.RecordBatch, lengths: pa.Array | None = None) -> None:
        """Counts a batch of rows; `lengths` are the characters of the texts, where these are not in it."""
        lengths = pc.utf8_length(batch.column("text")) if lengths is None else lengths
        columns = [*(batch.column(name) for name in _COUNTED), lengths]
        rows = zip(*(column.to_pylist() for column in columns), strict=True)
        for status, reason, shard, offset, language, host, length in rows:
            self.n_rows += 1
            _add(self.statuses, status)
            if reason is not None:
                _add(self.reasons.setdefault(status, {}), reason)
            if offset is None:
                self.n_failures += 1
                self.failed_shards.setdefault(shard, reason or "")
            if status == "ok":
                _add(self.languages, language or _UNKNOWN)
                if host:
                    _add(self.sites, host)
            if length:
                _add(self.lengths, str(1 << (length.bit_length() - 1)))

    def as_json(self) -> dict[str, Any]:
        """The counts of a task, ready for JSON."""
        return vars(_largest_first(self, n_sites=_N_TASK_SITES))


def _add(counts: dict[str, int], name: str, n: int = 1) -> None:
    counts[name] = counts.get(name, 0) + n


_BY_NAME: Final = tuple(one.name for one in fields(Counts) if one.type == dict[str, int])


def _largest_first(counts: Counts, *, n_sites: int) -> Counts:
    """The same with every group in order, the largest first, and the long ones cut."""

    def ordered(group: Mapping[str, int], n: int | None = None) -> dict[str, int]:
        return dict(sorted(group.items(), key=lambda one: (-one[1], one[0]))[:n])

    found = replace(counts, reasons={})
    for name in _BY_NAME:
        setattr(found, name, ordered(getattr(counts, name), n_sites if name == "sites" else None))
    for status, group in sorted(counts.reasons.items()):
        found.reasons[status] = ordered(group, N_REASONS)
    return found


def total(parts: Iterable[Counts]) -> Counts:
    """The counts of several tasks or waves; a shard that failed in two of them is counted once."""
    found = Counts()
    for part in parts:
        found.n_rows += part.n_rows
        found.n_failures += part.n_failures
        found.failed_shards.update(part.failed_shards)
        groups = [(getattr(found, name), getattr(part, name)) for name in _BY_NAME]
        groups += [(found.reasons.setdefault(status, {}), more) for status, more in part.reasons.items()]
        for group, more in groups:
            for name, n in more.items():
                _add(group, name, n)
    return _largest_first(found, n_sites=N_SITES)


def of_files(pages: DataFrame) -> Counts:
    """Counts rows that Spark has written, from the files: accumulators would count repeated tasks twice."""
    counted = pages.select(*_COUNTED, sf.length("text").alias("length")).mapInArrow(_counted, "counts string")
    return total(Counts(**json.loads(row.counts)) for row in counted.collect())


def _counted(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    counts = Counts()
    for batch in batches:
        counts.count(batch, batch.column("length"))
    yield pa.RecordBatch.from_pydict({"counts": [json.dumps(counts.as_json())]})


@dataclass(frozen=True)
class Entry:
    """A wave that is done: its files below pages/ with their sizes, and its counts."""

    wave: int
    files: Mapping[str, int]
    n_splits: int
    n_bytes: int
    counts: Counts
    seconds: float = 0.0
    finished_at: str = ""
    stages: Mapping[str, float] = field(default_factory=dict)


def n_failed_pages(statuses: Mapping[str, int]) -> int:
    """How many pages failed, by the statuses of pages."""
    return sum(statuses.get(status, 0) for status in FAILURES)


def check_budget(
    budget: Budget,
    *,
    n_shards: int,
    n_failed_shards: int,
    reason: str | None,
    n_pages: int,
    statuses: Mapping[str, int],
    share_done: float = 1.0,
) -> None:
    """Raises BudgetError if more failed than may fail in the whole run.

    `statuses` are those of pages, `reason` is that of a shard that failed. Before the end of the run, its
    number of pages is estimated from the share of its bytes that is done.
    """
    n_allowed = allowed(budget.max_failed_shards, n_shards)
    if n_failed_shards > n_allowed:
        raise BudgetError(
            f"{n_failed_shards} of {n_shards} shards couldn't be read, and {n_allowed} may fail "
            f"({_advice('shards', budget.max_failed_shards)}), such as: {reason}"
        )
    n_in_all = n_pages / max(share_done, 1e-9)
    n_allowed = allowed(budget.max_failed_pages, n_in_all)
    if (n_failed := n_failed_pages(statuses)) > n_allowed:
        by_status = ", ".join(f"{name} {n}" for name in FAILURES if (n := statuses.get(name, 0)))
        about = "" if share_done >= 1 else "about "
        raise BudgetError(
            f"{n_failed} pages failed ({by_status}), and of {about}{round(n_in_all)} pages "
            f"{n_allowed} may fail ({_advice('pages', budget.max_failed_pages)})"
        )


def _advice(of: str, budget: str) -> str:
    return f"--max-failed-{of} {shlex.quote(budget)}; repeat the command with a larger one"


class BudgetTracker:
    """Checks the failure budget of a run after every wave."""

    def __init__(self, budget: Budget, *, n_shards: int, n_bytes: int) -> None:
        self._budget, self._n_shards, self._n_bytes = budget, n_shards, max(n_bytes, 1)
        self._counts, self._n_bytes_done = Counts(), 0
        self._lock = threading.Lock()

    def add(self, *entries: Entry) -> None:
        """Counts waves that are done; BudgetError if the run can no longer keep its budget."""
        with self._lock:
            counts = self._counts = total([self._counts, *(entry.counts for entry in entries)])
            self._n_bytes_done += sum(entry.n_bytes for entry in entries)
            share_done = min(self._n_bytes_done / self._n_bytes, 1.0)
        check_budget(
            self._budget,
            n_shards=self._n_shards,
            n_failed_shards=len(counts.failed_shards),
            reason=next(iter(counts.failed_shards.values()), None),
            n_pages=counts.n_pages,
            statuses=counts.page_statuses,
            share_done=share_done,
        )
