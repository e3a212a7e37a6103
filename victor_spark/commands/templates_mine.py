"""`victor templates mine` and `victor templates evaluate`: templates from pages, and what they are worth."""

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Final

from victor_spark import configuration, pipeline, resources
from victor_spark.commands import clean_options
from victor_spark.commands.clean_options import LIMITS, MASTER, PARTITIONS, READING
from victor_spark.commands.options import OVERWRITE, Command, Group, option, positive
from victor_spark.errors import EXIT_DONE, UsageError
from victor_spark.evaluation import gold, template_gain
from victor_spark.evaluation.gold import Choice
from victor_spark.templates import sites
from victor_spark.templates.mine import MiningSettings
from victor_spark.templates.tokens import VIEWS

MINE_HELP: Final = """\
Finds strings that many pages of a site repeat: menus, footers, notices, with varying dates and numbers.

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

EVALUATE_HELP: Final = """\
Measures templates on annotated pages, site by site: templates alone, a cleaner alone, and both.

--gold takes .jsonl(.xz) files of annotated pages or directories of them; sites with fewer than --min-pages
are left out. A site's templates are mined from the html of its own pages. DIR gets results.json and
results.csv.

examples:
  victor templates evaluate --gold daniel.jsonl.xz --group-by host --output out
  victor templates evaluate --gold pages/ --cleaner kimatu --min-pages 20 --output out
  victor templates evaluate --gold pages/ --view cleaned --output out
"""


def pattern(text: str) -> tuple[str, str]:
    """NAME=REGEX."""
    name, equals, expression = text.partition("=")
    if not name or not equals or not expression:
        raise UsageError(f"{text!r}: expected NAME=REGEX")
    return name, expression


GROUP_BY: Final = option(
    "--group-by SITE", ", ".join(sites.GROUPINGS), sites.check_grouping, default=sites.REGISTERED_DOMAIN
)
MINE_OPTIONS: Final = (
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
EVALUATE_OPTIONS: Final = (
    option("--gold PATH...", "annotated pages, see above", required=True),
    option("--cleaner NAME", "", default="victor"),
    option("--view", "the text to mine", choices=VIEWS, default="text"),
    GROUP_BY,
    option("--min-pages N", "gold pages that a site needs", positive, default=template_gain.MIN_PAGES),
    option("--sets SET...", "only these sets"),
    option("--output DIR", "directory for the results", required=True),
    OVERWRITE,
)


def mine(arguments: argparse.Namespace) -> int:
    """Mines the templates of all sites."""
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
    run(request)
    return EXIT_DONE


def evaluate(arguments: argparse.Namespace) -> int:
    """Mines, cleans, measures, writes the results, prints the table."""
    sources = gold.sources(arguments.gold)
    pages = gold.chosen(sources, Choice(tuple(arguments.sets)))
    of_sites = template_gain.by_site(pages, arguments.group_by, arguments.min_pages)
    mining = MiningSettings(view=arguments.view)
    with resources.new_directory(Path(arguments.output), overwrite=arguments.overwrite) as output:
        found = list(template_gain.gains(of_sites, arguments.cleaner, mining, arguments.group_by))
        results = json.dumps(template_gain.as_json(found, arguments.cleaner), indent=1, ensure_ascii=False)
        with resources.written(output):
            output.mkdir(parents=True, exist_ok=True)
            (output / "results.json").write_text(results + "\n", encoding="utf-8")
            template_gain.write_csv(found, output / "results.csv")
    sys.stdout.write("\n".join(["", *template_gain.lines(found, arguments.cleaner), ""]))
    return EXIT_DONE


MINE: Final = Command(MINE_HELP, MINE_OPTIONS, mine, stopped="nothing was written")
EVALUATE: Final = Command(EVALUATE_HELP, EVALUATE_OPTIONS, evaluate)
