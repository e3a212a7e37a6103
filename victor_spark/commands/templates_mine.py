"""Finds what many pages of one site repeat: menus, footers, notices, with the dates and numbers in them.

Pages are grouped by site, a sample of each site is mined, and FILE gets one row a template: its regular
expression, the number of pages that have it, an example. FILE.sites.parquet has a row for every site: its
number of pages and, where nothing was mined, the reason. --update merges an older table with a new crawl:
templates that still occur keep counting, vanished ones are kept and marked. INPUT is as in `victor clean`.
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
from victor_spark.templates import sample, sites
from victor_spark.templates.mine import MiningSettings
from victor_spark.templates.template import VIEWS

EXAMPLES: Final = """\
examples:
  victor templates mine crawl.warc.gz --output templates.parquet
  victor templates mine 'crawl/*.warc.gz' --output templates.parquet --group-by host --max-pages-per-site 200
  victor templates mine crawl.warc.gz --output t.parquet --pattern 'session=sid=[0-9a-f]{32}'
  victor templates mine crawl-2.warc.gz --update templates.parquet --output templates-2.parquet
  victor templates mine crawl.warc.gz --view cleaned --output t.parquet     in what the cleaner keeps
  spark-submit --master spark://host:7077 jobs/mine_templates.py warc.paths --output hdfs:///t.parquet
then:
  victor templates show example.org --templates templates.parquet
  victor clean crawl.warc.gz --templates templates.parquet --output out
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    parser.add_argument("inputs", metavar="INPUT", nargs="+", help="archives, pages, folders, globs, lists")
    parser.add_argument("--output", metavar="FILE", required=True, help="the templates table to write")
    parser.add_argument(
        "--update", metavar="OLD", help="a table of an earlier crawl that goes into the new one"
    )
    mining = parser.add_argument_group("mining")
    mining.add_argument(
        "--view", choices=VIEWS, default="text", help="text of all blocks (default), html, or cleaned text"
    )
    add_grouping(mining)
    mining.add_argument(
        "--max-pages-per-site",
        type=positive,
        metavar="N",
        default=sample.MAX_PAGES,
        help="more pages are sampled (default: %(default)s)",
    )
    mining.add_argument(
        "--min-pages", type=positive, metavar="N", help="fewer distinct pages are not mined (default: 3)"
    )
    mining.add_argument(
        "--pattern",
        type=pattern,
        metavar="NAME=REGEX",
        action="append",
        default=[],
        help="a part that changes from page to page, beside those of conf/; may be given again",
    )
    mining.add_argument("--cleaner", metavar="NAME", help="with --view cleaned: whose text (default: victor)")
    spark = Group("Spark", clean_options.MASTER, clean_options.PARTITIONS)
    clean_options.add(parser, clean_options.READING, clean_options.LIMITS, spark)


def run(arguments: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    if arguments.cleaner and arguments.view != "cleaned":
        raise UsageError("--cleaner is for --view cleaned: the other views look at whole pages")
    from victor_spark.spark.mine_templates import MiningRequest, run
    from victor_spark.spark.site_pages import Sampling

    mining = {"view": arguments.view, "patterns": tuple(arguments.pattern), "min_pages": arguments.min_pages}
    request = MiningRequest(
        clean=replace(
            clean_options.request(arguments), cleaning=pipeline.Settings(arguments.cleaner or "victor")
        ),
        mining=configuration.merged(MiningSettings(), {}, mining),
        sampling=Sampling(arguments.view, arguments.group_by, arguments.max_pages_per_site),
        update=arguments.update,
    )
    try:
        run(request)
    except KeyboardInterrupt:
        print("victor: stopped; nothing was written", file=sys.stderr)
        return EXIT_INCOMPLETE
    return EXIT_DONE


def add_grouping(parser: argparse._ActionsContainer) -> None:
    """Adds --group-by: what a site is."""
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
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=REGEX")
    return name, expression
