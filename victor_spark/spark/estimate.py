"""What cleaning a crawl will take, told from a sample of it that is really cleaned.

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
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from victor_spark.archive import records
from victor_spark.archive.inputs import Shard
from victor_spark.errors import VictorError
from victor_spark.spark import manifest, plan
from victor_spark.spark.clean_partition import CleanTask, page_work
from victor_spark.spark.page_process import Work
from victor_spark.spark.plan import Plan
from victor_spark.spark.sandbox import Sandbox

N_RANGES: Final = 32
RANGE_BYTES: Final = 1 << 20
SECONDS: Final = 60.0
"""The sample ends after so long, however many ranges it has by then."""

LARGEST_WHOLE: Final = 32 << 20

EFFICIENCY: Final = 0.85
"""What a core does in a cluster, of what it does alone."""

_WIDE: Final = 1.645  # standard errors of a 90 % interval


@dataclass
class Sample:
    """What a part of the crawl came to: `n_bytes` of it, CPU `seconds`, Parquet bytes `n_output`.

    `rates` are the bytes and the pages of each range; `n_resident` is the most memory that cleaning took;
    `indivisible` are shards without ranges: one gzip stream for all records, which one task has to read.
    """

    n_bytes: int = 0
    n_pages: int = 0
    n_failures: int = 0
    n_output: int = 0
    n_resident: int = 0
    seconds: float = 0.0
    statuses: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
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
    statuses = Counter(table["status"].to_pylist())
    n_failures = table["warc_record_offset"].null_count
    n_bytes, n_pages = plan.weight(manifest.of_shards(shards)), table.num_rows - n_failures
    found.n_bytes += n_bytes
    found.n_pages += n_pages
    found.n_failures += n_failures
    found.statuses += statuses
    found.reasons += Counter(reason for reason in table["reason"].to_pylist() if reason is not None)
    found.rates.append((n_bytes, n_pages))
    return batches


def ranges(planned: Plan) -> Iterator[list[Shard]]:
    """N_RANGES times about RANGE_BYTES at even distances, or all there is; neighbours come late in turn."""
    fine = plan.Plan(planned.shards, RANGE_BYTES, RANGE_BYTES, planned.begins)
    n_ranges = max(-(-int(planned.begins[-1]) // RANGE_BYTES), 1)
    n = min(N_RANGES, n_ranges)
    width = max((n - 1).bit_length(), 1)
    for number in sorted(range(n), key=lambda number: f"{number:0{width}b}"[::-1]):
        rows = plan.splits(fine, int((number + 0.5) * n_ranges / n)).to_pylist()
        if shards := [shard for row in rows if (shard := plan.shard(row)).n_bytes is not None]:
            yield shards


def _cpu_seconds() -> float:
    """CPU time of this process and of its children that have ended."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


@dataclass(frozen=True)
class Estimate:
    """What a run will take on `n_cores`."""

    n_bytes: int
    n_pages: int
    error: float | None
    statuses: dict[str, int]
    cpu_hours: float
    n_cores: int
    hours: float
    n_output: int
    n_splits: int
    n_waves: int
    driver_bytes: int
    core_bytes: int
    seconds_per_page: float


def estimate(planned: Plan, sampled: Sample, *, n_cores: int) -> Estimate:
    """The whole run, by the bytes of it that were sampled."""
    n_bytes = int(planned.begins[-1])
    factor = n_bytes / max(sampled.n_bytes, 1)
    cpu_hours = sampled.seconds * factor / 3600
    n_splits, n_waves = _n_splits(planned)
    return Estimate(
        n_bytes=n_bytes,
        n_pages=round(sampled.n_pages * factor),
        error=0.0 if factor <= 1 else sampled.error,
        statuses={status: round(n * factor) for status, n in sampled.statuses.most_common()},
        cpu_hours=cpu_hours,
        n_cores=n_cores,
        hours=cpu_hours / (n_cores * EFFICIENCY),
        n_output=round(sampled.n_output * factor),
        n_splits=n_splits,
        n_waves=n_waves,
        driver_bytes=int(planned.shards.nbytes + planned.begins.nbytes),
        core_bytes=sampled.n_resident,
        seconds_per_page=sampled.seconds / max(sampled.n_pages, 1),
    )


def _n_splits(planned: Plan) -> tuple[int, int]:
    sizes = [plan.n_splits(planned, wave) for wave in plan.waves(planned)]
    return sum(sizes), len(sizes)


def as_json(found: Estimate, sampled: Sample) -> dict[str, Any]:
    """The estimate and the sample it comes from, ready for JSON."""
    told = dict(vars(found))
    told["sample"] = {
        "n_ranges": len(sampled.rates),
        "n_bytes": sampled.n_bytes,
        "n_pages": sampled.n_pages,
        "n_unreadable": sampled.n_failures,
        "cpu_seconds": round(sampled.seconds, 2),
        "indivisible": list(sampled.indivisible),
        "reasons": dict(sampled.reasons.most_common(20)),
    }
    return told
