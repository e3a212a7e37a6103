"""Checks the inputs of a victor clean command and estimates pages, time, disk and memory of the run.

Takes the arguments of victor clean. Looks up every path, cleans a sample of the crawl (at most a minute,
without Spark) and extrapolates. With --output, also checks that a run can write there. The exit code is the
one that victor clean would end with, according to the sample.

examples:
  victor plan 'crawl/*.warc.gz'
  victor plan warc.paths --input-base-url s3://crawl/ --cores 400
  victor plan crawl --lang cs,sk --blocks --output out       the arguments of victor clean
  victor plan warc.paths --json                              the same as JSON
"""

import argparse
import json
import os
import time
from collections.abc import Iterator
from typing import Any, Final

from victor_spark import pipeline
from victor_spark.commands import clean
from victor_spark.commands.clean import ALL
from victor_spark.commands.options import Command, Group, option, switch
from victor_spark.configuration import positive
from victor_spark.errors import EXIT_BUDGET, EXIT_DONE, BudgetError, UsageError
from victor_spark.logs import clock, log, many, size

OPTIONS: Final = (
    option("INPUT...", "archives or pages to clean", dest="inputs"),
    option("--output OUT", "check that `victor clean` could write there; nothing is written"),
    *ALL,
    Group(
        "plan",
        option("--cores N", "cores of the cluster (default: those of this machine)", positive),
        switch("--json", "print JSON"),
    ),
)


def run(arguments: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    if "-" in arguments.inputs:
        raise UsageError("- (stdin) is one page, which `victor clean` prints: victor plan needs files")
    from victor_spark.spark import estimate, ledger, plan
    from victor_spark.spark.files import opened
    from victor_spark.spark.session import check_master

    request = clean.requested(arguments)
    check_master(request.spark.master)
    models = pipeline.models(request.cleaning)
    if arguments.output is not None:
        with opened(arguments.output) as files:
            ledger.check(files)
    started = time.monotonic()
    shards = plan.collect(request.inputs, request.base_url)
    seconds = time.monotonic() - started
    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    n_cores = arguments.cores or here
    planned = plan.of_request(shards.available, request, n_cores=n_cores)
    sampled = estimate.sample(planned, request, models)
    estimated = estimate.estimate(request, planned, sampled, n_cores=n_cores, look_up_seconds=seconds)
    found = {
        "n_shards": len(shards),
        "n_unavailable": len(shards.missing),
        "look_up_seconds": round(seconds, 1),
        **plan.figures(shards.table),
        **estimated,
        "problems": list(shards.problems),
    }
    print(json.dumps(found, ensure_ascii=False, indent=2) if arguments.json else "\n".join(_lines(found)))
    for problem in shards.problems:
        log(problem, "warning")
    try:
        estimate.check(request.budget, estimated, sampled, shards)
    except BudgetError as error:
        raise BudgetError(f"by the sample, victor clean would stop: {error}") from error
    return EXIT_DONE


def _lines(found: dict[str, Any]) -> Iterator[str]:
    sample = found["sample"]
    kinds = ", ".join(f"{n:,} {kind}" for kind, n in found["kinds"].items())
    sizes = f"{size(found['n_bytes'])}; largest {size(found['largest'])}"
    yield f"shards   {found['n_shards']:,} ({kinds}), {sizes}"
    available = f"{found['n_unavailable']:,} unavailable" if found["n_unavailable"] else "all available"
    yield f"         looked up in {found['look_up_seconds']} s: {available}"
    if found["n_pages"] is None:
        yield "sample   no page could be read, so there is no estimate"
    else:
        read = f"{many(sample['n_ranges'], 'range')}, {size(sample['n_bytes'])}"
        yield f"sample   {read}: {many(sample['n_pages'], 'page')}"
    if failed := sample["failed_shards"]:
        name, reason = next(iter(failed.items()))
        why = reason if name in reason else f"{name}: {reason}"
        shards = many(sample["n_failed_shards"], "shard")
        yield f"         {shards} couldn't be read to the end, such as {why}"
    if found["n_pages"] is None:
        return
    error = found["error"]
    margin = "" if error == 0 else f" ± {error:.0%}" if error is not None else ", roughly"
    yield f"pages    {found['n_pages']:,}{margin}"
    if statuses := found["statuses"]:
        n_pages = max(found["n_pages"], 1)
        yield f"         {', '.join(f'{status} {n / n_pages:.1%}' for status, n in statuses.items())}"
    rate = 1 / found["seconds_per_page"] if found["seconds_per_page"] else 0
    start = f"{found['start_seconds']:.0f} s of it to start; {rate:.0f} pages/s per core here"
    yield f"time     {clock(found['hours'] * 3600)} on {many(found['n_cores'], 'core')} ({start})"
    yield f"tasks    {many(found['n_splits'], 'split')} in {many(found['n_waves'], 'wave')}"
    yield f"disk     {size(found['n_output'])} of Parquet"
    if "n_between" in found:
        between, shuffled = size(found["n_between"]), size(found["n_shuffled"])
        yield f"         {between} between the passes; {shuffled} shuffled between the tasks"
    core, driver = size(found["core_bytes"]), size(found["driver_bytes"])
    yield f"memory   {core} per core, in addition to the JVM; driver 1 GB, and {driver} for the plan"


_CODES: Final = {EXIT_BUDGET: "by the sample, `victor clean` would exceed its failure budget"}
PLAN: Final = Command(__doc__, OPTIONS, run, codes=_CODES)
