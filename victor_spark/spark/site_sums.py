"""What the pages of each site have in common, summed up over a crawl, for the second pass of `--by-site`.

The text of pages stays where it is. Only sums travel: of each file of judged pages and each key of a site
(its layouts, its texts) one row, to where the rows of that key meet. Back to the file goes what the whole
crawl knows of the keys that it has. So no task holds a site, and a site with half of all pages has as many
rows as it has keys in each file.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Final
from uuid import uuid4

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as sf

from victor_spark import tables
from victor_spark.sites import evidence
from victor_spark.sites.evidence import Contributions
from victor_spark.spark import judged, manifest, output, plan
from victor_spark.spark.deciding import KEYED, OF_SITE, SUMS, stem
from victor_spark.spark.files import Files, HadoopFiles
from victor_spark.spark.progress import Tally, progress
from victor_spark.spark.tasks import REPORT_DDL, Target, write_partition
from victor_spark.warc.shard import Shard

KNOWN: Final = "known.json"
_N_WAITING: Final = 1 << 20
"""Rows that a task sums up before it sends them."""


def judged_files(files: Files, sizes: Mapping[str, int]) -> pa.Table:
    """Files of judged pages as shards (columns of `manifest.SHARDS`)."""
    folder = files.location.removeprefix("file://")
    paths = sorted(sizes)
    return manifest.of_shards(
        Shard(f"{folder}/{output.PAGES}/{name}", sizes[name], "judged") for name in paths
    )


def gather(spark: SparkSession, files: Files, sizes: Mapping[str, int], group: str) -> str:
    """The folder, below `files`, with the sums for each of these files of judged pages; made if missing."""
    found = output.stored(files, KNOWN)
    if found and found["files"] == sorted(sizes):
        return str(found["folder"])
    for name in files.names() or []:
        if name.startswith("known-"):
            files.remove(name)
    folder, context = f"known-{uuid4()}", spark.sparkContext
    n_tasks = max(min(len(sizes), context.defaultParallelism * plan.TASKS_PER_CORE), 1)
    context.addJobTag(group)
    tally = Tally(1)
    tally.begin(group, weight=1, n_tasks=2 * n_tasks)
    context.setJobGroup(group, "victor clean, sums of sites", interruptOnCancel=True)
    with progress(context, tally):
        _write(spark, files, folder, judged_files(files, sizes), n_tasks)
    files.write(KNOWN, output.dumped({"folder": folder, "files": sorted(sizes)}))
    return folder


def _write(spark: SparkSession, files: Files, folder: str, shards: pa.Table, n_tasks: int) -> None:
    of_files = plan.frame(spark, shards, n=n_tasks).mapInArrow(sums_partition, tables.ddl(SUMS))
    rows = totals(of_files).repartition(n_tasks, "file").sortWithinPartitions("file", *KEYED)
    if isinstance(files, HadoopFiles):  # reached by Spark alone
        rows.write.partitionBy("file").option("compression", "zstd").parquet(f"{files.location}/{folder}")
    else:
        target = Target(f"{files.location}/{folder}", SUMS, "file", is_sorted=True)
        rows.mapInArrow(partial(write_partition, target=target), REPORT_DDL).collect()


def totals(rows: DataFrame) -> DataFrame:
    """The same rows with the sums over the whole crawl, without keys that only one page has."""
    same = Window.partitionBy(*KEYED)
    summed = [sf.sum(name).over(same).alias(name) for name in evidence.SUMS]
    return rows.select("file", *KEYED, *summed).where(f"{evidence.SUMS[0]} > 1")


def sums_partition(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Batches of files of judged pages → batches of SUMS."""
    for batch in batches:
        for row in batch.to_pylist():
            yield from _of_file(manifest.shard(row))


def _of_file(shard: Shard) -> Iterator[pa.RecordBatch]:
    sites: dict[str, list[Contributions]] = {}
    n_waiting = 0
    for row in judged.stored(shard, text=False):
        if row["judged"] is None or row["site"] is None:
            continue
        page = judged.page(row)
        found = evidence.contributions(page.page.blocks, page.scores.probabilities)
        sites.setdefault(row["site"], []).append(found)
        n_waiting += len(found)
        if n_waiting > _N_WAITING:
            yield _summed(shard, sites)
            sites, n_waiting = {}, 0
    if sites:
        yield _summed(shard, sites)


def _summed(shard: Shard, sites: dict[str, list[Contributions]]) -> pa.RecordBatch:
    """One row for each key of each site."""
    parts = [evidence.added([*pages, _of_site(len(pages))]) for pages in sites.values()]
    names = pa.array(sites, pa.string()).take(pa.array(np.repeat(np.arange(len(parts)), [*map(len, parts)])))
    key = np.concatenate([part.key for part in parts])
    sums = np.concatenate([part.sums for part in parts], axis=1)
    file = pa.repeat(pa.scalar(stem(shard.path)), len(key))
    columns = [file, names, pa.array(key.view(np.int64)), *map(pa.array, sums)]
    return pa.RecordBatch.from_arrays(columns, schema=SUMS)


def _of_site(n_pages: int) -> Contributions:
    """The row that counts a site's pages."""
    return Contributions(np.array([OF_SITE], np.int64).view(np.uint64), np.array([[n_pages], [0]]))
