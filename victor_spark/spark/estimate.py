"""Estimates the time, pages, output and failures of a run by cleaning a sample of the crawl.

The sample is byte ranges at even distances over the whole crawl. A record belongs to the range it begins in,
so pages, output and time grow with the bytes.
"""

import io
import math
import resource
import statistics
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from victor_spark.errors import VictorError
from victor_spark.logs import track
from victor_spark.request import Budget, CleanRequest
from victor_spark.spark import plan
from victor_spark.spark.plan import Plan
from victor_spark.spark.run_record import Counts, check_budget, total
from victor_spark.warc import reading
from victor_spark.warc.shard import Shard
from victor_spark.worker.rows import page_work, record_row
from victor_spark.worker.sandbox import RSS_UNIT, Sandbox

N_RANGES: Final = 32
RANGE_BYTES: Final = 1 << 20
SECONDS: Final = 60.0
"""The sample ends after this time, however many ranges it has by then."""

LARGEST_WHOLE: Final = 32 << 20
N_ENDS: Final = 64
END_BYTES: Final = 64 << 10
"""The last END_BYTES of this many shards are read too, to see whether the shards end too early."""

EFFICIENCY: Final = 0.85
"""Speed of a core in a cluster, as a share of its speed alone."""

START_SECONDS: Final = 8.0
"""From the command to the first page: Python, Java, Spark and its workers (bench/spark_job.py)."""

_WIDE: Final = 1.645  # standard errors of a 90 % interval

TWO_PASSES: Final = 1.5
"""Processor time of `--by-site` beside one pass; bench/by_site.py measures this and the next two."""

BETWEEN: Final = 5
"""Bytes on disk between the passes, for each byte of the pages table."""

SHUFFLED: Final = 2800
"""Bytes per page of the sums of sites that are sent between tasks."""


@dataclass
class Sample:
    """The result of cleaning `n_bytes` of the crawl: counts, CPU `seconds`, Parquet bytes `n_output`.

    `failed_shards` has the reasons of the `shards` that couldn't be read to the end. `weight` is the part of
    the plan's scale that was sampled, `rates` weight and pages of each range, `n_resident` the peak memory.
    """

    n_bytes: int = 0
    weight: int = 0
    n_output: int = 0
    n_resident: int = 0
    seconds: float = 0.0
    counts: Counts = field(default_factory=Counts)
    shards: set[str] = field(default_factory=set)
    failed_shards: dict[str, str] = field(default_factory=dict)
    rates: list[tuple[int, int]] = field(default_factory=list)

    @property
    def error(self) -> float | None:
        """Half the width of a 90 % interval of pages per byte, as a share of it; None: unknown."""
        if len(self.rates) < 3 or not self.counts.n_pages:
            return None
        rate = self.counts.n_pages / self.weight
        spread = statistics.stdev(n_pages - rate * weight for weight, n_pages in self.rates)
        return _WIDE * spread * math.sqrt(len(self.rates)) / self.counts.n_pages


def sample(planned: Plan, request: CleanRequest, models: dict[str, bytes]) -> Sample:
    """Cleans some ranges of the crawl, or all of a small one."""
    found, work, end = Sample(), page_work(request, models), time.monotonic() + SECONDS
    before, rows, divisible = _cpu_seconds(), list[pa.RecordBatch](), dict[str, bool]()
    with closing(Sandbox(work, request.limits)) as sandbox:
        for shards in track(parts := list(ranges(planned)), "cleaning a sample, ranges", len(parts)):
            if readable := [shard for one in shards if (shard := _readable(one, divisible))]:
                batches = list(sandbox.batches(readable))
                rows += batches
                table, counts = plan.of_shards(readable), _count(found, readable, batches)
                found.weight += plan.weight(table)
                found.n_bytes += plan.n_bytes(table)
                found.counts = total([found.counts, counts])
                found.rates.append((plan.weight(table), counts.n_pages))
            if time.monotonic() > end:
                break
    found.seconds = _cpu_seconds() - before
    found.n_resident = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * RSS_UNIT
    written = io.BytesIO()
    pq.write_table(pa.Table.from_batches(rows, schema=work.schema), written, compression="zstd")
    found.n_output = written.tell()
    reading = replace(work, row=partial(record_row, status="ok", reason=None))
    n = planned.shards.num_rows
    some = planned.shards.take(sorted({number * n // N_ENDS for number in range(N_ENDS)}))
    with closing(Sandbox(reading, request.limits)) as sandbox:
        for shard in map(plan.shard, some.to_pylist()):
            is_whole = shard.kind != "html" and not (shard.start or shard.end or shard.records)
            if shard.size and is_whole and time.monotonic() < end:
                last = replace(shard, start=max(shard.size - END_BYTES, 0))
                _count(found, [last], sandbox.batches([last]))
    return found


def _readable(shard: Shard, divisible: dict[str, bool]) -> Shard | None:
    """The splits to sample for a range: the range; the whole shard, once, if it has no ranges and is small.

    `divisible` gets which shards have ranges, by name.
    """
    if (shard.start == 0 and shard.end is None) or shard.records or shard.aligned:
        return shard
    if is_new := shard.filename not in divisible:
        try:
            divisible[shard.filename] = reading.is_divisible(shard)
        except (OSError, VictorError):
            divisible[shard.filename] = True  # reading it gives the reason
    if divisible[shard.filename]:
        return shard
    whole = replace(shard, start=0, end=None)
    return whole if is_new and (whole.n_bytes or 0) <= LARGEST_WHOLE else None


def _count(found: Sample, shards: Iterable[Shard], batches: Iterable[pa.RecordBatch]) -> Counts:
    """The counts of some shards' rows; adds the shards to the sample, and those that failed."""
    counts = Counts()
    for batch in batches:
        counts.count(batch)
    found.shards.update(shard.filename for shard in shards)
    for name, reason in counts.failed_shards.items():
        found.failed_shards.setdefault(name, reason)
    return counts


def ranges(planned: Plan) -> Iterator[list[Shard]]:
    """N_RANGES ranges of about RANGE_BYTES (or all, if fewer), evenly spread; the first are far apart."""
    known = planned.shards.filter(planned.shards["n_bytes"].is_valid())
    fine = plan.plan(known, n_cores=1, split_bytes=RANGE_BYTES, wave_bytes=RANGE_BYTES)
    n_ranges = -(-int(fine.begins[-1]) // RANGE_BYTES)
    n = min(N_RANGES, n_ranges)
    width = max((n - 1).bit_length(), 1)
    for number in sorted(range(n), key=lambda number: f"{number:0{width}b}"[::-1]):
        if rows := plan.splits(fine, int((number + 0.5) * n_ranges / n)).to_pylist():
            yield [plan.shard(row) for row in rows]


def _cpu_seconds() -> float:
    """CPU time of this process and of its children that have ended."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def estimate(
    request: CleanRequest, planned: Plan, sampled: Sample, *, n_cores: int, look_up_seconds: float = 0.0
) -> dict[str, Any]:
    """The whole run, in proportion to the bytes that were sampled, ready for JSON.

    `start_seconds` of the `hours` pass before the first page. None where no page could be sampled.
    """
    factor = int(planned.begins[-1]) / max(sampled.weight, 1)
    cpu_hours, start = sampled.seconds * factor / 3600, START_SECONDS + look_up_seconds
    cpu_hours *= TWO_PASSES if request.sites.by_site else 1.0
    statuses = {name: round(n * factor) for name, n in sampled.counts.page_statuses.items()}
    n_pages, n_output = sum(statuses.values()), round(sampled.n_output * factor)
    waves = plan.waves(planned)
    of_pages = {
        "n_pages": n_pages,
        "error": 0.0 if factor <= 1 else sampled.error,
        "statuses": statuses,
        "cpu_hours": cpu_hours,
        "hours": start / 3600 + cpu_hours / (n_cores * EFFICIENCY),
        "n_output": n_output,
        "core_bytes": sampled.n_resident,
        "seconds_per_page": sampled.seconds / max(sampled.counts.n_pages, 1),
    }
    if request.sites.by_site:
        of_pages |= {"n_between": n_output * BETWEEN, "n_shuffled": n_pages * SHUFFLED}
    if not sampled.counts.n_pages and (sampled.failed_shards or not sampled.rates):
        of_pages = dict.fromkeys(of_pages)
    return {
        "n_bytes": plan.n_bytes(planned.shards),
        **of_pages,
        "n_cores": n_cores,
        "start_seconds": start,
        "n_splits": sum(waves.values()),
        "n_waves": len(waves),
        "driver_bytes": int(planned.shards.nbytes + planned.begins.nbytes),
        "sample": {
            "n_ranges": len(sampled.rates),
            "n_bytes": sampled.n_bytes,
            "n_pages": sampled.counts.n_pages,
            "n_failed_shards": len(sampled.failed_shards),
            "cpu_seconds": round(sampled.seconds, 2),
            "failed_shards": dict(list(sampled.failed_shards.items())[:20]),
        },
    }


def check(budget: Budget, found: Mapping[str, Any], sampled: Sample, shards: plan.Manifest) -> None:
    """Raises BudgetError if the run will exceed its budget when it fails as often as the sample did."""
    share, n_missing = len(sampled.failed_shards) / max(len(sampled.shards), 1), len(shards.missing)
    n_failed = n_missing + round(share * (len(shards) - n_missing))
    problems = {reason: reason for reason in (*sampled.failed_shards.values(), *shards.problems)}
    counts = Counts(found["n_pages"] or 0, statuses=found["statuses"] or {}, failed_shards=problems)
    check_budget(budget, counts, n_shards=len(shards), n_failed_shards=n_failed)
