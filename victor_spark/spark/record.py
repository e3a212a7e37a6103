"""The record of a run: counts of its rows, its waves, its failure budget, config.json and run.json."""

import hashlib
import json
import platform
import shlex
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime
from functools import reduce
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

import victor_spark
from victor_spark import tables
from victor_spark.errors import FAILURES, BudgetError
from victor_spark.spark.request import Budget, CleanRequest, allowed
from victor_spark.spark.rows import STAGES, summed

N_REASONS: Final = 200
"""At most this many different (status, reason) pairs are listed; `statuses` counts all of them."""

N_SITES: Final = 50
N_FAILED_SHARDS: Final = 100
"""At most this many failed shards are listed in run.json; `victor status` lists all."""

_N_TASK_SITES: Final = 200  # of a task; N_SITES of them stay in a wave's counts
_UNKNOWN: Final = "unknown"
_COUNTED: Final = ("status", "reason", "warc_filename", "warc_record_offset", "language", "url_host_name")
_LIBRARIES: Final = ("pyspark", "resiliparse", "fastwarc", "warcio", "pyarrow", "numpy", "tldextract")


@dataclass(frozen=True)
class Counts:
    """Counts of rows.

    A row without a record's offset is a failure: a shard, or a range of one, that couldn't be read (on).
    `failed_shards` gives the reason, by shard. Of pages that are ok: `languages`; `sites`, the `N_SITES`
    hosts with most of them (of several waves or tasks together: those that were near the top in one);
    `lengths`, by the largest power of two that the text's characters reach.
    """

    n_rows: int = 0
    n_failures: int = 0
    statuses: Mapping[str, int] = field(default_factory=dict)
    reasons: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    failed_shards: Mapping[str, str] = field(default_factory=dict)
    languages: Mapping[str, int] = field(default_factory=dict)
    sites: Mapping[str, int] = field(default_factory=dict)
    lengths: Mapping[str, int] = field(default_factory=dict)

    @property
    def n_pages(self) -> int:
        """Rows of records."""
        return self.n_rows - self.n_failures

    @property
    def page_statuses(self) -> dict[str, int]:
        """The statuses of pages, without the rows of shards that failed; they add up to `n_pages`."""
        n_errors = self.statuses.get("error", 0) - self.n_failures
        return {status: n for status, n in {**self.statuses, "error": n_errors}.items() if n}


class RowCounter:
    """Counts the rows of batches."""

    def __init__(self) -> None:
        self._reasons: Counter[tuple[str, str | None]] = Counter()
        self._failed: dict[str, str] = {}
        self._n_failures = 0
        self._languages, self._sites, self._lengths = Counter[str](), Counter[str](), Counter[str]()

    def add(self, batch: pa.RecordBatch, lengths: pa.Array | None = None) -> None:
        """Counts a batch; `lengths` are the characters of the texts, where these are not in the batch."""
        columns = [batch.column(name).to_pylist() for name in _COUNTED[:4]]
        self._reasons.update(zip(columns[0], columns[1], strict=True))
        for _, reason, shard, offset in zip(*columns, strict=True):
            if offset is None:
                self._n_failures += 1
                self._failed.setdefault(shard, reason or "")
        ok = batch.filter(pc.equal(batch.column("status"), "ok"))
        self._languages.update(language or _UNKNOWN for language in ok.column("language").to_pylist())
        self._sites.update(filter(None, ok.column("url_host_name").to_pylist()))
        lengths = pc.utf8_length(batch.column("text")) if lengths is None else lengths
        self._lengths.update(str(1 << (n.bit_length() - 1)) for n in lengths.to_pylist() if n)

    def counts(self) -> Counts:
        """The counts so far."""
        statuses: Counter[str] = Counter()
        reasons: dict[str, Counter[str]] = {}
        for (status, reason), n in self._reasons.items():
            statuses[status] += n
            if reason is not None:
                reasons.setdefault(status, Counter())[reason] += n
        return Counts(
            n_rows=statuses.total(),
            n_failures=self._n_failures,
            statuses=dict(statuses),
            reasons={status: dict(found.most_common(N_REASONS)) for status, found in reasons.items()},
            failed_shards=self._failed,
            languages=dict(self._languages),
            sites=dict(self._sites.most_common(_N_TASK_SITES)),
            lengths=dict(self._lengths),
        )


def count(pages: DataFrame) -> Counts:
    """Counts rows that Spark has written, from the files: accumulators would count repeated tasks twice."""
    counted = pages.select(*_COUNTED, sf.length("text").alias("length")).mapInArrow(_counted, "counts string")
    return total(Counts(**json.loads(row.counts)) for row in counted.collect())


def _counted(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    counter = RowCounter()
    for batch in batches:
        counter.add(batch, batch.column("length"))
    yield pa.RecordBatch.from_pydict({"counts": [json.dumps(asdict(counter.counts()))]})


def total(parts: Iterable[Counts]) -> Counts:
    """The counts of several tasks or waves; a shard that failed in two of them is counted once."""
    statuses, reasons = Counter[str](), dict[str, Counter[str]]()
    languages, sites, lengths = Counter[str](), Counter[str](), Counter[str]()
    failed_shards: dict[str, str] = {}
    n_rows = n_failures = 0
    for part in parts:
        n_rows += part.n_rows
        n_failures += part.n_failures
        statuses.update(part.statuses)
        failed_shards.update(part.failed_shards)
        languages.update(part.languages)
        sites.update(part.sites)
        lengths.update(part.lengths)
        for status, counts in part.reasons.items():
            reasons.setdefault(status, Counter()).update(counts)
    return Counts(
        n_rows=n_rows,
        n_failures=n_failures,
        statuses=_largest_first(statuses),
        reasons={status: dict(counts.most_common(N_REASONS)) for status, counts in sorted(reasons.items())},
        failed_shards=failed_shards,
        languages=_largest_first(languages),
        sites=dict(list(_largest_first(sites).items())[:N_SITES]),
        lengths=_largest_first(lengths),
    )


def _largest_first(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))


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


@dataclass(frozen=True, slots=True)
class Failed:
    """How many of a run's shards and pages failed, these by status; `reason` is that of one of the shards."""

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


def check_budget(budget: Budget, found: Failed, share_done: float = 1.0) -> None:
    """Raises BudgetError if more failed than may fail in the whole run.

    Before the end of the run, its number of pages is estimated from the share of its bytes that is done.
    """
    n_allowed = allowed(budget.max_failed_shards, found.n_shards)
    if found.n_failed_shards > n_allowed:
        raise BudgetError(
            f"{found.n_failed_shards} of {found.n_shards} shards couldn't be read, and {n_allowed} may fail "
            f"({_advice('shards', budget.max_failed_shards)}), such as: {found.reason}"
        )
    n_pages = found.n_pages / max(share_done, 1e-9)
    n_allowed = allowed(budget.max_failed_pages, n_pages)
    if found.n_failed_pages > n_allowed:
        by_status = ", ".join(f"{status} {n}" for status, n in found.failed_pages.items())
        about = "" if share_done >= 1 else "about "
        raise BudgetError(
            f"{found.n_failed_pages} pages failed ({by_status}), and of {about}{round(n_pages)} pages "
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
            self._counts = total([self._counts, *(entry.counts for entry in entries)])
            self._n_bytes_done += sum(entry.n_bytes for entry in entries)
            found, share = failed(self._counts, self._n_shards), self._n_bytes_done / self._n_bytes
        check_budget(self._budget, found, min(share, 1.0))


def config(request: CleanRequest, *, models: Mapping[str, str], inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The content of config.json: all that decides a run's rows. Equal ones give equal rows."""
    cleaning = _deciding(request.cleaning)
    for path in ("model", "lid_model", "templates"):  # `models` has hashes of their content
        cleaning.pop(path)
    return {
        "victor_spark": victor_spark.__version__,
        "schema_version": tables.PAGES_VERSION,
        "cleaning": cleaning,
        "reading": _deciding(request.reading),
        **_deciding(request.rows),
        "limits": _deciding(request.limits),
        "models": dict(models),
        "inputs": dict(inputs),
    }


def _deciding(group: Any) -> dict[str, Any]:
    """The fields of a group that decide rows, ready for JSON."""
    values = {one.name: getattr(group, one.name) for one in fields(group) if one.compare}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def models_hashes(models: Mapping[str, bytes]) -> dict[str, str]:
    """The SHA-256 of every model, by name."""
    return {name: hashlib.sha256(content).hexdigest() for name, content in sorted(models.items())}


def run_json(
    entries: Sequence[Entry],
    n_earlier: int,
    *,
    config: Mapping[str, Any],
    budget: Budget,
    spark: Mapping[str, Any],
    n_shards: int,
    began: datetime,
    seconds: float,
) -> dict[str, Any]:
    """The content of run.json; the first `n_earlier` waves were done by earlier runs of the same command."""
    counts = total(entry.counts for entry in entries)
    found = failed(counts, n_shards)
    n_pages_here = sum(entry.counts.n_pages for entry in entries[n_earlier:])
    stages = reduce(summed, (entry.stages for entry in entries), dict.fromkeys(STAGES, 0.0))
    return {
        "started_at": began.isoformat(timespec="seconds"),
        "finished_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": versions(),
        "config": config,
        "spark": spark,
        "budget": asdict(budget),
        "n_shards": n_shards,
        "n_waves": len(entries),
        "n_splits": sum(entry.n_splits for entry in entries),
        "n_bytes": sum(entry.n_bytes for entry in entries),
        "n_failed_shards": found.n_failed_shards,
        "failed_shards": dict(list(counts.failed_shards.items())[:N_FAILED_SHARDS]),
        "n_rows": counts.n_rows,
        "n_pages": counts.n_pages,
        "n_failed_pages": found.n_failed_pages,
        **{name: getattr(counts, name) for name in ("statuses", "reasons", "languages", "sites", "lengths")},
        "n_waves_of_earlier_runs": n_earlier,
        "n_pages_of_earlier_runs": counts.n_pages - n_pages_here,
        "seconds": {"clean": round(seconds, 2)},
        "stages": {stage: round(sum_, 2) for stage, sum_ in stages.items()},
        "pages_per_second": round(n_pages_here / max(seconds, 1e-9), 1),
        "waves": [
            {
                "wave": entry.wave,
                "n_pages": entry.counts.n_pages,
                "n_bytes": entry.n_bytes,
                "seconds": entry.seconds,
                "pages_per_second": round(entry.counts.n_pages / entry.seconds, 1) if entry.seconds else None,
                "finished_at": entry.finished_at,
            }
            for entry in sorted(entries, key=lambda entry: entry.wave)
        ],
    }


def counts_of(run: Mapping[str, Any]) -> Counts:
    """The rows by status, as a run.json has them."""
    return Counts(run["n_rows"], run["n_rows"] - run["n_pages"], run["statuses"], run["reasons"])


def failed_in(run: Mapping[str, Any]) -> Failed:
    """What failed by a run.json."""
    found = failed(counts_of(run), run["n_shards"])
    reason = next(iter(run["failed_shards"].values()), None)
    return replace(found, n_failed_shards=run["n_failed_shards"], reason=reason)


def versions() -> dict[str, str]:
    """The versions of victor-spark, Python and the libraries that influence the rows."""
    found = {"victor-spark": victor_spark.__version__, "python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found
