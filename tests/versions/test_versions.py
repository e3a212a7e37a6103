"""The same rows and templates on each version of Spark, with the Pythons that they support."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as pq
import pytest

from tests.cluster import runs, standalone
from tests.conftest import ROOT
from tests.spark.crawl import rows
from tests.versions.environments import OURS, UnavailableError, made

pytestmark = [pytest.mark.versions, pytest.mark.timeout(600)]

CRAWL: Final = ROOT / "sample" / "crawl-00000.warc.gz"
NEWEST: Final = ">=4.1"
WORK_SECONDS: Final = 400


@dataclass(frozen=True)
class Version:
    """The interpreter of an environment with some version of Spark, and the variables of its processes."""

    python: Path
    variables: Mapping[str, str]

    def run(self, *command: object) -> None:
        """Runs a program and asserts that its exit code is 0."""
        done = subprocess.run(
            [str(word) for word in command],
            env=self.variables,
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=WORK_SECONDS,
            check=False,
        )
        assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-6000:]}"


def version(python: Path) -> Version:
    """The environment of this interpreter. Skips the test if no Java of this machine can run its Spark."""
    gone = {"JAVA_HOME", "PYSPARK_PYTHON", "SPARK_HOME"}
    variables = {name: value for name, value in runs.environment().items() if name not in gone}
    variables |= {"PYTHONPATH": str(ROOT), "PATH": os.pathsep.join([str(python.parent), variables["PATH"]])}
    find = [python, "-P", ROOT / "victor_spark" / "spark" / "java.py"]
    java = subprocess.run(find, env=variables, capture_output=True, text=True, check=False)
    if java.returncode:
        pytest.skip(java.stderr.strip())
    where = "import pathlib, pyspark; print(pathlib.Path(pyspark.__file__).parent)"
    home = subprocess.run([python, "-c", where], env=variables, capture_output=True, text=True, check=True)
    variables |= {"JAVA_HOME": java.stdout.strip(), "SPARK_HOME": home.stdout.strip()}
    return Version(python, {**variables, "PYSPARK_PYTHON": str(python)})


def results(version: Version, out: Path) -> dict[str, Any]:
    """The results of the commands of work.py with a version; the rows are in the order of the crawl."""
    version.run(version.python, ROOT / "tests" / "versions" / "work.py", CRAWL, out)
    found: dict[str, Any] = json.loads((out / "found.json").read_text())
    assert [found[name] for name in ("arrow", "rdd", "sites", "dedup", "templates")] == [0, 0, 0, 0, 0]
    for name in ("arrow", "rdd", "sites"):
        found[name] = rows(out / name)
    record = json.loads((out / "arrow" / "_run" / "duplicates.json").read_text())
    found["dedup"] = {name: count for name, count in record.items() if name.startswith("n_")}
    for name in ("templates", "templates.report"):
        table = pq.read_table(out / f"{name}.parquet")
        found[name] = [{**row, "mined_at": None} for row in table.to_pylist()]
    return found


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The results with the installed version of Spark."""
    found = results(version(Path(sys.executable)), tmp_path_factory.mktemp("newest") / "out")
    assert len(found["arrow"]) == 42
    assert found["rdd"] == found["arrow"]
    assert found["dedup"]["n_duplicates"] > 0
    return found


@pytest.fixture(scope="module")
def other(request: pytest.FixtureRequest) -> Version:
    spark, python = request.param
    try:
        return version(made(spark, python))
    except UnavailableError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize(
    "other", [("==3.5.*", "3.11"), ("==4.0.*", "3.12"), (NEWEST, "3.13")], ids="-python".join, indirect=True
)
def test_all_commands_give_the_same_results_in_local_mode(
    other: Version, expected: dict[str, Any], tmp_path: Path
) -> None:
    found = results(other, tmp_path / "out")
    if found["spark"].startswith("3.5."):
        assert found["warc"] == 'spark.read.format("warc") needs Spark 4.0 or newer'
    else:
        assert found["warc"] == expected["warc"]
    same = found.keys() - {"spark", "python", "warc"}
    assert {name for name in same if found[name] != expected[name]} == set()
    assert len(same) == 6


@pytest.mark.parametrize(
    "other", [("==4.0.*", "3.11"), ("==4.0.*", "3.13"), (NEWEST, "3.12")], ids="-python".join, indirect=True
)
def test_the_other_supported_versions_of_python_give_the_same_rows(
    other: Version, expected: dict[str, Any], tmp_path: Path
) -> None:
    """The newest Spark with Python 3.11 is the environment of `expected`."""
    command = "import sys; from victor_spark.cli import main; sys.exit(main())"
    options = ("--blocks", "--master", "local[2]", "--output", tmp_path / "out")
    other.run(other.python, "-c", command, "clean", CRAWL, *options)
    assert rows(tmp_path / "out") == expected["arrow"]


@pytest.mark.parametrize(
    "other", [("==3.5.*", "3.11"), ("==4.0.*", "3.12")], ids="-python".join, indirect=True
)
def test_a_standalone_cluster_gives_the_same_rows(
    other: Version, expected: dict[str, Any], tmp_path: Path
) -> None:
    with standalone.running(tmp_path, other.variables) as cluster:
        conf = {
            "spark.driver.host": "127.0.0.1",
            "spark.executor.memory": "512m",
            "spark.ui.enabled": "false",
        }
        flags = [word for key, value in conf.items() for word in ("--conf", f"{key}={value}")]
        submit = [shutil.which("spark-submit", path=other.variables["PATH"]), "--master", cluster.url, *flags]
        other.run(*submit, ROOT / "jobs" / "clean.py", CRAWL, "--blocks", "--output", tmp_path / "out")
    assert rows(tmp_path / "out") == expected["arrow"]


CONNECT: Final = """
import json, sys
from pyspark.sql import SparkSession
from victor_spark.cli import main
from victor_spark.spark import datasource
spark = SparkSession.builder.remote("local[2]").getOrCreate()
datasource.register(spark)
records = spark.read.format("warc").load(sys.argv[1]).groupBy("status").count().collect()
code = main(["clean", sys.argv[1], "--output", "x"])
with open(sys.argv[2], "w") as file:
    json.dump([{row["status"]: row["count"] for row in records}, code], file)
"""


def test_a_session_of_spark_connect_reads_archives_and_commands_refuse_it(
    expected: dict[str, Any], tmp_path: Path
) -> None:
    try:
        connect = version(made(NEWEST, OURS, "pyspark[connect]"))
    except UnavailableError as error:
        pytest.skip(str(error))
    connect.run(connect.python, "-c", CONNECT, CRAWL, tmp_path / "found.json")
    assert json.loads((tmp_path / "found.json").read_text()) == [expected["warc"], 2]
