"""A run's figures as Spark's own Prometheus endpoint shows them, and its lines as JSON."""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.spark.crawl import PARAGRAPH, Response, page, rows, write_warc

pytestmark = pytest.mark.spark

SCRAPED = """
import json, sys, urllib.request
from victor_spark.cli import main
from victor_spark.spark.session import session
found = []
with session(master="local[2]") as spark:
    for command in json.load(sys.stdin):
        code = main(command)
        url = f"{spark.sparkContext.uiWebUrl}/metrics/prometheus/"
        found.append([code, urllib.request.urlopen(url).read().decode()])
print(json.dumps(found))
"""
SINK = "spark.metrics.conf.driver.sink.prometheusServlet"
CONF = {
    "spark.ui.enabled": "true",
    "spark.ui.port": "0",
    "spark.metrics.namespace": "victor",
    f"{SINK}.class": "org.apache.spark.metrics.sink.PrometheusServlet",
    f"{SINK}.path": "/metrics/prometheus",
}


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two shards: three pages and an error page in each."""
    folder = tmp_path_factory.mktemp("shards")
    for shard in range(2):
        responses = [
            Response(f"http://a{shard}.example/{number}", page(f"Ferry {number}", PARAGRAPH * 2).encode())
            for number in range(3)
        ]
        gone = Response(f"http://a{shard}.example/gone", page("Gone", PARAGRAPH).encode(), "404 Not Found")
        write_warc(folder / f"{shard}.warc.gz", [*responses, gone])
    return sorted(folder.glob("*.warc.gz"))


def gauges(text: str) -> dict[str, float]:
    """Ours, of a scrape."""
    pattern = re.compile(
        r"^metrics_victor_driver_AccumulatorSource_victor_(\w+)_Value\{.*\} (\S+)", re.MULTILINE
    )
    return {name: float(value) for name, value in pattern.findall(text)}


@dataclass(frozen=True)
class Ran:
    """The output of a run over both shards, a scrape after it and one after a run over one shard; stderr."""

    output: Path
    scrape: str
    second: str
    stderr: str


@pytest.fixture(scope="module")
def ran(shards: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Both runs in one process with the settings of Spark that metrics need."""
    folder = tmp_path_factory.mktemp("metrics")
    options = [word for name, value in CONF.items() for word in ("--conf", f"{name}={value}")]
    command = ["clean", "--log-format", "json"]
    commands = [
        [*command, *map(str, shards), "--output", str(folder / "both"), "--wave-bytes", "1K"],
        [*command, str(shards[0]), "--output", str(folder / "one")],
    ]
    done = subprocess.run(
        [sys.executable, "-c", SCRAPED],
        env={**os.environ, "PYSPARK_SUBMIT_ARGS": " ".join([*options, "pyspark-shell"])},
        cwd=ROOT,
        input=json.dumps(commands),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-5000:]
    (code, scrape), (again, second) = json.loads(done.stdout)
    assert (code, again) == (0, 0), done.stderr[-5000:]
    return Ran(folder / "both", scrape, second, done.stderr)


def test_a_scrape_of_spark_shows_pages_bytes_statuses_and_seconds_of_the_run(ran: Ran) -> None:
    found, run = gauges(ran.scrape), json.loads((ran.output / "_run" / "run.json").read_text())
    assert (found["pages"], found["statuses_ok"], found["statuses_http_status"]) == (8, 6, 2)
    assert found["waves"] == run["n_waves"] > 1
    assert found["bytes"] == run["n_bytes"]
    assert found["failed_shards"] == found["statuses_error"] == 0
    seconds = {name: value for name, value in found.items() if name.startswith("seconds_")}
    rounded = {f"seconds_{stage}": pytest.approx(value, abs=0.01) for stage, value in run["stages"].items()}
    assert seconds == rounded
    assert sum(seconds.values()) > 0
    assert gauges(ran.second)["pages"] == 4, "of the run that is under way, and not of both"


def test_lines_as_json_name_run_wave_and_task(ran: Ran) -> None:
    assert "victor: " not in ran.stderr
    lines = [json.loads(line) for line in ran.stderr.splitlines() if line.startswith("{")]
    assert all({"time", "level", "message"} <= line.keys() for line in lines)
    done = [line for line in lines if line["message"] in {"wave done", "task done"}]
    runs = list(dict.fromkeys(line["run"] for line in done))
    assert len(runs) == 2, "two runs, each by the same name in driver and tasks"
    waves, tasks = (
        [line for line in done if line["message"] == message and line["run"] == runs[0]]
        for message in ("wave done", "task done")
    )
    n_waves = json.loads((ran.output / "_run" / "run.json").read_text())["n_waves"]
    assert len(waves) == len({line["wave"] for line in waves}) == n_waves > 1
    assert {line["wave"] for line in tasks} == {line["wave"] for line in waves}
    assert all(isinstance(line["task"], int) and line["stages"] for line in tasks)
    assert sum(line["n_pages"] for line in waves) == len(rows(ran.output))


def test_a_refusal_as_json_has_the_exit_code(tmp_path: Path) -> None:
    script = "import sys; from victor_spark.cli import main; sys.exit(main())"
    words = ["clean", "--log-format", "json", "nothing.warc.gz", "--output", str(tmp_path / "none")]
    refused = subprocess.run(
        [sys.executable, "-c", script, *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    (line,) = map(json.loads, refused.stderr.splitlines())
    assert (refused.returncode, line["level"], line["exit_code"]) == (2, "error", 2)
    assert line["message"].startswith("nothing.warc.gz: ")
