"""The figures of a run as gauges of Spark's metrics system: for its sinks and its Prometheus endpoint.

A gauge needs Java code. Spark has some that shows accumulators of the driver, which are set here.
"""

from collections.abc import Iterable
from typing import Any, Final

from pyspark import SparkContext

from victor_spark.errors import STATUSES
from victor_spark.spark.counts import Counts, Entry
from victor_spark.spark.rows import STAGES

_MADE: Final[dict[str, dict[str, Any]]] = {}
"""Application → its gauges, by name: a name is registered once."""


def gauges(context: SparkContext, done: Iterable[Entry]) -> dict[str, Any]:
    """The gauges of a run, with the waves that are done; none where neither Spark's UI nor a sink is on."""
    options, java, jvm = dict(context.getConf().getAll()), context._jsc.sc(), context._jvm
    if options.get("spark.ui.enabled") == "false" and "spark.metrics.conf" not in str(options):
        return {}
    made = _MADE.get(context.applicationId)
    if made is None:
        made = {name: java.doubleAccumulator(name) for name in _figures(Entry(0, {}, 0, 0, Counts()))}
        named = {f"victor.{name}": gauge for name, gauge in made.items()}
        source: Any = getattr(jvm.org.apache.spark.metrics.source, "DoubleAccumulatorSource$")  # type: ignore[union-attr]
        to_scala: Any = jvm.org.apache.spark.api.python.PythonUtils.toScalaMap  # type: ignore[union-attr]
        getattr(source, "MODULE$").register(java, to_scala(named))
        _MADE[context.applicationId] = made
    for gauge in made.values():
        gauge.reset()
    for entry in done:
        add(made, entry)
    return made


def add(made: dict[str, Any], entry: Entry) -> None:
    """Adds a wave that is done."""
    for name, value in _figures(entry).items() if made else ():
        made[name].add(float(value))  # py4j finds no method for an int


def _figures(entry: Entry) -> dict[str, float]:
    counts, statuses, stages = entry.counts, entry.counts.page_statuses, entry.stages
    totals = {"pages": counts.n_pages, "bytes": entry.n_bytes, "failed_shards": len(counts.failed_shards)}
    by_status = {f"statuses.{status}": statuses.get(status, 0) for status in STATUSES}
    return {"waves": 1, **totals, **by_status} | {f"seconds.{one}": stages.get(one, 0) for one in STAGES}
