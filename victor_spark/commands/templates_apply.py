"""Removes the templates of its site from each page; all other text is kept.

The rows are those of `victor clean`, with cleaner = template. To use templates together with a trained
cleaner, use `victor clean --templates` instead. Pages of sites without templates keep all text.
"""

import argparse
from typing import Final

from victor_spark.commands import clean, clean_options
from victor_spark.extractors import template

EXAMPLES: Final = """\
examples:
  victor templates apply crawl.warc.gz --templates templates.parquet --output out
  victor templates apply 'crawl/*.warc.gz' --templates templates.parquet --output out --blocks
  victor templates apply page.html --url http://example.org/a.html --templates templates.parquet
  spark-submit --master spark://host:7077 jobs/apply_templates.py warc.paths --templates T --output OUT
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments: those of `victor clean` without the choice of a cleaner."""
    clean_options.add_inputs(parser)
    parser.add_argument(
        "--templates",
        dest="cleaning.templates",
        metavar="FILE",
        required=True,
        help="a table that `victor templates mine` wrote",
    )
    clean_options.add(parser, *clean_options.RUNNING)
    chosen = {"cleaning.cleaner": template.NAME, "cleaning.templates_use": template.AFTER}
    parser.set_defaults(**chosen)


def run(arguments: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    return clean.run(arguments)
