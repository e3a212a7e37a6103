"""The figures of a run as gauges of Spark's metrics system: for its sinks and its Prometheus endpoint.

A gauge needs Java code. Spark has some that shows accumulators of the driver, which are set here.
"""

import threading
from collections.abc import Iterable
from typing import Any, Final

from pyspark import SparkContext

from victor_spark.errors import STATUSES
from victor_spark.spark.counts import Entry
from victor_spark.spark.rows import STAGES

_TOTALS: Final = ("waves", "pages", "bytes", "failed_shards")
_GROUPS: Final = {"statuses": STATUSES, "seconds": tuple(STAGES)}
_LOCK: Final = threading.Lock()
_MADE: Final[dict[str, dict[str, Any]]] = {}
"""Application → its gauges, by name: a name is registered once."""


def gauges(context: SparkContext, done: Iterable[Entry]) -> dict[str, Any]:
    """The gauges of a run, with the waves that are done; none where neither Spark's UI nor a sink is on."""
    conf: Any = context.getConf()
    has_sink = any(name.startswith("spark.metrics.conf") for name, _ in conf.getAll())
    if conf.get("spark.ui.enabled", "true") != "true" and not has_sink:
        return {}
    names = [*_TOTALS, *(f"{group}.{name}" for group, names in _GROUPS.items() for name in names)]
    java: Any = context._jsc.sc()
    jvm: Any = context._jvm
    if (made := _MADE.get(context.applicationId)) is None:
        made = _MADE[context.applicationId] = {name: java.doubleAccumulator(name) for name in names}
        by_name = jvm.java.util.HashMap()
        for name, gauge in made.items():
            by_name.put(f"victor.{name}", gauge)
        scala = jvm.org.apache.spark.api.python.PythonUtils.toScalaMap(by_name)
        source = getattr(jvm.org.apache.spark.metrics.source, "DoubleAccumulatorSource$")  # Scala's object
        getattr(source, "MODULE$").register(java, scala)
    for gauge in made.values():
        gauge.reset()
    for entry in done:
        add(made, entry)
    return made


def add(made: dict[str, Any], entry: Entry) -> None:
    """Adds a wave that is done."""
    counts = entry.counts
    totals = (1, counts.n_pages, entry.n_bytes, len(counts.failed_shards))
    groups = {"statuses": counts.page_statuses, "seconds": entry.stages}
    values: dict[str, float] = dict(zip(_TOTALS, totals, strict=True))
    values |= {f"{group}.{name}": n for group, found in groups.items() for name, n in found.items()}
    with _LOCK:
        for name, value in values.items() if made else ():
            made[name].add(float(value))  # py4j finds no method for an int
