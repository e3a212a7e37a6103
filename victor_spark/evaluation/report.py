"""The report of an evaluation: one html file that needs nothing else, made by report.html; and a short table.

For every cleaner the file shows the pages with the lowest F1: its text and the gold, differences coloured.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import combinations
from pathlib import Path
from typing import Any, Final

import numpy as np
from markupsafe import Markup

from victor_spark import resources, scripts
from victor_spark.evaluation import cleaneval, comparison, measures, measuring, pictures
from victor_spark.evaluation.comparison import ALL, Table
from victor_spark.evaluation.gold import GoldPage
from victor_spark.evaluation.measuring import BLOCKS, Measurement, Plan
from victor_spark.evaluation.resampling import Interval

_TEMPLATE: Final = Path(__file__).with_name("report.html")
N_WORST: Final = 20
"""Pages of each cleaner that are shown."""
MAX_CHARACTERS: Final = 12_000
"""Of a text that are shown; the measures use all of it."""

_MAX_SCATTERS: Final = 3
_MAX_GROUPS: Final = 16
"""Bars of more groups than this are too thin to read; the table has them all."""

_UNSPACED: Final = scripts.character_class(scripts.WORD_CHARACTERS)
_PIECE: Final = re.compile(rf"\s+|[^\W{_UNSPACED}]+|.", re.DOTALL)


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
    figures = results["figures"][ALL][ALL]
    measure, drawn = comparison.main_measure(results), comparison.curves(rows)
    curves = pictures.svg(pictures.curves(drawn, title="Blocks kept by threshold"), "curves") if drawn else ""
    groupings = [
        (name, grouped, Markup(_bars(grouped, name, measure or "")))
        for name, grouped in results["figures"].items()
        if measure and name != ALL and set(grouped) != {comparison.UNKNOWN}
    ]
    differences = [
        (pair["first"], pair["second"], pair["f1"][measure])
        for pair in results["differences"]
        if measure in pair["f1"]
    ]
    return resources.template(_TEMPLATE).render(
        results=results,
        figures=figures,
        measure=measure,
        measured=comparison.measured(results),
        differences=differences,
        has_blocks=any(each[BLOCKS] for each in figures.values()),
        curves=Markup(curves),
        groupings=groupings,
        scatters=list(map(Markup, _scatters(rows, measure))) if measure else [],
        worst={cleaner: [_shown(page, measure or "") for page in pages] for cleaner, pages in worst.items()},
        most=MAX_CHARACTERS,
        best=_best,
        speed=_speed,
    )


def _best(figures: Mapping[str, Any], measure: str) -> float:
    """The highest F1 of a cleaner."""
    return max(
        (each["measures"][measure]["f1"] for each in figures.values() if measure in each["measures"]),
        default=0.0,
    )


def _speed(figures: Mapping[str, Any]) -> str:
    """Pages a second of processor time."""
    return f"{figures['pages_per_second']:.1f}" if figures["pages_per_second"] else "–"


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


def _shown(page: WorstPage, measure: str) -> dict[str, Any]:
    """A page as the template takes it; `sides` are names, lengths and beginnings of both texts."""
    measured = page.measurement
    facts = ", ".join(filter(None, [measured.set, measured.language, measured.page_type]))
    if measured.status != "ok":
        facts += f" — {measured.status}: {measured.reason or ''}"
    ours, gold = map(Markup, marked_sides(page.ours, page.gold))
    return {
        "quality": measures.quality(measured.overlaps[measure]),
        "id": measured.id,
        "facts": facts,
        "sides": [("cleaned", len(page.ours), ours), ("gold", len(page.gold), gold)],
    }


def marked_sides(ours: str, gold: str) -> tuple[str, str]:
    """The beginnings of both texts as html; words that the other text, as a whole, lacks are marked."""
    found, wanted = _PIECE.findall(ours), _PIECE.findall(gold)
    our_words, gold_words = (
        [row for row, piece in enumerate(each) if not piece.isspace()] for each in (found, wanted)
    )
    blocks = cleaneval.matching_blocks(
        [found[row] for row in our_words], [wanted[row] for row in gold_words]
    ).tolist()
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
