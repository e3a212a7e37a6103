"""The Spark session of a run: that of spark-submit, or one of our own; an interrupt cancels its jobs."""

import os
import re
import shlex
import site
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager, suppress
from importlib.metadata import distributions
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit
from urllib.request import getproxies
from uuid import uuid4

from py4j.protocol import Py4JError
from pyspark import InheritableThread, SparkConf, SparkContext
from pyspark.errors import PySparkRuntimeError, PythonException
from pyspark.sql import SparkSession

from victor_spark import resources
from victor_spark.errors import ConfigurationError, UsageError
from victor_spark.spark.java import check_classic, check_versions, ensure_java_home, missing

# Needed for right rows, also in a session that spark-submit made.
_ALWAYS: Final = {
    "spark.sql.session.timeZone": "UTC",
    # Not the old INT96, which other readers take for a time without a zone.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
}
QUICK: Final = "-XX:TieredStopAtLevel=1"
"""Disables Java's second compiler, which takes half of the processor time of Java's start: it speeds up long
computations, and ours are in Python. Another level that comes later on the command line wins."""

SMALL: Final = "-XX:+UseSerialGC"
"""One thread collects a heap of some tens of megabytes; more would take time from the pages."""

# Set where the configuration has no value.
_UNLESS_SET: Final = {
    # A wave's pages are counted while others are cleaned, not behind all their tasks (a pool is FIFO within).
    "spark.scheduler.mode": "FAIR",
    # How much the driver keeps of finished work, with a UI or without. With Spark's defaults (100,000 tasks,
    # 1,000 plans) its memory would grow for some hundred waves.
    "spark.ui.retainedTasks": "10000",
    "spark.ui.retainedJobs": "200",
    "spark.ui.retainedStages": "200",
    "spark.sql.ui.retainedExecutions": "50",
    # With it, Spark would start a second set of Python workers: one for plans of SQL, one for RDDs.
    "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled": "false",
    # The pages table has more columns than the default of 25; Spark would warn that it shortens a plan.
    "spark.sql.debug.maxToStringFields": "200",
}
_SHUFFLED_PER_CORE: Final = 8
"""Partitions of a shuffle in local mode; the default of 200 costs a small crawl more than its pages do."""

_JAVA_OPTIONS: Final = ("spark.executor.extraJavaOptions", "spark.executor.defaultJavaOptions")
_LACKING: Final = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
_MASTER: Final = re.compile(
    r"local(?:\[(?:[1-9][0-9]*|\*)(?:\s*,\s*[0-9]+)?\])?|local-cluster\[[0-9\s,]+\]|yarn|(?:spark|k8s)://.+"
)
_MASTER_SECONDS: Final = 5.0
"""A master that accepts no connection for this long is unreachable; Spark itself would try for a minute."""

_CANCEL_SECONDS: Final = 10.0
_ENDING_SECONDS: Final = 1.0  # for an action whose Spark has not begun or has ended
Result = TypeVar("Result")


@contextmanager
def session(*, master: str | None = None) -> Iterator[SparkSession]:
    """Yields the active session, or builds one and stops it at the end.

    `master` None leaves the choice to spark-submit or spark-defaults.conf, and to local[*] without them.
    UsageError if nothing answers at the master's address, ConfigurationError if a task lacks a package.
    """
    check_versions()
    ours = SparkContext._active_spark_context is None
    spark = _build(master) if ours else SparkSession.builder.getOrCreate()
    for key, value in _ALWAYS.items():
        spark.conf.set(key, value)
    try:
        yield spark
    except PythonException as error:
        if lacking := _LACKING.search(str(error)):
            raise ConfigurationError(
                f"the executors' Python has no {lacking[1]}: install victor-spark there, name another Python "
                "(--conf spark.pyspark.python=...), or send it along (victor package, docs/deploy.md)"
            ) from error
        raise
    finally:
        if ours:
            spark.stop()


def check_master(master: str | None) -> None:
    """Raises UsageError if the URL is not that of a Spark master, or if the master can't be reached."""
    if master is not None and SparkContext._active_spark_context is None:
        if not _MASTER.fullmatch(master):
            forms = "local, local[N], local[*], spark://HOST:PORT, yarn, k8s://HOST:PORT"
            raise UsageError(f"--master {master or repr('')}: not a Spark master ({forms})")
        _connect(master, _addresses(master))


def _addresses(master: str) -> list[tuple[str, int]]:
    """Hosts and ports in the master's URL, if any; a high-availability URL has several."""
    try:
        if master.startswith("spark://"):
            return [_host_and_port(part) for part in master.removeprefix("spark://").split(",")]
        if master.startswith("k8s://") and not getproxies():
            url = master.removeprefix("k8s://")
            return [_host_and_port(url.partition("://")[2] or url, 80 if url.startswith("http:") else 443)]
    except ValueError as error:
        raise UsageError(f"--master {master}: not a Spark master ({error})") from error
    return []


def _host_and_port(text: str, default: int | None = None) -> tuple[str, int]:
    part = urlsplit(f"//{text}")
    port = part.port or default
    if not part.hostname or port is None:
        raise ValueError("host and port are needed")
    return part.hostname, port


def _resource_managers(configured: SparkConf) -> list[tuple[str, int]]:
    """The addresses of YARN's resource managers, from yarn-site.xml and spark.hadoop.*."""
    yarn: Any = SparkContext._jvm.org.apache.hadoop.yarn.conf  # type: ignore[union-attr]
    known = yarn.YarnConfiguration()
    for key, value in configured.getAll():
        if key.startswith("spark.hadoop."):
            known.set(key.removeprefix("spark.hadoop."), value)
    names = [f".{name}" for name in known.getTrimmedStrings("yarn.resourcemanager.ha.rm-ids")] or [""]
    hosts = [known.get(f"yarn.resourcemanager.hostname{name}", "0.0.0.0") for name in names]
    addresses = [known.get(f"yarn.resourcemanager.address{name}", "") for name in names]
    return [_host_and_port(one or host, 8032) for one, host in zip(addresses, hosts, strict=True)]


def _connect(master: str, addresses: list[tuple[str, int]]) -> None:
    """Returns as soon as one of the addresses answers; UsageError if none does."""
    problem = ""
    for address in addresses:
        try:
            socket.create_connection(address, timeout=_MASTER_SECONDS).close()
        except (OSError, UnicodeError, OverflowError) as error:
            problem = (error.strerror if isinstance(error, OSError) else None) or str(error)
        else:
            return
    if addresses:
        where = ", ".join(f"{host}:{port}" for host, port in addresses)
        advice = "HADOOP_CONF_DIR names the folder of yarn-site.xml" if master == "yarn" else "is it running?"
        raise UsageError(f"--master {master}: no master can be reached at {where} ({problem}); {advice}")


def _build(master: str | None) -> SparkSession:
    check_master(master)  # before Java starts, which takes seconds
    is_nameless = _is_nameless()
    _start_java(is_nameless=is_nameless)
    configured = SparkConf()
    # Without it, Spark would run the python3 on the workers' PATH.
    os.environ.setdefault("PYSPARK_PYTHON", configured.get("spark.pyspark.python") or sys.executable)
    chosen = master or configured.get("spark.master") or "local[*]"
    if is_nameless and not chosen.startswith("local") and configured.get("spark.driver.host") is None:
        line = f"the name of this machine, {socket.gethostname()}, has no address"
        raise ConfigurationError(f"{line}: set SPARK_LOCAL_IP to one that executors can reach")
    _connect(chosen, _resource_managers(configured) if chosen == "yarn" else _addresses(chosen))
    builder = SparkSession.builder.master(chosen)
    builder = builder.config("spark.ui.showConsoleProgress", "false")  # progress.py has its own
    if configured.get("spark.app.name") in (None, "pyspark-shell", "clean.py"):
        builder = builder.appName("victor")
    for key, value in _defaults(chosen, configured).items():
        builder = builder.config(key, value)
    try:
        return builder.getOrCreate()
    except Exception as error:
        line = f"--master {chosen}: Spark starts no application there; see its messages above"
        raise UsageError(line) from error


def _is_nameless() -> bool:
    """Whether Java would not start, because it finds no address for the name of this machine."""
    if not os.environ.keys().isdisjoint(("PYSPARK_GATEWAY_PORT", "SPARK_LOCAL_IP")):
        return False
    try:
        return not socket.getaddrinfo(socket.gethostname(), None)
    except (OSError, UnicodeError):
        return True


def _defaults(master: str, configured: SparkConf) -> dict[str, str]:
    """Our settings that the configuration lacks."""
    local: dict[str, str] = {}
    if cores := re.match(r"local(?:\[(\d+|\*))?", master):
        n_cores = (os.cpu_count() or 1) if cores[1] == "*" else int(cores[1] or 1)
        local = {
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.ui.enabled": "false",
            "spark.sql.shuffle.partitions": str(min(_SHUFFLED_PER_CORE * n_cores, 200)),
        }
        # Workers must find this package as we do. On Linux: elsewhere, some libraries fail after a fork.
        same = sys.platform == "linux" and os.environ.get("PYSPARK_PYTHON") == sys.executable
        places = [*site.getsitepackages(), site.getusersitepackages()]
        if same and os.path.exists(__file__) and any(distributions(name="victor-spark", path=places)):
            local["spark.python.daemon.module"] = "victor_spark.spark.daemon"
    defaults = {key: value for key, value in {**_UNLESS_SET, **local}.items() if configured.get(key) is None}
    if not any(configured.get(key) for key in _JAVA_OPTIONS):  # two collectors at once, and Java won't start
        defaults["spark.executor.extraJavaOptions"] = f"{QUICK} {SMALL}"
    return defaults


def _start_java(*, is_nameless: bool) -> None:
    """Starts the JVM, quick and quiet, unless spark-submit did; the configuration is known once it runs."""
    if is_nameless:
        os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"  # for this JVM alone
    if "PYSPARK_GATEWAY_PORT" not in os.environ:
        if not ensure_java_home():
            raise ConfigurationError(missing())
        if sys.flags.utf8_mode:  # Java finds no file with other names in the locale C
            os.environ["LC_ALL"] = "C.UTF-8"
        options = os.environ.get("SPARK_SUBMIT_OPTS", "")
        ours = [QUICK]  # no collector: one in spark-defaults.conf would be a second
        if "log4j" not in options:
            with suppress(ConfigurationError):  # without conf/, Spark logs as it is configured
                logging = resources.directory("conf") / "log4j2.properties"
                ours.append(f"-Dlog4j2.configurationFile={shlex.quote(logging.as_uri())}")
        os.environ["SPARK_SUBMIT_OPTS"] = " ".join([*ours, options]).strip()
    try:
        SparkContext._ensure_initialized()
    except PySparkRuntimeError as error:
        raise ConfigurationError("Java does not start: see its messages above") from error
    if is_nameless:
        del os.environ["SPARK_LOCAL_IP"]


@contextmanager
def small_batches(spark: SparkSession, n_rows: int) -> Iterator[None]:
    """Lets Python tasks get at most this many rows at a time: by default 10,000, which may be large."""
    key = "spark.sql.execution.arrow.maxRecordsPerBatch"
    before = str(spark.conf.get(key))
    spark.conf.set(key, n_rows)
    try:
        yield
    finally:
        spark.conf.set(key, before)


def job(name: str, action: Callable[[SparkSession], Result], *, master: str | None = None) -> Result:
    """The result of `action` for a session; an interrupt cancels its jobs, which are one job group."""
    group = f"{name} {uuid4()}"

    def run() -> Result:
        with session(master=master) as spark:
            spark.sparkContext.setJobGroup(group, name, interruptOnCancel=True)
            return action(spark)

    return interruptible(run, group=group)


def interruptible(
    action: Callable[[], Result],
    *,
    group: str,
    patience: float = _CANCEL_SECONDS,
    stop: threading.Event | None = None,
) -> Result:
    """The result of `action`; an interrupt (cli.main: also SIGTERM) cancels the group's jobs, and is raised.

    If the action ends without an error in spite of the signal, its result is returned.
    The action runs in a thread of its own, so that an interrupt never hits a call into the JVM, and PySpark's
    own handler, which prints a traceback, isn't installed. The jobs are those of the job group `group` or
    with it as a tag; `stop` is set before. `patience`: seconds that the action then has to end.
    """
    check_classic()
    future: Future[Result] = Future()

    def settle() -> None:
        try:
            future.set_result(action())
        except BaseException as error:  # noqa: BLE001 - raised again where the result is asked for
            future.set_exception(error)

    # Only a running context has properties to inherit; after one was stopped, asking for them fails.
    thread = InheritableThread if SparkContext._active_spark_context else threading.Thread
    worker = thread(target=settle, daemon=True)
    try:
        worker.start()
        return future.result()
    except KeyboardInterrupt:
        if stop is not None:
            stop.set()
        if context := SparkContext._active_spark_context:
            with suppress(Py4JError, AttributeError):  # Spark may be stopping, or still starting
                _cancel(context, group)
        wait([future], patience if context else min(patience, _ENDING_SECONDS))
        if future.done() and future.exception() is None:
            return future.result()
        raise


def _cancel(context: SparkContext, group: str) -> None:
    java: Any = context._jsc.sc()
    log4j: Any = context._jvm.org.apache.logging.log4j  # type: ignore[union-attr]
    log4j.core.config.Configurator.setAllLevels("", log4j.Level.OFF)  # these failures are wanted
    for cancel in ("cancelJobGroupAndFutureJobs", "cancelJobGroup", "cancelJobsWithTag"):
        with suppress(Py4JError):  # the first is new in Spark 4.0
            getattr(java, cancel)(group)
