"""`victor annotate export` and `victor annotate agreement`: what an annotation store holds."""

import argparse
import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from victor_spark.commands.options import Command, option, switch
from victor_spark.errors import EXIT_DONE

EXPORT_HELP: Final = """\
Exports the finished pages of an annotation store.

gold: JSON lines that `victor train` and `victor evaluate` read (compressed if the name ends in .xz).
cleaneval: a directory with gold/ (CleanEval's <h>, <p>, <l>) and html/. html: a directory of the parsed
pages, with the label of each block in an attribute. A page that several annotators finished has the labels
of the judge, or else of the majority.

examples:
  victor annotate export --store annotations.sqlite --output annotations.jsonl
  victor annotate export --store annotations.sqlite --format cleaneval --output gold/
  victor annotate export --store annotations.sqlite --format html --output labelled/
  victor evaluate --gold annotations.jsonl --cleaner victor --output report
"""

AGREEMENT_HELP: Final = """\
Measures how far the annotators of a store agree: Cohen's kappa of pairs, Fleiss' kappa of all; lists pages
that differ.

Counts all blocks of pages that two or more annotators finished (see `victor annotate --overlap`).

examples:
  victor annotate agreement --store annotations.sqlite
  victor annotate agreement --store annotations.sqlite --json > agreement.json
"""

STORE: Final = option("--store FILE", "the annotation store", required=True)
EXPORT_OPTIONS: Final = (
    STORE,
    option("--format", "", choices=("gold", "cleaneval", "html"), default="gold"),
    option("--form", argparse.SUPPRESS, dest="format", choices=("gold", "cleaneval", "html")),
    option("--output PATH", "a file for gold, otherwise a directory", required=True),
)


def export(arguments: argparse.Namespace) -> int:
    """Writes the export."""
    from victor_spark.annotation import export, store

    with closing(store.open_existing(Path(arguments.store))) as kept:
        n_pages = export.export(kept, arguments.format, Path(arguments.output))
    print(f"{n_pages} pages in {arguments.output}")
    return EXIT_DONE


def agreement(arguments: argparse.Namespace) -> int:
    """Prints the report."""
    from victor_spark.annotation import agreement, queue, store

    with closing(store.open_existing(Path(arguments.store))) as kept:
        report = {
            **agreement.agreement(kept),
            "disagreements": agreement.disagreements(kept)["pages"],
            "annotators": queue.progress(kept, queue.Plan())["annotators"],
        }
    print(json.dumps(report, ensure_ascii=False, indent=1) if arguments.json else "\n".join(_lines(report)))
    return EXIT_DONE


def _lines(report: Mapping[str, Any]) -> Iterator[str]:
    for who in report["annotators"]:
        speed = f"{who['pages_per_hour']:g} pages an hour" if who["pages_per_hour"] else "speed unknown"
        yield f"{who['name']}: {who['n_done']} pages done, {who['n_skipped']} skipped, {speed}"
    yield f"{report['n_pages']} pages done by two or more, {report['n_blocks']} blocks"
    for pair in report["pairs"]:
        first, second = pair["annotators"]
        yield (
            f"{first} and {second}: kappa {_number(pair['kappa'])}, agreement {_number(pair['agreement'])}"
            f" ({pair['n_pages']} pages)"
        )
    if report["pairs"]:
        yield f"Fleiss' kappa: {_number(report['fleiss'])}"
    for page in report["disagreements"]:
        judged = f"decided by {page['judged']}" if page["judged"] else "not decided"
        where = page["url"] or page["title"] or f"page {page['page']}"
        yield f"{page['n_differing']} of {page['n_blocks']} blocks differ, {judged}: {where}"
    yield from report["messages"]


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"


EXPORT: Final = Command(EXPORT_HELP, EXPORT_OPTIONS, export)
AGREEMENT: Final = Command(AGREEMENT_HELP, (STORE, switch("--json", "print one JSON object")), agreement)
