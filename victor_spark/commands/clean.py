"""Removes boilerplate from web pages.

One html page (or - for stdin) without --output is printed as text, without Spark. All other inputs need
--output: a directory that gets pages/ (Parquet, one row per html record, also for dropped ones) and _run/
(the record of the run). INPUT is a WARC or ARC file, an html page, a directory, a glob, a text file of paths,
a table of records, or a URL of these (http, https, s3, hdfs); its kind is detected.
"""

import argparse
import sys
from typing import Final

from victor_spark.commands import clean_options, one_page
from victor_spark.commands.clean_options import ENGINES, CleanOptions
from victor_spark.errors import EXIT_DONE, EXIT_INCOMPLETE, UsageError

EXAMPLES: Final = """\
examples:
  victor clean page.html                                   text on stdout
  victor clean page.html --format markdown                 also: cleaneval, html
  curl -s https://example.com/ | victor clean -
  victor clean crawl.warc.gz --output out                  rows in out/pages/; run again to resume
  victor clean 'crawl/*.warc.gz' more.warc --output out --threshold 0.3 --blocks
  victor clean 'crawl/*.warc.gz' --output sure --prefer precision --fail-below 0.6
  victor clean 'crawl/*.warc.gz' --output czech --lang cs,sk
  victor clean warc.paths --input-base-url s3://crawl/ --output out
  victor clean 'crawl/*.warc.gz' --templates templates.parquet --output out
  spark-submit --master spark://host:7077 jobs/clean.py warc.paths --output hdfs:///out
"""

_ONLY_WITH_OUTPUT: Final = (
    "blocks",
    "html",
    "partition_by",
    "target_file_size",
    "page_seconds",
    "page_memory",
    "no_sandbox",
    "engine",
    "master",
    "partitions",
    "wave_bytes",
    "split_bytes",
    "max_failed_shards",
    "max_failed_pages",
)
_ONLY_WITHOUT_OUTPUT: Final = ("format", "url")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments; None everywhere means: as configured."""
    clean_options.add_inputs(parser)
    clean_options.add_cleaner(parser)
    clean_options.add_running(parser)


def run(arguments: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    chosen = clean_options.chosen_options(arguments)
    if arguments.output is None:
        _refuse(arguments, _ONLY_WITH_OUTPUT, "needs --output OUT")
        return one_page.print_page(arguments, chosen)
    _refuse(arguments, _ONLY_WITHOUT_OUTPUT, "is for one page without --output")
    return _run_job(arguments, chosen)


def _refuse(arguments: argparse.Namespace, names: tuple[str, ...], why: str) -> None:
    for name in names:
        if getattr(arguments, name) is not None:
            raise UsageError(f"--{name.replace('_', '-')} {why}")


def _run_job(arguments: argparse.Namespace, chosen: CleanOptions) -> int:
    if "-" in arguments.inputs:
        raise UsageError("- (stdin) is for one page without --output")
    from victor_spark.spark.run import CleanJob, run

    job = CleanJob(
        inputs=tuple(arguments.inputs),
        output=arguments.output,
        settings=chosen.settings,
        reading=chosen.reading,
        blocks=chosen.output.blocks,
        html=chosen.output.html,
        layout=chosen.output.layout,
        limits=chosen.limits,
        budget=chosen.budget,
        base_url=arguments.input_base_url,
        master=arguments.master,
        partitions=arguments.partitions,
        split_bytes=arguments.split_bytes,
        wave_bytes=arguments.wave_bytes,
        engine=arguments.engine or ENGINES[0],
    )
    try:
        run(job)
    except KeyboardInterrupt:
        print("victor: stopped; run the same command again to resume", file=sys.stderr)
        return EXIT_INCOMPLETE
    return EXIT_DONE
