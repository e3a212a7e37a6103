"""The record of a run: counts of rows, entries of waves, the failure budget, config.json and run.json.

config.json has all that decides the rows; run.json has the results of a complete run.
"""

import hashlib
import json
import platform
import shlex
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime, timedelta
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import SparkContext
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

import victor_spark
from victor_spark import tables
from victor_spark.errors import BudgetError
from victor_spark.logs import many
from victor_spark.request import Budget, CleanRequest, allowed
from victor_spark.sites import table
from victor_spark.statuses import FAILURES
from victor_spark.worker.rows import STAGES

N_REASONS: Final = 200
"""At most this many different reasons of a status are listed; `statuses` counts all of them."""

N_SITES: Final = 50

_N_TASK_SITES: Final = 200  # of a task; N_SITES of them stay in a wave's counts
_UNKNOWN: Final = "unknown"
_CHANGED: Final = ("n_added_by_site", "n_removed_by_site")
_COUNTED: Final = ("status", "reason", "warc_filename", "warc_record_offset", "language", "url_host_name")


@dataclass
class Counts:
    """Counts of rows. A row without a record's offset stands for a shard that was not read to its end.

    `failed_shards` gives the reason, by shard. Of pages that are ok, counted are `languages`; `sites`, the
    `N_SITES` hosts with most pages (of several waves or tasks: only hosts near the top in one of them); and
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
            f"{n_failed_shards} of {many(n_shards, 'shard')} could not be read, such as: {reason}; "
            f"{_advice('shards', budget.max_failed_shards, n_allowed)}"
        )
    n_in_all = counts.n_pages / max(share_done, 1e-9)
    n_allowed = allowed(budget.max_failed_pages, n_in_all)
    if (n_failed := counts.n_failed_pages) > n_allowed:
        by_status = ", ".join(f"{name} {n}" for name in FAILURES if (n := counts.page_statuses.get(name, 0)))
        about = "" if share_done >= 1 else "about "
        raise BudgetError(
            f"{n_failed} of {about}{many(round(n_in_all), 'page')} failed ({by_status}); "
            f"{_advice('pages', budget.max_failed_pages, n_allowed)}"
        )


def _advice(of: str, budget: str, n: int) -> str:
    return f"--max-failed-{of} {shlex.quote(budget)} allows {n}. Repeat the command with a larger value"


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


N_FAILED_SHARDS: Final = 100
"""At most this many failed shards are listed in run.json; `victor status` lists all."""

_ELSEWHERE: Final = ("n_rows", "n_failures", "failed_shards")  # in run.json, in another form
_LIBRARIES: Final = ("pyspark", "resiliparse", "isal", "pyarrow", "numpy", "tldextract")


@dataclass(frozen=True)
class Run:
    """A request after every check that needs no Spark; `id` is the tag of its jobs, `stop` ends it.

    `started`: by the monotonic clock; `earlier`: the table of sites that is added to.
    """

    request: CleanRequest
    shards: pa.Table
    models: dict[str, bytes]
    config: dict[str, Any]
    id: str
    earlier: table.SiteTable | None = None
    stop: threading.Event = field(default_factory=threading.Event)
    started: float = field(default_factory=time.monotonic)

    @property
    def n_shards(self) -> int:
        """The number of input shards."""
        return int(self.config["inputs"]["n_shards"])


def config(request: CleanRequest, *, models: Mapping[str, str], inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The content of config.json: all that decides a run's rows. Equal ones give equal rows."""
    cleaning = _deciding(request.cleaning)
    for path in ("model", "lid_model", "templates", "sites"):  # `models` has hashes of their content
        if cleaning.pop(path) is not None:
            cleaning[path] = True
    return {
        "victor_spark": victor_spark.__version__,
        "schema_version": tables.PAGES_VERSION,
        "cleaning": cleaning,
        "reading": _deciding(request.reading),
        **_deciding(request.rows),
        "sites": {**_deciding(request.sites), "version": table.VERSION},
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


def run_json(run: Run, entries: Sequence[Entry], n_earlier: int, context: SparkContext) -> dict[str, Any]:
    """The content of run.json; the first `n_earlier` waves were done by earlier runs of the same command."""
    seconds, now = time.monotonic() - run.started, datetime.now(UTC)
    counts = total(entry.counts for entry in entries)
    n_pages_here = sum(entry.counts.n_pages for entry in entries[n_earlier:])
    spark = {"engine": run.request.spark.engine, "n_cores": context.defaultParallelism}
    return {
        "started_at": (now - timedelta(seconds=seconds)).isoformat(timespec="seconds"),
        "finished_at": now.isoformat(timespec="seconds"),
        "versions": versions(),
        "config": run.config,
        "spark": {"master": context.master, **spark},
        "budget": asdict(run.request.budget),
        "n_shards": run.n_shards,
        "n_waves": len(entries),
        "n_splits": sum(entry.n_splits for entry in entries),
        "n_bytes": sum(entry.n_bytes for entry in entries),
        "n_failed_shards": len(counts.failed_shards),
        "failed_shards": dict(list(counts.failed_shards.items())[:N_FAILED_SHARDS]),
        "n_rows": counts.n_rows,
        "n_pages": counts.n_pages,
        "n_failed_pages": counts.n_failed_pages,
        **{name: found for name, found in vars(counts).items() if name not in _ELSEWHERE},
        "n_waves_of_earlier_runs": n_earlier,
        "n_pages_of_earlier_runs": counts.n_pages - n_pages_here,
        "seconds": {"clean": round(seconds, 2)},
        "stages": {stage: round(sum(each.stages.get(stage, 0.0) for each in entries), 2) for stage in STAGES},
        "pages_per_second": round(n_pages_here / max(seconds, 1e-9), 1),
        "waves": [
            {
                **{name: getattr(entry, name) for name in ("wave", "n_bytes", "seconds", "finished_at")},
                "n_pages": entry.counts.n_pages,
                "pages_per_second": round(entry.counts.n_pages / entry.seconds, 1) if entry.seconds else None,
            }
            for entry in sorted(entries, key=lambda entry: entry.wave)
        ],
    }


def page_statuses(run: Mapping[str, Any]) -> dict[str, int]:
    """The statuses of pages by a run.json, without the rows of shards that failed."""
    return Counts(run["n_rows"], run["n_rows"] - run["n_pages"], run["statuses"]).page_statuses


def versions() -> dict[str, str]:
    """The versions of victor-spark, Python and the libraries that influence the rows."""
    found = {"victor-spark": victor_spark.__version__, "python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found
