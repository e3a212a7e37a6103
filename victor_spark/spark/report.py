"""The report of a run: one html file that needs nothing else, made of run.json alone."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from victor_spark.errors import FAILURES
from victor_spark.spark import record
from victor_spark.spark.progress import clock, many, size
from victor_spark.spark.rows import STAGES

_CSS: Final = Path(__file__).with_name("report.css")
_N_BARS: Final = 15
_N_REASONS: Final = 40
_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 960, 240, 52, 24, 12
_N_BINS: Final = 160
_STEPS: Final = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 43200, 86400)

Floats = npt.NDArray[np.float64]


Run = Mapping[str, Any]


def html(run: Run) -> str:
    """The whole page."""
    title = f"{run['n_pages']:,} pages"
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width"><title>victor clean: {title}</title>\n'
        f"<style>\n{_CSS.read_text(encoding='utf-8')}</style></head><body>\n"
        + "\n".join(
            [
                *_head(run),
                _tiles(run),
                _throughput(run),
                _panels(run),
                _failed_shards(run),
                _reasons(run),
                _facts(run),
            ]
        )
        + "\n</body></html>\n"
    )


def _head(run: Run) -> Iterator[str]:
    spark, inputs = run["spark"], run["config"]["inputs"]
    yield f"<h1>victor clean: {run['n_pages']:,} pages of {many(inputs.get('n_shards', 0), 'shard')}</h1>"
    cleaner = escape(str(run["config"]["cleaning"]["cleaner"]))
    yield (
        f'<p class="soft">finished {escape(run["finished_at"])} · cleaner {cleaner} · '
        f"{escape(str(spark['master']))}, {many(spark['n_cores'], 'core')}</p>"
    )
    if "stopped" in run:
        yield (
            f'<p class="stopped"><b>Stopped.</b> {escape(run["stopped"])}<br>'
            "What is done stays; the same command with a larger budget resumes the run.</p>"
        )


def _tiles(run: Run) -> str:
    n_ok, n_pages = run["statuses"].get("ok", 0), max(run["n_pages"], 1)
    tiles = [
        (f"{n_ok:,}", f"with text ({n_ok / n_pages:.1%})", False),
        (f"{run['pages_per_second']:,}", "pages per second", False),
        (clock(run["seconds"]["clean"]), "the last run took", False),
        (size(run["n_bytes"]), "read", False),
        (
            f"{run['n_failed_pages']:,}",
            f"pages failed (may: {_budget(run, 'pages')})",
            run["n_failed_pages"] > 0,
        ),
        (
            f"{run['n_failed_shards']:,}",
            f"of {many(run['n_shards'], 'shard')} failed (may: {_budget(run, 'shards')})",
            run["n_failed_shards"] > 0,
        ),
    ]
    shown = (
        f'<div class="tile{" bad" if bad else ""}"><b>{escape(number)}</b><span>{escape(what)}</span></div>'
        for number, what, bad in tiles
    )
    return f'<div class="tiles">{"".join(shown)}</div>'


def _budget(run: Run, of: str) -> str:
    return str(run["budget"][f"max_failed_{of}"])


def _throughput(run: Run) -> str:
    chart = curve(run["waves"])
    if chart is None:
        return ""
    several = len(run["waves"]) > 1
    caption = (
        "Each wave's pages, spread evenly over the time from its first task to its commit; waves overlap."
        if several
        else "One wave only, its pages spread evenly over its time."
    )
    if run["n_waves_of_earlier_runs"]:
        caption += " Time between runs is left out (dashed)."
    return f"<figure><h2>Pages per second</h2>{chart}<figcaption>{caption}</figcaption></figure>"


def _panels(run: Run) -> str:
    n_ok, statuses = run["statuses"].get("ok", 0), record.counts_of(run).page_statuses
    kinds = {name: "good" if name == "ok" else "bad" if name in FAILURES else "mild" for name in statuses}
    seconds = {STAGES[stage]: s for stage, s in run["stages"].items() if s}
    several = ", summed over the largest of each wave" if run["n_waves"] > 1 else ""
    panels = [
        _bars("Statuses of the pages", statuses, run["n_pages"], kinds=kinds),
        _bars("Languages", run["languages"], n_ok, note="Of pages with text, by the language identifier."),
        _bars("Sites with most pages", run["sites"], n_ok, note=f"Hosts, of pages with text{several}."),
        _bars(
            "Lengths of texts", dict(_lengths(run["lengths"])), n_ok, note="Characters of the cleaned text."
        ),
        _bars(
            "Where the time goes",
            seconds,
            sum(seconds.values()),
            note="Seconds of all tasks by the clock, waiting for a processor included; Spark writes Parquet "
            "beside them.",
        ),
    ]
    return f'<div class="panels">{"".join(panels)}</div>'


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
    title: str,
    numbers: Mapping[str, float],
    whole: float,
    *,
    note: str = "",
    kinds: Mapping[str, str] | None = None,
) -> str:
    shown = list(numbers.items())[: max(_N_BARS, len(numbers) if kinds else 0)]
    if rest := sum(numbers.values()) - sum(n for _, n in shown):
        shown.append(("others", rest))
    largest = max([n for _, n in shown], default=0) or 1
    rows = (_bar(name, n, largest, whole, (kinds or {}).get(name, "")) for name, n in shown)
    body = f'<div class="bars">{"".join(rows)}</div>' if shown else '<p class="soft">none</p>'
    return f"<section><h2>{title}</h2>{body}<figcaption>{note}</figcaption></section>"


def _bar(name: str, n: float, largest: float, whole: float, kind: str) -> str:
    share, shown = n / max(whole, 1e-9), f"{n:,.1f} s" if isinstance(n, float) else f"{n:,}"
    filled = f'<i style="width:{n / largest:.2%}"></i>' if n else ""
    return (
        f'<span class="name" title="{escape(name)}">{escape(name)}</span>'
        f'<span class="track {kind}">{filled}</span>'
        f'<span class="n">{shown} <small>{share:.1%}</small></span>'
    )


def _failed_shards(run: Run) -> str:
    rows = [(escape(shard), escape(reason)) for shard, reason in run["failed_shards"].items()]
    more = run["n_failed_shards"] - len(rows[:_N_REASONS])
    note = f"{more} more; victor status lists all."
    return _table("Shards that failed", {"shard": "key", "reason": ""}, rows, note if more > 0 else "")


def _reasons(run: Run) -> str:
    counted = [(n, status, reason) for status, found in run["reasons"].items() for reason, n in found.items()]
    counted.sort(key=lambda row: -row[0])
    rows = [(f"{n:,}", escape(status), escape(reason)) for n, status, reason in counted]
    note = f"{len(rows) - _N_REASONS} more in run.json."
    columns = {"rows": "n", "status": "key", "reason": ""}
    return _table("Reasons", columns, rows, note if len(rows) > _N_REASONS else "")


def _table(title: str, columns: Mapping[str, str], rows: Sequence[tuple[str, ...]], note: str) -> str:
    """A table of the first rows; `columns` are names with the class of their cells."""
    if not rows:
        return ""
    head = "".join(f'<th class="{kind}">{name}</th>' for name, kind in columns.items())
    body = ""
    for row in rows[:_N_REASONS]:
        cells = zip(columns.values(), row, strict=True)
        body += "<tr>" + "".join(f'<td class="{kind}">{cell}</td>' for kind, cell in cells) + "</tr>"
    caption = f"<figcaption>{note}</figcaption>" if note else ""
    table = f"<table><thead><tr>{head}</tr></thead>{body}</table>"
    return f'<section><h2>{title}</h2><div class="scroll">{table}</div>{caption}</section>'


def _facts(run: Run) -> str:
    """Options, models, versions and inputs of the run."""
    config = run["config"]
    rows = {name: value for name, value in config.items() if isinstance(value, bool)}
    facts = {
        "options": {**config["cleaning"], **config["reading"], **rows, **config["limits"]},
        "models": {name: digest[:16] for name, digest in config["models"].items()},
        "versions": run["versions"],
        "inputs": config["inputs"],
    }
    table = "".join(
        f'<tr><td class="key">{escape(what)}</td><td class="mono">{escape(_listed(values))}</td></tr>'
        for what, values in facts.items()
    )
    return f"<section><h2>Options, models, versions and inputs</h2><table>{table}</table></section>"


def _listed(values: Mapping[str, Any]) -> str:
    parts = []
    for key, value in values.items():
        if value in (None, "", []):
            continue
        several = value if isinstance(value, list) else [value]
        listed = ", ".join(map(str, several)) if len(several) < 9 else f"({len(several)} values)"
        parts.append(f"{key} {listed}")
    return ", ".join(parts)


def spans(waves: Sequence[Mapping[str, Any]]) -> tuple[Floats, Floats, Floats, list[float]]:
    """Begin, end and pages of each wave, in seconds of time in which any wave ran; and where that was cut.

    Without the time between the runs of a command that was stopped, however long; a clock that was put back
    in between makes no time negative.
    """
    known = [wave for wave in waves if wave["finished_at"] and wave["seconds"]]
    ends = np.array([datetime.fromisoformat(wave["finished_at"]).timestamp() for wave in known])
    begins = ends - np.array([wave["seconds"] for wave in known])
    pages = np.array([wave["n_pages"] for wave in known], dtype=np.float64)
    order = np.argsort(begins, kind="stable")
    begins, ends, pages = begins[order], ends[order], pages[order]
    cuts, idle, latest = list[float](), 0.0, begins[0] if len(begins) else 0.0
    origin = latest
    shifts = np.zeros(len(begins))
    for number, (begin, end) in enumerate(zip(begins, ends, strict=True)):
        if begin > latest + 1.0:
            idle += begin - latest
            cuts.append(float(begin - idle - origin))
        latest = max(latest, end)
        shifts[number] = idle + origin
    return begins - shifts, ends - shifts, pages, cuts


def rates(begins: Floats, ends: Floats, pages: Floats) -> tuple[Floats, Floats]:
    """The bounds of even stretches of time, and the pages per second in each."""
    total = float(ends.max())
    bounds = np.linspace(0.0, total, min(_N_BINS, max(4 * len(pages), 12)) + 1)
    rate = np.zeros(len(bounds) - 1)
    for begin, end, n in zip(begins, ends, pages, strict=True):
        overlap = np.minimum(bounds[1:], end) - np.maximum(bounds[:-1], begin)
        rate += np.maximum(overlap, 0.0) * n / (end - begin)
    return bounds, rate / np.diff(bounds)


def curve(waves: Sequence[Mapping[str, Any]]) -> str | None:
    """The curve as an SVG image; None if no wave has its time."""
    begins, ends, pages, cuts = spans(waves)
    if not len(begins):
        return None
    bounds, rate = rates(begins, ends, pages)
    top = _ceiling(float(rate.max()))
    body = "".join([*_scales(float(bounds[-1]), top), *_curve(bounds, rate, top), *_pauses(cuts, bounds[-1])])
    label = f"pages per second over {clock(float(bounds[-1]))}, at most {rate.max():.0f}"
    return f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{label}">{body}</svg>'


def _x(seconds: float, total: float) -> float:
    return _LEFT + (_WIDTH - _LEFT - 12) * seconds / total


def _y(rate: float, top: float) -> float:
    return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - rate / top)


def _curve(bounds: Floats, rate: Floats, top: float) -> Iterator[str]:
    total = float(bounds[-1])
    points = [
        f"{_x(x, total):.1f},{_y(r, top):.1f}"
        for r, (low, high) in zip(rate, pairwise(bounds), strict=True)
        for x in (low, high)
    ]
    floor = f"{_y(0, top):.1f}"
    yield f'<path class="area" d="M{_LEFT},{floor} L{" L".join(points)} L{_x(total, total):.1f},{floor} Z"/>'
    yield f'<path class="curve" d="M{" L".join(points)}"/>'


def _scales(total: float, top: float) -> Iterator[str]:
    for rate in np.linspace(0.0, top, 5):
        y = _y(rate, top)
        yield f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - 12}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{rate:,.10g}</text>'
    step = next((step for step in _STEPS if total / step <= 9), total / 6)
    for second in np.arange(0.0, total, step):
        shown = clock(second) if second else "0"
        yield f'<text x="{_x(second, total):.1f}" y="{_HEIGHT - 6}" text-anchor="middle">{shown}</text>'


def _pauses(cuts: Sequence[float], total: float) -> Iterator[str]:
    for cut in cuts:
        x = _x(cut, total)
        yield f'<line class="pause" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{_HEIGHT - _BOTTOM}"/>'


def _ceiling(rate: float) -> float:
    """The next round number that four even steps lead to."""
    if rate <= 0:
        return 4.0
    unit = 10.0 ** np.floor(np.log10(rate))
    return float(next(step * unit for step in (1, 2, 4, 8, 10, 20) if step * unit >= rate))
