"""The report of a run, one html file that needs nothing else: made of run.json by report.html."""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from victor_spark import resources
from victor_spark.logs import clock, many, size
from victor_spark.spark.run_record import page_statuses
from victor_spark.statuses import FAILURES
from victor_spark.worker.rows import STAGES

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
    return resources.template(Path(__file__).with_name("report.html")).render(
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
            "number": f"{n:,.{1 if n >= 1 else 3}f} s" if isinstance(n, float) else f"{n:,}",
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
        name: ", ".join(f"{key} {value!s:.80}" for key, value in group.items() if value not in (None, "", []))
        for name, group in facts.items()
    }
