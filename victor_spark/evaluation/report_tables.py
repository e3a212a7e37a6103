"""The tables of an evaluation, as html for the report and as lines for a terminal."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any, Final

from victor_spark.evaluation import comparison
from victor_spark.evaluation.comparison import ALL
from victor_spark.evaluation.measuring import BLOCKS


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """An html table; cells are html already."""
    cells = "".join(f"<th>{each}</th>" for each in head)
    lines = "\n".join(
        f"<tr>{''.join(cell if cell.startswith('<td') else f'<td>{cell}</td>' for cell in row)}</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{cells}</tr></thead><tbody>\n{lines}\n</tbody></table>"


def overview(figures: Mapping[str, Any], measured: Sequence[str]) -> str:
    """A row a cleaner: mean F1 of every measure with its interval, median below; empty, failed, speed."""
    best = {name: max(_f1(each, name) for each in figures.values()) for name in measured}
    rows = [
        [
            escape(cleaner),
            f"{each['empty_ratio']:.1%}",
            str(each["n_failed"]),
            speed(each),
            *(_f1_cell(each["measures"].get(name), best[name]) for name in measured),
        ]
        for cleaner, each in figures.items()
    ]
    return table(["cleaner", "empty", "failed", "pages/s", *measured], rows)


def speed(figures: Mapping[str, Any]) -> str:
    """Pages a second of processor time."""
    return f"{figures['pages_per_second']:.1f}" if figures["pages_per_second"] else "–"


def precision_and_recall(figures: Mapping[str, Any], measured: Sequence[str], prefix: str = "") -> str:
    """A row a cleaner: precision, recall and F1 of every measure; `prefix` "micro_" for all pages as one."""
    head = [f"{name} {part}" for name in measured for part in ("P", "R", "F1")]
    rows = []
    for cleaner, each in figures.items():
        cells = [
            _number(each["measures"].get(name, {}).get(prefix + part))
            for name in measured
            for part in ("precision", "recall", "f1")
        ]
        rows.append([escape(cleaner), *cells])
    return table(["cleaner", *head], rows)


def blocks(figures: Mapping[str, Any]) -> str:
    """Victor's block measures of every cleaner that has blocks; "" if none has."""
    there = {cleaner: each[BLOCKS] for cleaner, each in figures.items() if each[BLOCKS]}
    if not there:
        return ""
    parts = ("accuracy", "unlabelled_accuracy", "precision", "recall", "f1")
    rows = [
        [escape(cleaner), str(each["n_pages"]), *(_number(each[part]) for part in parts)]
        for cleaner, each in there.items()
    ]
    return table(["cleaner", "pages", "accuracy", "unlabelled", "precision", "recall", "F1"], rows)


def groups(grouped: Mapping[str, Mapping[str, Any]], measure: str) -> str:
    """A row a group, a column a cleaner: mean F1 of one measure with its interval."""
    cleaners = list(next(iter(grouped.values())))
    rows = []
    for name, figures in grouped.items():
        there = [each["measures"].get(measure) for each in figures.values()]
        best = max((each["f1"] for each in there if each), default=0.0)
        n_pages = next(iter(figures.values()))["n_pages"]
        rows.append([escape(name), str(n_pages), *(_f1_cell(each, best) for each in there)])
    return table(["", "pages", *map(escape, cleaners)], rows)


def differences(found: Sequence[Mapping[str, Any]], measure: str) -> str:
    """A row a pair of cleaners: the difference of mean F1, its interval, its p-value; "" without pairs."""
    rows = []
    for pair in found:
        each = pair["f1"].get(measure)
        if each:
            interval = f"{each['low']:+.4f} … {each['high']:+.4f}"
            names = f"{escape(pair['first'])} − {escape(pair['second'])}"
            rows.append([names, f"{each['mean']:+.4f}", interval, f"{each['p']:.4f}"])
    return table([f"{measure} F1", "difference", "95 % interval", "p"], rows) if rows else ""


def failures(found: Sequence[Mapping[str, Any]]) -> str:
    """A row a page that a cleaner gave up."""
    keys = ("cleaner", "set", "id", "status", "reason")
    rows = [[f'<td class="left">{escape(str(each[key] or ""))}</td>' for key in keys] for each in found]
    return table(keys, rows)


def _f1(figures: Mapping[str, Any], measure: str) -> float:
    return float(figures["measures"].get(measure, {}).get("f1", 0.0))


def _f1_cell(figures: Mapping[str, Any] | None, best: float) -> str:
    if not figures:
        return "<td>–</td>"
    interval = f"{figures['f1_low']:.3f}–{figures['f1_high']:.3f}<br>median {figures['f1_median']:.3f}"
    css = ' class="best"' if figures["f1"] >= best else ""
    return f"<td{css}>{figures['f1']:.4f}<br><small>{interval}</small></td>"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


_N_FAILURES: Final = 5
_WIDTH: Final = 9


def terminal_lines(results: Mapping[str, Any]) -> Iterator[str]:
    """The table of cleaners, their differences from the first one, and the first failures."""
    figures = results["figures"][ALL][ALL]
    measured = [
        name for name in results["measures"] if any(name in each["measures"] for each in figures.values())
    ]
    width = max(len("cleaner"), *map(len, figures)) + 2
    measure = comparison.main_measure(results)
    head = "".join(f"{name:>{_WIDTH}}" for name in measured)
    head += f"  {'95 % interval':>15}{'median':>8}{'empty':>7}{'failed':>7}{'pages/s':>9}"
    yield f"{'cleaner':<{width}}{'pages':>6}{head}"
    for cleaner, each in figures.items():
        yield f"{cleaner:<{width}}" + _terminal_row(each, measured, measure)
    if measure:
        yield f"F1, mean over pages; interval and median of {measure}; pages/s of processor time"
        yield from _terminal_differences(results["differences"], measure, next(iter(figures)))
    yield from _terminal_failures(results["failures"])


def _terminal_row(figures: Mapping[str, Any], measured: Sequence[str], measure: str | None) -> str:
    there = figures["measures"]
    cells = "".join(
        f"{there[name]['f1']:>{_WIDTH}.4f}" if name in there else f"{'–':>{_WIDTH}}" for name in measured
    )
    main = there.get(measure)
    interval = f"{main['f1_low']:.3f} – {main['f1_high']:.3f}" if main else "–"
    median = f"{main['f1_median']:.4f}" if main else "–"
    speed = f"{figures['pages_per_second']:.1f}" if figures["pages_per_second"] else "–"
    return (
        f"{figures['n_pages']:>6}{cells}  {interval:>15}{median:>8}"
        f"{figures['empty_ratio']:>7.1%}{figures['n_failed']:>7}{speed:>9}"
    )


def _terminal_differences(found: Sequence[Mapping[str, Any]], measure: str, first: str) -> Iterator[str]:
    for pair in found:
        each = pair["f1"].get(measure)
        if pair["first"] == first and each:
            yield (
                f"{pair['first']} − {pair['second']}: {each['mean']:+.4f} "
                f"({each['low']:+.4f} … {each['high']:+.4f}), p = {each['p']:.4f}"
            )


def _terminal_failures(found: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for each in found[:_N_FAILURES]:
        yield f"failed: {each['cleaner']} on {each['set']} {each['id']}: {each['status']} ({each['reason']})"
    if len(found) > _N_FAILURES:
        yield f"failed: {len(found) - _N_FAILURES} more, all in the report"
