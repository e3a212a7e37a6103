"""An evaluation on Spark comes to what a local one does."""

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.evaluation.invented import write_sets
from tests.spark.crawl import Victor
from victor_spark.evaluation.gold import GoldPage
from victor_spark.spark import evaluate

pytestmark = pytest.mark.spark


def without_clocks(value: Any) -> Any:
    if isinstance(value, dict):
        kept = value.keys() - {"pages_per_second", "options"}
        return {key: without_clocks(value[key]) for key in kept}
    return value


def test_results_equal_those_of_a_local_run(spark: SparkSession, victor: Victor, tmp_path: Path) -> None:
    gold = write_sets(tmp_path / "gold", n_sites=2, n_pages=1)
    arguments = ["evaluate", "--gold", gold, "--cleaner", "victor", "kimatu", "--measures", "words", "TM"]
    assert victor(*arguments, "--output", tmp_path / "local", "--jobs", 1).code == 0
    assert victor(*arguments, "--output", tmp_path / "spark", "--spark").code == 0
    files = [tmp_path / name / "results.json" for name in ("local", "spark")]
    local, distributed = (without_clocks(json.loads(file.read_text())) for file in files)
    assert local == distributed
    assert local["gold"]["n_pages"] == 4


def test_waves_hold_all_pages_in_order_and_no_more_than_they_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluate, "WAVE_CHARACTERS", 10)
    pages = [GoldPage(str(number), "set", "x" * 4, "") for number in range(8)]
    waves = list(evaluate.waves(iter(pages)))
    assert [page for wave in waves for page in wave] == pages
    assert [len(wave) for wave in waves] == [3, 3, 2]
