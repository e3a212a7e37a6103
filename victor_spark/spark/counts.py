"""Counts of rows, the entries of finished waves made of them, and the failure budget."""

import json
import shlex
import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from victor_spark.errors import BudgetError
from victor_spark.spark.request import Budget, allowed
from victor_spark.statuses import FAILURES

N_REASONS: Final = 200
"""At most this many different reasons of a status are listed; `statuses` counts all of them."""

N_SITES: Final = 50

_N_TASK_SITES: Final = 200  # of a task; N_SITES of them stay in a wave's counts
_UNKNOWN: Final = "unknown"
_CHANGED: Final = ("n_added_by_site", "n_removed_by_site")
_COUNTED: Final = ("status", "reason", "warc_filename", "warc_record_offset", "language", "url_host_name")


@dataclass
class Counts:
    """Counts of rows. A row without a record's offset stands for a shard, or a range of one, that couldn't be
    read to its end.
    `failed_shards` gives the reason, by shard. Of pages that are ok: `languages`; `sites`, the `N_SITES`
    hosts with most of them (of several waves or tasks together: those that were near the top in one);
    `lengths`, by the largest power of two that the text's characters reach. `n_changed_by_site`: pages of
    which `--by-site` kept or dropped other blocks.
    """

    n_rows: int = 0
    n_failures: int = 0
    statuses: dict[str, int] = field(default_factory=Counter)
    reasons: dict[str, dict[str, int]] = field(default_factory=lambda: defaultdict(Counter))
    failed_shards: dict[str, str] = field(default_factory=dict)
    languages: dict[str, int] = field(default_factory=Counter)
    sites: dict[str, int] = field(default_factory=Counter)
    lengths: dict[str, int] = field(default_factory=Counter)
    n_changed_by_site: int = 0

    @property
    def n_pages(self) -> int:
        """Rows of records."""
        return self.n_rows - self.n_failures

    @property
    def page_statuses(self) -> dict[str, int]:
        """The statuses of pages, without the rows of shards that failed; they add up to `n_pages`."""
        n_errors = self.statuses.get("error", 0) - self.n_failures
        return {status: n for status, n in {**self.statuses, "error": n_errors}.items() if n}

    @property
    def n_failed_pages(self) -> int:
        """How many pages failed."""
        return sum(self.page_statuses.get(status, 0) for status in FAILURES)

    def count(self, batch: pa.RecordBatch, lengths: pa.Array | None = None) -> None:
        """Counts a batch of rows; `lengths` are the characters of the texts, where these are not in it."""
        lengths = pc.utf8_length(batch.column("text")) if lengths is None else lengths
        columns = [*(batch.column(name) for name in _COUNTED), lengths]
        rows = zip(*(column.to_pylist() for column in columns), strict=True)
        for status, reason, shard, offset, language, host, length in rows:
            self.n_rows += 1
            self.statuses[status] += 1
            if reason is not None:
                self.reasons[status][reason] += 1
            if offset is None:
                self.n_failures += 1
                self.failed_shards.setdefault(shard, reason or "")
            if status == "ok":
                self.languages[language or _UNKNOWN] += 1
                if host:
                    self.sites[host] += 1
            if length:
                self.lengths[str(1 << (length.bit_length() - 1))] += 1
        if set(_CHANGED) <= set(batch.schema.names):
            n_changed = pc.add(*(batch.column(name) for name in _CHANGED))
            self.n_changed_by_site += len(pc.indices_nonzero(n_changed))

    def as_json(self) -> dict[str, Any]:
        """The counts of a task, ready for JSON."""
        return vars(_largest_first(self, n_sites=_N_TASK_SITES))


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
        found.n_changed_by_site += part.n_changed_by_site
        found.failed_shards.update(part.failed_shards)
        for name in _BY_NAME:
            getattr(found, name).update(getattr(part, name))  # a Counter adds
        for status, more in part.reasons.items():
            found.reasons[status].update(more)
    return _largest_first(found, n_sites=N_SITES)


def of_files(pages: DataFrame) -> Counts:
    """Counts rows that Spark has written, from the files: accumulators would count repeated tasks twice."""
    columns = [*_COUNTED, *(name for name in _CHANGED if name in pages.columns)]
    counted = pages.select(*columns, sf.length("text").alias("length")).mapInArrow(_counted, "counts string")
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


def check_budget(
    budget: Budget, counts: Counts, *, n_shards: int, n_failed_shards: int, share_done: float = 1.0
) -> None:
    """Raises BudgetError if more shards or pages failed than may fail in the whole run.

    Before the end of the run, its number of pages is estimated from the share of its bytes that is done.
    """
    n_allowed = allowed(budget.max_failed_shards, n_shards)
    if n_failed_shards > n_allowed:
        reason = next(iter(counts.failed_shards.values()), None)
        raise BudgetError(
            f"{n_failed_shards} of {n_shards} shards couldn't be read, and {n_allowed} may fail "
            f"({_advice('shards', budget.max_failed_shards)}), such as: {reason}"
        )
    n_in_all = counts.n_pages / max(share_done, 1e-9)
    n_allowed = allowed(budget.max_failed_pages, n_in_all)
    if (n_failed := counts.n_failed_pages) > n_allowed:
        by_status = ", ".join(f"{name} {n}" for name in FAILURES if (n := counts.page_statuses.get(name, 0)))
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
        n, n_failed = self._n_shards, len(counts.failed_shards)
        check_budget(self._budget, counts, n_shards=n, n_failed_shards=n_failed, share_done=share_done)
