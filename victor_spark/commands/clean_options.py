"""The options of `victor clean`, one entry each, and the request they make.

An option sets the field of the request that has its name (or is its `dest`). A new option is an entry here
and that field; the built-in value is the field's default, and conf/cleaning.toml may set another one.
"""

import argparse
import os
from dataclasses import fields, replace
from typing import Final

from victor_spark import configuration
from victor_spark.commands.options import (
    Entry,
    Group,
    OneOf,
    flat,
    megabytes,
    n_bytes,
    numbers,
    option,
    positive,
    probability,
    seconds,
    switch,
    words,
)
from victor_spark.document import FORMS
from victor_spark.errors import FAILURES, UsageError
from victor_spark.extractors import template
from victor_spark.model import decision
from victor_spark.spark.request import ENGINES, PARTITION_COLUMNS, Budget, CleanRequest
from victor_spark.templates.sites import GROUPINGS, check_grouping
from victor_spark.warc import storage

ALL_STATUSES: Final = tuple(range(100, 600))

TABLES: Final = {"rows": "output"} | {name: name for name in ("cleaning", "reading", "limits", "budget")}
"""Groups of the request → tables of conf/cleaning.toml."""

INPUTS: Final = option("INPUT...", "what to clean; - is a page on stdin", dest="inputs")
OUTPUT: Final = option("--output OUT", "directory for pages/ and _run/")
BASE_URL: Final = option(
    "--input-base-url URL", "prefix of relative paths in a list of paths", dest="base_url"
)
MASTER: Final = option("--master URL", "default: spark-defaults.conf, else local[*]")
PARTITIONS: Final = option("--partitions N", "tasks, and output files, per wave", positive)
MAX_BYTES: Final = option(
    "--max-bytes SIZE", "drop longer pages, with status oversize (default: 10M)", n_bytes
)
URL: Final = option("--url", "the address of the page")

CLEANER: Final = Group(
    "cleaner",
    option("--cleaner NAME", "see `victor cleaners` (default: victor)"),
    option(
        "--threshold P",
        "keep a block when P(other) < P; lower is stricter (default: the cleaner decides page by page)",
        probability,
    ),
    option(
        "--prefer",
        "decide page by page, but weigh one higher than the other (default: F1)",
        choices=tuple(decision.PREFERENCES),
    ),
    option(
        "--fail-below F1",
        "drop pages with a lower expected F1, with status empty (column expected_f1 holds the value)",
        probability,
    ),
    option("--without ROLE,ROLE", "drop blocks of these roles, such as comment (docs/structure.md)", words),
    option("--with ROLE,ROLE", "keep blocks of these roles, such as title", words, dest="including"),
    option("--model DIR", "use this trained model instead of the cleaner's own"),
)
TEMPLATES: Final = Group(
    "knowledge of the page's site (see `victor templates mine`, `victor sites write`)",
    option("--templates FILE", "a templates table: what many pages of a site repeat"),
    option(
        "--templates-use",
        "after: remove them from what the cleaner kept (default); before: remove them first; evidence: only "
        "give each block its template_share",
        choices=template.USES,
    ),
    option(
        "--sites TABLE",
        "a table of sites: how other pages were decided (one page also needs --url)",
    ),
)
LANGUAGE: Final = Group(
    "language",
    option(
        "--lang CODE,CODE",
        "keep pages in these languages (ISO 639: cs,sk; see `victor languages`)",
        words,
        dest="languages",
    ),
    option("--lid-model FILE", "identify languages with this fastText model (lid.176, GlotLID)"),
)
PAGE: Final = Group(
    "one page to stdout",
    option(
        "--format",
        "default: text; Markdown has the heading that repeats the page's title only with --with title",
        choices=FORMS,
    ),
    switch("--no-links", "Markdown, HTML and TEI: the text of links alone", value=False, dest="links"),
    switch("--no-images", "Markdown, HTML and TEI: no images", value=False, dest="images"),
    switch("--no-emphasis", "Markdown, HTML and TEI: no emphasis", value=False, dest="emphasis"),
    URL,
)
SITES: Final = Group(
    "what a whole site tells (two passes)",
    switch("--by-site", "decide with what the other pages of the site show; INPUT should have all of them"),
    option("--group-by SITE", ", ".join(GROUPINGS), check_grouping, dest="grouping"),
    switch("--keep-blocks", "keep the block rows between the passes, in OUT/_run/judging"),
)
ROWS: Final = Group(
    "rows",
    switch("--markdown", "add the column markdown: the kept text as Markdown"),
    switch("--blocks", "add the column blocks: every block and its label"),
    switch("--html", "add the column html: the page as fetched"),
    option(
        "--partition-by",
        "write one folder per language or crawl (Hive partitions)",
        choices=PARTITION_COLUMNS,
    ),
    option("--target-file-size SIZE", "such as 256M (default: one file per task)", n_bytes),
)
RECORDS: Final = (
    OneOf(
        switch("--all-statuses", "clean pages of any HTTP status", ALL_STATUSES, dest="statuses"),
        option("--status N,N", "HTTP statuses to clean (default: 200)", numbers, dest="statuses"),
    ),
    option("--mime TYPE,TYPE", "media types that are pages", words, dest="mime_types"),
    option("--record-types TYPE,TYPE", "WARC records that are pages (default: response)", words),
)
READING: Final = Group("reading", *RECORDS, MAX_BYTES, BASE_URL)
LIMITS: Final = Group(
    "limits per page of an archive; its pages are cleaned in a child process",
    option(
        "--page-seconds S",
        "CPU seconds, plus as many per megabyte of the page; beyond: status timeout (default: 20)",
        seconds,
    ),
    option(
        "--page-memory SIZE",
        "memory, such as 512M or 2G (a bare number is megabytes); beyond: status out_of_memory (default: 1G)",
        megabytes,
        dest="page_megabytes",
    ),
    switch(
        "--no-sandbox",
        "no child process, no limits: a page that crashes or hangs fails the run",
        value=False,
        dest="sandbox",
    ),
)
BUDGET: Final = Group(
    "failure budget: a share such as 1%, a count, or '1% or 20' (the larger of both). A run with more "
    "failures stops with exit code 3; run again with a larger budget, it resumes",
    option("--max-failed-shards N", f"shards that cannot be read (default: {Budget().max_failed_shards})"),
    option(
        "--max-failed-pages N",
        f"pages with status {', '.join(FAILURES)} (default: {Budget().max_failed_pages})",
    ),
)
SPARK: Final = Group(
    "Spark (spark-submit jobs/clean.py takes the same options and its own)",
    MASTER,
    PARTITIONS,
    option(
        "--wave-bytes SIZE",
        "input per wave (rows of a wave are committed together), such as 500M or 2G",
        n_bytes,
    ),
    option("--split-bytes SIZE", "input per task, such as 64M", n_bytes),
    option(
        "--engine", "arrow: mapInArrow (default); rdd: mapPartitions; the rows are the same", choices=ENGINES
    ),
)

RUNNING: Final = (LANGUAGE, ROWS, READING, LIMITS, BUDGET, SPARK)
"""Everything about archives but the choice of a cleaner."""

FOR_ARCHIVES: Final = (SITES, ROWS, *RECORDS, LIMITS, BUDGET, SPARK)
"""Options that make no sense for one page that is printed."""


OPTIONS: Final = {one.dest: one.flag for one in flat((CLEANER, TEMPLATES, SITES, *RUNNING))}
"""The option of each field of the request."""


def request(arguments: argparse.Namespace) -> CleanRequest:
    """The request: built-in values, over them conf/cleaning.toml, over them what was given."""
    built_in, given = CleanRequest(), vars(arguments)
    kinds = {table: type(getattr(built_in, group)) for group, table in TABLES.items()}
    configured = configuration.sections("cleaning.toml", kinds)
    groups = {}
    for group in (*TABLES, "sites", "spark"):
        values = getattr(built_in, group)
        options = {field.name: given.get(field.name) for field in fields(values)}
        groups[group] = configuration.merged(values, configured.get(TABLES.get(group, ""), {}), options)
    sites = groups["cleaning"].sites
    if sites and storage.scheme(sites) is None:  # tasks have other working directories
        groups["cleaning"] = replace(groups["cleaning"], sites=os.path.abspath(sites))
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
    for one in flat(entries):
        found = getattr(arguments, one.dest, None)
        if found is not None and one.how.get("const", found) == found:
            raise UsageError(f"{one.flag} {reason}")
