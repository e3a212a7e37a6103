"""Measures cleaners on annotated pages, with confidence intervals and a report of their errors.

--gold takes one of
  .jsonl(.xz) files, or directories of them; each line is a page with id, html, gold (docs/evaluation.md)
  a folder of CleanEval gold texts, with the folder of their html in --pages, or of cleaned texts in --cleaned
  a .json of snippets, with --pages
DIR gets results.json, results.csv and report.html. A page on which a cleaner fails counts as empty.

examples:
  victor evaluate --gold pages/ --cleaner victor kimatu --split dev --output out
  victor evaluate --gold pages/ --model models/crf/mine --output out
  victor evaluate --gold wcxb.jsonl.xz --cleaner victor trafilatura boilerpipe+justext --output out
  victor evaluate --gold gold-texts/ --pages html/ --cleaner victor --measures TO TM CHA --output out
  victor evaluate --gold gold-texts/ --cleaned my-texts/ other-texts/ --output out
"""

import argparse
from importlib import import_module
from os import cpu_count
from pathlib import Path
from typing import Final

from victor_spark import resources
from victor_spark.commands.options import OVERWRITE, Command, Group, command_line, option
from victor_spark.configuration import positive, seconds
from victor_spark.errors import EXIT_DONE, UsageError
from victor_spark.evaluation import evaluate, gold, measuring, report
from victor_spark.logs import log

OPTIONS: Final = (
    option("--gold PATH...", "annotated pages, in one of the forms above", required=True),
    option("--pages FOLDER", "html files of the gold texts or snippets, matched by name"),
    option("--cleaner NAME...", "see `victor cleaners`; a+b is a cascade: b cleans the output of a"),
    option("--model DIR", "a model of `victor train`, for the cleaner victor or the one in --cleaner"),
    option("--cleaned FOLDER...", "folders of cleaned texts to measure"),
    option("--output DIR", "directory for results and report", required=True),
    OVERWRITE,
    option("--measures NAME...", f"default: all ({', '.join(measuring.MEASURES)})"),
    Group(
        "pages",
        option("--sets SET...", "only these sets"),
        option("--split NAME", "only pages of this split: train, dev"),
        option("--limit N", "the first N pages of each set", positive),
    ),
    Group(
        "running",
        option("--jobs N", "processes (default: one per processor)", positive),
        option("--timeout S", "seconds to clean and measure a page", seconds, default=evaluate.SECONDS),
    ),
)


def run(arguments: argparse.Namespace) -> int:
    """Checks the arguments, measures, writes the results, prints the table."""
    if not arguments.timeout:
        raise UsageError("--timeout must be positive")
    if arguments.model and not arguments.cleaner:
        arguments.cleaner = ["victor"]
    plan = measuring.plan(arguments.cleaner, arguments.cleaned, arguments.measures, arguments.model)
    sources = gold.sources(arguments.gold, arguments.pages, without_pages=not arguments.cleaner)
    for line in gold.unmatched(arguments.gold, arguments.pages, arguments.cleaned):
        log(line, "warning")
    annotated = evaluate.check(sources, arguments.sets, arguments.split, arguments.limit)
    import_module("matplotlib")  # a missing extra is reported before the work
    options = ("gold", "pages", "cleaner", "cleaned", "measures", "sets", "model", "split", "limit")
    facts = {"command": command_line("victor evaluate", arguments, *options)}
    with resources.new_directory(Path(arguments.output), overwrite=arguments.overwrite) as output:
        n_jobs = arguments.jobs or cpu_count() or 1
        results, rows = evaluate.run(annotated, plan, facts, n_jobs=n_jobs, seconds=arguments.timeout)
        report.write(output, results, rows, annotated, plan)
    print("", *report.terminal_lines(results), f"report in {output / 'report.html'}", sep="\n")
    return EXIT_DONE


EVALUATE: Final = Command(__doc__, OPTIONS, run)
