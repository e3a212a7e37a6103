"""The record of a run: config.json (all that decides its rows), run.json (its results), and the report.

The report is one html file that needs nothing else, made of run.json alone by report.html.
"""

import hashlib
import math
import platform
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime, timedelta
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from pyspark import SparkContext

import victor_spark
from victor_spark import resources, tables
from victor_spark.logs import clock
from victor_spark.sites import table
from victor_spark.spark.counts import Counts, Entry, total
from victor_spark.spark.progress import many, size
from victor_spark.spark.request import CleanRequest
from victor_spark.spark.rows import STAGES
from victor_spark.statuses import FAILURES

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
        "sites": _deciding(request.sites) | ({"version": table.VERSION} if request.sites.by_site else {}),
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
    stages = {stage: sum(entry.stages.get(stage, 0.0) for entry in entries) for stage in STAGES}
    master, n_cores = context.master, context.defaultParallelism
    return {
        "started_at": (now - timedelta(seconds=seconds)).isoformat(timespec="seconds"),
        "finished_at": now.isoformat(timespec="seconds"),
        "versions": versions(),
        "config": run.config,
        "spark": {"master": master, "engine": run.request.spark.engine, "n_cores": n_cores},
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


_TEMPLATE: Final = Path(__file__).with_name("report.html")
_N_BARS: Final = 15
_N_REASONS: Final = 40


def html(run: Mapping[str, Any]) -> str:
    """The whole page."""
    n_ok, statuses = run["statuses"].get("ok", 0), page_statuses(run)
    kinds = {name: "good" if name == "ok" else "bad" if name in FAILURES else "mild" for name in statuses}
    passes = [run["stages"], run.get("first_pass", {}).get("stages", {})]
    seconds = {STAGES[stage]: s for stage in STAGES if (s := sum(of.get(stage, 0.0) for of in passes))}
    lengths = {int(least): n for least, n in run["lengths"].items()}
    counted = [(n, status, reason) for status, found in run["reasons"].items() for reason, n in found.items()]
    return resources.template(_TEMPLATE).render(
        run=run,
        n_ok=n_ok,
        curve=progress(run["waves"]),
        statuses=_bars(statuses, run["n_pages"], kinds=kinds),
        languages=_bars(run["languages"], n_ok),
        sites=_bars(run["sites"], n_ok),
        lengths=_bars({f"from {n:,}": lengths[n] for n in sorted(lengths)}, n_ok),
        stages=_bars(seconds, sum(seconds.values())),
        reasons=sorted(counted, key=lambda row: -row[0]),
        most=_N_REASONS,
        facts=_facts(run),
        clock=clock,
        many=many,
        size=size,
    )


def progress(waves: Sequence[Mapping[str, Any]]) -> list[tuple[float, int]]:
    """Seconds and pages when each wave was done, without the time between the runs of a stopped command."""
    known = [wave for wave in waves if wave["finished_at"] and wave["seconds"]]
    when = datetime.fromisoformat
    ends = sorted((when(w["finished_at"]).timestamp(), w["seconds"], w["n_pages"]) for w in known)
    points, before = [(0.0, 0)], -math.inf
    for end, seconds, n_pages in ends:
        points.append((points[-1][0] + min(seconds, end - before), points[-1][1] + n_pages))
        before = end
    return points


def _bars(
    numbers: Mapping[str, float], whole: float, *, kinds: Mapping[str, str] | None = None
) -> list[dict[str, Any]]:
    """The first numbers and the sum of the others: each with its share of `whole` and of the largest one."""
    shown = list(numbers.items())[: max(_N_BARS, len(numbers) if kinds else 0)]
    if rest := sum(numbers.values()) - sum(n for _, n in shown):
        shown.append(("others", rest))
    largest = max([n for _, n in shown], default=0) or 1
    return [
        {
            "name": name,
            "number": f"{n:,.1f} s" if isinstance(n, float) else f"{n:,}",
            "share": n / max(whole, 1e-9),
            "filled": n / largest,
            "kind": (kinds or {}).get(name, ""),
        }
        for name, n in shown
    ]


def _facts(run: Mapping[str, Any]) -> dict[str, str]:
    """Options, models, versions and inputs of the run, a line each."""
    config = run["config"]
    rows = {name: value for name, value in config.items() if isinstance(value, bool)}
    facts = {
        "options": {**config["cleaning"], **config["reading"], **rows, **config["limits"]},
        "models": {name: digest[:16] for name, digest in config["models"].items()},
        "versions": run["versions"],
        "inputs": config["inputs"],
    }
    return {
        name: ", ".join(
            f"{key} {value!s:.80}" for key, value in values.items() if value not in (None, "", [])
        )
        for name, values in facts.items()
    }
