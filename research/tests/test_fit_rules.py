"""Fitting the constants of rule cleaners: the search, the score, the file that is written."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from research import fit_rules, search
from tests.evaluation.invented import write_sets
from victor_spark import configuration, resources
from victor_spark.blocks import Float64
from victor_spark.evaluation import gold, labelling, measures
from victor_spark.extractors import kimatu, line_block
from victor_spark.words import block_words, words

LOADERS = {"kimatu": kimatu.load, "line-block": line_block.load}


@dataclass(frozen=True)
class Inner:
    x: int
    y: int


@dataclass(frozen=True)
class Outer:
    inner: Inner
    z: float


def test_the_search_finds_the_best_of_a_grid_and_leaves_the_rest() -> None:
    def score(tried: Outer) -> Float64:
        return np.array([1.0]) - (tried.inner.x - 3) ** 2 - (tried.z - 2.0) ** 2

    found, reached = search.coordinate(
        score, Outer(Inner(9, 7), 0.0), {"inner.x": (1, 2, 3, 4), "z": (1.0, 2.0, 3.0)}, print
    )
    assert (found, reached) == (Outer(Inner(3, 7), 2.0), 1.0)


def test_the_search_does_not_depend_on_where_the_constants_were() -> None:
    grid = {"inner.x": (5, 1), "inner.y": (0, 2)}
    outcomes = {
        search.coordinate(lambda tried: np.array([0.1 * tried.inner.x]), Outer(Inner(x, 0), 0.0), grid, print)
        for x in range(4)
    }
    assert outcomes == {(Outer(Inner(5, 0), 0.0), 0.5)}


def test_a_gain_within_its_standard_error_over_pages_is_no_gain() -> None:
    scores = {0: np.zeros(4), 1: np.array([0.9, -0.5, 0.0, 0.0]), 2: np.array([0.1, 0.0, 0.1, 0.1])}
    found = [
        search.coordinate(lambda tried: scores[tried.x], Inner(0, 0), {"x": values}, print)[0].x
        for values in ((0, 1), (0, 2))
    ]
    assert found == [0, 2]


def test_f1_of_a_bag_is_that_of_the_measures(tmp_path: Path) -> None:
    for path in gold.find(write_sets(tmp_path)).values():
        page = labelling.label(next(filter(gold.usable, gold.read(path))))
        kept = np.arange(len(page.page.blocks)) % 2 == 0
        of_page, rows = block_words(page.page.blocks)
        found = [word for word, row in zip(of_page, rows.tolist(), strict=True) if kept[row]]
        expected = measures.quality(measures.overlap(found, words(page.gold.gold or ""))).f1
        assert search.bag(page).f1(kept) == pytest.approx(expected)


@pytest.mark.parametrize("cleaner", LOADERS)
def test_the_command_writes_constants_that_the_cleaner_loads(
    tmp_path: Path, cleaner: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write_sets(tmp_path / "pages")
    written = tmp_path / "fitted.toml"
    command = [cleaner, "--data", str(tmp_path), "--output", str(written), "--pages-per-set", "2"]
    assert fit_rules.main(command) == 0
    first = written.read_bytes()
    LOADERS[cleaner](written)
    assert f"fit_rules {cleaner}" in first.decode()
    assert "word F1" in capsys.readouterr().out
    assert fit_rules.main(command) == 0
    assert written.read_bytes() == first, "the same pages give the same file"


@pytest.mark.parametrize("cleaner", LOADERS)
def test_what_the_paper_gives_is_not_fitted(cleaner: str) -> None:
    given = {name.rpartition(".")[2] for name in fit_rules.PAPER}
    stored = (resources.directory("conf") / fit_rules.FITS[cleaner].file).read_text("utf-8")
    lines = [line.split() for line in stored.splitlines() if line.endswith("# paper")]
    assert {line[0] for line in lines} <= given
    assert len(lines) == {"kimatu": 5, "line-block": 3}[cleaner]
    values = {line[0]: float(line[2]) for line in lines}
    papers = {
        "length_weight": 0.5, "average_length_weight": 0.5, "sure_ratio": 0.32, "dispersed_ratio": 0.1,
        "high_ratio": 0.5, "ttr": 30.0, "attr": 0.2, "tkd": 2.0,
    }  # fmt: skip
    assert values == {name: papers[name] for name in values}


@pytest.mark.parametrize("cleaner", LOADERS)
def test_the_shipped_file_names_every_constant_once(cleaner: str) -> None:
    fit = fit_rules.FITS[cleaner]
    path = resources.directory("conf") / fit.file
    assert tomllib.loads(path.read_text("utf-8"))
    configuration.read(path, fit.kind)


def test_data_without_a_dev_split_is_one_clear_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_sets(tmp_path / "pages", n_sites=1)
    assert fit_rules.main(["kimatu", "--data", str(tmp_path)]) == 2
    assert "no page of the dev split" in capsys.readouterr().err
