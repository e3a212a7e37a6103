"""What a run stores about itself: config.json, which decides its rows, and run.json, its results."""

import hashlib
import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

from pyspark import SparkContext

import victor_spark
from victor_spark import tables
from victor_spark.spark.counts import Counts, Entry, n_failed_pages, total
from victor_spark.spark.request import CleanRequest
from victor_spark.spark.rows import STAGES

N_FAILED_SHARDS: Final = 100
"""At most this many failed shards are listed in run.json; `victor status` lists all."""

_ELSEWHERE: Final = ("n_rows", "n_failures", "failed_shards")  # in run.json, in another form
_LIBRARIES: Final = ("pyspark", "resiliparse", "fastwarc", "pyarrow", "numpy", "tldextract")


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
        "sites": _deciding(request.sites),
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
    *,
    n_earlier: int,
    request: CleanRequest,
    config: Mapping[str, Any],
    context: SparkContext,
    n_shards: int,
    began: datetime,
    started: float,
) -> dict[str, Any]:
    """The content of run.json; the first `n_earlier` waves were done by earlier runs of the same command.

    `started` is when this run `began` by the monotonic clock.
    """
    seconds = time.monotonic() - started
    counts = total(entry.counts for entry in entries)
    n_pages_here = sum(entry.counts.n_pages for entry in entries[n_earlier:])
    stages = {stage: sum(entry.stages.get(stage, 0.0) for entry in entries) for stage in STAGES}
    return {
        "started_at": began.isoformat(timespec="seconds"),
        "finished_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": versions(),
        "config": config,
        "spark": {
            "master": context.master,
            "engine": request.spark.engine,
            "n_cores": context.defaultParallelism,
        },
        "budget": asdict(request.budget),
        "n_shards": n_shards,
        "n_waves": len(entries),
        "n_splits": sum(entry.n_splits for entry in entries),
        "n_bytes": sum(entry.n_bytes for entry in entries),
        "n_failed_shards": len(counts.failed_shards),
        "failed_shards": dict(list(counts.failed_shards.items())[:N_FAILED_SHARDS]),
        "n_rows": counts.n_rows,
        "n_pages": counts.n_pages,
        "n_failed_pages": n_failed_pages(counts.page_statuses),
        **{name: found for name, found in vars(counts).items() if name not in _ELSEWHERE},
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
