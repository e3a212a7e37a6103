"""Measures how far the annotators of a store agree: Cohen's kappa of pairs, Fleiss' kappa of all; lists pages
that differ.

Counts all blocks of pages that two or more annotators finished (see `victor annotate --overlap`).
"""

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from victor_spark.errors import EXIT_DONE

EXAMPLES: Final = """\
examples:
  victor annotate agreement --store annotations.sqlite
  victor annotate agreement --store annotations.sqlite --json > agreement.json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    parser.add_argument("--store", metavar="FILE", required=True, help="the annotation store")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Prints the report."""
    from victor_spark.annotation import agreement, queue, store

    kept = store.open_existing(Path(arguments.store))
    try:
        report = {
            **agreement.agreement(kept),
            "disagreements": agreement.disagreements(kept)["pages"],
            "annotators": queue.progress(kept, queue.Plan())["annotators"],
        }
    finally:
        kept.close()
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
