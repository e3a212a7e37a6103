"""The options of `victor clean`, one entry each, and the request they make.

An option names the field of the request that it sets ("limits.page_seconds"). A new option is an entry here
and that field; the built-in value is the field's default, and conf/cleaning.toml may set another one.
"""

import argparse
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from victor_spark import configuration
from victor_spark.commands.argument_types import (
    megabytes,
    n_bytes,
    numbers,
    positive,
    probability,
    seconds,
    words,
)
from victor_spark.document import FORMS
from victor_spark.errors import FAILURES, UsageError
from victor_spark.extractors import template
from victor_spark.model import decision
from victor_spark.spark.request import ENGINES, PARTITION_COLUMNS, Budget, CleanRequest

ALL_STATUSES: Final = tuple(range(100, 600))

TABLES: Final = {
    "cleaning": "cleaning",
    "reading": "reading",
    "rows": "output",
    "limits": "limits",
    "budget": "budget",
}
"""Groups of the request → tables of conf/cleaning.toml."""

NEED_OUTPUT: Final = ("rows", "limits", "budget", "spark")
"""Groups whose options make no sense for one page that is printed."""


@dataclass(frozen=True)
class Option:
    """An option, the field of the request that it sets, and the arguments of argparse's `add_argument`."""

    flag: str
    field: str
    how: dict[str, Any]


class Group:
    """Options under one heading of the help; of an inner tuple, one option at most can be given."""

    def __init__(self, heading: str, *options: Option | tuple[Option, ...]) -> None:
        self.heading, self.options = heading, options


def option(flag: str, field: str, help_: str, **how: Any) -> Option:
    """One option, with the arguments of argparse; if it isn't given, its value is None."""
    return Option(flag, field, {"help": help_, **how})


def switch(flag: str, field: str, help_: str, value: object = True) -> Option:
    """An option without a value, which sets the field to `value`."""
    return option(flag, field, help_, action="store_const", const=value)


SIZE: Final[dict[str, Any]] = {"type": n_bytes, "metavar": "SIZE"}
COUNT: Final[dict[str, Any]] = {"type": positive, "metavar": "N"}
TYPES: Final[dict[str, Any]] = {"type": words, "metavar": "TYPE,TYPE"}

BASE_URL: Final = option(
    "--input-base-url", "base_url", "prefix of relative paths in a list of paths", metavar="URL"
)
MASTER: Final = option(
    "--master", "spark.master", "default: spark-defaults.conf, else local[*]", metavar="URL"
)
PARTITIONS: Final = option("--partitions", "spark.partitions", "tasks, and output files, per wave", **COUNT)
MAX_BYTES: Final = option(
    "--max-bytes", "reading.max_bytes", "drop longer pages, with status oversize (default: 10M)", **SIZE
)
URL: Final = option("--url", "url", "the address of the page")

CLEANER: Final = Group(
    "cleaner",
    option("--cleaner", "cleaning.cleaner", "see `victor cleaners` (default: victor)", metavar="NAME"),
    option(
        "--threshold",
        "cleaning.threshold",
        "keep a block when P(other) < P; lower is stricter (default: the cleaner decides page by page)",
        type=probability,
        metavar="P",
    ),
    option(
        "--prefer",
        "cleaning.prefer",
        "decide page by page, but weigh one higher than the other (default: F1)",
        choices=tuple(decision.PREFERENCES),
    ),
    option(
        "--fail-below",
        "cleaning.fail_below",
        "drop pages with a lower expected F1, with status empty (column expected_f1 holds the value)",
        type=probability,
        metavar="F1",
    ),
    option("--model", "cleaning.model", "use this trained model instead of the cleaner's own", metavar="DIR"),
)
TEMPLATES: Final = Group(
    "site templates (see `victor templates mine`)",
    option(
        "--templates",
        "cleaning.templates",
        "a templates table: what many pages of a site repeat",
        metavar="FILE",
    ),
    option(
        "--templates-use",
        "cleaning.templates_use",
        "after: remove them from what the cleaner kept (default); before: remove them first; evidence: only "
        "give each block its template_share",
        choices=template.USES,
    ),
)
LANGUAGE: Final = Group(
    "language",
    option(
        "--lang",
        "cleaning.languages",
        "keep pages in these languages (ISO 639: cs,sk; see `victor languages`)",
        type=words,
        metavar="CODE,CODE",
    ),
    option(
        "--lid-model",
        "cleaning.lid_model",
        "identify languages with this fastText model (lid.176, GlotLID)",
        metavar="FILE",
    ),
)
PAGE: Final = Group(
    "one page to stdout",
    option("--format", "format", "default: text", choices=FORMS),
    switch("--no-links", "format_without.links", "Markdown and TEI: the text of links alone"),
    switch("--no-images", "format_without.images", "Markdown and TEI: no images"),
    switch("--no-emphasis", "format_without.emphasis", "Markdown and TEI: no emphasis"),
    URL,
)
ROWS: Final = Group(
    "rows",
    switch("--blocks", "rows.blocks", "add the column blocks: every block and its label"),
    switch("--html", "rows.html", "add the column html: the page as fetched"),
    option(
        "--partition-by",
        "rows.partition_by",
        "write one folder per language or crawl (Hive partitions)",
        choices=PARTITION_COLUMNS,
    ),
    option(
        "--target-file-size", "rows.target_file_size", "such as 256M (default: one file per task)", **SIZE
    ),
)
READING: Final = Group(
    "reading",
    (
        option(
            "--status",
            "reading.statuses",
            "HTTP statuses to clean (default: 200)",
            type=numbers,
            metavar="N,N",
        ),
        switch("--all-statuses", "reading.statuses", "clean pages of any HTTP status", ALL_STATUSES),
    ),
    option("--mime", "reading.mime_types", "media types that are pages", **TYPES),
    option(
        "--record-types", "reading.record_types", "WARC records that are pages (default: response)", **TYPES
    ),
    MAX_BYTES,
    BASE_URL,
)
LIMITS: Final = Group(
    "limits per page; pages are cleaned in a child process (only with rows)",
    option(
        "--page-seconds",
        "limits.page_seconds",
        "CPU seconds, plus as many per megabyte of the page; beyond: status timeout (default: 20)",
        type=seconds,
        metavar="S",
    ),
    option(
        "--page-memory",
        "limits.page_megabytes",
        "memory, such as 512M or 2G (a bare number is megabytes); beyond: status out_of_memory (default: 1G)",
        type=megabytes,
        metavar="SIZE",
    ),
    switch(
        "--no-sandbox",
        "limits.sandbox",
        "no child process, no limits: a page that crashes or hangs fails the run",
        value=False,
    ),
)
BUDGET: Final = Group(
    "failure budget: a share such as 1%, a count, or '1% or 20' (the larger of both). A run with more "
    "failures stops with exit code 3; run again with a larger budget, it resumes",
    option(
        "--max-failed-shards",
        "budget.max_failed_shards",
        f"shards that cannot be read (default: {Budget().max_failed_shards})".replace("%", "%%"),
        metavar="N",
    ),
    option(
        "--max-failed-pages",
        "budget.max_failed_pages",
        f"pages with status {', '.join(FAILURES)} (default: {Budget().max_failed_pages})".replace("%", "%%"),
        metavar="N",
    ),
)
SPARK: Final = Group(
    "Spark (spark-submit jobs/clean.py takes the same options and its own)",
    MASTER,
    PARTITIONS,
    option(
        "--wave-bytes",
        "spark.wave_bytes",
        "input per wave (rows of a wave are committed together), such as 500M or 2G",
        **SIZE,
    ),
    option("--split-bytes", "spark.split_bytes", "input per task, such as 64M", **SIZE),
    option(
        "--engine",
        "spark.engine",
        "arrow: mapInArrow (default); rdd: mapPartitions; the rows are the same",
        choices=ENGINES,
    ),
)

RUNNING: Final = (LANGUAGE, PAGE, ROWS, READING, LIMITS, BUDGET, SPARK)
"""All but the choice of a cleaner."""


OPTIONS: Final = {
    one.field: one.flag
    for group in (CLEANER, TEMPLATES, *RUNNING)
    for entry in group.options
    for one in (reversed(entry) if isinstance(entry, tuple) else (entry,))
}
"""The option of each field of the request."""


def add_inputs(parser: argparse.ArgumentParser) -> None:
    """Adds INPUT... and --output."""
    parser.add_argument("inputs", metavar="INPUT", nargs="+", help="what to clean; - is a page on stdin")
    parser.add_argument("--output", metavar="OUT", help="directory for pages/ and _run/")


def add(parser: argparse.ArgumentParser, *groups: Group) -> None:
    """Adds groups of options."""
    for group in groups:
        added = parser.add_argument_group(group.heading)
        for entry in group.options:
            if isinstance(entry, Option):
                added.add_argument(entry.flag, dest=entry.field, **entry.how)
            else:
                one_of = added.add_mutually_exclusive_group()
                for one in entry:
                    one_of.add_argument(one.flag, dest=one.field, **one.how)


def request(arguments: argparse.Namespace) -> CleanRequest:
    """The request: built-in values, over them conf/cleaning.toml, over them what was given."""
    built_in, given = CleanRequest(), vars(arguments)
    kinds = {table: type(getattr(built_in, group)) for group, table in TABLES.items()}
    configured = configuration.sections("cleaning.toml", kinds)
    groups = {}
    for group in (*TABLES, "spark"):
        values = getattr(built_in, group)
        options = {field.name: given.get(f"{group}.{field.name}") for field in fields(values)}
        groups[group] = configuration.merged(values, configured.get(TABLES.get(group, ""), {}), options)
    return replace(
        built_in,
        inputs=tuple(arguments.inputs),
        base_url=given.get("base_url"),
        output=given.get("output") or "",
        options=OPTIONS,
        **groups,
    )


def refuse_given(arguments: argparse.Namespace, reason: str, *, starting: tuple[str, ...]) -> None:
    """UsageError if an option was given whose field starts with one of `starting`."""
    entries = [entry for group in RUNNING for entry in group.options]
    for one in (entry for entry in entries if isinstance(entry, Option)):
        if one.field.startswith(starting) and getattr(arguments, one.field) is not None:
            raise UsageError(f"{one.flag} {reason}")
