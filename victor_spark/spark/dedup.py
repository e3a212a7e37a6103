"""Duplicates among the pages of a finished run: clusters of pages, and the page of each that is kept.

    signed      hash of every page's text, with its buckets and its sketch (minhash.py)
    candidates  pairs of texts: in each bucket, every text with the bucket's smallest
    links       candidates whose similarity reaches the threshold
    duplicates  pages of clusters, which are connected components, with the page that is kept

A text is named by its hash, so a page that occurs many times is one text. The number of pairs grows with the
number of texts, never with its square. Each table is written before the next one is made.
"""

from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from threading import Thread
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as sf

from victor_spark import minhash, tables
from victor_spark.errors import OutputError
from victor_spark.logs import log, many
from victor_spark.spark import ledger, waves
from victor_spark.spark.failures import disk_errors
from victor_spark.spark.files import check_outside, new_folder, output_errors, remove_checksums
from victor_spark.spark.progress import progress_of_group
from victor_spark.spark.session import job, small_batches
from victor_spark.spark.status import complete_run
from victor_spark.words import words

_KEY: Final = ("warc_filename", "warc_record_offset")
_PAGE: Final = "id, url, warc_filename, warc_record_offset"
_SIGNED: Final = "text_hash binary, sketch binary, buckets array<bigint>"
_MARKS: Final = ("duplicate_cluster", "duplicate_of", "duplicate_similarity")
_BATCH_ROWS: Final = 200
_FEW_LINKS: Final = 100_000  # less than 100 megabytes in the driver
_LONGEST_WAIT: Final = 60.0  # seconds
_MAX_ROUNDS: Final = 100  # they grow with the logarithm of the largest cluster


@dataclass(frozen=True, kw_only=True)
class DedupRequest:
    """The options of `victor dedup`; `location` is the run's OUT, `target` where pages are written again."""

    location: str
    threshold: float
    shingle_words: int
    keep: str
    per_site: bool
    target: str | None
    drop: bool
    master: str | None


def run(request: DedupRequest) -> dict[str, int]:
    """Marks the duplicates and returns counts; an error leaves earlier results as they were."""
    return job("victor dedup", partial(_run_on_spark, request), master=request.master)


def _run_on_spark(request: DedupRequest, spark: SparkSession) -> dict[str, int]:
    with output_errors(request.location):
        files, pages = complete_run(request.location, spark)
        version = (ledger.stored(files, ledger.CONFIG) or {}).get("schema_version")
        if version != (ours := tables.PAGES_VERSION):
            line = f"pages have schema version {version}, not {ours}; clean them again"
            raise OutputError(f"{request.location}: {line}")
        if request.target:
            check_outside(request.target, request.location)
        folder = new_folder(request.target, spark) if request.target else nullcontext(("", ""))
        watched = progress_of_group(spark.sparkContext)
        full = disk_errors(files.location, "repeat the command")
        with full, ledger.claimed(files), watched, folder as (draft, _), small_batches(spark, _BATCH_ROWS):
            try:
                files.remove(ledger.DEDUP)
                duplicates, counts = _duplicates(pages, f"{files.location}/{ledger.DEDUP}", request)
                if request.target:
                    marks = duplicates.select(*_KEY, *_MARKS)
                    found = pages.join(marks, [*_KEY], "left").select(*pages.columns, *_MARKS)
                    waves.write(found.where("duplicate_of IS NULL") if request.drop else found, draft)
                remove_checksums(files, f"{ledger.DEDUP}/duplicates")
                files.remove("duplicates")
                files.move(f"{ledger.DEDUP}/duplicates", "duplicates")
                files.write(ledger.DUPLICATES, ledger.dumped({**asdict(request), **counts}))
            finally:
                files.remove(ledger.DEDUP)
    clusters = f"{many(counts['n_duplicates'], 'duplicate')} in {many(counts['n_clusters'], 'cluster')}"
    exact = f"{counts['n_exact']:,} with the same words"
    linked = f"{counts['n_indirect']:,} linked only through other pages"
    target = f", pages to {request.target}" if request.target else ""
    log(f"{clusters}: {exact}, {linked}; written to {request.location.rstrip('/')}/duplicates{target}")
    return counts


def _written(frame: DataFrame, location: str, **counts: str) -> tuple[DataFrame, dict[str, int]]:
    """The table after it was written and read back, which ends Spark's plan of it; counts of its rows."""
    seen, counts = Observation(), counts or {"n": "count(1)"}
    sums = [sf.expr(count).alias(name) for name, count in counts.items()]
    frame.observe(seen, *sums).write.mode("overwrite").option("compression", "zstd").parquet(location)
    reader = frame.sparkSession.read.schema(frame.schema)  # a schema that a job need not infer
    stored = reader.parquet(ledger.literal(location))
    found: list[dict[str, int]] = []  # stays empty if Spark's queue of events overflows
    waiting = Thread(target=lambda: found.append(seen.get), daemon=True)
    waiting.start()
    waiting.join(_LONGEST_WAIT)
    return stored, found[0] if found else stored.agg(*sums).collect()[0].asDict()


def _duplicates(pages: DataFrame, folder: str, request: DedupRequest) -> tuple[DataFrame, dict[str, int]]:
    """The table of duplicates, staged in a folder as all tables before it, and its counts."""
    ok = pages.where("text_hash IS NOT NULL").withColumn("text_hash", sf.unhex("text_hash"))
    sign = partial(_sign, n=request.shingle_words, rows=minhash.rows_of_band(request.threshold))
    signed, read = _written(ok.select("text_hash", "text").mapInArrow(sign, _SIGNED), f"{folder}/signed")
    log(f"{many(read['n'], 'page')} read")
    candidates, paired = _written(_candidates(signed), f"{folder}/candidates")
    log(f"{many(paired['n'], 'pair')} to compare")
    compared = candidates.selectExpr("explode(array(text_hash, other)) AS text_hash")
    by_text = signed.join(compared, "text_hash", "leftsemi").groupBy("text_hash")
    sketches, _ = _written(by_text.agg(sf.min("sketch").alias("sketch")), f"{folder}/sketches")
    links = _similarities(candidates, sketches).where(f"similarity >= {request.threshold}")
    links, linked = _written(links.select("text_hash", "other"), f"{folder}/links")
    log(f"{many(linked['n'], 'similar pair')}")
    clustered = _clustered(ok, _members(links, linked["n"], folder), request)
    clustered, of_clusters = _written(clustered, f"{folder}/clustered", n_clusters="count_if(is_first)")
    pairs = clustered.select("text_hash", "other").where("text_hash <> other").distinct()
    found = clustered.join(_similarities(pairs, sketches), ["text_hash", "other"], "left").selectExpr(
        *_PAGE.split(", "),
        "translate(hex(cluster), 'ABCDEF', 'abcdef') AS duplicate_cluster",
        "is_kept",
        "if(is_kept, NULL, kept) AS duplicate_of",
        "if(is_kept, NULL, coalesce(similarity, 1d)) AS duplicate_similarity",
    )
    found, counts = _written(
        found.sort("duplicate_cluster", *_KEY),
        f"{folder}/duplicates",
        n_duplicates="count(duplicate_of)",
        n_exact="count_if(duplicate_similarity = 1)",
        n_indirect=f"count_if(duplicate_similarity < {request.threshold})",
    )
    return found, {"n_pages": read["n"], **of_clusters, **counts}


def _sign(batches: Iterator[pa.RecordBatch], *, n: int, rows: int) -> Iterator[pa.RecordBatch]:
    """Texts as rows of `_SIGNED`."""
    for batch in batches:
        shingles = [minhash.shingles(words(text or ""), n) for text in batch["text"].to_pylist()]
        columns = {
            "text_hash": batch["text_hash"],
            "sketch": pa.array(map(minhash.sketch, shingles), pa.binary()),
            "buckets": pa.array((minhash.buckets(each, rows) for each in shingles), pa.list_(pa.int64())),
        }
        yield pa.RecordBatch.from_pydict(columns)


def _candidates(signed: DataFrame) -> DataFrame:
    """Pairs of texts that share a bucket; `other` is the smaller hash."""
    texts = signed.groupBy("text_hash").agg(sf.explode(sf.min("buckets")).alias("bucket"))
    pairs = texts.selectExpr("text_hash", "min(text_hash) OVER (PARTITION BY bucket) AS other")
    return pairs.where("text_hash <> other").distinct()


def _similarities(pairs: DataFrame, sketches: DataFrame) -> DataFrame:
    """The pairs with their similarity."""
    pairs = pairs.join(sketches, "text_hash").join(sketches.toDF("other", "other_sketch"), "other")
    return pairs.mapInArrow(_compare, "text_hash binary, other binary, similarity double")


def _compare(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        sketches = (batch[name].to_pylist() for name in ("sketch", "other_sketch"))
        found = pa.array(map(minhash.similarity, *sketches), pa.float64())
        columns = [batch["text_hash"], batch["other"], found]
        yield pa.RecordBatch.from_arrays(columns, ["text_hash", "other", "similarity"])


def _members(links: DataFrame, n: int, folder: str) -> DataFrame:
    """Every text of the `n` links, with the smallest text that it is connected with as its `cluster`.

    The driver unites few links; large-star and small-star operations (Kiveris et al. 2014) unite many.
    """
    if n <= _FEW_LINKS:
        united = _united((bytes(one), bytes(other)) for one, other in links.collect())
        return sf.broadcast(links.sparkSession.createDataFrame(united, "text_hash binary, cluster binary"))
    before, least = None, "min(other) OVER (PARTITION BY text_hash)"
    for number in range(_MAX_ROUNDS):
        both = links.selectExpr("stack(2, text_hash, other, other, text_hash) AS (text_hash, other)")
        large = both.selectExpr("text_hash", "other", f"least(text_hash, {least}) AS least")
        large = large.where("other > text_hash").selectExpr("other AS text_hash", "least AS other").distinct()
        small = large.selectExpr("text_hash", "other", f"{least} AS least")
        small = small.selectExpr("stack(2, text_hash, least, other, least) AS (text_hash, other)")
        small, hashed = small.where("text_hash <> other").distinct(), "bit_xor(xxhash64(text_hash, other))"
        links, after = _written(small, f"{folder}/round-{number}", n="count(1)", hashed=hashed)
        if after == before:
            pairs = "stack(2, text_hash, other, other, other) AS (text_hash, cluster)"
            return links.selectExpr(pairs).distinct()
        before = after
    raise OutputError(f"no clusters after {_MAX_ROUNDS} rounds")


def _united(links: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Every text with the smallest that it is connected with."""
    above: dict[bytes, bytes] = {}

    def root(text: bytes) -> bytes:
        while (upper := above.setdefault(text, text)) != text:
            above[text] = text = above[upper]
        return text

    for one, other in links:
        low, high = sorted((root(one), root(other)))
        above[high] = low
    return [(text, root(text)) for text in above]


def _clustered(pages: DataFrame, members: DataFrame, request: DedupRequest) -> DataFrame:
    """The pages of clusters with more than one page, `kept` for each of them, and its text as `other`."""
    site = "coalesce(url_host_registered_domain, url_host_name)" if request.per_site else "''"
    size = "length(text)" if request.keep == "longest" else "0"
    columns = (*_PAGE.split(", "), "text_hash", "fetch_time", f"{site} AS site", f"{size} AS size")
    order = f"size DESC, fetch_time NULLS LAST, {', '.join(_KEY)}"
    window = f"OVER (PARTITION BY cluster, site ORDER BY {order})"
    return (
        pages.selectExpr(*columns)
        .join(members, "text_hash", "left")
        .selectExpr("*", "count(1) OVER (PARTITION BY text_hash) AS n_same")
        .where("cluster IS NOT NULL OR n_same > 1")
        .withColumn("cluster", sf.coalesce("cluster", "text_hash"))
        .selectExpr("*", f"row_number() OVER (PARTITION BY cluster ORDER BY site, {order}) = 1 AS is_first")
        .selectExpr("*", f"first(struct({_PAGE})) {window} AS kept", f"first(text_hash) {window} AS other")
        .selectExpr("*", f"row_number() {window} = 1 AS is_kept")
    )
