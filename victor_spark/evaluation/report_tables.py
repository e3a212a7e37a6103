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
    rows = [
        [escape(cleaner), f"{each['empty_ratio']:.1%}", str(each["n_failed"]), _speed(each)]
        for cleaner, each in figures.items()
    ]
    for name in measured:
        for row, cell in zip(rows, _f1_cells(figures, name), strict=True):
            row.append(cell)
    return table(["cleaner", "empty", "failed", "pages/s", *measured], rows)


def _speed(figures: Mapping[str, Any]) -> str:
    """Pages a second of processor time."""
    return f"{figures['pages_per_second']:.1f}" if figures["pages_per_second"] else "–"


def _f1_cells(figures: Mapping[str, Any], measure: str) -> Iterator[str]:
    """The cell of every cleaner: F1 with its interval, the best one marked."""
    there = [each["measures"].get(measure) for each in figures.values()]
    best = max((each["f1"] for each in there if each), default=0.0)
    for each in there:
        if each:
            interval = f"{each['f1_low']:.3f}–{each['f1_high']:.3f}<br>median {each['f1_median']:.3f}"
            css = ' class="best"' if each["f1"] >= best else ""
            yield f"<td{css}>{each['f1']:.4f}<br><small>{interval}</small></td>"
        else:
            yield "<td>–</td>"


def precision_and_recall(figures: Mapping[str, Any], measured: Sequence[str], prefix: str = "") -> str:
    """A row a cleaner: precision, recall and F1 of every measure; `prefix` "micro_" for all pages as one."""
    head = ["cleaner", *(f"{name} {part}" for name in measured for part in ("P", "R", "F1"))]
    keys = [(name, prefix + part) for name in measured for part in ("precision", "recall", "f1")]
    rows = [
        [escape(cleaner), *(_number(each["measures"].get(name, {}).get(key)) for name, key in keys)]
        for cleaner, each in figures.items()
    ]
    return table(head, rows)


def blocks(figures: Mapping[str, Any]) -> str:
    """Victor's block measures of every cleaner that has blocks; "" if none has."""
    parts = ("accuracy", "unlabelled_accuracy", "precision", "recall", "f1")
    rows = [
        [escape(cleaner), str(each[BLOCKS]["n_pages"]), *(_number(each[BLOCKS][part]) for part in parts)]
        for cleaner, each in figures.items()
        if each[BLOCKS]
    ]
    head = ["cleaner", "pages", "accuracy", "unlabelled", "precision", "recall", "F1"]
    return table(head, rows) if rows else ""


def groups(grouped: Mapping[str, Mapping[str, Any]], measure: str) -> str:
    """A row a group, a column a cleaner: mean F1 of one measure with its interval."""
    rows = [
        [escape(name), str(next(iter(figures.values()))["n_pages"]), *_f1_cells(figures, measure)]
        for name, figures in grouped.items()
    ]
    return table(["", "pages", *map(escape, next(iter(grouped.values())))], rows)


def differences(found: Sequence[Mapping[str, Any]], measure: str) -> str:
    """A row a pair of cleaners: the difference of mean F1, its interval, its p-value; "" without pairs."""
    rows = []
    for pair in found:
        if each := pair["f1"].get(measure):
            interval = f"{each['low']:+.4f} … {each['high']:+.4f}"
            names = f"{escape(pair['first'])} − {escape(pair['second'])}"
            rows.append([names, f"{each['mean']:+.4f}", interval, f"{each['p']:.4f}"])
    return table([f"{measure} F1", "difference", "95 % interval", "p"], rows) if rows else ""


def failures(found: Sequence[Mapping[str, Any]]) -> str:
    """A row a page on which a cleaner failed."""
    keys = ("cleaner", "set", "id", "status", "reason")
    rows = [[f'<td class="left">{escape(str(each[key] or ""))}</td>' for key in keys] for each in found]
    return table(keys, rows)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


_N_FAILURES: Final = 5


def terminal_lines(results: Mapping[str, Any]) -> Iterator[str]:
    """The table of cleaners, their differences from the first one, and the first failures."""
    figures = results["figures"][ALL][ALL]
    measure, measured = comparison.main_measure(results), comparison.measured(results)
    width = max(len("cleaner"), *map(len, figures)) + 2
    head = "".join(f"{name:>9}" for name in measured)
    yield (
        f"{'cleaner':<{width}}{'pages':>6}{head}"
        f"  {'95 % interval':>15}{'median':>8}{'empty':>7}{'failed':>7}{'pages/s':>9}"
    )
    for cleaner, each in figures.items():
        f1 = {name: found["f1"] for name, found in each["measures"].items()}
        cells = "".join(f"{_number(f1.get(name)):>9}" for name in measured)
        main = each["measures"].get(measure)
        interval = f"{main['f1_low']:.3f} – {main['f1_high']:.3f}" if main else "–"
        yield (
            f"{cleaner:<{width}}{each['n_pages']:>6}{cells}  {interval:>15}"
            f"{_number(main and main['f1_median']):>8}"
            f"{each['empty_ratio']:>7.1%}{each['n_failed']:>7}{_speed(each):>9}"
        )
    if measure:
        yield f"F1, mean over pages; interval and median of {measure}; pages/s of processor time"
        for pair in results["differences"]:
            if pair["first"] == next(iter(figures)) and (each := pair["f1"].get(measure)):
                yield (
                    f"{pair['first']} − {pair['second']}: {each['mean']:+.4f} "
                    f"({each['low']:+.4f} … {each['high']:+.4f}), p = {each['p']:.4f}"
                )
    failed = results["failures"]
    for each in failed[:_N_FAILURES]:
        yield f"failed: {each['cleaner']} on {each['set']} {each['id']}: {each['status']} ({each['reason']})"
    if len(failed) > _N_FAILURES:
        yield f"failed: {len(failed) - _N_FAILURES} more, all in the report"
