"""`victor clean` and `victor templates apply`: archives to rows, or one page to stdout.

Each option has one entry here. It sets the field of the request with the same name, or with the name `dest`.
To add an option, add the entry and the field. The field's default is the built-in value; conf/cleaning.toml
may set another one.
"""

import argparse
import sys
from dataclasses import fields, replace
from typing import Final

from victor_spark import configuration, pipeline
from victor_spark.commands import options
from victor_spark.commands.options import Command, Entry, Group, option, switch
from victor_spark.configuration import n_bytes
from victor_spark.document import FORMS
from victor_spark.errors import EXIT_BUDGET, EXIT_CODES, EXIT_DONE, InputError, UsageError
from victor_spark.extractors import template
from victor_spark.hosts import GROUPINGS, check_grouping
from victor_spark.logs import log
from victor_spark.model import decision
from victor_spark.preparation import handed_over
from victor_spark.request import ENGINES, PARTITION_COLUMNS, Budget, CleanRequest, Limits
from victor_spark.statuses import ANSWERED, FAILURES
from victor_spark.warc import file_types, inputs, reading, storage
from victor_spark.warc.headers import tokens
from victor_spark.warc.records import Record
from victor_spark.warc.shard import ALL_STATUSES, ReadOptions

TABLES: Final = {"rows": "output"} | {name: name for name in ("cleaning", "reading", "limits", "budget")}
"""Groups of the request → tables of conf/cleaning.toml."""

INPUTS: Final = option("INPUT...", "pages or archives to clean; - is a page on stdin", dest="inputs")
OUTPUT: Final = option("--output OUT", "directory for pages/ and _run/")
BASE_URL: Final = option("--input-base-url URL", "prefix of relative paths in a list", dest="base_url")
MASTER: Final = option("--master URL", "default: spark-defaults.conf, else local[*]")
PARTITIONS: Final = option("--partitions N", "tasks per wave; each writes a file", options.positive)
_READ: Final = ReadOptions()
_LARGER: Final = f"larger pages: status oversize (default: {_READ.max_bytes >> 20}M)"
MAX_BYTES: Final = option("--max-bytes SIZE", _LARGER, n_bytes)
URL: Final = option("--url", "the address of the page")

CLEANER: Final = Group(
    "cleaner",
    option("--cleaner NAME", f"see `victor cleaners` (default: {pipeline.Settings().cleaner})"),
    option("--threshold P", "keep blocks with P(other) < P (default: by page)", options.probability),
    option("--prefer", "weigh precision or recall higher (default: F1)", choices=tuple(decision.PREFERENCES)),
    option("--fail-below F1", "pages with a lower expected F1 get the status empty", options.probability),
    option("--without ROLE,ROLE", "drop blocks with these roles (docs/structure.md)", tokens),
    option("--with ROLE,ROLE", "keep blocks of these roles, such as title", tokens, dest="including"),
    option("--model DIR", "use this trained model instead of the cleaner's own"),
)
TEMPLATES: Final = Group(
    "tables about the page's site (see `victor templates mine`, `victor sites write`)",
    option("--templates FILE", "a table of templates: remove from the kept text what the site repeats"),
    option("--sites TABLE", "a table of sites: decide with their earlier pages (one page also needs --url)"),
)
LANGUAGE: Final = Group(
    "language",
    option("--lang CODE,CODE", "only pages in these (cs,sk; `victor languages`)", tokens, dest="languages"),
    option("--lid-model FILE", "identify languages with this fastText model (lid.176, GlotLID)"),
)
PAGE: Final = Group(
    "one page to stdout",
    option("--format", f"default: {FORMS[0]}", choices=FORMS),
    switch("--no-links", "Markdown, HTML and TEI: only the text of links", value=False, dest="links"),
    switch("--no-images", "Markdown, HTML and TEI: no images", value=False, dest="images"),
    switch("--no-emphasis", "Markdown, HTML and TEI: no emphasis", value=False, dest="emphasis"),
    URL,
)
SITES: Final = Group(
    "decisions by site (two passes)",
    switch("--by-site", "decide each page with the other pages of its site, which should be in INPUT"),
    option("--group-by SITE", f"a site is: {', '.join(GROUPINGS)}", check_grouping, dest="grouping"),
    switch("--keep-blocks", "keep OUT/_run/first_pass, which `victor sites write` reads"),
)
ROWS: Final = Group(
    "rows",
    switch("--markdown", "add the column markdown: the kept text as Markdown"),
    switch("--blocks", "add the column blocks: every block and its label"),
    switch("--html", "add the column html: the page as fetched"),
    option("--partition-by", "one folder per value (Hive partitions)", choices=PARTITION_COLUMNS),
    option("--target-file-size SIZE", "such as 256M (default: one file per task)", n_bytes),
)
RECORDS: Final = (
    options.OneOf(
        switch("--all-statuses", "pages of any HTTP status", ALL_STATUSES, dest="statuses"),
        option(
            "--status N,N", f"HTTP statuses (default: {_READ.statuses[0]})", options.numbers, dest="statuses"
        ),
    ),
    option("--mime TYPE,TYPE", "media types that are pages", tokens, dest="mime_types"),
    option("--record-types TYPE,TYPE", f"WARC types of pages (default: {_READ.record_types[0]})", tokens),
)
READING: Final = Group("reading", *RECORDS, MAX_BYTES, BASE_URL)
LIMITS: Final = Group(
    "limits per page of an archive (pages are cleaned in a child process)",
    option(
        "--page-seconds S",
        "CPU seconds, and as many more per megabyte; beyond: status timeout "
        f"(default: {Limits().page_seconds:g})",
        options.seconds,
    ),
    option(
        "--page-memory SIZE",
        "such as 512M (a bare number is megabytes); beyond: status out_of_memory "
        f"(default: {Limits().page_memory >> 30}G)",
        lambda text: n_bytes(f"{text}M" if text.isdecimal() else text),
    ),
    switch("--no-sandbox", "no limits: a page that crashes fails the run", value=False, dest="sandbox"),
)
BUDGET: Final = Group(
    "failure budget: a share such as 1%, a count, or '1% or 20' (the larger of both); beyond it, exit code 3",
    option("--max-failed-shards N", f"shards that cannot be read (default: {Budget().max_failed_shards})"),
    option("--max-failed-pages N", f"pages: {', '.join(FAILURES)} (default: {Budget().max_failed_pages})"),
)
SPARK: Final = Group(
    "Spark",
    MASTER,
    PARTITIONS,
    option("--wave-bytes SIZE", "input of a wave (written together), such as 500M", n_bytes),
    option("--split-bytes SIZE", "input per task, such as 64M", n_bytes),
    option("--engine", "mapInArrow (default) or mapPartitions; the rows are the same", choices=ENGINES),
)

RUNNING: Final = (LANGUAGE, ROWS, READING, LIMITS, BUDGET, SPARK)
"""The options for archives, except the choice of a cleaner."""

FOR_ARCHIVES: Final = (SITES, ROWS, *RECORDS, LIMITS, BUDGET, SPARK)
"""Options that are refused for one page on stdout."""

ALL: Final = (CLEANER, TEMPLATES, SITES, *RUNNING)
OPTIONS: Final = {one.dest: one.flag for one in options.flat(ALL)}
"""The option of each field of the request."""


def requested(arguments: argparse.Namespace) -> CleanRequest:
    """The request: the built-in values, replaced by conf/cleaning.toml, replaced by the command line."""
    built_in, given = CleanRequest(), vars(arguments)
    kinds = {table: type(getattr(built_in, group)) for group, table in TABLES.items()}
    configured = configuration.sections("cleaning.toml", kinds)
    groups = {}
    for group in (*TABLES, "sites", "spark"):
        values = getattr(built_in, group)
        chosen = {field.name: given.get(field.name) for field in fields(values)}
        groups[group] = configuration.merged(values, configured.get(TABLES.get(group, ""), {}), chosen)
    for name in ("sites", "templates"):
        if path := getattr(groups["cleaning"], name):
            groups["cleaning"] = replace(groups["cleaning"], **{name: storage.absolute(path)})
    return replace(
        built_in,
        inputs=tuple(arguments.inputs),
        base_url=given.get("base_url"),
        output=given.get("output") or "",
        options=OPTIONS,
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
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
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
        raise UsageError(f"{found} html page: `victor clean --output OUT` cleans it, `victor look` shows it")
    for record in reading.read(shard, request.reading):
        return shard.filename, replace(record, url=url or record.url)
    raise InputError(f"{shard.filename}: holds no page")


_STOPPED: Final = "run the same command again to resume"
_CODES: Final = {EXIT_BUDGET: EXIT_CODES[EXIT_BUDGET]}

CLEAN: Final = Command(HELP, (INPUTS, OUTPUT, PAGE, *ALL), clean, _STOPPED, _CODES)
APPLY: Final = Command(APPLY_HELP, (INPUTS, OUTPUT, MINED, PAGE, *RUNNING), apply, _STOPPED, _CODES)
