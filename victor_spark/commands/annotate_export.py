"""Exports the finished pages of an annotation store.

gold: JSON lines that `victor train` and `victor evaluate` read (compressed if the name ends in .xz).
cleaneval: a directory with gold/ (CleanEval's <h>, <p>, <l>) and html/. html: a directory of the parsed
pages, with the label of each block in an attribute. A page that several annotators finished has the labels
of the judge, or else of the majority.
"""

import argparse
from pathlib import Path
from typing import Final

from victor_spark.errors import EXIT_DONE

EXAMPLES: Final = """\
examples:
  victor annotate export --store annotations.sqlite --output annotations.jsonl
  victor annotate export --store annotations.sqlite --form cleaneval --output gold/
  victor annotate export --store annotations.sqlite --form html --output labelled/
  victor evaluate --gold annotations.jsonl --cleaner victor --output report
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    parser.add_argument("--store", metavar="FILE", required=True, help="the annotation store")
    parser.add_argument("--form", choices=("gold", "cleaneval", "html"), default="gold", help="default: gold")
    parser.add_argument(
        "--output", metavar="PATH", required=True, help="a file for gold, otherwise a directory"
    )


def run(arguments: argparse.Namespace) -> int:
    """Writes the export."""
    from victor_spark.annotation import export, store

    kept = store.open_existing(Path(arguments.store))
    try:
        n_pages = export.export(kept, arguments.form, Path(arguments.output))
    finally:
        kept.close()
    print(f"{n_pages} pages in {arguments.output}")
    return EXIT_DONE
