"""The record of a run: what is counted from its rows, what it ran with, how long it took."""

import platform
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

import victor_spark
from victor_spark import pipeline, tables
from victor_spark.spark.limits import Limits
from victor_spark.warc.shard import ReadOptions

N_REASONS: Final = 200
"""At most so many different (status, reason) pairs are named; they are counted in `statuses` anyway."""

N_FAILED_SHARDS: Final = 10_000
"""At most so many shards of a wave are named that couldn't be read."""

N_SITES: Final = 50
UNKNOWN: Final = "unknown"

_LIBRARIES: Final = ("pyspark", "resiliparse", "fastwarc", "warcio", "pyarrow", "numpy", "tldextract")


@dataclass(frozen=True)
class Counts:
    """What the written rows say.

    A row without a record's offset is a failure: a shard, or a range of one, that couldn't be read (on).
    `failed_shards` says why, by shard. Of pages that are ok: `languages`; `sites`, the `N_SITES` hosts with
    most of them (of several waves or tasks together: those that were near the top in one); `lengths`, by the
    largest power of two that the text's characters reach.
    """

    n_rows: int = 0
    n_failures: int = 0
    statuses: Mapping[str, int] = field(default_factory=dict)
    reasons: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    failed_shards: Mapping[str, str] = field(default_factory=dict)
    languages: Mapping[str, int] = field(default_factory=dict)
    sites: Mapping[str, int] = field(default_factory=dict)
    lengths: Mapping[str, int] = field(default_factory=dict)

    @property
    def n_pages(self) -> int:
        """Rows that stand for a record."""
        return self.n_rows - self.n_failures

    @property
    def page_statuses(self) -> dict[str, int]:
        """The statuses of pages, without the rows of shards that failed; they add up to `n_pages`."""
        n_errors = self.statuses.get("error", 0) - self.n_failures
        return {status: n for status, n in {**self.statuses, "error": n_errors}.items() if n}


def counts_of(run: Mapping[str, Any]) -> Counts:
    """The rows by status, as a run.json has them."""
    return Counts(run["n_rows"], run["n_rows"] - run["n_pages"], run["statuses"], run["reasons"])


def count(pages: DataFrame) -> Counts:
    """Counts rows by status and reason; from the rows themselves, as accumulators count retries twice."""
    failed = sf.col("warc_record_offset").isNull()
    n_failed = sf.sum(failed.cast("bigint")).alias("n_failed")
    length = sf.floor(sf.log2(sf.length("text"))).alias("length")
    by_kind = pages.groupBy("status", "language", length).agg(sf.count("*").alias("n"), n_failed).collect()
    n_failures = sum(row["n_failed"] for row in by_kind)
    ok = [row for row in by_kind if row["status"] == "ok"]
    by_site = pages.where("status = 'ok' and url_host_name is not null").groupBy("url_host_name").count()
    sites = by_site.orderBy(sf.desc("count"), "url_host_name").limit(N_SITES).collect()
    by_reason = pages.where("reason is not null").groupBy("status", "reason").count()
    reasons: dict[str, dict[str, int]] = {}
    for row in by_reason.orderBy(sf.desc("count"), "status", "reason").limit(N_REASONS).collect():
        reasons.setdefault(row["status"], {})[row["reason"]] = row["count"]
    return Counts(
        n_rows=sum(row["n"] for row in by_kind),
        n_failures=n_failures,
        statuses=_summed((row["status"], row["n"]) for row in by_kind),
        reasons=reasons,
        failed_shards=_failed_shards(pages.where(failed)) if n_failures else {},
        languages=_summed((row["language"] or UNKNOWN, row["n"]) for row in ok),
        sites={row["url_host_name"]: row["count"] for row in sites},
        lengths=_summed((str(2 ** row["length"]), row["n"]) for row in ok if row["length"] is not None),
    )


def _summed(counts: Iterable[tuple[str, int]]) -> dict[str, int]:
    sums = Counter[str]()
    for name, n in counts:
        sums[name] += n
    return _largest_first(sums)


def _failed_shards(failures: DataFrame) -> dict[str, str]:
    reason = sf.min("reason").alias("reason")
    by_shard = failures.groupBy("warc_filename").agg(reason).orderBy("warc_filename")
    return {row["warc_filename"]: row["reason"] for row in by_shard.limit(N_FAILED_SHARDS).collect()}


def total(parts: Iterable[Counts]) -> Counts:
    """The counts of several waves together; a shard that failed in two of them is one."""
    statuses, reasons = Counter[str](), dict[str, Counter[str]]()
    languages, sites, lengths = Counter[str](), Counter[str](), Counter[str]()
    failed_shards: dict[str, str] = {}
    n_rows = n_failures = 0
    for part in parts:
        n_rows += part.n_rows
        n_failures += part.n_failures
        statuses.update(part.statuses)
        failed_shards.update(part.failed_shards)
        languages.update(part.languages)
        sites.update(part.sites)
        lengths.update(part.lengths)
        for status, counts in part.reasons.items():
            reasons.setdefault(status, Counter()).update(counts)
    named = {status: dict(counts.most_common(N_REASONS)) for status, counts in sorted(reasons.items())}
    return Counts(
        n_rows=n_rows,
        n_failures=n_failures,
        statuses=_largest_first(statuses),
        reasons=named,
        failed_shards=failed_shards,
        languages=_largest_first(languages),
        sites=dict(list(_largest_first(sites).items())[:N_SITES]),
        lengths=_largest_first(lengths),
    )


def _largest_first(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))


def config(
    *,
    settings: pipeline.Settings,
    reading: ReadOptions,
    blocks: bool,
    html: bool,
    partition_by: str | None,
    limits: Limits,
    models: Mapping[str, str],
    inputs: Mapping[str, Any],
) -> dict[str, Any]:
    """Everything that decides a run's rows, ready for JSON; two runs with equal ones write equal rows."""
    cleaning = _plain(asdict(settings))
    for path in ("model", "lid_model", "templates"):  # where they lie; what they are stands in `models`
        cleaning.pop(path)
    return {
        "victor_spark": victor_spark.__version__,
        "schema_version": tables.PAGES_VERSION,
        "cleaning": cleaning,
        "reading": _plain(asdict(reading)),
        "blocks": blocks,
        "html": html,
        "partition_by": partition_by,
        "limits": _plain(asdict(limits)),
        "models": dict(models),
        "inputs": dict(inputs),
    }


def versions() -> dict[str, str]:
    """Of us, Python and the libraries that decide what comes out."""
    ours = {"victor-spark": victor_spark.__version__, "python": platform.python_version()}
    return {**ours, **{name: installed(name) for name in _LIBRARIES}}


def installed(name: str) -> str:
    """The version of an installed package."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return list(value) if isinstance(value, tuple | set | frozenset) else value
