"""`victor clean` and `victor templates apply`: archives to rows, or one page to stdout.

Each option of the request is a field with a `setting`, in the dataclass of its group. The field's default is
the built-in value; conf/cleaning.toml may set another one. The options of one page are here.
"""

import argparse
import sys
from dataclasses import replace
from typing import Final

from victor_spark import configuration, pipeline
from victor_spark.commands import options
from victor_spark.commands.options import Command, Entry, Group, option, switch
from victor_spark.document import FORMS
from victor_spark.errors import EXIT_BUDGET, EXIT_CODES, EXIT_DONE, InputError, UsageError
from victor_spark.extractors import template
from victor_spark.logs import log
from victor_spark.preparation import handed_over
from victor_spark.request import Budget, CleanRequest, Limits, RowOptions, SiteOptions, SparkOptions
from victor_spark.settings import Settings
from victor_spark.statuses import ANSWERED
from victor_spark.warc import file_types, inputs, reading, storage
from victor_spark.warc.records import Record
from victor_spark.warc.shard import ReadOptions

FILE: Final = "cleaning.toml"
TABLES: Final = {"rows": "output"} | {name: name for name in ("cleaning", "reading", "limits", "budget")}
"""Groups of the request → tables of conf/cleaning.toml."""

INPUTS: Final = option("INPUT...", "pages or archives to clean; - is a page on stdin", dest="inputs")
OUTPUT: Final = option("--output OUT", "directory for pages/ and _run/")
BASE_URL: Final = options.of(CleanRequest, "base_url")
MASTER: Final = options.of(SparkOptions, "master")
MAX_BYTES: Final = options.of(ReadOptions, "max_bytes")
URL: Final = option("--url", "the address of the page, which --templates and --sites need")

CLEANER, TEMPLATES, LANGUAGE = options.headed(Settings)
(SITES,) = options.headed(SiteOptions)
(ROWS,) = options.headed(RowOptions)
(LIMITS,) = options.headed(Limits)
(BUDGET,) = options.headed(Budget)
(SPARK,) = options.headed(SparkOptions)
(_OF_RECORDS,) = options.headed(ReadOptions)
READING: Final = Group(_OF_RECORDS.heading, *_OF_RECORDS.options, BASE_URL)
PAGE: Final = Group(
    "one page to stdout",
    option("--format", f"default: {FORMS[0]}", choices=FORMS),
    switch("--no-links", "Markdown, HTML and TEI: only the text of links", value=False, dest="links"),
    switch("--no-images", "Markdown, HTML and TEI: no images", value=False, dest="images"),
    switch("--no-emphasis", "Markdown, HTML and TEI: no emphasis", value=False, dest="emphasis"),
    URL,
)

RUNNING: Final = (LANGUAGE, ROWS, READING, LIMITS, BUDGET, SPARK)
"""The options for archives, except the choice of a cleaner."""

_RECORDS: Final = [options.of(ReadOptions, name) for name in ("statuses", "mime_types", "record_types")]
FOR_ARCHIVES: Final = (SITES, ROWS, *_RECORDS, LIMITS, BUDGET, SPARK)
"""Options that are refused for one page on stdout."""

ALL: Final = (CLEANER, TEMPLATES, SITES, *RUNNING)


def requested(arguments: argparse.Namespace) -> CleanRequest:
    """The request: the built-in values, replaced by conf/cleaning.toml, replaced by the command line."""
    built_in, given = CleanRequest(), vars(arguments)
    kinds = {table: type(getattr(built_in, group)) for group, table in TABLES.items()}
    configured = configuration.sections(FILE, kinds)
    groups = {}
    for group in (*TABLES, "sites", "spark"):
        stated = configured.get(TABLES.get(group, ""), {})
        groups[group] = configuration.merged(getattr(built_in, group), stated, given, FILE)
    for name in ("sites", "templates"):
        if path := getattr(groups["cleaning"], name):
            groups["cleaning"] = replace(groups["cleaning"], **{name: storage.absolute(path)})
    return replace(
        built_in,
        inputs=tuple(arguments.inputs),
        base_url=given.get("base_url"),
        output=given.get("output") or "",
        **groups,
    )


def refuse(arguments: argparse.Namespace, reason: str, *entries: Entry) -> None:
    """UsageError if one of these options was given."""
    for one in options.flat(entries):
        found = getattr(arguments, one.dest, None)
        if found is not None and one.how.get("const", found) == found:
            raise UsageError(f"{one.flag} {reason}")


HELP: Final = """\
Removes boilerplate from web pages.

Without --output, prints the text of one html page (- is stdin). With --output, cleans all inputs, and writes
a directory with pages/ (Parquet, one row per html record) and _run/ (the record of the run). INPUT is a WARC
or ARC file, a page, a directory, a glob, a text file of paths, a table of records, or a URL of these.

examples:
  victor clean page.html                                   text on stdout
  victor clean page.html --format markdown --no-images     also: html, cleaneval, json, tei
  curl -s https://example.com/ | victor clean -
  victor clean crawl.warc.gz --output out                  rows in out/pages/; run again to resume
  victor clean 'crawl/*.warc.gz' more.warc --output out --threshold 0.3 --blocks
  victor clean 'crawl/*.warc.gz' --output sure --prefer precision --fail-below 0.6
  victor clean 'crawl/*.warc.gz' --output czech --lang cs,sk
  victor clean 'crawl/*.warc.gz' --output out --by-site    two passes: decides with all pages of a site
  victor clean warc.paths --input-base-url s3://crawl/ --output out
  victor clean 'crawl/*.warc.gz' --templates templates.parquet --output out
  spark-submit --master spark://host:7077 jobs/clean.py warc.paths --output hdfs:///out
"""

APPLY_HELP: Final = """\
Removes from each page the templates of its site, and keeps all other text.

The rows are as in `victor clean`. `victor clean --templates` uses templates together with a cleaner.

examples:
  victor templates apply crawl.warc.gz --templates templates.parquet --output out
  victor templates apply 'crawl/*.warc.gz' --templates templates.parquet --output out --blocks
  victor templates apply page.html --url http://example.org/a.html --templates templates.parquet
  spark-submit --master spark://host:7077 jobs/apply_templates.py warc.paths --templates T --output OUT
"""
MINED: Final = option("--templates FILE", "a table that `victor templates mine` wrote", required=True)


def clean(arguments: argparse.Namespace) -> int:
    """Prints one page, or writes the rows of archives."""
    request = requested(arguments)
    if arguments.output is None:
        refuse(arguments, "needs --output OUT", *FOR_ARCHIVES)
        return _print_page(request, arguments)
    refuse(arguments, "is for one page without --output", PAGE)
    if "-" in arguments.inputs:
        raise UsageError("- (stdin) is for one page without --output")
    from victor_spark.spark import run as job

    job.run(request)
    return EXIT_DONE


def apply(arguments: argparse.Namespace) -> int:
    """Cleans with the cleaner that removes templates only."""
    arguments.cleaner = template.NAME
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
    sys.stdout.write(text if not text or text.endswith("\n") else f"{text}\n")
    sys.stdout.flush()
    if status != "ok":
        log(verdict, "warning")
    return EXIT_DONE


def read_page(request: CleanRequest, url: str | None) -> tuple[str, Record]:
    """The name and the record of the only page in INPUT; `url` is its address, if it is known."""
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
        raise UsageError(f"{found} html page: see `victor clean --output OUT` and `victor look`")
    record = next(reading.read(shard, request.reading))
    return shard.filename, replace(record, url=url or record.url)


_STOPPED: Final = "run the same command again to resume"
_CODES: Final = {EXIT_BUDGET: EXIT_CODES[EXIT_BUDGET]}

CLEAN: Final = Command(HELP, (INPUTS, OUTPUT, PAGE, *ALL), clean, _STOPPED, _CODES)
APPLY: Final = Command(APPLY_HELP, (INPUTS, OUTPUT, MINED, PAGE, *RUNNING), apply, _STOPPED, _CODES)
