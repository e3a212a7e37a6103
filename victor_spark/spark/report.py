"""The report of a run: one html file that needs nothing else, made of run.json alone."""

from collections.abc import Iterable, Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any, Final

from victor_spark.spark import pace, record
from victor_spark.spark.progress import clock, many, size
from victor_spark.spark.spending import FAILURES

_CSS: Final = Path(__file__).with_name("report.css")
_N_BARS: Final = 15
_N_REASONS: Final = 40
_STAGES: Final = {
    "read": "read and inflate",
    "canonical": "canonical html",
    "segment": "segment",
    "language": "language",
    "decide": "features and decoding",
    "render": "render text",
    "rows": "make rows",
    "hand_over": "write rows, or hand them to Spark",
}

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
            "What is done stays; the same command with a larger budget goes on from there.</p>"
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
    chart = pace.svg(run["waves"])
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
    seconds = {_STAGES[stage]: s for stage, s in run["stages"].items() if s}
    panels = [
        _bars("What became of the pages", statuses, run["n_pages"], kinds=_kinds(statuses)),
        _bars("Languages", run["languages"], n_ok, note="Of pages with text, as told by the identifier."),
        _bars("Sites with most pages", run["sites"], n_ok, note=_site_note(run)),
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


def _site_note(run: Run) -> str:
    several = run["n_waves"] > 1
    return f"Hosts, of pages with text{', summed over the largest of each wave' if several else ''}."


def _kinds(statuses: Iterable[str]) -> dict[str, str]:
    return {name: "good" if name == "ok" else "bad" if name in FAILURES else "mild" for name in statuses}


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
    failed = list(run["failed_shards"].items())
    if not failed:
        return ""
    rows = "".join(
        f'<tr><td class="key">{escape(shard)}</td><td>{escape(reason)}</td></tr>'
        for shard, reason in failed[:_N_REASONS]
    )
    more = run["n_failed_shards"] - len(failed[:_N_REASONS])
    note = f"<figcaption>{more} more; victor status has all.</figcaption>" if more > 0 else ""
    return (
        '<section><h2>Shards that failed</h2><div class="scroll"><table><thead><tr>'
        f"<th>shard</th><th>reason</th></tr></thead>{rows}</table></div>{note}</section>"
    )


def _reasons(run: Run) -> str:
    all_reasons = [
        (n, status, reason) for status, reasons in run["reasons"].items() for reason, n in reasons.items()
    ]
    if not all_reasons:
        return ""
    all_reasons.sort(key=lambda row: -row[0])
    rows = "".join(
        f'<tr><td class="n">{n:,}</td><td class="key">{escape(status)}</td><td>{escape(reason)}</td></tr>'
        for n, status, reason in all_reasons[:_N_REASONS]
    )
    more = len(all_reasons) - _N_REASONS
    note = f"<figcaption>{more} more in run.json.</figcaption>" if more > 0 else ""
    return (
        '<section><h2>Reasons</h2><div class="scroll"><table><thead><tr>'
        f'<th class="n">rows</th><th>status</th><th>reason</th></tr></thead>{rows}</table></div>'
        f"{note}</section>"
    )


def _facts(run: Run) -> str:
    """What the run ran with."""
    config = run["config"]
    facts = {
        "options": {
            **config["cleaning"],
            **config["reading"],
            "blocks": config["blocks"],
            **config["limits"],
        },
        "models": {name: digest[:16] for name, digest in config["models"].items()},
        "versions": run["versions"],
        "inputs": config["inputs"],
    }
    rows = "".join(
        f'<tr><td class="key">{escape(what)}</td><td class="mono">{escape(_listed(values))}</td></tr>'
        for what, values in facts.items()
    )
    return f"<section><h2>What it ran with</h2><table>{rows}</table></section>"


def _listed(values: Mapping[str, Any]) -> str:
    parts = ((key, value) for key, value in values.items() if value not in (None, [], ""))
    return ", ".join(
        f"{key} {', '.join(map(str, value)) if isinstance(value, list) and len(value) < 9 else _short(value)}"
        for key, value in parts
    )


def _short(value: Any) -> str:
    return f"({len(value)} values)" if isinstance(value, list | dict) else str(value)
