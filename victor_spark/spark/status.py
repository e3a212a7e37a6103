"""The progress of a run, for `victor status`: waves that are done, missing or failed."""

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from victor_spark import tables
from victor_spark.errors import OutputError
from victor_spark.request import FIRST_PASS, SECOND_PASS
from victor_spark.spark import ledger, plan, run_record
from victor_spark.spark.files import CloudFiles, Files, open_files, opened
from victor_spark.spark.run_record import Entry, total


def status(location: str) -> dict[str, Any]:
    """The progress of the run in OUT, ready for JSON; OutputError if there is no run.

    A wave is "done", "missing" (not done yet), "lost" (done, but pages of it are gone) or "failed".
    `stopped` is the reason if the failure budget was exceeded. All figures are of the pass `passing`.
    """
    with opened(location) as files, ledger.undamaged(files):
        if files.read(ledger.CONFIG) is None and files.names(ledger.FIRST_PASS) is not None:
            first = status(f"{location.rstrip('/')}/{ledger.FIRST_PASS}")
            return {**first, "output": location, "complete": False, "passing": FIRST_PASS}
        if files.names("_run") is None:
            raise OutputError(f"{location}: holds no run of victor clean")
        planned = ledger.stored_plan(files)
        config = ledger.stored(files, ledger.CONFIG) or {}
        is_second = config.get("sites", {}).get("by_site", False)
        entries, failed = {entry.wave: entry for entry in ledger.entries(files)}, ledger.failures(files)
        there = files.below(ledger.PAGES)
        ended = ledger.stored(files, ledger.RUN) is not None
        stopped = ledger.stored(files, ledger.STOPPED) or {}
        waves = [
            _wave(number, plan.splits(planned, number), entries.get(number), failed.get(number), there)
            for number in plan.waves(planned)
        ]
        done = [wave for wave in waves if wave["state"] == "done"]
        counts = total(entries[wave["wave"]].counts for wave in done)
        n_bytes = sum(wave["n_bytes"] for wave in waves)
        return {
            "output": location,
            "complete": ended and len(done) == len(waves),
            "stopped": stopped.get("stopped"),
            "passing": SECOND_PASS if is_second else None,
            "share_done": round(sum(wave["n_bytes"] for wave in done) / max(n_bytes, 1), 4),
            "n_shards": config.get("inputs", {}).get("n_shards", planned.shards.num_rows),
            "n_rows": counts.n_rows,
            "n_pages": counts.n_pages,
            "n_failed_shards": len(counts.failed_shards),
            "failed_shards": counts.failed_shards,
            "statuses": counts.statuses,
            "reasons": counts.reasons,
            "waves": waves,
        }


def complete_run(location: str, spark: SparkSession) -> tuple[Files, DataFrame]:
    """The files of a complete run that Spark itself can read, and its pages; else OutputError."""
    if isinstance(files := open_files(location, spark), CloudFiles):
        raise OutputError(f"{location}: Spark needs a jar to read there, such as hadoop-aws")
    if not (found := status(location))["complete"]:
        raise OutputError(f"{location}: the run is incomplete; the same `victor clean` command resumes it")
    if any(wave["n_files"] for wave in found["waves"]):
        return files, spark.read.parquet(ledger.literal(f"{files.location}/{ledger.PAGES}"))
    return files, spark.createDataFrame([], tables.ddl(tables.pages()))  # of a run with --partition-by


def _wave(
    number: int, splits: pa.Table, entry: Entry | None, failure: str | None, there: Mapping[str, int]
) -> dict[str, Any]:
    known = {"wave": number, "state": "missing", "n_splits": splits.num_rows, "n_bytes": plan.weight(splits)}
    if entry is None:
        return known if failure is None else {**known, "state": "failed", "reason": failure}
    return {
        **known,
        "state": "done" if ledger.is_whole(entry, there) else "lost",
        "n_pages": entry.counts.n_pages,
        "statuses": entry.counts.statuses,
        "failed_shards": entry.counts.failed_shards,
        "n_files": len(entry.files),
        "seconds": entry.seconds,
        "finished_at": entry.finished_at,
    }


def as_lines(found: Mapping[str, Any]) -> Iterator[str]:
    """The status in lines for people."""
    waves, stopped = found["waves"], found["stopped"]
    word = "complete" if found["complete"] else "incomplete: the same command resumes it"
    if found.get("passing") and not found["complete"]:
        where = "between" if found["share_done"] == 1 else f"in the {found['passing']} of"
        word = f"incomplete, {where} two passes: the same command resumes it"
    if stopped:
        word = "incomplete: more failed than the budget allows; the same command with a larger one resumes it"
    yield f"{found['output']}: {word}"
    if stopped:
        yield f"  stopped {stopped}"
    n_done = sum(wave["state"] == "done" for wave in waves)
    yield f"  waves   {n_done} of {len(waves)} done, {found['share_done']:.0%} of the bytes"
    for state in ("missing", "lost", "failed"):
        if numbers := [wave["wave"] for wave in waves if wave["state"] == state]:
            yield f"  {state:<7} {'waves' if numbers[1:] else 'wave'} {_ranges(numbers)}"
    yield from (f"  wave {wave['wave']} failed: {wave['reason']}" for wave in waves if "reason" in wave)
    statuses = ", ".join(f"{status} {n}" for status, n in run_record.page_statuses(found).items())
    yield f"  pages   {found['n_pages']}{f': {statuses}' if statuses else ''}"
    failed = list(found["failed_shards"].values())
    unread = f"{len(failed)} of them couldn't be read to the end" if failed else "no failures"
    yield f"  shards  {found['n_shards']}, {unread}{'' if found['complete'] else ' (so far)'}"
    yield from (f"    {reason}" for reason in failed[:5])
    if failed[5:]:
        yield f"    and {len(failed[5:])} more (--json has them all)"


def _ranges(numbers: list[int]) -> str:
    """Ascending numbers with ranges: 3-7, 12."""
    runs = [[n for _, n in run] for _, run in groupby(enumerate(numbers), lambda one: one[1] - one[0])]
    return ", ".join(f"{run[0]}-{run[-1]}" if run[1:] else f"{run[0]}" for run in runs)
