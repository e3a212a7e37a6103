"""The settings of the session, and that the user's own settings replace them."""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

from tests.messages import messages
from tests.spark.crawl import PARAGRAPH, Response, page, write_warc
from victor_spark.cli import main
from victor_spark.errors import ConfigurationError, UsageError
from victor_spark.spark import session
from victor_spark.spark.session import _MASTER, QUICK, SMALL, _addresses, _connect, _defaults

pytestmark = pytest.mark.spark

OPTIONS = "spark.executor.extraJavaOptions"


def conf(**values: str) -> SparkConf:
    """A configuration of these values alone, `_` for `.` in their names."""
    pairs = [(f"spark.{name.replace('_', '.')}", value) for name, value in values.items()]
    return SparkConf(loadDefaults=False).setAll(pairs)


def test_java_starts_quickly_on_the_driver(spark: SparkSession) -> None:
    jvm = spark.sparkContext._jvm
    assert jvm is not None
    arguments = jvm.java.lang.management.ManagementFactory.getRuntimeMXBean().getInputArguments()
    assert QUICK in list(arguments)


on_linux = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere, workers load it themselves")


@on_linux
def test_local_workers_are_forked_with_what_tasks_need_loaded(spark: SparkSession) -> None:
    def loaded(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import gc
        import sys

        for _ in batches:
            place = sys.modules["pyspark"].__file__
            modules = [f"{'victor_spark.spark.tasks' in sys.modules} {gc.get_freeze_count() > 0} {place}"]
            yield pa.RecordBatch.from_pydict({"found": modules})

    (row,) = spark.range(1, numPartitions=1).mapInArrow(loaded, "found string").collect()
    tasks, frozen, place = row.found.split(" ", 2)
    assert (tasks, frozen) == ("True", "True")
    assert "pyspark.zip" not in place


@on_linux
def test_forked_workers_draw_different_random_numbers(spark: SparkSession) -> None:
    def drawn(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import os
        import random
        import time

        import numpy as np

        for _ in batches:
            time.sleep(1)  # so that no worker gets both tasks
            numbers = {"worker": [os.getpid()], "own": [random.random()], "numpy": [np.random.random()]}
            yield pa.RecordBatch.from_pydict(numbers)

    schema = "worker long, own double, numpy double"
    rows = spark.range(2, numPartitions=2).mapInArrow(drawn, schema).collect()
    assert [len({row[column] for row in rows}) for column in range(3)] == [2, 2, 2]


@on_linux
def test_workers_of_another_python_or_of_a_cluster_load_it_themselves(
    monkeypatch: pytest.MonkeyPatch, spark: SparkSession
) -> None:
    name = "spark.python.daemon.module"
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    assert _defaults("local[2]", conf())[name] == "victor_spark.spark.daemon"
    assert _defaults("local[2]", conf(python_daemon_module="mine")).get(name) is None
    assert name not in _defaults("spark://one:7077", conf())
    monkeypatch.setenv("PYSPARK_PYTHON", "/another/python")
    assert name not in _defaults("local[2]", conf())


def test_executors_get_a_quick_java_with_a_small_heap(spark: SparkSession) -> None:
    assert spark
    assert _defaults("spark://one:7077", conf())[OPTIONS] == f"{QUICK} {SMALL}"


@pytest.mark.parametrize("name", ["executor_extraJavaOptions", "executor_defaultJavaOptions"])
def test_options_for_java_that_the_user_set_are_all_there_are(spark: SparkSession, name: str) -> None:
    assert spark
    assert OPTIONS not in _defaults("spark://one:7077", conf(**{name: "-XX:+UseZGC"}))


def test_the_driver_keeps_little_of_what_is_over_unless_told_to(spark: SparkSession) -> None:
    assert spark.sparkContext.getConf().get("spark.ui.retainedTasks") == "10000"
    kept = _defaults("local[2]", conf(ui_retainedTasks="7"))
    assert "spark.ui.retainedTasks" not in kept
    assert "spark.ui.retainedStages" in kept


@pytest.mark.parametrize(
    ("master", "n"), [("local", "8"), ("local[3]", "24"), ("local[2, 4]", "16"), ("spark://host:7077", None)]
)
def test_in_local_mode_the_cores_decide_how_many_partitions_a_shuffle_has(master: str, n: str | None) -> None:
    """On a cluster, Spark's default stays."""
    name = "spark.sql.shuffle.partitions"
    assert _defaults(master, conf()).get(name) == n
    assert name not in _defaults(master, conf(sql_shuffle_partitions="5"))


def test_rdds_and_plans_share_their_python_workers(spark: SparkSession) -> None:
    """Spark has one parent process, which forks workers, for each environment of workers."""

    def parent(_: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield pa.RecordBatch.from_pydict({"id": [os.getppid()]})

    of_plans = spark.range(1).mapInArrow(parent, "id long").first()
    assert of_plans
    assert spark.sparkContext.parallelize([0], 1).map(lambda _: os.getppid()).first() == of_plans.id


def refused() -> str:
    """An address of this machine without a listening process."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture
def silent() -> Iterator[str]:
    """An address where a connection is never answered: the queue of those that wait is full."""
    with ExitStack() as stack:
        server = stack.enter_context(socket.socket())
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        for _ in range(4):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(server.getsockname())
        yield "{}:{}".format(*server.getsockname())


@pytest.mark.parametrize("form", ["spark://{0}", "spark://{0},{0}", "k8s://https://{0}", "k8s://{0}"])
def test_a_master_that_refuses_connections_is_told_before_spark_starts(
    form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "getproxies", dict)
    master = form.format(refused())
    with pytest.raises(UsageError, match=r"no master can be reached at 127\.0\.0\.1:.*Connection refused"):
        _connect(master, _addresses(master))


@pytest.mark.skipif(sys.platform != "linux", reason="a full queue drops packets on Linux")
def test_a_master_that_never_answers_is_waited_for_shortly(
    silent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "_MASTER_SECONDS", 0.2)
    with pytest.raises(UsageError, match="no master can be reached"):
        _connect("m", _addresses(f"spark://{silent},{silent}"))


def test_one_master_of_several_that_answers_is_enough() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        _connect("m", _addresses("spark://{},{}:{}".format(refused(), *server.getsockname())))


@pytest.mark.parametrize("master", ["spark://one", "spark://one:99999", "spark://", "k8s://https://:1"])
def test_an_address_without_a_host_or_a_port_is_no_master(
    master: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "getproxies", dict)
    with pytest.raises(UsageError, match=f"--master {master}: not a Spark master"):
        _addresses(master)


@pytest.mark.parametrize(
    "master", ["nonsense", "", "local[]", "local[0]", "local[2", "Yarn", "http://localhost:7077"]
)
def test_what_is_no_master_is_refused_in_one_line_before_java_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], master: str
) -> None:
    monkeypatch.setattr(session.SparkContext, "_active_spark_context", None)
    monkeypatch.setattr(session, "_start_java", lambda **_: pytest.fail("Java starts"))
    (tmp_path / "page.html").write_text("<p>A page.")
    words = [str(tmp_path / "page.html"), "--output", str(tmp_path / "out"), "--master", master]
    for command in ("clean", "plan"):
        assert main([command, *words]) == 2
        lines = messages(capsys.readouterr().err)
        refusal = f"--master {master or repr('')}: not a Spark master (local, "
        assert [refusal in line for line in lines] == [True], lines


@pytest.mark.parametrize("master", ["local", "local[2]", "local[*]", "local[*, 3]", "yarn"])
def test_the_forms_of_a_master_that_spark_knows_are_taken(master: str) -> None:
    assert _MASTER.fullmatch(master)


@pytest.mark.parametrize("master", ["local[*]", "local-cluster[2,1,1024]", "yarn", "other://one"])
def test_what_names_no_address_is_left_to_spark(master: str) -> None:
    assert _addresses(master) == []


def test_an_interrupt_while_spark_waits_for_a_master_is_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    """PySpark makes a starting context the active one before it has a Java object."""
    monkeypatch.setattr(SparkContext, "_active_spark_context", None)

    def starts() -> None:
        SparkContext._active_spark_context = SparkContext.__new__(SparkContext)
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        threading.Event().wait(10)

    with pytest.raises(KeyboardInterrupt):
        session.interruptible(starts, group="a test", patience=0)


@pytest.mark.parametrize("master", ["spark://", "yarn"])
def test_an_unreachable_master_is_one_line_and_exit_code_2(tmp_path: Path, master: str) -> None:
    address = refused()
    (tmp_path / "yarn-site.xml").write_text(
        "<configuration><property><name>yarn.resourcemanager.address</name>"
        f"<value>{address}</value></property></configuration>"
    )
    shard = write_warc(tmp_path / "a.warc.gz", [Response("http://a.example/", page("A", PARAGRAPH).encode())])
    words = ["clean", str(shard), "--output", str(tmp_path / "out"), "--master"]
    words.append(master if master == "yarn" else f"spark://{address}")
    script = "import sys; from victor_spark.cli import main; sys.exit(main())"
    finished = subprocess.run(
        [sys.executable, "-c", script, *words],
        env={**os.environ, "HADOOP_CONF_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = messages(finished.stderr)
    assert (finished.returncode, len(lines)) == (2, 1)
    assert f"no master can be reached at {address} (Connection refused)" in lines[0]
    assert not (tmp_path / "out").exists()


def test_a_machine_whose_name_has_no_address_is_enough_for_a_local_run_alone() -> None:
    """Java alone would end with a traceback. A run on a cluster after it is refused in a line."""
    unshare = ["unshare", "--user", "--map-root-user", "--uts"]
    if subprocess.run([*unshare, "true"], stderr=subprocess.DEVNULL, check=False).returncode:
        pytest.skip("no `unshare` that can give a process another host name")
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        master = "spark://{}:{}".format(*server.getsockname())
        script = (
            "from victor_spark.spark.session import session\n"
            "with session(master='local[1]') as spark: print(spark.range(3).count())\n"
            f"with session(master={master!r}) as spark: print(spark.range(3).count())"
        )
        finished = subprocess.run(
            [*unshare, "sh", "-c", 'hostname nowhere.invalid; exec "$0" -c "$1"', sys.executable, script],
            env={name: value for name, value in os.environ.items() if name != "SPARK_LOCAL_IP"},
            capture_output=True,
            text=True,
            check=False,
        )
    assert finished.stdout == "3\n"
    assert "nowhere.invalid, has no address: set SPARK_LOCAL_IP" in finished.stderr.splitlines()[-1]


@pytest.mark.parametrize("name", ["SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED"])
def test_spark_connect_is_refused_before_any_work(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "sc://localhost")
    with pytest.raises(ConfigurationError, match="Spark Connect cannot run this"):
        session.interruptible(lambda: pytest.fail("began"), group="g")
    with pytest.raises(ConfigurationError, match="unset SPARK_REMOTE"), session.session():
        pytest.fail("began")
