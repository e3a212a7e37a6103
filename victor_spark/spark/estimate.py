"""What cleaning a crawl will take, and how it will end, told from a sample of it that is really cleaned.

The sample is byte ranges at even distances all over the crawl: as a record belongs to the range it begins in,
pages, output and time grow with the bytes.
"""

import io
import math
import resource
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from victor_spark.errors import VictorError
from victor_spark.spark import manifest, plan, spending
from victor_spark.spark.clean_partition import CleanTask, page_work
from victor_spark.spark.page_process import Work
from victor_spark.spark.plan import Plan
from victor_spark.spark.rows import record_row
from victor_spark.spark.sandbox import Sandbox
from victor_spark.spark.spending import Failed
from victor_spark.warc import records
from victor_spark.warc.shard import Shard

N_RANGES: Final = 32
RANGE_BYTES: Final = 1 << 20
SECONDS: Final = 60.0
"""The sample ends after so long, however many ranges it has by then."""

LARGEST_WHOLE: Final = 32 << 20
N_ENDS: Final = 64
END_BYTES: Final = 64 << 10
"""The last bytes of so many shards are read beside the sample, to see whether the shards end too early."""

EFFICIENCY: Final = 0.85
"""What a core does in a cluster, of what it does alone."""

START_SECONDS: Final = 8.0
"""From the command to the first page: Python, Java, Spark and its workers (bench/spark_job.py)."""

_WIDE: Final = 1.645  # standard errors of a 90 % interval


@dataclass
class Sample:
    """What a part of the crawl came to: `n_bytes` of it, CPU `seconds`, Parquet bytes `n_output`.

    `statuses` are those of pages. `failed_shards` says of some of `shards` why they couldn't be read (on).
    `rates` are the bytes and the pages of each range; `n_resident` is the most memory that cleaning took;
    `indivisible` are shards without ranges: one gzip stream for all records, which one task has to read.
    """

    n_bytes: int = 0
    n_pages: int = 0
    n_output: int = 0
    n_resident: int = 0
    seconds: float = 0.0
    statuses: Counter[str] = field(default_factory=Counter)
    shards: set[str] = field(default_factory=set)
    failed_shards: dict[str, str] = field(default_factory=dict)
    rates: list[tuple[int, int]] = field(default_factory=list)
    indivisible: tuple[str, ...] = ()

    @property
    def error(self) -> float | None:
        """Half the width of a 90 % interval of pages per byte, as a share of it; None: can't be told."""
        if len(self.rates) < 3 or not self.n_pages:
            return None
        rate = self.n_pages / self.n_bytes
        spread = statistics.stdev(n_pages - rate * n_bytes for n_bytes, n_pages in self.rates)
        return _WIDE * spread * math.sqrt(len(self.rates)) / self.n_pages


def sample(planned: Plan, task: CleanTask, models: dict[str, bytes], *, seconds: float = SECONDS) -> Sample:
    """Cleans some ranges of the crawl, or all of a small one, and says what they came to."""
    found, work, end = Sample(), page_work(task, models), time.monotonic() + seconds
    sandbox, divisible = Sandbox(work, task.limits), _Divisible()
    before, rows = _cpu_seconds(), list[pa.RecordBatch]()
    try:
        for shards in ranges(planned):
            if readable := [shard for one in shards if (shard := divisible.readable(one))]:
                rows += _add(found, readable, sandbox, work)
            if time.monotonic() > end:
                break
    finally:
        sandbox.close()
    found.seconds = _cpu_seconds() - before
    found.indivisible = tuple(divisible.without)
    written = io.BytesIO()
    pq.write_table(pa.Table.from_batches(rows, schema=work.schema), written, compression="zstd")
    found.n_output = written.tell()
    unit = 1 if sys.platform == "darwin" else 1024
    found.n_resident = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * unit
    reading = Sandbox(replace(work, row=partial(record_row, status="ok", reason=None)), task.limits)
    try:
        for shard in _ends(planned):
            if time.monotonic() > end:
                break
            _failures(found, [shard], pa.Table.from_batches(reading.batches([shard]), schema=work.schema))
    finally:
        reading.close()
    return found


class _Divisible:
    """Which shards have ranges; of those that don't, small ones are sampled whole, once, and others not."""

    def __init__(self) -> None:
        self._known: dict[str, bool] = {}
        self.without: list[str] = []

    def readable(self, shard: Shard) -> Shard | None:
        """What can be sampled instead of a range of a shard."""
        if (shard.start == 0 and shard.end is None) or shard.records or shard.aligned:
            return shard
        is_new = shard.path not in self._known
        if is_new:
            try:
                self._known[shard.path] = records.is_divisible(shard)
            except (OSError, VictorError):
                self._known[shard.path] = True  # reading it will say what is wrong
            if not self._known[shard.path]:
                self.without.append(shard.filename)
        if self._known[shard.path]:
            return shard
        whole = replace(shard, start=0, end=None)
        return whole if is_new and (whole.n_bytes or 0) <= LARGEST_WHOLE else None


def _add(found: Sample, shards: list[Shard], sandbox: Sandbox, work: Work) -> list[pa.RecordBatch]:
    """Cleans one range, adds what it came to, and returns its rows."""
    batches = list(sandbox.batches(shards))
    table = pa.Table.from_batches(batches, schema=work.schema)
    failures = _failures(found, shards, table)
    n_bytes, n_pages = plan.weight(manifest.of_shards(shards)), table.num_rows - failures.num_rows
    found.n_bytes += n_bytes
    found.n_pages += n_pages
    found.statuses += Counter(table["status"].to_pylist()) - Counter(failures["status"].to_pylist())
    found.rates.append((n_bytes, n_pages))
    return batches


def _failures(found: Sample, shards: Sequence[Shard], table: pa.Table) -> pa.Table:
    """Adds the shards, and why some of them could not be read to their ends; the rows that say so."""
    failures = table.filter(table["warc_record_offset"].is_null())
    found.shards.update(shard.filename for shard in shards)
    for name, reason in zip(*(failures[key].to_pylist() for key in ("warc_filename", "reason")), strict=True):
        found.failed_shards.setdefault(name, reason)
    return failures


def _ends(planned: Plan) -> Iterator[Shard]:
    """The ends of some shards, evenly distributed."""
    n = planned.shards.num_rows
    chosen = sorted({number * n // N_ENDS for number in range(N_ENDS)})
    for row in planned.shards.take(chosen).to_pylist():
        shard = plan.shard(row)
        if shard.size and shard.kind != "html" and not (shard.start or shard.end or shard.records):
            yield replace(shard, start=max(shard.size - END_BYTES, 0))


def ranges(planned: Plan) -> Iterator[list[Shard]]:
    """N_RANGES times about RANGE_BYTES, evenly, or all there is of known size; neighbours come late."""
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


@dataclass(frozen=True)
class Estimate:
    """What a run will take on `n_cores`; `start_seconds` of the `hours` pass before the first page."""

    n_bytes: int
    n_pages: int
    error: float | None
    statuses: dict[str, int]
    cpu_hours: float
    n_cores: int
    hours: float
    start_seconds: float
    n_output: int
    n_splits: int
    n_waves: int
    driver_bytes: int
    core_bytes: int
    seconds_per_page: float


def estimate(planned: Plan, sampled: Sample, *, n_cores: int, look_up_seconds: float = 0.0) -> Estimate:
    """The whole run, by the bytes of it that were sampled."""
    n_bytes = int(planned.begins[-1])
    factor = n_bytes / max(sampled.n_bytes, 1)
    cpu_hours, start = sampled.seconds * factor / 3600, START_SECONDS + look_up_seconds
    n_pages = round(sampled.n_pages * factor)
    n_splits, n_waves = _n_splits(planned)
    return Estimate(
        n_bytes=n_bytes,
        n_pages=n_pages,
        error=0.0 if factor <= 1 else sampled.error,
        statuses=divided(n_pages, dict(sampled.statuses.most_common())),
        cpu_hours=cpu_hours,
        n_cores=n_cores,
        hours=start / 3600 + cpu_hours / (n_cores * EFFICIENCY),
        start_seconds=start,
        n_output=round(sampled.n_output * factor),
        n_splits=n_splits,
        n_waves=n_waves,
        driver_bytes=int(planned.shards.nbytes + planned.begins.nbytes),
        core_bytes=sampled.n_resident,
        seconds_per_page=sampled.seconds / max(sampled.n_pages, 1),
    )


def divided(total: int, weights: Mapping[str, int]) -> dict[str, int]:
    """`total` in parts as large as the weights, whole numbers that add up to it (largest remainders)."""
    whole = max(sum(weights.values()), 1)
    parts = {name: total * weight // whole for name, weight in weights.items()}
    left = total - sum(parts.values())
    for name in sorted(parts, key=lambda name: -(total * weights[name] % whole))[:left]:
        parts[name] += 1
    return parts


def failing(found: Estimate, sampled: Sample, *, n_shards: int, n_missing: int) -> Failed:
    """What of the whole run will fail, for its budget: `n_missing` shards, and others as in the sample."""
    share = len(sampled.failed_shards) / max(len(sampled.shards), 1)
    n_failed = n_missing + round(share * (n_shards - n_missing))
    pages = {status: n for status in spending.FAILURES if (n := found.statuses.get(status, 0))}
    return Failed(n_shards, n_failed, found.n_pages, pages, next(iter(sampled.failed_shards.values()), None))


def _n_splits(planned: Plan) -> tuple[int, int]:
    sizes = [plan.n_splits(planned, wave) for wave in plan.waves(planned)]
    return sum(sizes), len(sizes)


def as_json(found: Estimate, sampled: Sample) -> dict[str, Any]:
    """The estimate and the sample it comes from, ready for JSON; null where nothing could be sampled."""
    told = dict(vars(found))
    if not sampled.n_pages and (sampled.failed_shards or not sampled.rates):
        unknown = "n_pages error statuses cpu_hours hours n_output core_bytes seconds_per_page"
        told |= dict.fromkeys(unknown.split())
    told["sample"] = {
        "n_ranges": len(sampled.rates),
        "n_bytes": sampled.n_bytes,
        "n_pages": sampled.n_pages,
        "n_failed_shards": len(sampled.failed_shards),
        "cpu_seconds": round(sampled.seconds, 2),
        "indivisible": list(sampled.indivisible),
        "failed_shards": dict(list(sampled.failed_shards.items())[:20]),
    }
    return told
