"""The record of a run: what is counted from its rows, what it ran with, how long it took."""

import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

import victor_spark
from victor_spark import pipeline, tables
from victor_spark.archive.records import ReadOptions
from victor_spark.spark.limits import Limits

N_REASONS: Final = 200
"""At most so many different (status, reason) pairs are named; they are counted in `statuses` anyway."""

_LIBRARIES: Final = ("pyspark", "resiliparse", "fastwarc", "warcio", "pyarrow", "numpy", "tldextract")


@dataclass(frozen=True)
class Counts:
    """What the written rows say; a failed shard is a row without a record's offset."""

    n_rows: int = 0
    n_failed_shards: int = 0
    statuses: Mapping[str, int] = field(default_factory=dict)
    reasons: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @property
    def n_pages(self) -> int:
        """Rows that stand for a record."""
        return self.n_rows - self.n_failed_shards


def count(pages: DataFrame) -> Counts:
    """Counts rows by status and reason; from the rows themselves, as accumulators count retries twice."""
    failed = sf.sum(sf.col("warc_record_offset").isNull().cast("bigint"))
    by_status = pages.groupBy("status").agg(sf.count("*").alias("n"), failed.alias("n_failed")).collect()
    by_reason = pages.where("reason is not null").groupBy("status", "reason").count()
    reasons: dict[str, dict[str, int]] = {}
    for row in by_reason.orderBy(sf.desc("count"), "status", "reason").limit(N_REASONS).collect():
        reasons.setdefault(row["status"], {})[row["reason"]] = row["count"]
    return Counts(
        n_rows=sum(row["n"] for row in by_status),
        n_failed_shards=sum(row["n_failed"] for row in by_status),
        statuses={row["status"]: row["n"] for row in sorted(by_status, key=lambda row: -row["n"])},
        reasons=reasons,
    )


def config(
    *,
    settings: pipeline.Settings,
    reading: ReadOptions,
    blocks: bool,
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
