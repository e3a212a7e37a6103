"""The packed environment and the zip, on executors without an installed victor-spark."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cluster import standalone
from tests.cluster.runs import ROOT, Outcome, environment
from tests.cluster.standalone import Cluster
from tests.spark.crawl import rows
from victor_spark.cli import main

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]

_WHERE = """
import json, os, sys
from pyspark.sql import SparkSession
import victor_spark
from victor_spark.cli import main

def where(_):
    import victor_spark
    from victor_html import tokenizer
    from victor_spark import resources
    from victor_spark.kernels import markup
    models = str(resources.directory("models"))
    yield {"executable": sys.executable, "package": victor_spark.__file__, "models": models,
           "kernel": markup.__file__, "parser": tokenizer.__file__, "driver": driver}

driver = victor_spark.__file__
spark = SparkSession.builder.getOrCreate()
told = spark.sparkContext.parallelize(range(4), 4).mapPartitions(where).collect()
open(sys.argv[1], "w").write(json.dumps(told))
sys.exit(main(["clean", *sys.argv[2:]]))
"""


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that `victor package` writes."""
    folder = tmp_path_factory.mktemp("packed") / "dist"
    assert main(["package", "--output", str(folder)]) == 0
    return folder


@pytest.fixture
def submitted(cluster: Cluster, crawl: Path, tmp_path: Path) -> Callable[..., list[dict[str, str]]]:
    """Runs the job with flags of spark-submit; where each of four tasks found what it runs."""

    def submit(*flags: str, **variables: str) -> list[dict[str, str]]:
        (tmp_path / "where.py").write_text(_WHERE)
        conf = {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.ui.enabled": "false",
            "spark.executor.memory": "512m",
            "spark.driver.extraJavaOptions": standalone.QUICK,
            "spark.executor.extraJavaOptions": standalone.QUICK,
        }
        program = shutil.which("spark-submit", path=environment()["PATH"])
        options = [part for key, value in conf.items() for part in ("--conf", f"{key}={value}")]
        report, output = tmp_path / "told.json", tmp_path / "out"
        done = subprocess.run(
            [
                str(program),
                "--master",
                cluster.url,
                *options,
                *flags,
                str(tmp_path / "where.py"),
                str(report),
                str(crawl),
                "--output",
                str(output),
            ],
            env={**environment(), **variables},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        places: list[dict[str, str]] = json.loads(report.read_text())
        return places

    return submit


def outcomes(output: Path) -> list[Outcome]:
    """The file, offset, status and text of each row of an output."""
    return [
        (Path(row["warc_filename"]).name, row["warc_record_offset"], row["status"], row["text"])
        for row in rows(output)
    ]


def test_a_packed_environment_is_all_that_executors_need(
    submitted: Callable[..., list[dict[str, str]]], dist: Path, expected: list[Outcome], tmp_path: Path
) -> None:
    """Executors' Python, packages, kernels and models are those of the archive, and the rows the same."""
    python = ("spark.pyspark.driver.python=" + sys.executable, "spark.pyspark.python=./env/bin/python")
    flags = ("--archives", f"{dist / 'victor-env.tar.gz'}#env", "--conf", python[0], "--conf", python[1])
    places = submitted(*flags, PYTHONPATH=str(ROOT))  # the driver's
    assert len(places) == 4
    for place in places:
        home = Path(place["executable"]).parents[1]
        for path in (place["package"], place["models"], place["kernel"], place["parser"]):
            assert Path(path).is_relative_to(home), place
        assert not home.is_relative_to(sys.prefix)
        assert not Path(place["package"]).is_relative_to(ROOT / "victor_spark")
        assert place["kernel"].endswith(".so")
        assert place["parser"].endswith(".so")
    assert outcomes(tmp_path / "out") == expected


def test_a_zip_is_victor_spark_where_the_packages_are_installed(
    submitted: Callable[..., list[dict[str, str]]],
    cluster: Cluster,
    dist: Path,
    expected: list[Outcome],
    tmp_path: Path,
) -> None:
    """It unpacks itself in the executors' work directories, and the driver imports it, too."""
    flags = ("--py-files", str(dist / "victor-spark.zip"))
    places = submitted(*flags, PYSPARK_PYTHON=sys.executable)
    assert len(places) == 4
    for place in places:
        assert place["executable"] == sys.executable
        for path in (place["package"], place["models"], place["kernel"], place["parser"]):
            assert Path(path).is_relative_to(cluster.folder), place
        assert place["kernel"].endswith(".so")
        assert place["parser"].endswith(".so")
        assert Path(place["driver"]).is_relative_to(dist)
    assert outcomes(tmp_path / "out") == expected
