"""Checks the inputs of a victor clean command, and says what it will take, before anything is spent.

Takes what victor clean takes: put plan where clean stands. Every path is looked up, parts of the crawl are
really cleaned (a minute at most, without Spark), and pages, hours, disk and memory are told from them. With
--output, it is seen whether a run can write there (an output in a store starts Spark for that).
Exit code 0: all is there; 2: a path can't be had, or an option makes no sense.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from typing import Any, Final

from victor_spark import pipeline
from victor_spark.commands import argument_types, clean, clean_options
from victor_spark.errors import EXIT_DONE, EXIT_USAGE, UsageError

EXAMPLES: Final = """\
examples:
  victor plan 'crawl/*.warc.gz'
  victor plan warc.paths --input-base-url s3://crawl/ --cores 400
  victor plan crawl --lang cs,sk --blocks --output out       as victor clean will be called
  victor plan warc.paths --json                              everything, for programs
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    clean.add_arguments(parser)
    plan = parser.add_argument_group("plan")
    plan.add_argument(
        "--cores", type=argument_types.positive, metavar="N", help="cores of the cluster (default: here)"
    )
    plan.add_argument("--json", action="store_true", help="everything as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    if "-" in arguments.inputs:
        raise UsageError("- (stdin) needs no plan")
    told = _told(arguments)
    if arguments.json:
        print(json.dumps(told, ensure_ascii=False, indent=2))
    else:
        print("\n".join(_lines(told)))
    for problem in told["problems"]:
        print(f"victor: {problem}", file=sys.stderr)
    return EXIT_USAGE if told["problems"] else EXIT_DONE


def _told(arguments: argparse.Namespace) -> dict[str, Any]:
    """Everything there is to tell."""
    from victor_spark.spark import estimate, manifest, output, plan
    from victor_spark.spark.clean_partition import CleanTask
    from victor_spark.spark.files import opened

    chosen = clean_options.chosen_options(arguments)
    models = pipeline.models(chosen.settings)
    if arguments.output is not None:
        with opened(arguments.output) as files:
            output.check(files)
    started = time.monotonic()
    shards = manifest.collect(arguments.inputs, arguments.input_base_url, tell=_looked_up)
    seconds = time.monotonic() - started
    n_cores = arguments.cores or len(os.sched_getaffinity(0))
    planned = plan.plan(
        shards.table,
        n_cores=n_cores,
        split_bytes=arguments.split_bytes,
        wave_bytes=arguments.wave_bytes,
        least_wave_bytes=chosen.output.layout.wave_bytes,
    )
    task = CleanTask(
        settings=chosen.settings,
        reading=chosen.reading,
        models=None,
        models_hash="",
        blocks=chosen.output.blocks,
        html=chosen.output.html,
        limits=chosen.limits,
    )
    print("victor: cleaning a sample", file=sys.stderr, flush=True)
    sampled = estimate.sample(planned, task, models)
    found = estimate.estimate(planned, sampled, n_cores=n_cores)
    return {
        "n_shards": len(shards),
        "n_unavailable": shards.n_problems,
        "look_up_seconds": round(seconds, 1),
        **manifest.figures(shards.table),
        **estimate.as_json(found, sampled),
        "problems": list(shards.problems),
    }


def _looked_up(n: int) -> None:
    print(f"victor: {n} shards looked up", file=sys.stderr, flush=True)


def _lines(told: dict[str, Any]) -> Iterator[str]:
    """The plan as a table for people."""
    from victor_spark.spark.progress import size

    sample, n_pages = told["sample"], max(told["n_pages"], 1)
    kinds = ", ".join(f"{n:,} {kind}" for kind, n in told["kinds"].items())
    sizes = f"{size(told['n_bytes'])}; largest {size(told['largest'])}"
    yield f"shards   {told['n_shards']:,} ({kinds}), {sizes}"
    yield f"         looked up in {told['look_up_seconds']} s: {told['n_unavailable']:,} can't be had"
    yield f"sample   {sample['n_ranges']} ranges, {size(sample['n_bytes'])}: {sample['n_pages']:,} pages"
    if sample["n_unreadable"]:
        yield f"         {sample['n_unreadable']} couldn't be read, such as: {next(iter(sample['reasons']))}"
    if sample["indivisible"]:
        name = sample["indivisible"][0]
        yield f"         {len(sample['indivisible'])} shards can't be split, such as {name}"
    error = told["error"]
    margin = "" if error == 0 else f" ± {error:.0%}" if error is not None else ", roughly"
    yield f"pages    {told['n_pages']:,}{margin}"
    statuses = ", ".join(f"{status} {n / n_pages:.1%}" for status, n in told["statuses"].items())
    yield f"         {statuses}"
    rate = 1 / told["seconds_per_page"] if told["seconds_per_page"] else 0
    yield f"time     {_time(told['hours'])} on {told['n_cores']:,} cores ({rate:.0f} pages/s a core here)"
    yield f"tasks    {told['n_splits']:,} splits in {told['n_waves']:,} waves"
    yield f"disk     {size(told['n_output'])} of Parquet"
    core, driver = size(told["core_bytes"]), size(told["driver_bytes"])
    yield f"memory   {core} a core beside the JVM; {driver} for the plan in the driver beside its 1 GB"


def _time(hours: float) -> str:
    """Hours as people say them."""
    if hours < 1 / 60:
        return f"{hours * 3600:.0f} s"
    return f"{hours * 60:.0f} minutes" if hours < 2 else f"{hours:,.1f} hours"
