"""The study of sites: its fit, and its document."""

from pathlib import Path

import numpy as np
import pytest

from research import RESULTS, sites, sites_page
from tests.evaluation.invented import write_sets


def test_the_smallest_numbers_near_the_best_are_fitted_on_the_chosen_pages_alone() -> None:
    f1 = {
        (0.0, 0.0): np.array([0.5, 0.9]),
        (0.5, 2.0): np.array([0.8, 0.2]),
        (1.0, 3.0): np.array([0.8 + sites.TOLERANCE / 2, 0.1]),
    }
    assert sites.fit(f1, np.array([True, False])) == (0.5, 2.0)
    assert sites.fit(f1, np.array([False, True])) == (0.0, 0.0)


def test_measuring_sites_of_a_single_set_is_one_clear_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_sets(tmp_path / "pages", n_sites=3)
    (tmp_path / "more").mkdir()
    for name in sites.MORE:
        (tmp_path / "more" / f"{name}.jsonl").touch()
    assert sites.main(["measure", "--data", str(tmp_path), "--models", str(tmp_path / "none")]) == 2
    assert "needs sites of two sets" in capsys.readouterr().err


def test_the_document_is_that_of_the_stored_results() -> None:
    stored = (Path(__file__).parents[2] / "docs" / "sites.md").read_text(encoding="utf-8")
    assert sites_page.page(RESULTS / sites.RESULTS) == stored
