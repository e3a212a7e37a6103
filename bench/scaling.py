"""What 30 million pages and a petabyte take: the arithmetic, written as docs/scale.md.

    python bench/scaling.py [--output FILE]

Goes on from the figures of bench/scale.json (measured by `python bench/scale.py --write`), and asks the
planner itself about invented shards of 1 GB. Nothing is read or run; what is multiplied is shown.
"""

import argparse
import json
import random
import tracemalloc
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from plan import entry_of, invented

from victor_spark.spark import manifest, plan
from victor_spark.spark.plan import Plan
from victor_spark.spark.progress import size

HERE: Final = Path(__file__).resolve().parent
GB: Final = 10**9
PB: Final = 10**15
N_PAGES: Final = 30_000_000
CORES: Final = (8, 100, 1000)

INTRODUCTION: Final = """\
# How far it scales

Written by `python bench/scaling.py`: figures of a page are those of `python bench/scale.py --write`
([bench/RESULTS.md](../bench/RESULTS.md), {n_pages:,} pages on a cluster of two cores), plans are made by the
planner itself for invented shards of 1 GB. Nothing here was run at that size. The start of Java and of
workers is in the processor time of a page: the fewer pages were measured, the more of it.

## What a page takes

| | measured | a page |
|---|---:|---:|
| archives read | {read} | {read_page:.1f} kB |
| Parquet written | {written} | {written_page:.2f} kB |
| processor time, everything included | | {milliseconds:.1f} ms, so {rate:.0f} pages a second and core |

Resident memory at most: {memory}.
Of a core these are one Python worker and its child. Java takes of its heap what its limit allows; what is in
use there is in [bench/RESULTS.md](../bench/RESULTS.md).

Your pages are others, and so is your processor: `victor plan` cleans a sample of them and says the same for
your crawl.

"""

LAST: Final = """\
## Skew

**Shards.** Tasks get even numbers of bytes: shards are cut into splits of {split} at record boundaries,
splits go largest first to the task with the fewest bytes. Of {n_shards:,} invented shards from 1 kB to 5 GB
(sizes even on a logarithmic scale), planned for 100 cores, the largest task of a wave has on average
{skew:.3f} times the bytes of the mean one, at worst {worst:.3f} times. What can't be cut: a shard compressed
as one stream, and tables of records, whose coordinates of one file are one split.

**Pages.** A page takes at most its deadline (20 s of processor time, and as much again for each megabyte);
the task that holds it is so much longer, and others of the same wave and of the next go on beside it.

**Sites.** Cleaning never groups by site: a host with half of all pages costs what other pages cost. Mining
of templates groups, and takes a sample of each site that is capped.

**Waves** overlap by two: while the last tasks of one run, those of the next begin, so that a slow task
leaves no core idle. Losing the driver costs the waves in flight, two at most.
"""


@dataclass(frozen=True)
class Case:
    """A crawl of a size: its plan, what of it the driver keeps, and what it writes."""

    title: str
    n_pages: int
    n_bytes: int
    n_cores: int


def main() -> None:
    """Writes the page."""
    parser = argparse.ArgumentParser(description="Write docs/scale.md.")
    parser.add_argument("--output", type=Path, default=HERE.parent / "docs/scale.md", metavar="FILE")
    output = parser.parse_args().output
    measured = json.loads((HERE / "scale.json").read_text(encoding="utf-8"))
    page_bytes = measured["n_bytes_read"] / measured["n_pages"]
    cases = [
        Case("30 million pages", N_PAGES, int(N_PAGES * page_bytes), 100),
        Case("1 PB", int(PB / page_bytes), PB, 1000),
    ]
    text = [_introduction(measured)]
    text += ["\n".join([*_of_case(case, measured), "", ""]) for case in cases]
    output.write_text("".join([*text, _last()]), encoding="utf-8")


def _introduction(measured: dict[str, Any]) -> str:
    n = measured["n_pages"]
    return INTRODUCTION.format(
        n_pages=n,
        read=size(measured["n_bytes_read"]),
        read_page=measured["n_bytes_read"] / n / 1e3,
        written=size(measured["n_bytes_written"]),
        written_page=measured["n_bytes_written"] / n / 1e3,
        milliseconds=1000 / measured["pages_per_core_second"],
        rate=measured["pages_per_core_second"],
        memory=", ".join(f"{kind} {megabytes} MB" for kind, megabytes in measured["memory"].items()),
    )


def _of_case(case: Case, measured: dict[str, Any]) -> Iterator[str]:
    n_shards = -(-case.n_bytes // GB)
    shards = manifest.of_shards(islice(invented(), n_shards))
    planned = plan.plan(shards, n_cores=case.n_cores)
    n_waves = sum(1 for _ in plan.waves(planned))
    splits = plan.splits(planned, n_waves // 2)
    n_tasks = plan.n_tasks(splits, n_cores=case.n_cores)
    in_driver = shards.nbytes + planned.begins.nbytes
    stored = len(manifest.to_bytes(shards))
    entry = len(json.dumps(asdict(entry_of(n_tasks, splits.num_rows))))
    n_files = n_waves * n_tasks
    name = _bytes_of_a_name()
    written = case.n_pages * measured["n_bytes_written"] / measured["n_pages"]
    seconds = case.n_pages / measured["pages_per_core_second"]
    yield f"## {case.title}"
    yield ""
    yield "| what | how | |"
    yield "|---|---|---:|"
    yield f"| pages | archives of {size(case.n_bytes)} at {_kb(case)} a page | {case.n_pages:,} |"
    yield f"| shards | of 1 GB | {n_shards:,} |"
    for n in CORES:
        hours = seconds / n / 3600
        rate = f"{measured['pages_per_core_second']:.0f}"
        yield f"| time on {n:,} cores | pages ÷ {rate} ÷ {n:,} | {_time(hours)} |"
    yield f"| written | pages × {written / case.n_pages:.0f} bytes | {size(written)} |"
    yield (
        f"| plan in the driver | columns; {in_driver / n_shards:.0f} bytes a shard, "
        f"{in_driver / n_shards:.0f} MB a million | {size(in_driver)} |"
    )
    yield f"| `manifest.parquet` | {stored / n_shards:.0f} bytes a shard | {size(stored)} |"
    yield f"| waves (for {case.n_cores:,} cores) | of {size(planned.wave_bytes)} | {n_waves:,} |"
    each = f"of at most {size(planned.split_bytes)}; {splits.num_rows:,} in a wave"
    yield f"| splits | {each} | {_n_splits(planned):,} |"
    yield f"| tasks | {n_tasks:,} in a wave | {n_files:,} |"
    yield f"| files | one a task: waves × tasks, {size(written / n_files)} each | {n_files:,} |"
    yield f"| ledger | {n_waves:,} entries of {size(entry)} | {size(n_waves * entry)} |"
    yield (
        f"| names of all files in the driver | once, when it starts; {name:.0f} bytes each | "
        f"{size(n_files * name)} |"
    )
    yield f"| lost with the driver | two waves of {n_waves:,} | {2 / n_waves:.2%} of the work |"


def _bytes_of_a_name(n: int = 20_000) -> float:
    """What a driver needs for the name of a file and its size, measured."""
    tracemalloc.start()
    names = {f"wave-{i:05}-part-{i:05}-{'0' * 36}-c000.zstd.parquet": (1 << 24) + i for i in range(n)}
    n_bytes = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return n_bytes / len(names)


def _kb(case: Case) -> str:
    return f"{case.n_bytes / case.n_pages / 1e3:.1f} kB"


def _n_splits(planned: Plan) -> int:
    sizes = planned.shards["size"].to_numpy()
    return int((-(-sizes // planned.split_bytes)).sum())


def _time(hours: float) -> str:
    return f"{hours:,.1f} hours" if hours < 48 else f"{hours / 24:,.1f} days"


def _last() -> str:
    """Even tasks of uneven shards, as the planner makes them."""
    noise = random.Random(5)
    uneven = list(islice(invented(), 5000))
    sizes = pa.array([int(10 ** noise.uniform(3, 9.7)) for _ in uneven], pa.int64())
    shards = manifest.of_shards(uneven)
    for name in ("size", "n_bytes"):
        shards = shards.set_column(shards.schema.get_field_index(name), name, sizes)
    planned = plan.plan(shards, n_cores=100)
    skews = list(_skews(planned))
    return LAST.format(
        n_shards=len(uneven),
        split=size(planned.split_bytes),
        skew=sum(skews) / len(skews),
        worst=max(skews),
    )


def _skews(planned: Plan) -> Iterator[float]:
    """How much larger the largest task of each wave is than the mean one."""
    for wave in plan.waves(planned):
        splits = plan.splits(planned, wave)
        weights = plan._weights(splits).tolist()
        n = plan.n_tasks(splits, n_cores=100)
        loads = [0] * n
        for weight, task in zip(weights, plan.pack(weights, n), strict=True):
            loads[task] += weight
        yield max(loads) / (sum(loads) / n)


if __name__ == "__main__":
    main()
