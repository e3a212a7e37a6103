"""The report of a run: one html file that needs nothing else, made of run.json alone by report.html."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from victor_spark import resources
from victor_spark.errors import FAILURES
from victor_spark.logs import clock
from victor_spark.spark import record
from victor_spark.spark.progress import many, size
from victor_spark.spark.rows import STAGES

_TEMPLATE: Final = Path(__file__).with_name("report.html")
_N_BARS: Final = 15
_N_REASONS: Final = 40
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _BOTTOM, _TOP = 960, 240, 52, 20, 24, 12
_N_BINS: Final = 160

Floats = npt.NDArray[np.float64]
Run = Mapping[str, Any]


def html(run: Run) -> str:
    """The whole page."""
    n_ok, statuses = run["statuses"].get("ok", 0), record.page_statuses(run)
    kinds = {name: "good" if name == "ok" else "bad" if name in FAILURES else "mild" for name in statuses}
    seconds = {STAGES[stage]: s for stage, s in run["stages"].items() if s}
    counted = [(n, status, reason) for status, found in run["reasons"].items() for reason, n in found.items()]
    return resources.template(_TEMPLATE).render(
        run=run,
        n_ok=n_ok,
        curve=throughput(run["waves"]),
        statuses=_bars(statuses, run["n_pages"], kinds=kinds),
        languages=_bars(run["languages"], n_ok),
        sites=_bars(run["sites"], n_ok),
        lengths=_bars(dict(_lengths(run["lengths"])), n_ok),
        stages=_bars(seconds, sum(seconds.values())),
        reasons=sorted(counted, key=lambda row: -row[0]),
        most=_N_REASONS,
        facts=_facts(run),
        clock=clock,
        many=many,
        size=size,
    )


def throughput(waves: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """The curve of pages per second, in the coordinates of an image; None if no wave has its time."""
    begins, ends, pages = spans(waves)
    if not len(begins):
        return None
    bounds, rate = rates(begins, ends, pages)
    total, top = float(bounds[-1]), max(float(rate.max()), 1e-9)
    right, floor, height = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM, _HEIGHT - _BOTTOM - _TOP
    x = _LEFT + (right - _LEFT) * bounds / total
    y = _TOP + height * (1 - rate / top)
    points = (f"{a:.1f},{h:.1f} {b:.1f},{h:.1f}" for (a, b), h in zip(pairwise(x), y, strict=True))
    ticks = [
        {
            "x": _LEFT + share * (right - _LEFT),
            "y": floor - share * height,
            "rate": share * top,
            "seconds": share * total,
        }
        for share in np.linspace(0.0, 1.0, 5).tolist()
    ]
    size = {"width": _WIDTH, "height": _HEIGHT, "left": _LEFT, "right": right, "floor": floor}
    return {**size, "total": total, "top": top, "line": " ".join(points), "ticks": ticks}


def spans(waves: Sequence[Mapping[str, Any]]) -> tuple[Floats, Floats, Floats]:
    """Begin, end and pages of each wave, in seconds of time in which any wave ran.

    Without the time between the runs of a command that was stopped, however long; a clock that was put back
    in between makes no time negative.
    """
    known = [wave for wave in waves if wave["finished_at"] and wave["seconds"]]
    rows = [(datetime.fromisoformat(w["finished_at"]).timestamp(), w["seconds"], w["n_pages"]) for w in known]
    rows.sort(key=lambda row: row[0] - row[1])
    ends, seconds, pages = np.array(rows, dtype=np.float64).reshape(-1, 3).T
    begins = ends - seconds
    idle = begins[1:] - np.maximum.accumulate(ends)[:-1]
    shifts = begins[:1] + np.concatenate([np.zeros(len(begins[:1])), np.cumsum(np.maximum(idle, 0.0))])
    return begins - shifts, ends - shifts, pages


def rates(begins: Floats, ends: Floats, pages: Floats) -> tuple[Floats, Floats]:
    """The bounds of even stretches of time, and the pages per second in each."""
    total = float(ends.max())
    bounds = np.linspace(0.0, total, min(_N_BINS, max(4 * len(pages), 12)) + 1)
    rate = np.zeros(len(bounds) - 1)
    for begin, end, n in zip(begins, ends, pages, strict=True):
        overlap = np.minimum(bounds[1:], end) - np.maximum(bounds[:-1], begin)
        rate += np.maximum(overlap, 0.0) * n / (end - begin)
    return bounds, rate / np.diff(bounds)


def _lengths(lengths: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    """Ranges of characters, in order, those in between without any page too."""
    if not lengths:
        return
    least = min(map(int, lengths))
    while least <= max(map(int, lengths)):
        yield f"{_round(least)} – {_round(2 * least)}", lengths.get(str(least), 0)
        least *= 2


def _round(n: int) -> str:
    return str(n) if n < 1024 else f"{n // 1024} K" if n < 1 << 20 else f"{n >> 20} M"


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


def _facts(run: Run) -> dict[str, str]:
    """Options, models, versions and inputs of the run, a line each."""
    config = run["config"]
    rows = {name: value for name, value in config.items() if isinstance(value, bool)}
    facts = {
        "options": {**config["cleaning"], **config["reading"], **rows, **config["limits"]},
        "models": {name: digest[:16] for name, digest in config["models"].items()},
        "versions": run["versions"],
        "inputs": config["inputs"],
    }
    return {name: _listed(values) for name, values in facts.items()}


def _listed(values: Mapping[str, Any]) -> str:
    parts = []
    for key, value in values.items():
        if value in (None, "", []):
            continue
        several = value if isinstance(value, list) else [value]
        listed = ", ".join(map(str, several)) if len(several) < 9 else f"({len(several)} values)"
        parts.append(f"{key} {listed}")
    return ", ".join(parts)
