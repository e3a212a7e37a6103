"""The report of an evaluation: one html file that needs nothing else, charts and all."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import combinations
from pathlib import Path
from typing import Any, Final

import numpy as np

from victor_spark.evaluation import comparison, pictures, report_tables, report_worst
from victor_spark.evaluation.comparison import ALL, Table
from victor_spark.evaluation.gold import GoldPage
from victor_spark.evaluation.measuring import BLOCKS, Plan
from victor_spark.evaluation.report_worst import WorstPage
from victor_spark.evaluation.resampling import Interval

_CSS: Final = Path(__file__).with_name("report.css")
_MAX_SCATTERS: Final = 3
_MAX_GROUPS: Final = 16
"""Bars of more groups than this are too thin to read; the table has them all."""

_NOTES: Final = """\
F1 is the mean over pages; below it the bootstrap interval (95 %, sites drawn) and the median. words and
shingles (of four words) are bags; rouge-l is the longest common subsequence of words; TO, TM, IU and CHA are
CleanEval's measures by Ratcliff–Obershelp matching: text only, text and labelled markup, unlabelled markup,
characters; TM-tags and IU-tags count the markers alone, CHA-4 runs of four characters. snippets: text that
must (recall) and must not (precision) be there. pages/s is per second of processor time. A page on which a
cleaner fails counts as an empty output."""

_GROUPINGS: Final = tuple(name for name in comparison.GROUPINGS if name != ALL)
_LEGEND: Final = (
    '<mark class="extra">Only in the cleaned text</mark>, <mark class="missing">only in the gold</mark>.'
)


def worst_pages(
    rows: Table, pages: Iterable[GoldPage], plan: Plan, results: Mapping[str, Any]
) -> dict[str, list[WorstPage]]:
    """Cleaner → its worst pages by the main measure."""
    measure = comparison.main_measure(results)
    return report_worst.find(rows, pages, plan, measure) if measure else {}


def html(results: Mapping[str, Any], rows: Table, worst: Mapping[str, Sequence[WorstPage]]) -> str:
    """The whole page."""
    title = "Evaluation of " + ", ".join(map(escape, results["cleaners"]))
    gold = results["gold"]
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>\n'
        f"<style>\n{_CSS.read_text(encoding='utf-8')}</style></head><body>\n<h1>{title}</h1>\n"
        f'<p class="note">{gold["n_pages"]} gold pages (sha256 {gold["sha256"][:16]}…); victor-spark '
        f"{escape(results['version'])}; <code>{escape(results['options'].get('command', ''))}</code></p>\n"
        + "\n".join(_sections(results, rows, worst))
        + "\n</body></html>\n"
    )


def _sections(
    results: Mapping[str, Any], rows: Table, worst: Mapping[str, Sequence[WorstPage]]
) -> Iterator[str]:
    figures = results["figures"][ALL][ALL]
    measure = comparison.main_measure(results)
    measured = [
        name for name in results["measures"] if any(name in each["measures"] for each in figures.values())
    ]
    yield f'<h2>All pages</h2>\n{report_tables.overview(figures, measured)}\n<p class="note">{_NOTES}</p>'
    for title, prefix in (("mean over pages", ""), ("all pages as one", "micro_")):
        quality = report_tables.precision_and_recall(figures, measured, prefix)
        yield f"<details><summary>Precision and recall, {title}</summary>{quality}</details>"
    yield from _titled("Differences", report_tables.differences(results["differences"], measure or ""))
    if BLOCKS in results["measures"]:
        yield from _titled("Blocks", report_tables.blocks(figures) + _curves(rows))
    if measure:
        for grouping in _GROUPINGS:
            yield from _grouping(results["figures"][grouping], grouping, measure)
        yield from _titled("Page by page", _scatters(rows, measure))
    if results["failures"]:
        yield f"<h2>Failures</h2>\n{report_tables.failures(results['failures'])}"
    for cleaner, pages in worst.items():
        yield f"<h2>The worst pages of {escape(cleaner)}</h2>"
        yield f'<p class="note">By F1 in {measure}. {_LEGEND}</p>'
        yield report_worst.html(pages, measure or "")


def _titled(title: str, content: str) -> Iterator[str]:
    if content:
        yield f"<h2>{title}</h2>\n{content}"


def _curves(rows: Table) -> str:
    drawn = comparison.curves(rows)
    if not drawn:
        return ""
    return pictures.svg(pictures.curves(drawn, title="Blocks kept by threshold"), "curves")


def _grouping(grouped: Mapping[str, Mapping[str, Any]], grouping: str, measure: str) -> Iterator[str]:
    if set(grouped) == {comparison.UNKNOWN}:
        return
    yield f"<h2>By {grouping}</h2>"
    largest = sorted(grouped, key=lambda name: -next(iter(grouped[name].values()))["n_pages"])[:_MAX_GROUPS]
    bars: dict[str, dict[str, Interval]] = {}
    for name in largest:
        for cleaner, figures in grouped[name].items():
            if each := figures["measures"].get(measure):
                interval = Interval(
                    each["f1"], each["f1_median"], each["f1_low"], each["f1_high"], each["n_pages"]
                )
                bars.setdefault(cleaner, {})[name] = interval
    if bars:
        drawn = pictures.bars(bars, title="", measure=f"{measure} F1")
        yield pictures.svg(drawn, grouping.replace(" ", "-"))
    yield report_tables.groups(grouped, measure)


def _scatters(rows: Table, measure: str) -> str:
    """The first cleaners against each other."""
    drawn = []
    for number, (first, second) in enumerate(list(combinations(rows, 2))[:_MAX_SCATTERS]):
        f1 = [
            (comparison.f1(a, measure), comparison.f1(b, measure))
            for a, b in zip(rows[first], rows[second], strict=True)
        ]
        there = [row for row, pair in enumerate(f1) if not np.isnan(pair).any()]
        figure = pictures.scatter(
            [f1[row] for row in there],
            [rows[first][row].set for row in there],
            names=(first, second),
            measure=f"{measure} F1",
        )
        drawn.append(pictures.svg(figure, f"scatter{number}"))
    return f'<div class="charts">{"".join(drawn)}</div>' if drawn else ""
