"""Finds strings that many pages of a site repeat: menus, footers, notices, with varying dates and numbers.

Groups pages by site, mines a sample of each site, and writes one row per template to FILE: regular
expression, document frequency, example. A second table beside it (templates.sites.parquet for
templates.parquet) has one row per site: its number of pages and, if nothing was mined, the reason. --update
merges the templates of an earlier crawl: frequencies of those that are found again are added up, those that
vanished are kept and marked. INPUT is as in `victor clean`.
"""

import argparse
import sys
from dataclasses import replace
from typing import Final

from victor_spark import configuration, pipeline
from victor_spark.commands import clean_options
from victor_spark.commands.argument_types import positive
from victor_spark.commands.clean_options import Group
from victor_spark.errors import EXIT_DONE, EXIT_INCOMPLETE, UsageError
from victor_spark.templates import sites
from victor_spark.templates.mine import MiningSettings
from victor_spark.templates.tokens import VIEWS

EXAMPLES: Final = """\
examples:
  victor templates mine crawl.warc.gz --output templates.parquet
  victor templates mine 'crawl/*.warc.gz' --output templates.parquet --group-by host --max-pages-per-site 200
  victor templates mine crawl.warc.gz --output t.parquet --pattern 'session=sid=[0-9a-f]{32}'
  victor templates mine crawl-2.warc.gz --update templates.parquet --output templates-2.parquet
  victor templates mine crawl.warc.gz --view cleaned --output t.parquet     from kept text only
  spark-submit --master spark://host:7077 jobs/mine_templates.py warc.paths --output hdfs:///t.parquet
then:
  victor templates show example.org --templates templates.parquet
  victor clean crawl.warc.gz --templates templates.parquet --output out
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    parser.add_argument("inputs", metavar="INPUT", nargs="+", help="archives, pages, folders, globs, lists")
    parser.add_argument("--output", metavar="FILE", required=True, help="the templates table to write")
    parser.add_argument("--update", metavar="OLD", help="the table of an earlier crawl, to be merged")
    mining = parser.add_argument_group("mining")
    mining.add_argument(
        "--view", choices=VIEWS, default="text", help="text of all blocks (default), html, or cleaned text"
    )
    add_grouping(mining)
    mining.add_argument(
        "--max-pages-per-site",
        type=positive,
        metavar="N",
        default=sites.MAX_PAGES,
        help="sample at most N pages of a site (default: %(default)s)",
    )
    mining.add_argument(
        "--min-pages", type=positive, metavar="N", help="distinct pages that a site needs (default: 3)"
    )
    mining.add_argument(
        "--pattern",
        type=pattern,
        metavar="NAME=REGEX",
        action="append",
        default=[],
        help="text that varies from page to page, in addition to conf/ (may be repeated)",
    )
    mining.add_argument("--cleaner", metavar="NAME", help="for --view cleaned (default: victor)")
    spark = Group("Spark", clean_options.MASTER, clean_options.PARTITIONS)
    clean_options.add(parser, clean_options.READING, clean_options.LIMITS, spark)


def run(arguments: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    if arguments.cleaner and arguments.view != "cleaned":
        raise UsageError("--cleaner needs --view cleaned")
    from victor_spark.spark.mine_templates import MiningRequest, run
    from victor_spark.spark.site_pages import Sampling

    mining = {"view": arguments.view, "patterns": tuple(arguments.pattern), "min_pages": arguments.min_pages}
    request = MiningRequest(
        clean=replace(
            clean_options.request(arguments), cleaning=pipeline.Settings(arguments.cleaner or "victor")
        ),
        mining=configuration.merged(MiningSettings(), {}, mining),
        sampling=Sampling(arguments.group_by, arguments.max_pages_per_site),
        update=arguments.update,
    )
    try:
        run(request)
    except KeyboardInterrupt:
        print("victor: stopped; nothing was written", file=sys.stderr)
        return EXIT_INCOMPLETE
    return EXIT_DONE


def add_grouping(parser: argparse._ActionsContainer) -> None:
    """Adds --group-by."""
    parser.add_argument(
        "--group-by",
        type=sites.check_grouping,
        metavar="SITE",
        default=sites.REGISTERED_DOMAIN,
        help=f"{', '.join(sites.GROUPINGS)} (default: %(default)s)",
    )


def pattern(text: str) -> tuple[str, str]:
    """NAME=REGEX."""
    name, equals, expression = text.partition("=")
    if not name or not equals or not expression:
        raise argparse.ArgumentTypeError(f"{text!r}: expected NAME=REGEX")
    return name, expression
