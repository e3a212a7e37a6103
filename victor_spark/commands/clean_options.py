"""The options of `victor clean` and of commands that share them: added to a parser, and read from it."""

import argparse
import dataclasses
from typing import Final

from victor_spark import configuration, pipeline
from victor_spark.cleaners import template
from victor_spark.commands import argument_types
from victor_spark.crf import decision
from victor_spark.spark.budget import Budget
from victor_spark.spark.layout import PARTITION_COLUMNS, Layout
from victor_spark.spark.limits import Limits
from victor_spark.warc.shard import ReadOptions

FORMATS: Final = ("text", "cleaneval", "markdown", "html")
ENGINES: Final = ("arrow", "rdd")
ALL_STATUSES: Final = tuple(range(100, 600))


@dataclasses.dataclass(frozen=True)
class OutputOptions:
    """Optional columns of the rows, and how rows are written to files."""

    blocks: bool = False
    html: bool = False
    partition_by: str | None = None
    target_file_size: int | None = None

    @property
    def layout(self) -> Layout:
        """Folders and sizes of files."""
        return Layout(self.partition_by, self.target_file_size)


@dataclasses.dataclass(frozen=True)
class CleanOptions:
    """The options of a run, from conf/cleaning.toml and the command line."""

    settings: pipeline.Settings
    reading: ReadOptions
    output: OutputOptions
    limits: Limits
    budget: Budget


def add_inputs(parser: argparse.ArgumentParser) -> None:
    """Adds INPUT and --output."""
    parser.add_argument("inputs", metavar="INPUT", nargs="+", help="what to clean; - is a page on stdin")
    parser.add_argument("--output", metavar="OUT", help="directory for pages/ and _run/")


def add_cleaner(parser: argparse.ArgumentParser) -> None:
    """Adds the options that decide which blocks are kept."""
    parser.add_argument("--cleaner", metavar="NAME", help="see `victor cleaners` (default: victor)")
    parser.add_argument(
        "--threshold",
        type=argument_types.probability,
        metavar="P",
        help="keep a block when P(other) < P; lower is stricter (default: the cleaner decides page by page)",
    )
    parser.add_argument(
        "--prefer",
        choices=tuple(decision.PREFERENCES),
        help="decide page by page, but weigh one higher than the other (default: F1)",
    )
    parser.add_argument(
        "--fail-below",
        type=argument_types.probability,
        metavar="F1",
        help="drop pages with a lower expected F1, with status empty (column expected_f1 holds the value)",
    )
    parser.add_argument("--model", metavar="DIR", help="use this trained model instead of the cleaner's own")
    known = parser.add_argument_group("site templates (see `victor templates mine`)")
    known.add_argument(
        "--templates", metavar="FILE", help="a templates table: what many pages of a site repeat"
    )
    known.add_argument(
        "--templates-use",
        choices=template.USES,
        help="after: remove them from what the cleaner kept (default); before: remove them first; evidence: "
        "only give each block its template_share",
    )


def add_language(parser: argparse.ArgumentParser) -> None:
    """Adds the options of language identification."""
    language = parser.add_argument_group("language")
    language.add_argument(
        "--lang",
        type=argument_types.words,
        metavar="CODE,CODE",
        help="keep pages in these languages (ISO 639: cs,sk; see `victor languages`)",
    )
    language.add_argument(
        "--lid-model", metavar="FILE", help="identify languages with this fastText model (lid.176, GlotLID)"
    )


def add_running(parser: argparse.ArgumentParser) -> None:
    """Adds everything but inputs and the choice of a cleaner: languages, rows, reading, limits, Spark."""
    add_language(parser)
    page = parser.add_argument_group("one page to stdout")
    page.add_argument("--format", choices=FORMATS, help="default: text")
    page.add_argument("--url", help="the address of the page")
    rows = parser.add_argument_group("rows")
    rows.add_argument(
        "--blocks", action="store_true", default=None, help="add the column blocks: every block and its label"
    )
    rows.add_argument(
        "--html", action="store_true", default=None, help="add the column html: the page as fetched"
    )
    rows.add_argument(
        "--partition-by",
        choices=PARTITION_COLUMNS,
        help="write one folder per language or crawl (Hive partitions)",
    )
    rows.add_argument(
        "--target-file-size",
        type=argument_types.n_bytes,
        metavar="SIZE",
        help="such as 256M (default: one file per task)",
    )
    add_reading(parser)
    add_limits(parser)
    add_budget(parser)
    spark = parser.add_argument_group("Spark (spark-submit jobs/clean.py takes the same options and its own)")
    spark.add_argument("--master", metavar="URL", help="default: spark-defaults.conf, else local[*]")
    spark.add_argument(
        "--partitions", type=argument_types.positive, metavar="N", help="tasks, and output files, per wave"
    )
    spark.add_argument(
        "--wave-bytes",
        type=argument_types.n_bytes,
        metavar="SIZE",
        help="input per wave (rows of a wave are committed together), such as 500M or 2G",
    )
    spark.add_argument(
        "--split-bytes", type=argument_types.n_bytes, metavar="SIZE", help="input per task, such as 64M"
    )
    spark.add_argument(
        "--engine",
        choices=ENGINES,
        help="arrow: mapInArrow (default); rdd: mapPartitions; the rows are the same",
    )


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Adds the options that decide which records are pages."""
    reading = parser.add_argument_group("reading")
    status = reading.add_mutually_exclusive_group()
    status.add_argument(
        "--status", type=argument_types.numbers, metavar="N,N", help="HTTP statuses to clean (default: 200)"
    )
    status.add_argument("--all-statuses", action="store_true", help="clean pages of any HTTP status")
    reading.add_argument(
        "--mime", type=argument_types.words, metavar="TYPE,TYPE", help="media types that are pages"
    )
    reading.add_argument(
        "--record-types",
        type=argument_types.words,
        metavar="TYPE,TYPE",
        help="WARC records that are pages (default: response)",
    )
    reading.add_argument(
        "--max-bytes",
        type=argument_types.n_bytes,
        metavar="SIZE",
        help="drop longer pages, with status oversize (default: 10M)",
    )
    reading.add_argument(
        "--input-base-url", metavar="URL", help="prefix of relative paths in a list of paths"
    )


def add_limits(parser: argparse.ArgumentParser) -> None:
    """Adds the limits for one page."""
    limits = parser.add_argument_group(
        "limits per page; pages are cleaned in a child process (only with rows)"
    )
    limits.add_argument(
        "--page-seconds",
        type=argument_types.seconds,
        metavar="S",
        help="CPU seconds, plus as many per megabyte of the page; beyond: status timeout (default: 20)",
    )
    limits.add_argument(
        "--page-memory",
        type=argument_types.megabytes,
        metavar="SIZE",
        help="memory, such as 512M or 2G (a bare number is megabytes); beyond: status out_of_memory "
        "(default: 1G)",
    )
    limits.add_argument(
        "--no-sandbox",
        action="store_true",
        default=None,
        help="no child process, no limits: a page that crashes or hangs fails the run",
    )


def add_budget(parser: argparse.ArgumentParser) -> None:
    """Adds the failure budget."""
    built_in = Budget()
    budget = parser.add_argument_group(
        "failure budget: a share such as 1%%, a count, or '1%% or 20' (the larger of both). A run with more "
        "failures stops with exit code 3; run again with a larger budget, it resumes"
    )
    budget.add_argument(
        "--max-failed-shards",
        metavar="N",
        help=f"shards that cannot be read (default: {built_in.max_failed_shards})".replace("%", "%%"),
    )
    budget.add_argument(
        "--max-failed-pages",
        metavar="N",
        help="pages with status corrupt_record, timeout, crash, out_of_memory or error "
        f"(default: {built_in.max_failed_pages})".replace("%", "%%"),
    )


def chosen_options(arguments: argparse.Namespace) -> CleanOptions:
    """The options of a run: built in, as configured, as given."""
    tables = _configured()
    return CleanOptions(
        settings=configuration.merged(
            pipeline.Settings(),
            tables.get("cleaning", {}),
            {
                "cleaner": arguments.cleaner,
                "threshold": arguments.threshold,
                "prefer": arguments.prefer,
                "fail_below": arguments.fail_below,
                "model": arguments.model,
                "languages": arguments.lang,
                "lid_model": arguments.lid_model,
                "templates": arguments.templates,
                "templates_use": arguments.templates_use,
            },
        ),
        reading=reading(arguments),
        output=configuration.merged(
            OutputOptions(),
            tables.get("output", {}),
            {
                name: getattr(arguments, name)
                for name in ("blocks", "html", "partition_by", "target_file_size")
            },
        ),
        limits=limits(arguments),
        budget=configuration.merged(
            Budget(),
            tables.get("budget", {}),
            {
                "max_failed_shards": arguments.max_failed_shards,
                "max_failed_pages": arguments.max_failed_pages,
            },
        ),
    )


def reading(arguments: argparse.Namespace) -> ReadOptions:
    """How records are read, by conf/cleaning.toml and what `add_reading` added."""
    statuses = ALL_STATUSES if arguments.all_statuses else arguments.status
    given = {
        "statuses": statuses,
        "mime_types": arguments.mime,
        "record_types": arguments.record_types,
        "max_bytes": arguments.max_bytes,
    }
    return configuration.merged(ReadOptions(), _configured().get("reading", {}), given)


def limits(arguments: argparse.Namespace) -> Limits:
    """What one page may take, by conf/cleaning.toml and what `add_limits` added."""
    given = {
        "page_seconds": arguments.page_seconds,
        "page_megabytes": arguments.page_memory,
        "sandbox": False if arguments.no_sandbox else None,
    }
    return configuration.merged(Limits(), _configured().get("limits", {}), given)


def _configured() -> configuration.Tables:
    sections = {
        "cleaning": pipeline.Settings,
        "reading": ReadOptions,
        "output": OutputOptions,
        "limits": Limits,
        "budget": Budget,
    }
    return configuration.sections("cleaning.toml", sections)
