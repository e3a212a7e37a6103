"""Checks the inputs of a victor clean command and estimates pages, time, disk and memory of the run.

Takes the arguments of victor clean. Looks up every path, cleans a sample of the crawl (at most a minute,
without Spark) and extrapolates. With --output, also checks that a run can write there (for an output in an
object store, this starts Spark). The exit code is the one that victor clean would end with, according to the
sample: 0; 2: an input, an option, the output or the master is invalid; 3: failure budget exceeded.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from victor_spark import pipeline
from victor_spark.commands import argument_types, clean, clean_options
from victor_spark.errors import EXIT_DONE, BudgetError, UsageError

EXAMPLES: Final = """\
examples:
  victor plan 'crawl/*.warc.gz'
  victor plan warc.paths --input-base-url s3://crawl/ --cores 400
  victor plan crawl --lang cs,sk --blocks --output out       the arguments of victor clean
  victor plan warc.paths --json                              the same as JSON
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    clean.add_arguments(parser)
    plan = parser.add_argument_group("plan")
    plan.add_argument(
        "--cores",
        type=argument_types.positive,
        metavar="N",
        help="cores of the cluster (default: those of this machine)",
    )
    plan.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    if "-" in arguments.inputs:
        raise UsageError("- (stdin) is one page: victor plan is for archives")
    told, failed = _told(arguments)
    if arguments.json:
        print(json.dumps(told, ensure_ascii=False, indent=2))
    else:
        print("\n".join(_lines(told)))
    for problem in told["problems"]:
        print(f"victor: {problem}", file=sys.stderr)
    if failed:
        raise BudgetError(f"by the sample, victor clean would stop: {failed}")
    return EXIT_DONE


def _told(arguments: argparse.Namespace) -> tuple[dict[str, Any], str | None]:
    """Everything there is to tell, and why the run would fail if it would."""
    from victor_spark.spark import estimate, manifest, output, plan, spending
    from victor_spark.spark.clean_partition import CleanTask
    from victor_spark.spark.files import opened
    from victor_spark.spark.progress import many
    from victor_spark.spark.session import check_master

    chosen = clean_options.chosen_options(arguments)
    check_master(arguments.master)
    models = pipeline.models(chosen.settings)
    if arguments.output is not None:
        with opened(arguments.output) as files:
            output.check(files)
    started = time.monotonic()
    shards = manifest.collect(
        arguments.inputs,
        arguments.input_base_url,
        tell=lambda n: print(f"victor: {many(n, 'shard')} looked up", file=sys.stderr, flush=True),
    )
    seconds = time.monotonic() - started
    n_cores = arguments.cores or len(os.sched_getaffinity(0))
    planned = plan.plan(
        shards.available,
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
    found = estimate.estimate(planned, sampled, n_cores=n_cores, look_up_seconds=seconds)
    failing = estimate.failing(found, sampled, n_shards=len(shards), n_missing=len(shards.missing))
    failed = None
    try:
        spending.check(
            chosen.budget, replace(failing, reason=failing.reason or next(iter(shards.problems), None))
        )
    except BudgetError as error:
        failed = str(error)
    told = {
        "n_shards": len(shards),
        "n_unavailable": len(shards.missing),
        "look_up_seconds": round(seconds, 1),
        **manifest.figures(shards.table),
        **estimate.as_json(found, sampled),
        "problems": list(shards.problems),
    }
    return told, failed


def _lines(told: dict[str, Any]) -> Iterator[str]:
    """The plan as a table for people."""
    from victor_spark.spark.estimate import divided
    from victor_spark.spark.progress import many, size

    sample = told["sample"]
    kinds = ", ".join(f"{n:,} {kind}" for kind, n in told["kinds"].items())
    sizes = f"{size(told['n_bytes'])}; largest {size(told['largest'])}"
    yield f"shards   {told['n_shards']:,} ({kinds}), {sizes}"
    yield f"         looked up in {told['look_up_seconds']} s: {told['n_unavailable']:,} can't be had"
    if told["n_pages"] is None:
        yield "sample   no page could be read, so there is no estimate"
    else:
        read = f"{many(sample['n_ranges'], 'range')}, {size(sample['n_bytes'])}"
        yield f"sample   {read}: {many(sample['n_pages'], 'page')}"
    if failed := sample["failed_shards"]:
        name, reason = next(iter(failed.items()))
        why = reason if name in reason else f"{name}: {reason}"
        shards = many(sample["n_failed_shards"], "shard")
        yield f"         {shards} couldn't be read to the end, such as {why}"
    if sample["indivisible"]:
        name = sample["indivisible"][0]
        yield f"         {many(len(sample['indivisible']), 'shard')} can't be split, such as {name}"
    if told["n_pages"] is None:
        return
    error = told["error"]
    margin = "" if error == 0 else f" ± {error:.0%}" if error is not None else ", roughly"
    yield f"pages    {told['n_pages']:,}{margin}"
    if tenths := divided(1000, told["statuses"]):
        yield f"         {', '.join(f'{status} {n / 10}%' for status, n in tenths.items())}"
    rate = 1 / told["seconds_per_page"] if told["seconds_per_page"] else 0
    start = f"{told['start_seconds']:.0f} s of it to start; {rate:.0f} pages/s a core here"
    yield f"time     {_time(told['hours'])} on {many(told['n_cores'], 'core')} ({start})"
    yield f"tasks    {many(told['n_splits'], 'split')} in {many(told['n_waves'], 'wave')}"
    yield f"disk     {size(told['n_output'])} of Parquet"
    core, driver = size(told["core_bytes"]), size(told["driver_bytes"])
    yield f"memory   {core} a core beside the JVM; {driver} for the plan in the driver beside its 1 GB"


def _time(hours: float) -> str:
    """Hours as people say them."""
    if hours < 1 / 60:
        return f"{hours * 3600:.0f} s"
    return f"{hours * 60:.0f} minutes" if hours < 2 else f"{hours:,.1f} hours"
