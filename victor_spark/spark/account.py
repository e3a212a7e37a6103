"""What a run came to: run.json for programs, a few lines for people."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import reduce
from typing import Any, Final

from victor_spark.spark import ledger, output, record, spending, stages
from victor_spark.spark.budget import Budget
from victor_spark.spark.ledger import Entry
from victor_spark.spark.progress import clock, many

N_FAILED_SHARDS: Final = 100
"""At most so many shards that failed are named in run.json; `victor status` has them all."""


@dataclass(frozen=True)
class Circumstances:
    """What a run is told by beside its waves; `began` is the clock's time, `seconds` what it took here."""

    config: Mapping[str, Any]
    spark: Mapping[str, Any]
    n_shards: int
    budget: Budget
    began: datetime
    seconds: float


def of_run(told: Circumstances, entries: Sequence[Entry], n_earlier: int) -> dict[str, Any]:
    """The content of run.json; the first `n_earlier` waves were done by earlier runs of the same command."""
    counts = record.total(entry.counts for entry in entries)
    failed = spending.failed(counts, told.n_shards)
    n_pages_here = sum(entry.counts.n_pages for entry in entries[n_earlier:])
    return {
        "started_at": told.began.isoformat(timespec="seconds"),
        "finished_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": record.versions(),
        "config": told.config,
        "spark": told.spark,
        "budget": asdict(told.budget),
        "n_shards": told.n_shards,
        "n_waves": len(entries),
        "n_splits": sum(entry.n_splits for entry in entries),
        "n_bytes": sum(entry.n_bytes for entry in entries),
        "n_failed_shards": failed.n_failed_shards,
        "failed_shards": dict(list(counts.failed_shards.items())[:N_FAILED_SHARDS]),
        "n_rows": counts.n_rows,
        "n_pages": counts.n_pages,
        "n_failed_pages": failed.n_failed_pages,
        "statuses": counts.statuses,
        "reasons": counts.reasons,
        "languages": counts.languages,
        "sites": counts.sites,
        "lengths": counts.lengths,
        "n_waves_of_earlier_runs": n_earlier,
        "n_pages_of_earlier_runs": counts.n_pages - n_pages_here,
        "seconds": {"clean": round(told.seconds, 2)},
        "stages": _stages(entries),
        "pages_per_second": round(n_pages_here / max(told.seconds, 1e-9), 1),
        "waves": [_wave(entry) for entry in sorted(entries, key=lambda entry: entry.wave)],
    }


def _stages(entries: Iterable[Entry]) -> dict[str, float]:
    sums = reduce(stages.summed, (entry.stages for entry in entries), dict.fromkeys(stages.STAGES, 0.0))
    return {stage: round(seconds, 2) for stage, seconds in sums.items()}


def _wave(entry: Entry) -> dict[str, Any]:
    return {
        "wave": entry.wave,
        "n_pages": entry.counts.n_pages,
        "n_bytes": entry.n_bytes,
        "seconds": entry.seconds,
        "pages_per_second": round(entry.counts.n_pages / entry.seconds, 1) if entry.seconds else None,
        "finished_at": entry.finished_at,
    }


def summary(finished: Mapping[str, Any], location: str) -> list[str]:
    """What a run came to, in a few lines for people."""
    counts = record.counts_of(finished).page_statuses
    statuses = ", ".join(f"{status} {n}" for status, n in counts.items()) or "no pages"
    n_here = finished["n_pages"] - finished["n_pages_of_earlier_runs"]
    took = f"{clock(finished['seconds']['clean'])} ({finished['pages_per_second']} pages/s)"
    took = took if n_here == finished["n_pages"] else f"several runs, the last {n_here} in {took}"
    lines = [f"{finished['n_pages']} page{'s' * (finished['n_pages'] != 1)} in {took}: {statuses}"]
    if n_failed := finished["n_failed_shards"]:
        reason = next(iter(finished["failed_shards"].values()), "unknown")
        lines.append(f"{many(n_failed, 'shard')} couldn't be read to the end, such as: {reason}")
    rows, told, charts = (f"{location}/{name}" for name in (ledger.PAGES, output.RUN, output.REPORT))
    return [*lines, f"rows in {rows}, record of the run in {told}, charts in {charts}"]
