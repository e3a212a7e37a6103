"""docs/templates.md: measurements of site templates.

python -m research.template_page --data DATA --output docs/templates.md

DATA holds pages/ (annotated) and sites/ (whole sites). The figures are kept in templates.json in --results,
so that parts can be measured again on their own (--only), as models can be kept (--models).
"""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import research
from research import template_figures
from research.template_folds import CLEANER
from victor_spark.errors import InputError, VictorError
from victor_spark.evaluation.pictures import figure_of, save
from victor_spark.evaluation.template_gain import ALL_TEXT, TEMPLATES
from victor_spark.model.files import FORMAT

COMMAND: Final = "python -m research.template_page --data DATA --output docs/templates.md"
RESULTS: Final = "templates.json"
CURVE: Final = "pictures/templates-injection.svg"
_PARTS_OF_QUALITY: Final = ("precision", "recall", "f1")
AFTER: Final = f"{CLEANER}, then templates"
_MIN_PAGES: Final = 10
"""Gold pages of a site, for a row of its own."""


def page(figures: Mapping[str, Mapping[str, Any]]) -> str:
    """The document as Markdown."""
    minutes = ", ".join(f"{name} {of_part['cpu_minutes']}" for name, of_part in figures.items())
    parts = [_HEAD.format(command=COMMAND, minutes=minutes)]
    if "injection" in figures:
        parts += _injection(figures["injection"])
    if "gold" in figures:
        parts += [*_gold(figures["gold"]), *_guard(figures["gold"]["guard"]), *_kinds(figures["gold"])]
    if "rules" in figures:
        parts += _rules(figures["rules"])
    if "agreement" in figures:
        parts += _agreement(figures["agreement"])
    return "\n\n".join(parts) + "\n"


def _injection(figures: Mapping[str, Any]) -> Iterator[str]:
    yield _INJECTION.format(n=figures["n_texts"], curve=CURVE)
    rows = (
        [
            str(point["n_pages"]),
            "all" if point["everywhere"] else "some",
            str(point["n_sites"]),
            *(f"{100 * point[name]:.2f}" for name in ("removed", "least_removed", "lost", "most_lost")),
        ]
        for point in figures["points"]
    )
    head = ("pages a site", "templates on", "sites", "removed %", "worst site", "clean lost %", "worst site")
    yield _table(head, rows)


def _gold(figures: Mapping[str, Any]) -> Iterator[str]:
    stated = ("n_pages", "n_folds", "date", "features", "model_format")
    yield _GOLD.format(**{name: figures[name] for name in stated}, least=_MIN_PAGES)
    if figures["model_format"] != FORMAT:
        yield _OLDER.format(ours=FORMAT)
    large = [row for row in figures["sites"] if row["n_pages"] >= _MIN_PAGES]
    small = [row for row in figures["sites"] if row["n_pages"] < _MIN_PAGES]
    if not large:
        raise InputError(f"no site has {_MIN_PAGES} gold pages, which the tables of docs/templates.md need")
    names = list(large[0]["ways"])
    rows = [[row["site"], str(row["n_pages"]), *_cells(row["ways"], names)] for row in large]
    for label, of_sites in ((f"mean of {len(large)} sites", large), (f"{len(small)} smaller sites", small)):
        rows.append([f"**{label}**", str(sum(row["n_pages"] for row in of_sites)), *_means(of_sites, names)])
    yield _table(("site", "pages", *names), rows)
    ways = {row["site"]: row["ways"] for row in figures["sites"]}
    lost = {site: way[CLEANER]["recall"] - way[AFTER]["recall"] for site, way in ways.items()}
    worst = max(lost, key=lost.__getitem__)
    yield (
        f"Cells: precision / recall / F1. Templates after the CRF (`{AFTER}`) lose most recall on {worst}: "
        f"{100 * lost[worst]:.2f} points."
    )


def _guard(figures: Mapping[str, Any]) -> Iterator[str]:
    sites, pages = figures["n_sites"], figures["n_pages"]
    yield _GUARD.format(sites=sites, pages=pages)
    rows = [*figures["rows"]]
    cells = [[*_guard_name(row, figures), *_halves(row["halves"])] for row in rows]
    head = ("P(other) from", "page loses at most", "pages mined from", "", *2 * _OF_HALF)
    yield _table(head, cells)
    chosen, in_use = figures["chosen"]["guard"], figures["in_use"]["guard"]
    other = figures["in_use"]["halves"][1]
    yield (
        f"The first half chooses {_guard_text(chosen)}. The guard in use is {_guard_text(in_use)}. On the "
        f"other half it changes mean F1 by {100 * other['f1']:+.2f} points; no site loses more than "
        f"{100 * other['most_lost']:.2f} points of recall ({other['worst']})."
    )


_OF_HALF: Final = ("Δ F1", "most recall lost", "sites above .5")


def _guard_name(row: Mapping[str, Any], figures: Mapping[str, Any]) -> list[str]:
    guard = row["guard"]
    marks = [mark for mark in ("chosen", "in_use") if figures[mark]["guard"] == guard]
    marks_text = ", ".join(mark.replace("_", " ") for mark in marks)
    return [f"{guard['sure']}", f"{100 * guard['most']:.0f} %", str(guard["min_pages"]), marks_text]


def _halves(halves: Sequence[Mapping[str, Any]]) -> list[str]:
    return [
        cell
        for half in halves
        for cell in (f"{100 * half['f1']:+.2f}", f"{100 * half['most_lost']:.2f}", str(half["n_above"]))
    ]


def _guard_text(guard: Mapping[str, Any]) -> str:
    return (
        f"P(other) of {guard['sure']} or more, at most {100 * guard['most']:.0f} % of a page, "
        f"{guard['min_pages']} pages"
    )


def _kinds(figures: Mapping[str, Any]) -> Iterator[str]:
    """Where templates help, by kind of site."""
    yield _SETTINGS
    names = list(figures["sites"][0]["ways"])
    rows = []
    for label, of_sites in _groups(figures):
        pages = sum(row["n_pages"] for row in of_sites)
        rows.append([label, str(len(of_sites)), str(pages), *_means(of_sites, names)])
    yield _table(("sites", "n", "pages", *names), rows)


def _rules(rules: Mapping[str, Any]) -> Iterator[str]:
    """The gain of templates after cleaners that need no training."""
    yield _RULES
    rows = []
    for cleaner, of_cleaner in rules.items():
        if cleaner == "cpu_minutes":
            continue
        large = [row for row in of_cleaner if row["n_pages"] >= _MIN_PAGES]
        ways = (cleaner, f"{cleaner}, then templates", f"templates, then {cleaner}")
        rows.append([cleaner, *_means(large, ways)])
    yield _table(("cleaner", "alone", "then templates", "templates first"), rows)


def _groups(figures: Mapping[str, Any]) -> Iterator[tuple[str, list[Mapping[str, Any]]]]:
    """All sites, those of one kind, and the large ones."""
    sites = figures["sites"]
    yield "all", sites
    yield f"with {_MIN_PAGES} pages or more", [row for row in sites if row["n_pages"] >= _MIN_PAGES]
    kinds = figures["kinds"]
    for kind in sorted(set(kinds.values())):
        yield kind, [row for row in sites if kinds[row["site"]] == kind]


def _agreement(figures: Mapping[str, Any]) -> Iterator[str]:
    yield _AGREEMENT.format(n_html=template_figures.N_HTML)
    views = {view: of_view["total"] for view, of_view in figures.items() if view != "cpu_minutes"}
    columns = ("n_templates", "n_pages", "n_same", "n_removed")
    rows = ([view, row["site"], *(f"{row[name]:,}" for name in columns)] for view, row in views.items())
    yield _table(
        ("view", "sites", "templates", "pages", "pages with the same text", "characters removed"), rows
    )


def _means(sites: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[str]:
    """Of each way the mean over sites; of some sites one may be missing."""
    if not sites:
        return ["–"] * len(names)
    means = {
        name: {part: sum(row["ways"][name][part] for row in sites) / len(sites) for part in _PARTS_OF_QUALITY}
        for name in names
    }
    return _cells(means, names)


def _cells(ways: Mapping[str, Mapping[str, float]], names: Sequence[str]) -> list[str]:
    return [" / ".join(f"{100 * ways[name][part]:.1f}" for part in _PARTS_OF_QUALITY) for name in names]


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, writes the figures, the picture and the document."""
    parser = argparse.ArgumentParser(
        prog="python -m research.template_page",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", metavar="DIR", type=Path, required=True, help="has pages/ and sites/")
    parser.add_argument("--output", metavar="FILE", type=Path, required=True, help="the document")
    parser.add_argument(
        "--results",
        metavar="DIR",
        type=Path,
        default=research.FOLDER / "results",
        help="has and takes templates.json (default: %(default)s)",
    )
    parser.add_argument(
        "--models",
        metavar="DIR",
        type=Path,
        help="keeps the models of the folds here, and takes them from here",
    )
    parser.add_argument("--only", nargs="*", choices=list(template_figures.PARTS), help="measure these again")
    given = parser.parse_args(arguments)
    store = given.results / RESULTS
    figures = json.loads(store.read_text(encoding="utf-8")) if store.is_file() else {}
    try:
        for part in template_figures.PARTS if given.only is None else given.only:
            figures[part] = template_figures.measured(part, given.data, given.models)
        store.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        if "injection" in figures:
            _draw_curve(figures["injection"]["points"], given.output.parent / CURVE)
        given.output.write_text(page(figures), encoding="utf-8")
    except VictorError as error:
        print(f"template_page: error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def _draw_curve(points: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Injected tokens removed and clean tokens lost, by pages a site (research.injection.Point)."""
    figure, _ = figure_of(7, 6)
    figure.clear()
    above, below = figure.subplots(2, 1)
    for everywhere, label in ((True, "templates on all pages"), (False, "templates on some pages")):
        chosen = [point for point in points if point["everywhere"] == everywhere]
        sizes = [point["n_pages"] for point in chosen]
        above.plot(sizes, [100 * point["removed"] for point in chosen], marker="o", label=label)
        below.plot(sizes, [100 * point["lost"] for point in chosen], marker="o", label=label)
    above.axhline(99, color="grey", linestyle=":", label="99 %")
    below.axhline(0.5, color="grey", linestyle=":", label="0.5 %")
    above.set(ylabel="injected tokens removed, %", ylim=(90, 100.5), xscale="log")
    below.set(ylabel="clean tokens lost, %", xlabel="pages a site", ylim=(0, 0.6), xscale="log")
    for axes in (above, below):
        axes.axvline(10, color="grey", linewidth=0.8)
        axes.set_xticks([point["n_pages"] for point in points if point["everywhere"]])
        axes.set_xticklabels([str(point["n_pages"]) for point in points if point["everywhere"]])
        axes.minorticks_off()
        axes.grid(alpha=0.3)
        axes.legend(fontsize="small")
    save(figure, path)


_HEAD: Final = """\
# Site templates: measurements

This page measures the effect of finding and removing the text that a site's pages repeat, on invented and
annotated pages. [templates-howto.md](templates-howto.md) explains how to use templates.

This document is made by `{command}`
(CPU minutes: {minutes}). `--only PART` measures one part again. Training the models of the folds takes most
of the time: `--models DIR` keeps them, and uses those that are already in the folder.
[bench/RESULTS.md](../bench/RESULTS.md) has the cost of mining."""

_INJECTION: Final = """\
## Injected templates

The test sites consist of the gold texts of {n} unrelated pages, to which invented templates are added: a
menu, a search box, a byline, notices between paragraphs, share links and a footer. They contain dates,
times, numbers, addresses and session ids that differ on every page. In rows with `all`, every page has
every template; in rows with `some`, four pages in five have one of two notices, and seven in ten have the
menu of a section. The templates are mined from the text and removed from it. The figures are shares of
tokens.

![Injected tokens removed and clean tokens lost, by pages a site]({curve})"""

_GOLD: Final = """\
## On gold pages

The sites are the hosts with several pages in the gold sets. Templates are mined from the HTML of a site's
gold pages. No CRF model has seen a site that it cleans: each of the {n_folds} models is trained on
{n_pages} pages without those of a third of the sites. Each site with {least} gold pages or more has a row.

This section and the two after it were measured on {date}. `victor` is a model with the features
`{features}` in format {model_format} here."""

_OLDER: Final = """\
The present code has models of format {ours}, so the command gives slightly different figures now."""

_GUARD: Final = """\
## The guard after the CRF

After the CRF, templates remove a kept block only if its P(other) is high, if the page does not lose too
much, and if the site's templates come from enough pages. Headings are never removed. The limits are chosen
on one half of the sites ({sites[0]} sites, {pages[0]} pages; the halves are made by a hash of the name) and
measured on the other half ({sites[1]} sites, {pages[1]} pages). The choice is the highest mean F1 for which
no site of the first half loses more than half a point of recall."""

_SETTINGS: Final = f"""\
## Where templates help

After the CRF, templates gain little: the CRF has already dropped most of the text that they cover, and most
of what it kept of that text is content. They gain most without a trained model (compare `{TEMPLATES}` with
`{ALL_TEXT}`). The table has means over sites, by kind of site:"""

_RULES: Final = (
    f"## After rules\n\nCleaners that need no training, on the sites with {_MIN_PAGES} pages or more:"
)

_AGREEMENT: Final = """\
## The published expressions

Every expression of a site's table is applied with Python's `re` to every page of the site, and the matches
are merged as documented. The result is compared with that of the automaton that cleaning uses. For the view
`text` these are all pages of all sites with at least three gold pages, and all pages of the complete sites.
The view `html` has more expressions and longer pages: there, {n_html} pages of each complete site are
compared."""


if __name__ == "__main__":
    sys.exit(main())
