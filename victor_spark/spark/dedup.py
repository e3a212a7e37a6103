"""Duplicates among the pages of a finished run: clusters of pages, and the page of each that is kept.

    signed      pages with the hash of their text, buckets and sketch (minhash.py)
    candidates  pairs of texts: in each bucket, every text with the bucket's smallest and with its neighbour
    links       candidates whose similarity reaches the threshold
    members     texts of links with their cluster, a connected component, named by its smallest text
    duplicates  pages of clusters with more than one page

A text is named by its hash, so a page that occurs many times is one text. The number of pairs grows with the
number of texts, never with its square. Each table is written before the next one is made.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Final
from uuid import uuid4

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from victor_spark import tables
from victor_spark.errors import OutputError
from victor_spark.spark import minhash, output
from victor_spark.spark.files import CloudFiles, Files, open_files, output_errors
from victor_spark.spark.progress import log, many
from victor_spark.spark.session import check_master, interruptible, session
from victor_spark.spark.status import status
from victor_spark.spark.waves import literal
from victor_spark.words import words

_STAGED: Final = "_run/dedup"
_KEY: Final = ("warc_filename", "warc_record_offset")
_PAGE: Final = ("id", "url", *_KEY)
_TEXT_HASH: Final = r"unhex(md5(lower(trim(regexp_replace(text, '\\s+', ' ')))))"
_SIGNED: Final = "text_hash binary, sketch binary, buckets array<struct<bucket: bigint, place: bigint>>"
_ENDS: Final = "text_hash, kept.text_hash"
_BATCH_PAGES: Final = "200"  # by Spark's default, 10,000 pages are in a worker's memory
_MAX_ROUNDS: Final = 100  # they grow with the logarithm of the largest cluster


@dataclass(frozen=True, kw_only=True)
class DedupRequest:
    """The options of `victor dedup`; `location` is the run's OUT, `target` where pages are written again."""

    location: str
    threshold: float = 0.8
    shingle_words: int = 5
    keep: str = "first"
    per_site: bool | None = None
    target: str | None = None
    drop: bool | None = None
    master: str | None = None


def run(request: DedupRequest) -> dict[str, Any]:
    """Marks the duplicates, and returns options and counts; an error leaves earlier results as they were."""
    check_master(request.master)
    group = f"victor dedup {uuid4()}"
    return interruptible(partial(_run_on_spark, request, group), group=group)


def _run_on_spark(request: DedupRequest, group: str) -> dict[str, Any]:
    with session(master=request.master) as spark, output_errors(request.location):
        spark.sparkContext.setJobGroup(group, "victor dedup", interruptOnCancel=True)
        files = open_files(request.location, spark)
        pages = _pages(spark, files, request.location)
        folder, slash, name = (request.target or request.location).rstrip("/").rpartition("/")
        beside, draft = open_files(folder or slash or ".", spark), f".{name}.dedup"
        names = beside.names()
        if request.target and (names is None or name in names):
            raise OutputError(f"{request.target}: exists, or cannot be made; choose another --output")
        batch = "spark.sql.execution.arrow.maxRecordsPerBatch"
        before = str(spark.conf.get(batch))
        spark.conf.set(batch, _BATCH_PAGES)
        with output.claimed(files):
            try:
                files.remove(_STAGED)
                duplicates, found = _duplicates(pages, f"{files.location}/{_STAGED}", request)
                if request.target:
                    _written(_with_marks(pages, duplicates, drop=request.drop), f"{beside.location}/{draft}")
                files.remove("duplicates")
                files.move(f"{_STAGED}/duplicates", "duplicates")
                files.write("_run/duplicates.json", output.dumped({**asdict(request), **found}))
                if request.target:
                    beside.move(draft, name)
                clusters, equal = many(found["n_clusters"], "cluster"), f"{found['n_exact']:,} of equal words"
                indirect = f"{found['n_indirect']:,} similar only to others in their cluster"
                log(f"{many(found['n_duplicates'], 'duplicate')} in {clusters}: {equal}, {indirect}")
            finally:
                spark.conf.set(batch, before)
                files.remove(_STAGED)
                beside.remove(draft)
    return found


def _pages(spark: SparkSession, files: Files, location: str) -> DataFrame:
    """The pages table of a complete run; OutputError if there is none that this version can read."""
    if isinstance(files, CloudFiles):
        raise OutputError(
            f"{location}: Spark reads there only with a jar such as hadoop-aws (docs/running.md)"
        )
    if not status(location)["complete"]:
        raise OutputError(f"{location}: the run is incomplete; the same `victor clean` command resumes it")
    version = (output.stored(files, output.CONFIG) or {}).get("schema_version")
    if version != tables.PAGES_VERSION:
        ours = f"{version}, not {tables.PAGES_VERSION}"
        raise OutputError(f"{location}: the schema of pages has version {ours}; clean them again")
    return spark.read.parquet(literal(f"{files.location}/{output.PAGES}"))


def _written(frame: DataFrame, location: str) -> DataFrame:
    """The same table, written and read back, so that its plan ends there."""
    frame.write.mode("overwrite").option("compression", "zstd").parquet(location)
    return frame.sparkSession.read.parquet(literal(location))


def _duplicates(pages: DataFrame, folder: str, request: DedupRequest) -> tuple[DataFrame, dict[str, int]]:
    """The table of duplicates, staged in a folder as all tables before it, and its counts."""
    ok = pages.where("status = 'ok'").withColumn("text_hash", sf.expr(_TEXT_HASH))
    sign = partial(_sign, n=request.shingle_words, rows=minhash.rows_of_band(request.threshold))
    signed = _written(ok.select("text_hash", "text").mapInArrow(sign, _SIGNED), f"{folder}/signed")
    log(f"{many(n_pages := signed.count(), 'page')} read")
    candidates = _written(_candidates(signed), f"{folder}/candidates")
    log(f"{many(candidates.count(), 'pair')} to compare")
    compared = candidates.selectExpr("explode(array(low, high)) AS text_hash").distinct()
    sketches = signed.select("text_hash", "sketch").join(compared, "text_hash", "leftsemi")
    sketches = _written(
        sketches.groupBy("text_hash").agg(sf.min("sketch").alias("sketch")), f"{folder}/sketches"
    )
    links = _similarities(candidates, sketches).where(f"similarity >= {request.threshold}")
    links = _written(links.select("low", "high"), f"{folder}/links")
    log(f"{many(links.count(), 'similar pair')}")
    clustered = _clustered(ok, _members(links, folder), request)
    pairs = clustered.where("low <> high").select("low", "high").distinct()
    duplicates = clustered.join(_similarities(pairs, sketches), ["low", "high"], "left").selectExpr(
        *_PAGE,
        "hex(cluster) AS duplicate_cluster",
        "is_kept",
        f"if(is_kept, NULL, struct({', '.join(f'kept.{name}' for name in _PAGE)})) AS duplicate_of",
        "if(is_kept, NULL, coalesce(similarity, 1d)) AS duplicate_similarity",
    )
    duplicates = _written(duplicates.sort("duplicate_cluster", *_KEY), f"{folder}/duplicates")
    counts = duplicates.selectExpr(
        f"{n_pages} AS n_pages",
        "count(DISTINCT duplicate_cluster) AS n_clusters",
        "count(duplicate_of) AS n_duplicates",
        "count_if(duplicate_similarity = 1) AS n_exact",
        f"count_if(duplicate_similarity < {request.threshold}) AS n_indirect",
    ).collect()[0]
    return duplicates, counts.asDict()


def _sign(batches: Iterator[pa.RecordBatch], *, n: int, rows: int) -> Iterator[pa.RecordBatch]:
    """Texts as rows of `_SIGNED`."""
    for batch in batches:
        shingles = [minhash.shingles(words(text or ""), n) for text in batch["text"].to_pylist()]
        buckets = [minhash.buckets(hashes, rows) for hashes in shingles]
        bucket, place = np.ascontiguousarray(np.concatenate(buckets).T)
        found = pa.StructArray.from_arrays([bucket, place], ["bucket", "place"])
        columns = {
            "text_hash": batch["text_hash"],
            "sketch": pa.array(map(minhash.sketch, shingles), pa.binary()),
            "buckets": pa.ListArray.from_arrays(np.cumsum([0, *map(len, buckets)], dtype=np.int32), found),
        }
        yield pa.RecordBatch.from_pydict(columns)


def _candidates(signed: DataFrame) -> DataFrame:
    """Pairs of texts that share a bucket, the smaller hash as `low`."""
    texts = signed.groupBy("text_hash").agg(sf.min("buckets").alias("buckets"))
    pairs = texts.selectExpr("text_hash", "inline(buckets)").selectExpr(
        "text_hash",
        "min(text_hash) OVER (PARTITION BY bucket) AS smallest",
        "lag(text_hash) OVER (PARTITION BY bucket ORDER BY place, text_hash) AS neighbour",
    )
    pairs = pairs.selectExpr("text_hash", "explode(array(smallest, neighbour)) AS other")
    ends = ("least(text_hash, other) AS low", "greatest(text_hash, other) AS high")
    return pairs.where("text_hash <> other").selectExpr(*ends).distinct()


def _similarities(pairs: DataFrame, sketches: DataFrame) -> DataFrame:
    """The pairs with their similarity."""
    for name in ("low", "high"):
        pairs = pairs.join(sketches.selectExpr(f"text_hash AS {name}", f"sketch AS {name}_sketch"), name)
    return pairs.mapInArrow(_compare, "low binary, high binary, similarity double")


def _compare(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        sketches = zip(batch["low_sketch"].to_pylist(), batch["high_sketch"].to_pylist(), strict=True)
        found = pa.array([minhash.similarity(*pair) for pair in sketches], pa.float64())
        yield pa.RecordBatch.from_pydict({"low": batch["low"], "high": batch["high"], "similarity": found})


def _members(links: DataFrame, folder: str) -> DataFrame:
    """Every text of the links, with the smallest text that it is connected with as its `cluster`.

    Alternates the large-star and small-star operations (Kiveris et al. 2014) until nothing changes.
    """
    before, least = None, "min(low) OVER (PARTITION BY high)"
    for number in range(_MAX_ROUNDS):
        both = links.selectExpr("stack(2, high, low, low, high) AS (high, low)")
        large = both.selectExpr("high", "low", f"least(high, {least}) AS least").where("low > high")
        large = large.selectExpr("low AS high", "least AS low").distinct()
        small = large.selectExpr("high", "low", f"{least} AS least")
        small = small.selectExpr("stack(2, high, least, low, least) AS (high, low)")
        links = _written(small.where("high <> low").distinct(), f"{folder}/round-{number}")
        after = links.selectExpr("count(1)", "bit_xor(xxhash64(high, low))").first()
        if after == before:
            pairs = "stack(2, high, low, low, low) AS (text_hash, cluster)"
            return links.selectExpr(pairs).distinct()
        before = after
    raise OutputError(f"no clusters after {_MAX_ROUNDS} rounds")


def _clustered(pages: DataFrame, members: DataFrame, request: DedupRequest) -> DataFrame:
    """The pages of clusters with more than one page; `kept` is the page that is kept for each.

    `low` and `high` are the texts of the two.
    """
    site = "coalesce(url_host_registered_domain, url_host_name)" if request.per_site else "''"
    size = "length(text)" if request.keep == "longest" else "0"
    pages = pages.selectExpr(*_PAGE, "text_hash", "fetch_time", f"{site} AS site", f"{size} AS size")
    order = f"size DESC, fetch_time NULLS LAST, {', '.join(_KEY)}"
    window = f"OVER (PARTITION BY cluster, site ORDER BY {order})"
    return (
        pages.join(members, "text_hash", "left")
        .selectExpr("*", "count(1) OVER (PARTITION BY text_hash) AS n_same")
        .where("cluster IS NOT NULL OR n_same > 1")
        .withColumn("cluster", sf.coalesce("cluster", "text_hash"))
        .selectExpr("*", f"first(struct({', '.join(_PAGE)}, text_hash)) {window} AS kept")
        .selectExpr(
            "*",
            f"row_number() {window} = 1 AS is_kept",
            f"least({_ENDS}) AS low",
            f"greatest({_ENDS}) AS high",
        )
    )


def _with_marks(pages: DataFrame, duplicates: DataFrame, *, drop: bool | None) -> DataFrame:
    """The pages table with the columns of duplicates, or without the pages that aren't kept."""
    marks = ("duplicate_cluster", "duplicate_of", "duplicate_similarity")
    found = pages.join(duplicates.select(*_KEY, *marks), [*_KEY], "left").select(*pages.columns, *marks)
    found = found.withMetadata(tables.VERSION_COLUMN, {tables.VERSION_KEY: tables.PAGES_VERSION})
    return found.where("duplicate_of IS NULL") if drop else found
