"""The report of an evaluation: one html file that needs nothing else, charts and all.

For every cleaner it shows the pages with the lowest F1: its text and the gold, differences coloured.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import combinations
from pathlib import Path
from typing import Any, Final

import numpy as np

from victor_spark import scripts
from victor_spark.evaluation import comparison, matching, measures, measuring, pictures, report_tables
from victor_spark.evaluation.comparison import ALL, Table
from victor_spark.evaluation.gold import GoldPage
from victor_spark.evaluation.measuring import Measurement, Plan
from victor_spark.evaluation.resampling import Interval

N_WORST: Final = 20
"""Pages of each cleaner that are shown."""
MAX_CHARACTERS: Final = 12_000
"""Of a text that are shown; the measures use all of it."""

_MAX_SCATTERS: Final = 3
_MAX_GROUPS: Final = 16
"""Bars of more groups than this are too thin to read; the table has them all."""

_UNSPACED: Final = scripts.character_class(scripts.WORD_CHARACTERS)
_PIECE: Final = re.compile(rf"\s+|[^\W{_UNSPACED}]+|.", re.DOTALL)

_NOTES: Final = """\
F1 is the mean over pages; below it the bootstrap interval (95 %, sites drawn) and the median. words and
shingles (of four words) are bags; rouge-l is the longest common subsequence of words; TO, TM, IU and CHA are
CleanEval's measures by Ratcliff–Obershelp matching: text only, text and labelled markup, unlabelled markup,
characters; TM-tags and IU-tags count the markers alone, CHA-4 runs of four characters. snippets: text that
must (recall) and must not (precision) be there. pages/s is per second of processor time. A page on which a
cleaner fails counts as an empty output."""

_LEGEND: Final = (
    '<mark class="extra">Only in the cleaned text</mark>, <mark class="missing">only in the gold</mark>.'
)


@dataclass(frozen=True, slots=True)
class WorstPage:
    """A measurement and the two texts compared; `gold` is the snippets where there is no gold text."""

    measurement: Measurement
    ours: str
    gold: str


def worst_pages(
    rows: Table, pages: Iterable[GoldPage], plan: Plan, measure: str | None
) -> dict[str, list[WorstPage]]:
    """Cleaner → its pages of lowest F1, the worst first. These pages are read and cleaned again."""
    if measure is None:
        return {}
    chosen = {
        name: sorted(
            (page for page in measured if measure in page.overlaps),
            key=lambda page: (comparison.f1(page, measure), page.set, page.id),
        )[:N_WORST]
        for name, measured in rows.items()
    }
    wanted = {(page.set, page.id) for measured in chosen.values() for page in measured}
    gold_pages = {(page.set, page.id): page for page in pages if (page.set, page.id) in wanted}
    cleaners = measuring.cleaners_of(plan)
    return {
        name: [_worst_page(page, gold_pages[page.set, page.id], cleaners[name]) for page in measured]
        for name, measured in chosen.items()
    }


def _worst_page(measured: Measurement, page: GoldPage, clean: measuring.Clean) -> WorstPage:
    """A page that failed is not cleaned again, since it could crash this process."""
    ours = "" if comparison.is_failure(measured) else clean(page).text
    snippets = [f"{key}: {text}" for key in ("with", "without") for text in page.meta.get(key) or ()]
    return WorstPage(measured, ours, "\n".join(snippets) if page.gold is None else page.gold)


def html(results: Mapping[str, Any], rows: Table, worst: Mapping[str, Sequence[WorstPage]]) -> str:
    """The whole page."""
    title = "Evaluation of " + ", ".join(map(escape, results["cleaners"]))
    gold = results["gold"]
    css = Path(__file__).with_name("report.css").read_text(encoding="utf-8")
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>\n'
        f"<style>\n{css}</style></head><body>\n<h1>{title}</h1>\n"
        f'<p class="note">{gold["n_pages"]} gold pages (sha256 {gold["sha256"][:16]}…); victor-spark '
        f"{escape(results['version'])}; <code>{escape(results['options'].get('command', ''))}</code></p>\n"
        + "\n".join(_sections(results, rows, worst))
        + "\n</body></html>\n"
    )


def _sections(
    results: Mapping[str, Any], rows: Table, worst: Mapping[str, Sequence[WorstPage]]
) -> Iterator[str]:
    figures = results["figures"][ALL][ALL]
    measure, measured = comparison.main_measure(results), comparison.measured(results)
    yield f'<h2>All pages</h2>\n{report_tables.overview(figures, measured)}\n<p class="note">{_NOTES}</p>'
    for title, prefix in (("mean over pages", ""), ("all pages as one", "micro_")):
        quality = report_tables.precision_and_recall(figures, measured, prefix)
        yield f"<details><summary>Precision and recall, {title}</summary>{quality}</details>"
    if pairs := report_tables.differences(results["differences"], measure or ""):
        yield f"<h2>Differences</h2>\n{pairs}"
    if blocks := report_tables.blocks(figures):
        drawn = comparison.curves(rows)
        curves = pictures.svg(pictures.curves(drawn, title="Blocks kept by threshold"), "curves")
        yield f"<h2>Blocks</h2>\n{blocks}{curves if drawn else ''}"
    if measure:
        for grouping, grouped in results["figures"].items():
            if grouping != ALL and set(grouped) != {comparison.UNKNOWN}:
                yield f"<h2>By {grouping}</h2>\n{_bars(grouped, grouping, measure)}"
                yield report_tables.groups(grouped, measure)
        if len(rows) > 1:
            charts = "".join(_scatters(rows, measure))
            yield f'<h2>Page by page</h2>\n<div class="charts">{charts}</div>'
    if results["failures"]:
        yield f"<h2>Failures</h2>\n{report_tables.failures(results['failures'])}"
    for cleaner, pages in worst.items():
        yield f"<h2>The worst pages of {escape(cleaner)}</h2>"
        yield f'<p class="note">By F1 in {measure}. {_LEGEND}</p>'
        yield "\n".join(worst_html(page, measure or "") for page in pages)


def _bars(grouped: Mapping[str, Mapping[str, Any]], grouping: str, measure: str) -> str:
    """The largest groups, a bar a cleaner."""
    largest = sorted(grouped, key=lambda name: -next(iter(grouped[name].values()))["n_pages"])[:_MAX_GROUPS]
    bars: dict[str, dict[str, Interval]] = {}
    for name in largest:
        for cleaner, figures in grouped[name].items():
            if each := figures["measures"].get(measure):
                parts = (each[key] for key in ("f1", "f1_median", "f1_low", "f1_high", "n_pages"))
                bars.setdefault(cleaner, {})[name] = Interval(*parts)
    if not bars:
        return ""
    drawn = pictures.bars(bars, title="", measure=f"{measure} F1")
    return pictures.svg(drawn, grouping.replace(" ", "-"))


def _scatters(rows: Table, measure: str) -> Iterator[str]:
    """The first cleaners against each other, a dot a page."""
    for number, (first, second) in enumerate(list(combinations(rows, 2))[:_MAX_SCATTERS]):
        points = [
            (comparison.f1(a, measure), comparison.f1(b, measure), a.set)
            for a, b in zip(rows[first], rows[second], strict=True)
        ]
        points = [point for point in points if not np.isnan(point[:2]).any()]
        drawn = pictures.scatter(points, names=(first, second), measure=f"{measure} F1")
        yield pictures.svg(drawn, f"scatter{number}")


def worst_html(page: WorstPage, measure: str) -> str:
    """A page as html, to be opened."""
    measured = page.measurement
    quality = measures.quality(measured.overlaps[measure])
    figures = f"F1 {quality.f1:.3f}, precision {quality.precision:.3f}, recall {quality.recall:.3f}"
    facts = ", ".join(filter(None, [measured.set, measured.language, measured.page_type]))
    if measured.status != "ok":
        facts += f" — {measured.status}: {measured.reason or ''}"
    title = f"{figures} · {escape(measured.id)} <small>{escape(facts)}</small>"
    sides = "".join(
        f'<div><h4>{name}{_cut(text)}</h4><div class="text">{marked}</div></div>'
        for name, text, marked in zip(
            ("cleaned", "gold"), (page.ours, page.gold), marked_sides(page.ours, page.gold), strict=True
        )
    )
    return f'<details><summary>{title}</summary>\n<div class="sides">{sides}</div></details>'


def _cut(text: str) -> str:
    if len(text) <= MAX_CHARACTERS:
        return ""
    return f" (the first {MAX_CHARACTERS:,} of {len(text):,} characters)"


def marked_sides(ours: str, gold: str) -> tuple[str, str]:
    """The beginnings of both texts as html; what the other, whole, hasn't got (by words) is marked."""
    found, wanted = _PIECE.findall(ours), _PIECE.findall(gold)
    our_words, gold_words = (
        [row for row, piece in enumerate(each) if not piece.isspace()] for each in (found, wanted)
    )
    blocks = matching.blocks([found[row] for row in our_words], [wanted[row] for row in gold_words]).tolist()
    in_gold = {our_words[row] for start, _, length in blocks for row in range(start, start + length)}
    in_ours = {gold_words[row] for _, start, length in blocks for row in range(start, start + length)}
    return "".join(_marked(found, in_gold, "extra")), "".join(_marked(wanted, in_ours, "missing"))


def _marked(pieces: Sequence[str], common: set[int], css: str) -> Iterator[str]:
    """The first pieces as html, escaped; runs that aren't common in one element, also over white space."""
    inside = False
    left = MAX_CHARACTERS
    for row, piece in enumerate(pieces):
        left -= len(piece)
        if left < 0:
            break
        if not piece.isspace() and (row not in common) != inside:
            inside = not inside
            yield f'<mark class="{css}">' if inside else "</mark>"
        yield escape(piece)
    if inside:
        yield "</mark>"
