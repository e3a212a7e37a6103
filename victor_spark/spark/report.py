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
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _BOTTOM, _TOP = 960, 240, 52, 20, 24, 12
_N_BINS: Final = 160

Floats = npt.NDArray[np.float64]


Run = Mapping[str, Any]


def html(run: Run) -> str:
    """The whole page."""
    title, css = f"victor clean: {run['n_pages']:,} pages", _CSS.read_text(encoding="utf-8")
    parts = [
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">',
        f'<meta name="viewport" content="width=device-width"><title>{title}</title>',
        f"<style>\n{css}</style></head><body>",
        *_head(run),
        _tiles(run),
        throughput(run),
        _panels(run),
        _failed_shards(run),
        _reasons(run),
        _facts(run),
        "</body></html>\n",
    ]
    return "\n".join(parts)


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
    n_ok, budget = run["statuses"].get("ok", 0), run["budget"]
    failed_pages, failed_shards = run["n_failed_pages"], run["n_failed_shards"]
    shards = f"of {many(run['n_shards'], 'shard')} failed (may: {budget['max_failed_shards']})"
    tiles = [
        (f"{n_ok:,}", f"with text ({n_ok / max(run['n_pages'], 1):.1%})", False),
        (f"{run['pages_per_second']:,}", "pages per second", False),
        (clock(run["seconds"]["clean"]), "the last run took", False),
        (size(run["n_bytes"]), "read", False),
        (f"{failed_pages:,}", f"pages failed (may: {budget['max_failed_pages']})", failed_pages > 0),
        (f"{failed_shards:,}", shards, failed_shards > 0),
    ]
    shown = (
        f'<div class="tile{" bad" if bad else ""}"><b>{escape(number)}</b><span>{escape(what)}</span></div>'
        for number, what, bad in tiles
    )
    return f'<div class="tiles">{"".join(shown)}</div>'


def throughput(run: Run) -> str:
    """The curve of pages per second as an SVG image; nothing if no wave has its time."""
    begins, ends, pages = spans(run["waves"])
    if not len(begins):
        return ""
    bounds, rate = rates(begins, ends, pages)
    total, top, height = float(bounds[-1]), max(float(rate.max()), 1e-9), _HEIGHT - _BOTTOM - _TOP
    x = _LEFT + (_WIDTH - _LEFT - _RIGHT) * bounds / total
    y = _TOP + height * (1 - rate / top)
    line = " ".join(f"{a:.1f},{h:.1f} {b:.1f},{h:.1f}" for (a, b), h in zip(pairwise(x), y, strict=True))
    floor = _TOP + height
    body = f'<path class="area" d="M{_LEFT},{floor} L{line} L{x[-1]:.1f},{floor} Z"/>'
    body += f'<path class="curve" d="M{line}"/>'
    for share in np.linspace(0.0, 1.0, 5):
        at, level = x[0] + share * (x[-1] - x[0]), floor - share * height
        body += f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{level}" y2="{level}"/>'
        body += f'<text x="{_LEFT - 8}" y="{level + 4}" text-anchor="end">{share * top:,.3g}</text>'
        body += f'<text x="{at}" y="{_HEIGHT - 6}" text-anchor="middle">{clock(share * total)}</text>'
    caption = "Each wave's pages, spread evenly over the time from its first task to its commit."
    if run["n_waves_of_earlier_runs"]:
        caption += " Time between runs is left out."
    label = f"pages per second over {clock(total)}, at most {top:.0f}"
    chart = f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{label}">{body}</svg>'
    return f"<figure><h2>Pages per second</h2>{chart}<figcaption>{caption}</figcaption></figure>"


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


def _panels(run: Run) -> str:
    n_ok, statuses = run["statuses"].get("ok", 0), record.page_statuses(run)
    kinds = {name: "good" if name == "ok" else "bad" if name in FAILURES else "mild" for name in statuses}
    seconds = {STAGES[stage]: s for stage, s in run["stages"].items() if s}
    several = ", summed over the largest of each wave" if run["n_waves"] > 1 else ""
    time_note = "Seconds of all tasks by the clock, waiting for a processor included."
    panels = [
        _bars("Statuses of the pages", statuses, run["n_pages"], kinds=kinds),
        _bars("Languages", run["languages"], n_ok, "Of pages with text, by the language identifier."),
        _bars("Sites with most pages", run["sites"], n_ok, f"Hosts, of pages with text{several}."),
        _bars("Lengths of texts", dict(_lengths(run["lengths"])), n_ok, "Characters of the cleaned text."),
        _bars("Where the time goes", seconds, sum(seconds.values()), time_note),
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
    note: str = "",
    *,
    kinds: Mapping[str, str] | None = None,
) -> str:
    shown = list(numbers.items())[: max(_N_BARS, len(numbers) if kinds else 0)]
    if rest := sum(numbers.values()) - sum(n for _, n in shown):
        shown.append(("others", rest))
    largest = max([n for _, n in shown], default=0) or 1
    body = "" if shown else '<p class="soft">none</p>'
    for name, n in shown:
        written = f"{n:,.1f} s" if isinstance(n, float) else f"{n:,}"
        filled = f'<i style="width:{n / largest:.2%}"></i>' if n else ""
        body += (
            f'<span class="name" title="{escape(name)}">{escape(name)}</span>'
            f'<span class="track {(kinds or {}).get(name, "")}">{filled}</span>'
            f'<span class="n">{written} <small>{n / max(whole, 1e-9):.1%}</small></span>'
        )
    return f'<section><h2>{title}</h2><div class="bars">{body}</div><figcaption>{note}</figcaption></section>'


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
