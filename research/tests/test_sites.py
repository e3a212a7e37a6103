"""The study of sites: its fit, and its document."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from research import RESULTS, site_trees, sites, sites_page
from tests.evaluation.invented import write_sets
from victor_spark.evaluation import gold
from victor_spark.resources import directory


def test_the_smallest_numbers_near_the_best_are_fitted_on_the_chosen_pages_alone() -> None:
    plain, other, larger = (replace(sites.START, repeated=repeated) for repeated in (0.0, 2.0, 4.0))
    near = 0.8 + sites.TOLERANCE / 2
    f1 = {plain: np.array([0.5, 0.9]), larger: np.array([near, 0.1]), other: np.array([0.8, 0.2])}
    assert sites.fit(f1, np.array([True, False])) == other
    assert sites.fit(f1, np.array([False, True])) == plain
    assert {plain, replace(other, prior_pages=0.5)} <= set(sites.grid())


def test_trees_of_other_sites_decide_about_as_well_as_the_shipped_numbers(tmp_path: Path) -> None:
    pytest.importorskip("catboost")
    data = write_sets(tmp_path / "pages", n_sites=3, n_pages=3)
    rows = list(sites.cleaned([page for path in data.iterdir() for page in gold.read(path)], None))
    names = np.array([row.site for row in rows])
    groups = [np.flatnonzero(names == site).tolist() for site in sorted(set(names.tolist()))]
    table = sites.evidence_of(rows, groups)
    folds = np.unique(names, return_inverse=True)[1] % 3
    found = site_trees.f1(rows, groups, folds, [table] * 3, sites.START)
    assert found.mean() > 0.9
    spread = site_trees._spread(rows, groups[0])
    assert all((own >= 0).any() for own in spread.values())  # the layouts of these pages are alike


def test_measuring_sites_of_a_single_set_is_one_clear_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_sets(tmp_path / "pages", n_sites=3)
    (tmp_path / "more").mkdir()
    for name in sites.MORE:
        (tmp_path / "more" / f"{name}.jsonl").touch()
    assert sites.main(["measure", "--data", str(tmp_path), "--models", str(tmp_path / "none")]) == 2
    assert "needs sites of two sets" in capsys.readouterr().err


def test_the_metrics_and_the_card_of_the_shipped_model_have_the_stored_results() -> None:
    found = sites.metrics(json.loads((RESULTS / sites.RESULTS).read_text(encoding="utf-8")))
    folder = directory("models") / "sites"
    assert json.loads((folder / sites.METRICS).read_text(encoding="utf-8")) == found
    card = (folder / "CARD.md").read_text(encoding="utf-8")
    shown = [f"{row['f1']:.4f}"[1:] for row in found["word_f1"].values()]
    shown += [f"{found['gain'][end]:.4f}"[1:] for end in ("low", "high")]
    shown += [f"{found['n_pages']:,} pages", f"{found['n_sites']} sites"]
    assert [figure for figure in shown if figure not in " ".join(card.split())] == []


def test_the_document_is_that_of_the_stored_results() -> None:
    stored = (Path(__file__).parents[2] / "docs" / "sites.md").read_text(encoding="utf-8")
    assert sites_page.page(RESULTS / sites.RESULTS) == stored
