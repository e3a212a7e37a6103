"""The Spark session of a run: spark-submit's where there is one, otherwise one of our own."""

import os
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from pyspark import SparkConf, SparkContext
from pyspark.errors import PythonException
from pyspark.sql import SparkSession

from victor_spark import resources
from victor_spark.errors import ConfigurationError, UsageError
from victor_spark.spark.java import ensure_java_home

# Needed for right rows, whoever made the session.
_ALWAYS: Final = {
    "spark.sql.session.timeZone": "UTC",
    # Not the old INT96, which other readers take for a time without a zone.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
}
# Set only where nobody else did.
_LOCAL_UNLESS_SET: Final = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
}
QUICK: Final = "-XX:TieredStopAtLevel=1"
"""Without the second compiler, which takes half of the processor time that Java starts in: it is for programs
that compute, and ours moves paths. Another level that comes later on the command line wins."""

SMALL: Final = "-XX:+UseSerialGC"
"""A heap of a few tens of megabytes needs no threads that collect it beside the pages."""

_UNLESS_SET: Final = {
    # A wave's pages are counted while others are cleaned, not behind all their tasks (a pool is FIFO within).
    "spark.scheduler.mode": "FAIR",
    # The driver keeps so much of what is over, with a UI or without. By Spark's defaults (100,000 tasks,
    # 1,000 plans) it would grow through some hundred waves.
    "spark.ui.retainedTasks": "10000",
    "spark.ui.retainedJobs": "200",
    "spark.ui.retainedStages": "200",
    "spark.sql.ui.retainedExecutions": "50",
}
_JAVA_OPTIONS: Final = ("spark.executor.extraJavaOptions", "spark.executor.defaultJavaOptions")
_LACKING: Final = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
_UNNAMED: Final = frozenset({None, "pyspark-shell", "clean.py"})


@contextmanager
def session(*, master: str | None = None) -> Iterator[SparkSession]:
    """Yields the active session, or builds one and stops it at the end.

    `master` None leaves the choice to spark-submit or spark-defaults.conf, and to local[*] without them.
    ConfigurationError if a task finds that its Python lacks a package.
    """
    ours = SparkContext._active_spark_context is None
    spark = _build(master) if ours else SparkSession.builder.getOrCreate()
    for key, value in _ALWAYS.items():
        spark.conf.set(key, value)
    try:
        yield spark
    except PythonException as error:
        if lacking := _LACKING.search(str(error)):
            raise ConfigurationError(_lacks(lacking[1])) from error
        raise
    finally:
        if ours:
            spark.stop()


def _lacks(module: str) -> str:
    return (
        f"the executors' Python has no {module}: install victor-spark there, name another Python "
        "(--conf spark.pyspark.python=...), or send it along (victor package, docs/deploy.md)"
    )


def _build(master: str | None) -> SparkSession:
    _start_java()
    configured = SparkConf()
    # Spark asks the environment, and would run whatever python3 is on the workers' PATH.
    os.environ.setdefault("PYSPARK_PYTHON", configured.get("spark.pyspark.python") or sys.executable)
    chosen = master or configured.get("spark.master") or "local[*]"
    builder = SparkSession.builder.config("spark.ui.showConsoleProgress", "false")  # progress.py has its own
    if master is not None:
        builder = builder.master(master)
    if configured.get("spark.app.name") in _UNNAMED:
        builder = builder.appName("victor")
    for key, value in _defaults(chosen, configured).items():
        builder = builder.config(key, value)
    try:
        return builder.getOrCreate()
    except Exception as error:
        if "Could not parse Master URL" in str(error):
            raise UsageError(f"--master {chosen}: not a Spark master") from error
        raise


def _defaults(master: str, configured: SparkConf) -> dict[str, str]:
    """What we set as nobody else did."""
    local = _LOCAL_UNLESS_SET if master.startswith("local") else {}
    defaults = {key: value for key, value in {**_UNLESS_SET, **local}.items() if configured.get(key) is None}
    if not any(configured.get(key) for key in _JAVA_OPTIONS):  # two collectors at once, and Java won't start
        defaults["spark.executor.extraJavaOptions"] = f"{QUICK} {SMALL}"
    return defaults


def _start_java() -> None:
    """Starts the JVM, quick and quiet, unless spark-submit did; the configuration is known once it runs."""
    if "PYSPARK_GATEWAY_PORT" not in os.environ:
        ensure_java_home()
        options = os.environ.get("SPARK_SUBMIT_OPTS", "")
        ours = [QUICK]  # no collector: one in spark-defaults.conf would be a second
        if "log4j" not in options and (logging := _logging_configuration()):
            ours.append(f"-Dlog4j2.configurationFile={shlex.quote(logging.as_uri())}")
        os.environ["SPARK_SUBMIT_OPTS"] = " ".join([*ours, options]).strip()
    SparkContext._ensure_initialized()


def _logging_configuration() -> Path | None:
    try:
        path = resources.directory("conf") / "log4j2.properties"
    except ConfigurationError:
        return None
    return path if path.is_file() else None
