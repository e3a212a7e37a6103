"""Finds strings that many pages of a site repeat: menus, footers, notices, with varying dates and numbers.

Groups pages by site, mines a sample of each site, and writes one row per template to FILE: regular
expression, document frequency, example. A second table beside it (templates.sites.parquet for
templates.parquet) has one row per site: its number of pages and, if nothing was mined, the reason. --update
merges the templates of an earlier crawl: frequencies of those that are found again are added up, those that
vanished are kept and marked. INPUT is as in `victor clean`.

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

import argparse
from dataclasses import replace
from typing import Final

from victor_spark import configuration, pipeline
from victor_spark.commands import clean_options
from victor_spark.commands.clean_options import LIMITS, MASTER, PARTITIONS, READING
from victor_spark.commands.options import Command, Group, option, positive
from victor_spark.errors import EXIT_DONE, EXIT_INCOMPLETE, UsageError
from victor_spark.logs import log
from victor_spark.templates import sites
from victor_spark.templates.mine import MiningSettings
from victor_spark.templates.tokens import VIEWS


def pattern(text: str) -> tuple[str, str]:
    """NAME=REGEX."""
    name, equals, expression = text.partition("=")
    if not name or not equals or not expression:
        raise UsageError(f"{text!r}: expected NAME=REGEX")
    return name, expression


GROUP_BY: Final = option(
    "--group-by SITE", ", ".join(sites.GROUPINGS), sites.check_grouping, default=sites.REGISTERED_DOMAIN
)
OPTIONS: Final = (
    option("INPUT...", "archives, pages, folders, globs, lists", dest="inputs"),
    option("--output FILE", "the templates table to write", required=True),
    option("--update OLD", "the table of an earlier crawl, to be merged"),
    Group(
        "mining",
        option("--view", "text of all blocks, html, or cleaned text", choices=VIEWS, default="text"),
        GROUP_BY,
        option(
            "--max-pages-per-site N", "sample at most N pages of a site", positive, default=sites.MAX_PAGES
        ),
        option("--min-pages N", "distinct pages that a site needs (default: 3)", positive),
        option(
            "--pattern NAME=REGEX",
            "text that varies from page to page, in addition to conf/ (may be repeated)",
            pattern,
            action="append",
            default=[],
        ),
        option("--cleaner NAME", "for --view cleaned (default: victor)"),
    ),
    READING,
    LIMITS,
    Group("Spark", MASTER, PARTITIONS),
)


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
        log("stopped; nothing was written", "warning")
        return EXIT_INCOMPLETE
    return EXIT_DONE


MINE: Final = Command(__doc__, OPTIONS, run)
