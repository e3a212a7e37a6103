"""The output of an evaluation: results as json and csv, a report, a table for the terminal; and model cards.

The report is one html file that needs nothing else, made by report.html. For every cleaner it shows the pages
with the lowest F1: its text and the gold, differences coloured. A model card, made by card.md, says what a
model was trained on, under which licences, and its quality on unseen sites.
"""

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, Final

from markupsafe import Markup

from victor_spark import configuration, resources, scripts
from victor_spark.evaluation import cleaneval, evaluate, measures, measuring, pictures
from victor_spark.evaluation.evaluate import Gold, Table
from victor_spark.evaluation.gold import GoldPage
from victor_spark.evaluation.measures import ALL, Interval
from victor_spark.evaluation.measuring import BLOCKS, Measurement, Plan
from victor_spark.logs import aligned

N_WORST: Final = 20
"""The number of pages that are shown for each cleaner."""
MAX_CHARACTERS: Final = 12_000
"""The characters of a text that are shown; the measures use the whole text."""

_PAGE_COLUMNS: Final = (
    "set", "id", "site", "language", "page_type", "cleaner", "status", "reason", "seconds", "n_characters",
)  # fmt: skip
_PARTS: Final = ("precision", "recall", "f1")

_MAX_GROUPS: Final = 16
"""Bars of more groups than this are too thin to read; the table has them all."""

_PIECE: Final = re.compile(rf"\s+|[^\W{scripts.WORD_CLASS}]+|.", re.DOTALL)


def write(output: Path, results: dict[str, Any], rows: Table, gold: Gold, plan: Plan) -> None:
    """results.json, results.csv with a line per page and cleaner, and report.html."""
    with resources.written(output):
        stored = json.dumps(_finite(results), indent=1, ensure_ascii=False)
        (output / "results.json").write_text(stored + "\n", encoding="utf-8")
        names = [name for name in plan.measures if name != BLOCKS]
        with (output / "results.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            head = [f"{name}_{part}" for name in names for part in _PARTS]
            writer.writerow([*_PAGE_COLUMNS, *head, "block_accuracy", "block_f1"])
            writer.writerows(_cells(page, names) for pages in rows.values() for page in pages)
        worst = worst_pages(rows, gold.pages(), plan, evaluate.main_measure(results))
        (output / "report.html").write_text(html(results, rows, worst), encoding="utf-8")


def _finite(value: Any) -> Any:
    """The value with null for NaN, which JSON lacks."""
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and value != value else value  # noqa: PLR0124 - only NaN differs from itself


def _cells(page: Measurement, names: Sequence[str]) -> list[Any]:
    """A line of results.csv; cells without a measurement are empty."""
    cells = [getattr(page, column) for column in _PAGE_COLUMNS]
    cells = [round(cell, 5) if isinstance(cell, float) else cell for cell in cells]
    for name in names:
        overlap = page.overlaps.get(name)
        quality = measures.quality(overlap) if overlap else None
        cells += [f"{getattr(quality, part):.5f}" if quality else "" for part in _PARTS]
    blocks = {} if page.blocks is None else measures.block_measures([page.blocks])
    return [*cells, *(f"{blocks[name]:.5f}" if blocks else "" for name in ("accuracy", "f1"))]


def worst_pages(
    rows: Table, pages: Iterable[GoldPage], plan: Plan, measure: str | None
) -> dict[str, list[dict[str, Any]]]:
    """Cleaner → its pages of lowest F1 as the template takes them, the worst first; cleaned again."""
    if measure is None:
        return {}
    chosen = {
        name: sorted(
            (page for page in measured if measure in page.overlaps),
            key=lambda page: (evaluate.f1(page, measure), page.set, page.id),
        )[:N_WORST]
        for name, measured in rows.items()
    }
    wanted = {(page.set, page.id) for measured in chosen.values() for page in measured}
    gold_pages = {(page.set, page.id): page for page in pages if (page.set, page.id) in wanted}
    cleaners = measuring.cleaners_of(plan)
    return {
        name: [shown(page, gold_pages[page.set, page.id], cleaners[name], measure) for page in measured]
        for name, measured in chosen.items()
    }


def html(results: Mapping[str, Any], rows: Table, worst: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """The whole page."""
    figures = results["figures"][ALL][ALL]
    measure, drawn = evaluate.main_measure(results), evaluate.curves(rows)
    curves = pictures.svg(pictures.curves(drawn, title="Blocks kept by threshold"), "curves") if drawn else ""
    groupings = [
        (name, grouped, Markup(_bars(grouped, name, measure or "")))
        for name, grouped in results["figures"].items()
        if measure and name != ALL and set(grouped) != {evaluate.UNKNOWN}
    ]
    differences = [
        (pair["first"], pair["second"], pair["f1"][measure])
        for pair in results["differences"]
        if measure in pair["f1"]
    ]
    return resources.template(Path(__file__).with_name("report.html")).render(
        results=results,
        figures=figures,
        measure=measure,
        measured=evaluate.measured(results),
        differences=differences,
        has_blocks=any(each[BLOCKS] for each in figures.values()),
        curves=Markup(curves),
        groupings=groupings,
        worst=worst,
        most=MAX_CHARACTERS,
        best=_best,
        speed=_speed,
    )


def _best(figures: Mapping[str, Any], measure: str) -> float:
    measured = [each["measures"] for each in figures.values()]
    return max((each[measure]["f1"] for each in measured if measure in each), default=0.0)


def _speed(figures: Mapping[str, Any]) -> str:
    """Pages per second of processor time."""
    return f"{figures['pages_per_second']:.1f}" if figures["pages_per_second"] else "–"


def _bars(grouped: Mapping[str, Mapping[str, Any]], grouping: str, measure: str) -> str:
    """The largest groups, with one bar per cleaner."""
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


def shown(measured: Measurement, page: GoldPage, clean: measuring.Clean, measure: str) -> dict[str, Any]:
    """A page as the template takes it; `sides` are names, lengths and beginnings of both texts."""
    ours = "" if measured.is_failure else clean(page).text  # after a failure it could crash this process
    snippets = [f"{key}: {text}" for key in ("with", "without") for text in page.meta.get(key) or ()]
    gold = "\n".join(snippets) if page.gold is None else page.gold
    facts = ", ".join(filter(None, [measured.set, measured.language, measured.page_type]))
    if measured.status != "ok":
        facts += f" — {measured.status}: {measured.reason or ''}"
    marked = map(Markup, marked_sides(ours, gold))
    return {
        "quality": measures.quality(measured.overlaps[measure]),
        "id": measured.id,
        "facts": facts,
        "sides": list(zip(("cleaned", "gold"), (len(ours), len(gold)), marked, strict=True)),
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
    measure, measured = evaluate.main_measure(results), evaluate.measured(results)
    rows = [("cleaner", "pages", *measured, "95 % interval", "median", "empty", "failed", "pages/s")]
    for cleaner, each in figures.items():
        f1 = {name: found["f1"] for name, found in each["measures"].items()}
        main = each["measures"].get(measure)
        interval = f"{main['f1_low']:.3f} – {main['f1_high']:.3f}" if main else "–"
        cells = (*(_number(f1.get(name)) for name in measured), interval, _number(main and main["f1_median"]))
        others = (f"{each['empty_ratio']:.1%}", each["n_failed"], _speed(each))
        rows.append((cleaner, each["n_pages"], *cells, *others))
    yield from aligned(rows)
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


HELD_OUT: Final = "dev"
"""NCleaner is not trained on pages of this split."""


def card(macro: str, *arguments: Any) -> str:
    """The Markdown of a model's metrics.json by a macro of card.md: crf, ncleaner or unseen."""
    about = configuration.toml(resources.directory("conf") / "gold_sets.toml")
    known = {"about": about, "held_out": HELD_OUT, "block_row": block_row}
    macros = resources.template(Path(__file__).with_name("card.md")).make_module(known)
    return str(getattr(macros, macro)(*arguments))


def block_row(name: str, row: Mapping[str, float]) -> str:
    """A row of the paper's four measures, in per cent."""
    return f"| {name} | " + " | ".join(f"{100 * row[key]:.2f}" for key in measures.OF_BLOCKS) + " |"
