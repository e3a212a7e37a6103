"""`victor clean` and `victor templates apply`: archives to rows, or one page to stdout."""

import argparse
import sys
from dataclasses import replace
from typing import Final

from victor_spark import pipeline
from victor_spark.commands import clean_options
from victor_spark.commands.clean_options import (
    CLEANER,
    FOR_ARCHIVES,
    INPUTS,
    OUTPUT,
    PAGE,
    RUNNING,
    SITES,
    TEMPLATES,
)
from victor_spark.commands.options import Command, option
from victor_spark.document import FORMS
from victor_spark.errors import ANSWERED, EXIT_BUDGET, EXIT_DONE, InputError, UsageError
from victor_spark.extractors import template
from victor_spark.logs import log
from victor_spark.preparation import handed_over
from victor_spark.spark.request import CleanRequest
from victor_spark.warc import file_types, inputs, reading
from victor_spark.warc.records import Record

HELP: Final = """\
Removes boilerplate from web pages.

One html page (or - for stdin) without --output is printed as text, without Spark. All other inputs need
--output: a directory that gets pages/ (Parquet, one row per html record, also for dropped ones) and _run/
(the record of the run). INPUT is a WARC or ARC file, an html page, a directory, a glob, a text file of paths,
a table of records, or a URL of these (http, https, s3, gs, hdfs); its kind is detected.

examples:
  victor clean page.html                                   text on stdout
  victor clean page.html --format markdown --no-images     also: html, cleaneval, json, tei
  curl -s https://example.com/ | victor clean -
  victor clean crawl.warc.gz --output out                  rows in out/pages/; run again to resume
  victor clean 'crawl/*.warc.gz' more.warc --output out --threshold 0.3 --blocks
  victor clean 'crawl/*.warc.gz' --output sure --prefer precision --fail-below 0.6
  victor clean 'crawl/*.warc.gz' --output czech --lang cs,sk
  victor clean 'crawl/*.warc.gz' --output out --by-site    two passes: all pages of a site decide together
  victor clean warc.paths --input-base-url s3://crawl/ --output out
  victor clean 'crawl/*.warc.gz' --templates templates.parquet --output out
  spark-submit --master spark://host:7077 jobs/clean.py warc.paths --output hdfs:///out
"""

APPLY_HELP: Final = """\
Removes the templates of its site from each page; all other text is kept.

The rows are those of `victor clean`, with cleaner = template. To use templates together with a trained
cleaner, use `victor clean --templates` instead. Pages of sites without templates keep all text.

examples:
  victor templates apply crawl.warc.gz --templates templates.parquet --output out
  victor templates apply 'crawl/*.warc.gz' --templates templates.parquet --output out --blocks
  victor templates apply page.html --url http://example.org/a.html --templates templates.parquet
  spark-submit --master spark://host:7077 jobs/apply_templates.py warc.paths --templates T --output OUT
"""
MINED: Final = option("--templates FILE", "a table that `victor templates mine` wrote", required=True)


def clean(arguments: argparse.Namespace) -> int:
    """Prints one page, or writes the rows of archives."""
    request = clean_options.request(arguments)
    if arguments.output is None:
        clean_options.refuse(arguments, "needs --output OUT", *FOR_ARCHIVES)
        return _print_page(request, arguments)
    clean_options.refuse(arguments, "is for one page without --output", PAGE)
    if "-" in arguments.inputs:
        raise UsageError("- (stdin) is for one page without --output")
    from victor_spark.spark import run as job

    job.run(request)
    return EXIT_DONE


def apply(arguments: argparse.Namespace) -> int:
    """Cleans with the cleaner that removes templates only."""
    arguments.cleaner, arguments.templates_use = template.NAME, template.AFTER
    return clean(arguments)


def _print_page(request: CleanRequest, arguments: argparse.Namespace) -> int:
    if request.cleaning.sites and not arguments.url:
        raise UsageError("--sites needs --url, the address of the page")
    name, record = read_page(request, arguments.url)
    document = None
    if record.status is None:
        document = pipeline.cleaning(request.cleaning, pipeline.models(request.cleaning))(record)
    status, reason = (document or record).status, (document or record).reason
    verdict = f"{name}: {status}{f' ({reason})' if reason else ''}"
    if document is None or status not in ANSWERED:
        raise InputError(verdict)
    parts = {name: getattr(arguments, name) is not False for name in ("links", "images", "emphasis")}
    form = arguments.format or FORMS[0]
    if form not in ("markdown", "html", "tei") and not all(parts.values()):
        raise UsageError("--no-links, --no-images and --no-emphasis are for --format markdown, html and tei")
    title = "title" in request.cleaning.including
    text = document.render(form, **parts, title=title) if status == "ok" else ""
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
    sys.stdout.write(text if not text or text.endswith("\n") else f"{text}\n")
    sys.stdout.flush()
    if status != "ok":
        log(verdict, "warning")
    return EXIT_DONE


def read_page(request: CleanRequest, url: str | None) -> tuple[str, Record]:
    """The name and the record of the one page that INPUT is; `url` is its address, if it is known."""
    if request.inputs == ("-",):
        payload = sys.stdin.buffer.read()
        if not payload:
            raise InputError("stdin: empty")
        if len(payload) > request.reading.max_bytes:
            raise InputError(f"stdin: oversize (over {request.reading.max_bytes} bytes): see --max-bytes")
        if what := file_types.only_named(payload.decode("utf-8", "replace")):
            raise InputError(f"stdin holds {what}, not a page: give it as INPUT, or send the page")
        return "stdin", handed_over(payload, url)
    if "-" in request.inputs:
        raise UsageError("- (stdin) cannot be combined with other inputs")
    shard, *others = inputs.resolve(request.inputs, base_url=request.base_url)
    if others or shard.kind != "html":
        found = f"{len(others) + 1} inputs, not one" if others else f"{shard.filename} is an archive, not an"
        raise UsageError(
            f"{found} html page: `victor clean --output OUT` writes rows, `victor look` shows pages"
        )
    for record in reading.read(shard, request.reading):
        return shard.filename, replace(record, url=url or record.url)
    raise InputError(f"{shard.filename}: holds no page")


_STOPPED: Final = "run the same command again to resume"
_CODES: Final = {EXIT_BUDGET: "failure budget exceeded"}

CLEAN: Final = Command(
    HELP, (INPUTS, OUTPUT, CLEANER, TEMPLATES, SITES, PAGE, *RUNNING), clean, _STOPPED, _CODES
)
APPLY: Final = Command(APPLY_HELP, (INPUTS, OUTPUT, MINED, PAGE, *RUNNING), apply, _STOPPED, _CODES)
