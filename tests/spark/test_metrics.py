"""A run's figures as Spark's own Prometheus endpoint shows them, and its lines as JSON."""

import json
import os
import re
import subprocess
import sys
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


@pytest.fixture
def shards(tmp_path: Path) -> list[Path]:
    """Two shards: three pages and an error page in each."""
    for shard in range(2):
        responses = [
            Response(f"http://a{shard}.example/{number}", page(f"Ferry {number}", PARAGRAPH * 2).encode())
            for number in range(3)
        ]
        gone = Response(f"http://a{shard}.example/gone", page("Gone", PARAGRAPH).encode(), "404 Not Found")
        write_warc(tmp_path / f"{shard}.warc.gz", [*responses, gone])
    return sorted(tmp_path.glob("*.warc.gz"))


def gauges(text: str) -> dict[str, float]:
    """Ours, of a scrape."""
    pattern = re.compile(
        r"^metrics_victor_driver_AccumulatorSource_victor_(\w+)_Value\{.*\} (\S+)", re.MULTILINE
    )
    return {name: float(value) for name, value in pattern.findall(text)}


def test_a_scrape_of_spark_shows_pages_bytes_statuses_and_seconds_of_the_run(
    shards: list[Path], tmp_path: Path
) -> None:
    options = [word for name, value in CONF.items() for word in ("--conf", f"{name}={value}")]
    commands = [
        ["clean", *map(str, shards), "--output", str(tmp_path / "both"), "--wave-bytes", "1K"],
        ["clean", str(shards[0]), "--output", str(tmp_path / "one")],
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
    found, run = gauges(scrape), json.loads((tmp_path / "both" / "_run" / "run.json").read_text())
    assert (found["pages"], found["statuses_ok"], found["statuses_http_status"]) == (8, 6, 2)
    assert found["waves"] == run["n_waves"] > 1
    assert found["bytes"] == run["n_bytes"]
    assert found["failed_shards"] == found["statuses_error"] == 0
    seconds = {name: value for name, value in found.items() if name.startswith("seconds_")}
    rounded = {f"seconds_{stage}": pytest.approx(value, abs=0.01) for stage, value in run["stages"].items()}
    assert seconds == rounded
    assert sum(seconds.values()) > 0
    assert gauges(second)["pages"] == 4, "of the run that is under way, and not of both"


def test_lines_as_json_name_run_wave_and_task(shards: list[Path], tmp_path: Path) -> None:
    script = "import sys; from victor_spark.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", script, "clean", "--log-format", "json", "--master", "local[2]"]
    arguments = [*map(str, shards), "--output", str(tmp_path / "out"), "--wave-bytes", "1K"]
    done = subprocess.run([*command, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "victor: " not in done.stderr
    lines = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    assert all({"time", "level", "message"} <= line.keys() for line in lines)
    waves = [line for line in lines if line["message"] == "wave done"]
    tasks = [line for line in lines if line["message"] == "task done"]
    n_waves = json.loads((tmp_path / "out" / "_run" / "run.json").read_text())["n_waves"]
    assert len(waves) == len({line["wave"] for line in waves}) == n_waves > 1
    assert {line["wave"] for line in tasks} == {line["wave"] for line in waves}
    assert len({line["run"] for line in [*waves, *tasks]}) == 1, (
        "one run, by the same name in driver and tasks"
    )
    assert all(isinstance(line["task"], int) and line["stages"] for line in tasks)
    assert sum(line["n_pages"] for line in waves) == len(rows(tmp_path / "out"))
    refused = subprocess.run(
        [*command, "nothing.warc.gz", "--output", str(tmp_path / "none")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    (line,) = map(json.loads, refused.stderr.splitlines())
    assert (refused.returncode, line["level"], line["exit_code"]) == (2, "error", 2)
    assert line["message"].startswith("nothing.warc.gz: ")
