"""Computes runs of 30 million pages and of a petabyte, and writes docs/scale.md.

    python bench/scaling.py [--output FILE]

Uses the figures of bench/scale.json (measured by `python bench/scale.py --write`) and bench/skew.json (by
`python bench/skew.py --write`), and the planner for invented shards of 1 GB. No archive is read and no
job runs; the document shows the arithmetic.
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

from victor_spark.logs import size
from victor_spark.spark import estimate, plan
from victor_spark.spark.plan import Plan

HERE: Final = Path(__file__).resolve().parent
GB: Final = 10**9
PB: Final = 10**15
MIB: Final = 2**20
GIB: Final = 2**30
N_PAGES: Final = 30_000_000
CORES: Final = (8, 100, 1000)

INTRODUCTION: Final = """\
# Scale

What a run of 30 million pages or of a petabyte needs: processor time, disk and memory. The price is the
processor time times the price of a core for an hour; [common-crawl.md](common-crawl.md#plan) explains how to
get these figures for your crawl.

Written by `python bench/scaling.py`. The figures per page were measured by `python bench/scale.py --write`
([bench/RESULTS.md](../bench/RESULTS.md), {n_pages:,} pages on a cluster of two cores). The planner computes
the plans for invented shards of 1 GB; no run of this size was made. The CPU time per page includes the
start of Java and of workers, whose share shrinks with more pages.

## Cost per page

| | measured | per page |
|---|---:|---:|
| archives read | {read} | {read_page:.1f} kB |
| Parquet written | {written} | {written_page:.2f} kB |
| CPU time, everything included | | {milliseconds:.1f} ms, so {rate:.0f} pages per second and core |

Maximum resident memory: {memory}. A core needs one Python worker and its child. Java's heap grows to its
limit; [bench/RESULTS.md](../bench/RESULTS.md) has the part in use.

Other pages and processors give other figures: `victor plan` cleans a sample of your crawl and computes them.

"""

TWO_PASSES: Final = """\
## Two passes

`--by-site` has {ratio} times the CPU time of one pass, {between} times the disk of `OUT/pages` for the scored
pages between the passes, and a shuffle of {shuffled:.1f} kB a page: the factors of `victor plan --by-site`,
measured by `python bench/by_site.py` on annotated pages. The sums of sites that go back to the tasks have
{sums:.0f} bytes a page on disk (invented pages, below). The shuffle is on the local disks of the executors;
scored pages and sums are on the disk of OUT until the run is complete.

| | {titles} |
|---|{line}
{rows}

"""

LAST: Final = """\
## Skew

**Shards.** Tasks get about equal numbers of bytes: shards are cut into splits of {split} MiB at record
boundaries, and the largest remaining split goes to the task with the fewest bytes. For {n_shards:,}
invented shards from 1 kB to 5 GB (uniform on a logarithmic scale) and 100 cores, the largest task of a wave
has on average {skew:.3f} times the mean bytes, at worst {worst:.3f} times. Two inputs cannot be cut: a
shard compressed as one stream, and the records of one file in a table of records.

**Pages.** A page takes at most its time limit (20 s of CPU time, plus as much per megabyte). Only its task
is delayed; other tasks continue.

**Sites.** One pass does not group by site, so a host with half of all pages has no extra cost. With
`--by-site`, each task sums up its pages by site and key before the shuffle, so that a site has at most as
many rows as keys in each file, and no task holds a site. Measured on invented pages of sites by Zipf's law,
one of which has half of all pages (`python bench/skew.py --pages {n_pages} --sites {n_sites} --write`, on two
cores; the start of Spark is a large part of so short a run):

| | pages | CPU time a page | shuffled a page | longest task | largest Python process |
|---|---:|---:|---:|---:|---:|
{skewed}

Mining of templates groups by site, but takes a sample of limited size from each. Tables of sites and of
templates are read by site and not broadcast; of the row groups of other sites, a process holds the footers.

**Waves.** Two waves are cleaned concurrently, so that slow last tasks leave no core idle. If the driver dies,
these two are repeated, and waves that were not yet entered in the ledger (at most two more).
"""


@dataclass(frozen=True)
class Case:
    """A crawl of a given size, and the cores of its plan."""

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
    skewed = json.loads((HERE / "skew.json").read_text(encoding="utf-8"))
    output.write_text("".join([*text, _two_passes(measured, skewed), _last(skewed)]), encoding="utf-8")


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
    shards = plan.of_shards(islice(invented(), n_shards))
    planned = plan.plan(shards, n_cores=case.n_cores)
    n_waves = sum(1 for _ in plan.waves(planned))
    splits = plan.splits(planned, n_waves // 2)
    n_tasks = plan.n_tasks(splits, n_cores=case.n_cores)
    in_driver = shards.nbytes + planned.begins.nbytes
    stored = len(plan.to_bytes(shards))
    entry = len(json.dumps(asdict(entry_of(n_tasks, splits.num_rows))))
    n_files = n_waves * n_tasks
    name = _bytes_of_a_name()
    written = case.n_pages * measured["n_bytes_written"] / measured["n_pages"]
    seconds = case.n_pages / measured["pages_per_core_second"]
    yield f"## {case.title}"
    yield ""
    yield "| what | how | |"
    yield "|---|---|---:|"
    page_size = f"{case.n_bytes / case.n_pages / 1e3:.1f} kB"
    yield f"| pages | archives of {size(case.n_bytes)} at {page_size} per page | {case.n_pages:,} |"
    yield f"| shards | of 1 GB | {n_shards:,} |"
    cpu_hours = f"{seconds / 3600:,.1f} hours"
    yield f"| processor time | pages ÷ {measured['pages_per_core_second']:.0f} per second | {cpu_hours} |"
    for n in CORES:
        hours = seconds / n / 3600
        rate = f"{measured['pages_per_core_second']:.0f}"
        yield f"| time on {n:,} cores | pages ÷ {rate} ÷ {n:,} | {_time(hours)} |"
    yield f"| written | pages × {written / case.n_pages:.0f} bytes | {size(written)} |"
    yield (
        f"| plan in the driver | columns; {in_driver / n_shards:.0f} bytes per shard, "
        f"{in_driver / n_shards:.0f} MB per million | {size(in_driver)} |"
    )
    yield f"| `manifest.parquet` | {stored / n_shards:.0f} bytes per shard | {size(stored)} |"
    yield f"| waves (for {case.n_cores:,} cores) | of {planned.wave_bytes / GIB:,.0f} GiB | {n_waves:,} |"
    each = f"of at most {planned.split_bytes // MIB} MiB; {splits.num_rows:,} in a wave"
    n_splits = (-(-planned.shards["size"].to_numpy() // planned.split_bytes)).sum()
    yield f"| splits | {each} | {n_splits:,} |"
    yield f"| tasks | {n_tasks:,} in a wave | {n_files:,} |"
    yield f"| files | one per task: waves × tasks, {size(written / n_files)} each | {n_files:,} |"
    yield f"| ledger | {n_waves:,} entries of {size(entry)} | {size(n_waves * entry)} |"
    yield (
        f"| names of all files in the driver | once, at the start; {name:.0f} bytes each | "
        f"{size(n_files * name)} |"
    )
    yield f"| repeated if the driver dies | two waves of {n_waves:,} | {2 / n_waves:.2%} of the work |"


def _bytes_of_a_name(n: int = 20_000) -> float:
    """The measured memory of the driver for the name and size of one file."""
    tracemalloc.start()
    names = {f"wave-{i:05}-part-{i:05}-{'0' * 36}-c000.zstd.parquet": (1 << 24) + i for i in range(n)}
    n_bytes = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return n_bytes / len(names)


def _time(hours: float) -> str:
    if hours < 1 / 30:
        return f"{hours * 3600:.0f} s"
    if hours < 2:
        return f"{hours * 60:.0f} minutes"
    return f"{hours:,.1f} hours" if hours < 48 else f"{hours / 24:,.1f} days"


def _two_passes(measured: dict[str, Any], skewed: list[dict[str, Any]]) -> str:
    """Time, disk and shuffle of both passes of --by-site."""
    written, sums = measured["n_bytes_written"] / measured["n_pages"], skewed[1]["sums"]
    counts = {"30 million pages": N_PAGES, "a billion pages": 10**9}
    hours = {n: estimate.TWO_PASSES * n / measured["pages_per_core_second"] / 3600 for n in counts.values()}
    rows = {f"time on {n:,} cores": [_time(each / n) for each in hours.values()] for n in CORES}
    for name, n_bytes in (
        ("scored pages on disk", estimate.BETWEEN * written),
        ("sums of sites on disk", sums),
        ("shuffled", estimate.SHUFFLED),
        ("written", written),
    ):
        rows[name] = [size(int(n * n_bytes)) for n in counts.values()]
    return TWO_PASSES.format(
        ratio=estimate.TWO_PASSES,
        between=estimate.BETWEEN,
        shuffled=estimate.SHUFFLED / 1e3,
        sums=sums,
        titles=" | ".join(counts),
        line="---:|" * len(counts),
        rows="\n".join(f"| {name} | {' | '.join(values)} |" for name, values in rows.items()),
    )


def _last(skewed: list[dict[str, Any]]) -> str:
    """Even tasks of uneven shards, as the planner makes them; uneven sites, as measured."""
    noise = random.Random(5)
    uneven = list(islice(invented(), 5000))
    sizes = pa.array([int(10 ** noise.uniform(3, 9.7)) for _ in uneven], pa.int64())
    shards = plan.of_shards(uneven)
    for name in ("size", "n_bytes"):
        shards = shards.set_column(shards.schema.get_field_index(name), name, sizes)
    planned = plan.plan(shards, n_cores=100)
    skews = list(_skews(planned))
    return LAST.format(
        n_shards=len(uneven),
        split=planned.split_bytes // MIB,
        skew=sum(skews) / len(skews),
        worst=max(skews),
        n_pages=round(skewed[1]["n_pages"], -3),
        n_sites=skewed[1]["n_sites"],
        skewed="\n".join(map(_of_run, skewed)),
    )


def _of_run(run: dict[str, Any]) -> str:
    """A run of bench/skew.py as a row."""
    python = max(megabytes for kind, megabytes in run["memory"].items() if "Python worker" in kind)
    costs = f"{run['ms']:.1f} ms | {run['shuffled'] / 1e3:.1f} kB | {run['longest_task']:.0f} s"
    return f"| {run['name']} | {run['n_pages']:,} | {costs} | {python:.0f} MB |"


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
