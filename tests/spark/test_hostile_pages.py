"""The command on pages that crash, hang and eat memory: their rows have the reason, others are normal."""

import os
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.spark.crawl import PARAGRAPH, Response, page, rows, write_warc
from victor_spark.cli import main
from victor_spark.request import ENGINES, CleanRequest, Limits
from victor_spark.spark.run import run

pytestmark = pytest.mark.spark

DEEDS = {
    3: ("segfaults", "crash", "SIGSEGV"),
    4: ("exits", "crash", "exit code 3"),
    9: ("loops in C", "timeout", "CPU time"),
    14: ("eats memory", "out_of_memory", "needs more than 200 MiB"),
    19: ("is killed", "crash", "SIGKILL"),
}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two shards of ten pages; what some of them say they do, they only do where a test lets them."""
    folder = tmp_path_factory.mktemp("hostile") / "crawl"
    folder.mkdir()
    for shard in range(2):
        numbers = range(10 * shard, 10 * shard + 10)
        deeds = [DEEDS[n][0] if n in DEEDS else "is kind" for n in numbers]
        bodies = [
            page(f"Ferry {n}", f"This page {deed}.", PARAGRAPH)
            for n, deed in zip(numbers, deeds, strict=True)
        ]
        responses = [
            Response(f"http://harbour.example/{n}", b.encode()) for n, b in zip(numbers, bodies, strict=True)
        ]
        write_warc(folder / f"{shard}.warc.gz", responses)
    return folder


@pytest.fixture(scope="module")
def deeds(spark: SparkSession, root: Path, hostile: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The outputs of both engines when pages do what they say (tests/cluster/deeds.py).

    Spark starts new Python workers for another environment: those of other tests clean no such page.
    """
    output = tmp_path_factory.mktemp("deeds")
    paths = [str(root / "tests" / "cluster" / "site"), str(root)]
    environment = spark.sparkContext.environment
    before = dict(environment)
    environment.update({"PYTHONPATH": os.pathsep.join(paths), "VICTOR_TEST_DEEDS": str(output)})
    try:
        for engine in ENGINES:
            limits = ("--page-seconds", "5", "--page-memory", "200")
            words = ("clean", str(hostile), *limits, "--engine", engine, "--output", str(output / engine))
            assert main(words) == 0
    finally:
        environment.clear()
        environment.update(before)
    return output


@pytest.fixture(scope="module")
def quiet(
    spark: SparkSession, hostile: Path, tmp_path_factory: pytest.TempPathFactory
) -> list[dict[str, Any]]:
    """The rows of the same pages when they do nothing, cleaned without a child process."""
    assert spark
    output = tmp_path_factory.mktemp("quiet") / "out"
    run(CleanRequest(inputs=(str(hostile),), output=str(output), limits=Limits(sandbox=False)))
    return rows(output)


@pytest.mark.parametrize("engine", ENGINES)
def test_hostile_pages_cost_their_own_rows_and_nothing_else(
    deeds: Path, quiet: list[dict[str, Any]], engine: str
) -> None:
    found = rows(deeds / engine)
    assert len(found) == len(quiet) == 20
    for number, (row, before) in enumerate(zip(found, quiet, strict=True)):
        if number not in DEEDS:
            assert row == before
            continue
        _, status, reason = DEEDS[number]
        assert row["status"] == status
        assert reason in row["reason"]
        assert row["text"] is None
        for name in ("id", "url", "warc_filename", "warc_record_offset", "warc_record_length", "fetch_time"):
            assert row[name] == before[name]
