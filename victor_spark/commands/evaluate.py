"""Measures cleaners on annotated pages, with confidence intervals and a report of their errors.

--gold takes .jsonl(.xz) files of annotated pages or directories of them; a folder of CleanEval gold texts,
with the folder of their html in --pages (or of already cleaned texts in --cleaned); or a .json of
with/without snippets, with --pages. DIR gets results.json, results.csv (one line per page and cleaner) and
report.html. A page on which a cleaner fails counts as empty and is listed.

--model measures a model that `victor train` wrote instead of the cleaner's own.
"""

import argparse
import shlex
import sys
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from os import cpu_count
from pathlib import Path
from typing import Any, Final

from victor_spark.commands import outputs
from victor_spark.errors import EXIT_DONE, UsageError
from victor_spark.evaluation import evaluate, gold, measuring, report_tables
from victor_spark.evaluation.evaluate import Gold, Runner
from victor_spark.evaluation.gold import Choice, GoldPage
from victor_spark.evaluation.measuring import Measurement, Plan

EXAMPLES: Final = """\
examples:
  victor evaluate --gold pages/ --cleaner victor kimatu --split dev --output out
  victor evaluate --gold pages/ --model models/crf/mine --output out
  victor evaluate --gold wcxb.jsonl.xz --cleaner victor trafilatura boilerpipe+justext --output out
  victor evaluate --gold gold-texts/ --pages html/ --cleaner victor --measures TO TM CHA --output out
  victor evaluate --gold gold-texts/ --cleaned my-texts/ other-texts/ --output out
  spark-submit --master spark://host:7077 jobs/evaluate.py --gold pages/ --cleaner victor --output out
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    parser.add_argument("--gold", metavar="PATH", nargs="+", required=True, help="annotated pages, see above")
    parser.add_argument(
        "--pages", metavar="FOLDER", help="html files of the gold texts or snippets, matched by name"
    )
    parser.add_argument(
        "--cleaner", metavar="NAME", nargs="+", default=[], help="see `victor cleaners`; a+b is a cascade"
    )
    parser.add_argument(
        "--model",
        metavar="DIR",
        help="a trained model for the cleaner (default: victor; --cleaner may name one with a model)",
    )
    parser.add_argument(
        "--cleaned",
        metavar="FOLDER",
        nargs="+",
        default=[],
        help="folders of cleaned texts to measure",
    )
    parser.add_argument("--output", metavar="DIR", required=True, help="directory for results and report")
    outputs.add_overwrite(parser)
    parser.add_argument(
        "--measures",
        metavar="NAME",
        nargs="+",
        default=[],
        help=f"default: all ({', '.join(measuring.MEASURES)})",
    )
    wanted = parser.add_argument_group("pages")
    wanted.add_argument("--sets", metavar="SET", nargs="+", default=[], help="only these sets")
    wanted.add_argument("--split", metavar="NAME", help="only pages of this split: train, dev")
    wanted.add_argument("--limit", metavar="N", type=int, help="the first N pages of each set")
    running = parser.add_argument_group("running")
    running.add_argument("--jobs", metavar="N", type=int, help="processes (default: one per processor)")
    running.add_argument(
        "--timeout",
        metavar="S",
        type=float,
        default=evaluate.SECONDS,
        help="limit per page and cleaner, in seconds (default: %(default)s)",
    )
    running.add_argument("--spark", action="store_true", help="run on Spark, as jobs/evaluate.py does")
    running.add_argument(
        "--master", metavar="URL", help="with --spark (default: spark-defaults.conf, else local[*])"
    )


def run(arguments: argparse.Namespace) -> int:
    """Checks the arguments, measures, writes the results, prints the table."""
    _check(arguments)
    import_module("matplotlib")  # a missing extra is reported before the work
    if arguments.model and not arguments.cleaner:
        arguments.cleaner = ["victor"]
    plan = measuring.plan(arguments.cleaner, arguments.cleaned, arguments.measures, arguments.model)
    gold = _gold(arguments)
    with outputs.directory(Path(arguments.output), overwrite=arguments.overwrite) as output:
        results = evaluate.run(gold, plan, _runner(arguments), output, _options(arguments))
    sys.stdout.write(
        "\n".join(["", *report_tables.terminal_lines(results), f"report in {output / 'report.html'}", ""])
    )
    return EXIT_DONE


def _check(arguments: argparse.Namespace) -> None:
    for name in ("limit", "jobs", "timeout"):
        value = getattr(arguments, name)
        if value is not None and value <= 0:
            raise UsageError(f"--{name} must be positive")
    if arguments.master and not arguments.spark:
        raise UsageError("--master needs --spark")
    if arguments.spark and arguments.jobs:
        raise UsageError("--jobs cannot be combined with --spark: the master sets the number of processes")


def _gold(arguments: argparse.Namespace) -> Gold:
    sources = gold.sources(arguments.gold, arguments.pages, without_pages=not arguments.cleaner)
    choice = Choice(tuple(arguments.sets), arguments.split, arguments.limit)
    for line in gold.unmatched(arguments.gold, arguments.pages, arguments.cleaned):
        print(f"victor: {line}", file=sys.stderr)
    return evaluate.check(sources, choice)


def _runner(arguments: argparse.Namespace) -> Runner:
    if arguments.spark:
        return partial(_on_spark, master=arguments.master, seconds=arguments.timeout)
    return partial(evaluate.locally, n_jobs=arguments.jobs or cpu_count() or 1, seconds=arguments.timeout)


def _on_spark(
    pages: Iterator[GoldPage], plan: Plan, *, master: str | None, seconds: float
) -> Iterator[Measurement]:
    from victor_spark.spark.evaluate import measurements  # Spark is loaded only where it is used

    return measurements(pages, plan, master=master, seconds=seconds)


def _options(arguments: argparse.Namespace) -> dict[str, Any]:
    """The command, for results.json and the report; files are named without their folders."""
    words = ["victor", "evaluate", "--gold", *(Path(path).name for path in arguments.gold)]
    if arguments.pages:
        words += ["--pages", Path(arguments.pages).name]
    for name in ("cleaner", "cleaned", "measures", "sets"):
        if values := getattr(arguments, name):
            words += [f"--{name}", *values]
    if arguments.model:
        words += ["--model", Path(arguments.model).name]
    for name in ("split", "limit"):
        if (value := getattr(arguments, name)) is not None:
            words += [f"--{name}", str(value)]
    return {"command": shlex.join(words)}
