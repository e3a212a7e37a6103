"""The cost of a plan of very many shards in the driver: memory, time, stored bytes.

    python bench/plan.py [--shards N]

Prints Markdown. The shards are invented (1 GB each, names as long as Common Crawl's): nothing is looked up.
"""

import argparse
import hashlib
import json
import time
import tracemalloc
from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice
from typing import Final

from victor_spark.spark import plan
from victor_spark.spark.run_record import Counts, Entry
from victor_spark.warc.shard import Shard

PREFIX: Final = "s3://commoncrawl/crawl-data/CC-MAIN-2026-18/segments/"
GB: Final = 1 << 30


def main() -> None:
    """Plans invented shards and prints the cost."""
    parser = argparse.ArgumentParser(description="The driver's share of planning very many shards.")
    parser.add_argument("--shards", type=int, default=200_000, metavar="N", help="default: 200000")
    n = parser.parse_args().shards
    million = 1_000_000 / n
    tracemalloc.start()
    started = time.perf_counter()
    table = plan.of_shards(islice(invented(), n))
    columns_at, peak = time.perf_counter(), tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    planned = plan.plan(table, n_cores=1000)
    planned_at = time.perf_counter()
    n_waves = sum(1 for _ in plan.waves(planned))
    waves_at = time.perf_counter()
    splits = plan.splits(planned, n_waves // 2)
    n_tasks = plan.n_tasks(splits, n_cores=1000)
    plan.pack([planned.split_bytes] * splits.num_rows, n_tasks)
    wave_at = time.perf_counter()
    stored = len(plan.to_bytes(table))
    entry = len(json.dumps(asdict(entry_of(n_tasks, splits.num_rows))))
    print(f"## Planning {n:,} shards of 1 GB for 1,000 cores\n")
    print("| what | measured | for a million shards |")
    print("|---|---:|---:|")
    in_memory = table.nbytes + planned.begins.nbytes
    print(f"| plan in the driver | {in_memory / 1e6:.1f} MB | {in_memory * million / 1e6:.0f} MB |")
    print(f"| Python objects at most, beside it | {peak / 1e6:.1f} MB | does not grow |")
    print(f"| manifest.parquet | {stored / 1e6:.1f} MB | {stored * million / 1e6:.0f} MB |")
    print(f"| shards to columns | {_s(columns_at - started)} | {_s((columns_at - started) * million)} |")
    print(f"| cutting | {_s(planned_at - columns_at)} | {_s((planned_at - columns_at) * million)} |")
    print(f"| numbering all waves | {_s(waves_at - planned_at)} | {_s((waves_at - planned_at) * million)} |")
    print(
        f"| one wave: {splits.num_rows:,} splits in {n_tasks:,} tasks | {_s(wave_at - waves_at)} | the same |"
    )
    print(f"| waves | {n_waves:,} | at most {plan.MOST_WAVES:,} |")
    print(
        f"| an entry of the ledger | {entry / 1e3:.0f} KB | {entry * n_waves * million / 1e6:.0f} MB in all |"
    )
    print()


def invented() -> Iterator[Shard]:
    """Shards of 1 GB without end."""
    number = 0
    while True:
        name = (
            f"1700000000000.{number % 100:02}/warc/CC-MAIN-20260412000000-20260412030000-{number:05}.warc.gz"
        )
        etag = f'"{hashlib.md5(name.encode(), usedforsecurity=False).hexdigest()}-125"'
        yield Shard(PREFIX + name, GB + number % 1000, "warc", f"crawl-data/{name}", etag=etag)
        number += 1


def entry_of(n_files: int, n_splits: int) -> Entry:
    """An entry as large as they get in a healthy run."""
    files = {f"wave-00042-part-{n:05}-{'0' * 36}-c000.zstd.parquet": 30 << 20 for n in range(n_files)}
    statuses = {"ok": 10**6, "http_status": 10**5, "empty": 10**5, "corrupt_record": 10}
    return Entry(42, files, n_splits, 512 * GB, Counts(10**6, 0, statuses, {}), 180.0, "2026-04-12T03:00:00")


def _s(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds < 100 else f"{seconds:.0f} s"


if __name__ == "__main__":
    main()
