"""Removes boilerplate from web pages.

One html page (or - for stdin) without --output is printed as text, without Spark. All other inputs need
--output: a directory that gets pages/ (Parquet, one row per html record, also for dropped ones) and _run/
(the record of the run). INPUT is a WARC or ARC file, an html page, a directory, a glob, a text file of paths,
a table of records, or a URL of these (http, https, s3, gs, hdfs); its kind is detected.
"""

import argparse
import sys
from typing import Final

from victor_spark.commands import clean_options, one_page
from victor_spark.commands.clean_options import CLEANER, RUNNING, TEMPLATES
from victor_spark.errors import EXIT_DONE, EXIT_INCOMPLETE, UsageError

EXAMPLES: Final = """\
examples:
  victor clean page.html                                   text on stdout
  victor clean page.html --format markdown --no-images     also: html, cleaneval, json, tei
  curl -s https://example.com/ | victor clean -
  victor clean crawl.warc.gz --output out                  rows in out/pages/; run again to resume
  victor clean 'crawl/*.warc.gz' more.warc --output out --threshold 0.3 --blocks
  victor clean 'crawl/*.warc.gz' --output sure --prefer precision --fail-below 0.6
  victor clean 'crawl/*.warc.gz' --output czech --lang cs,sk
  victor clean warc.paths --input-base-url s3://crawl/ --output out
  victor clean 'crawl/*.warc.gz' --templates templates.parquet --output out
  spark-submit --master spark://host:7077 jobs/clean.py warc.paths --output hdfs:///out
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    clean_options.add_inputs(parser)
    clean_options.add(parser, CLEANER, TEMPLATES, *RUNNING)


def run(arguments: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    request = clean_options.request(arguments)
    if arguments.output is None:
        clean_options.refuse_given(arguments, "needs --output OUT", starting=clean_options.NEED_OUTPUT)
        parts = ("links", "images", "emphasis")
        without = [part for part in parts if getattr(arguments, f"format_without.{part}")]
        return one_page.print_page(request, url=arguments.url, form=arguments.format, without=without)
    clean_options.refuse_given(arguments, "is for one page without --output", starting=("format", "url"))
    if "-" in arguments.inputs:
        raise UsageError("- (stdin) is for one page without --output")
    from victor_spark.spark import run as job

    try:
        job.run(request)
    except KeyboardInterrupt:
        print("victor: stopped; run the same command again to resume", file=sys.stderr)
        return EXIT_INCOMPLETE
    return EXIT_DONE
